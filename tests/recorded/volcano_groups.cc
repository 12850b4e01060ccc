#include "volcano_groups.h"

#include <fmt/format.h>

#include <map>

#include "base/check.h"
#include "control/scheduler_testing.h"
#include "kube/access.h"
#include "kube/meta.h"

namespace trainyard::recorded {
namespace {

using Facts = std::map<std::string, std::string>;

constexpr std::string_view kNamespace = "ns";

// "phase=Running running=2 succeeded=1; Scheduled=True".
std::string group_in_words(const json::object& group) {
  std::string text = fmt::format("phase={}", kube::text_at(group, {"status", "phase"}));
  for (std::string_view count : {"running", "succeeded", "failed"}) {
    const int64_t number = kube::int_at(group, {"status", count}).value_or(0);
    if (number != 0) text += fmt::format(" {}={}", count, number);
  }
  std::set<std::string> conditions;
  for (const kube::Condition& one : kube::decode_conditions(group)) {
    conditions.insert(fmt::format("{}={}", one.type, one.status));
  }
  return conditions.empty() ? text : fmt::format("{}; {}", text, joined(conditions, " "));
}

class GroupReplay {
 public:
  explicit GroupReplay(const Recording& recording) : file_(recording.name) {
    const json::value& manifest = recording.body.at("manifest");
    if (manifest.is_object()) documents_.push_back(manifest.get_object());
    if (manifest.is_array()) {
      for (const json::value& each : manifest.get_array()) documents_.push_back(each.as_object());
    }
    yard_.node("n", "8");
    json::object node = **yard_.store.get(kube::kNodes, "", "n");
    kube::ensure_object(node, {"status", "allocatable"})["memory"] = "16Gi";
    CHECK(yard_.store.update_status(kube::kNodes, "", node, yard_.now).ok());
    yard_.settle();
  }

  void perform(const std::string& deed) {
    yard_.now = yard_.now + seconds(1);
    if (deed.starts_with("create ")) {
      for (const json::object& document : documents_) create_if_named(deed, document);
    } else if (deed.ends_with("Running")) {
      move(deed, "Running");
    } else if (deed.ends_with("succeeds")) {
      move(deed, "Succeeded");
    } else {
      CHECK(deed.ends_with("fails"));
      move(deed, "Failed");
    }
    yard_.settle();
  }

  void compare(int step, const json::object& see) {
    Facts theirs;
    if (const json::object* pods = kube::object_at(see, {"pods"})) {
      for (const auto& [name, state] : *pods) theirs["pod " + std::string(name)] = state.as_string();
    }
    if (const json::object* groups = kube::object_at(see, {"podGroup"})) {
      for (const auto& [name, group] : *groups)
        theirs["PodGroup " + std::string(name)] = group_in_words(group.as_object());
    }
    const Facts ours = our_facts();
    for (const auto& [what, told] : theirs) {
      auto own = ours.find(what);
      const std::string mine = own == ours.end() ? "" : own->second;
      if (mine != told) found_.push_back({file_, step, what, mine, told});
    }
    for (const auto& [what, mine] : ours) {
      if (theirs_.contains(what) || theirs.contains(what)) continue;
      found_.push_back({file_, step, what, mine, ""});
    }
    theirs_.merge(theirs);
  }

  std::vector<Difference> take() { return std::move(found_); }

 private:
  void create_if_named(const std::string& deed, const json::object& document) {
    const bool group = kube::text_at(document, {"kind"}) == "PodGroup";
    const std::string name(kube::name_of(document));
    if (deed.find(group ? "PodGroup" : name) == std::string::npos) return;
    json::object made = document;
    kube::ensure_object(made, {"metadata"})["namespace"] = kube::jview(kNamespace);
    CHECK(
        yard_.store.create(group ? kube::kVolcanoPodGroups : kube::kPods, kNamespace, made, yard_.now).ok());
  }

  void move(const std::string& deed, std::string_view phase) {
    const bool others = deed.starts_with("the others");
    const store::Page pods = yard_.store.list(kube::kPods, kNamespace).value();
    for (const client::Object& pod : pods.items) {
      const bool named = deed.find(kube::name_of(*pod)) != std::string::npos;
      if (!named && (!others || kube::text_at(*pod, {"status", "phase"}) == phase)) continue;
      json::object changed = *pod;
      kube::ensure_object(changed, {"status"})["phase"] = kube::jview(phase);
      CHECK(yard_.store.update_status(kube::kPods, kNamespace, changed, yard_.now).ok());
    }
  }

  Facts our_facts() {
    Facts facts;
    const store::Page pods = yard_.store.list(kube::kPods, kNamespace).value();
    for (const client::Object& pod : pods.items) {
      const std::string_view phase = kube::text_at(*pod, {"status", "phase"});
      const bool bound = !kube::text_at(*pod, {"spec", "nodeName"}).empty();
      facts[fmt::format("pod {}", kube::name_of(*pod))] =
          fmt::format("{} {}", phase.empty() ? "Pending" : phase, bound ? "bound" : "unbound");
    }
    const store::Page groups = yard_.store.list(kube::kVolcanoPodGroups, kNamespace).value();
    for (const client::Object& group : groups.items) {
      facts[fmt::format("PodGroup {}", kube::name_of(*group))] = group_in_words(*group);
    }
    return facts;
  }

  // Fixed.
  const std::string file_;
  std::vector<json::object> documents_;
  // State.
  control::testing::SchedulerYard yard_;
  Facts theirs_;  // all that was ever shown
  std::vector<Difference> found_;
};

}  // namespace

std::vector<Difference> replay_groups(const Recording& recording) {
  GroupReplay replay(recording);
  int step = 0;
  for (const json::value& each : recording.body.at("steps").as_array()) {
    const json::object& entry = each.as_object();
    replay.perform(std::string(kube::text_at(entry, {"do"})));
    replay.compare(++step, entry.at("see").as_object());
  }
  CHECK(step > 0);
  return replay.take();
}

}  // namespace trainyard::recorded
