#include "tfjob_replay.h"

#include <fmt/format.h>

#include <regex>

#include "base/check.h"
#include "dialect/tfjob/tfjob.h"
#include "kube/access.h"
#include "tfjob_sight.h"
#include "world.h"

namespace trainyard::recorded {
namespace {

// Does what a step's `do` says.
class Hand {
 public:
  Hand(World& world, const json::object& manifest) : world_(world), manifest_(manifest) {
    job_ = kube::text_at(manifest, {"metadata", "name"});
  }

  // The problems of a refused manifest; empty otherwise.
  std::vector<dialect::Problem> perform(std::string_view deed, const json::object& see) {
    deed_ = deed;
    if (deed_.starts_with("create")) {
      std::vector<dialect::Problem> problems = world_.create(manifest_);
      if (deed_.find("Running") != std::string::npos) start_as_they(see);
      world_.settle();
      return problems;
    }
    world_.advance(seconds(1));
    if (!people_did() && !time_passed()) machines_did(see);
    world_.settle();
    return {};
  }

 private:
  bool has(std::string_view words) const { return deed_.find(words) != std::string::npos; }
  bool matches(const char* pattern) { return std::regex_search(deed_, found_, std::regex(pattern)); }
  std::string pod() const { return job_ + "-" + found_[1].str(); }

  bool people_did() {
    if (matches("^delete the job")) {
      world_.delete_job(has("Orphan"));
    } else if (matches("^suspend: (true|false)")) {
      edit({"spec", "runPolicy", "suspend"}, found_[1] == "true");
    } else if (matches("^scale (worker|ps)s? to (\\d+)")) {
      edit({"spec", "tfReplicaSpecs", found_[1] == "ps" ? "PS" : "Worker", "replicas"}, std::stoi(found_[2]));
    } else if (matches("^set an annotation")) {
      edit({"metadata", "annotations", "touched"}, "yes");
    } else if (matches("^delete pod ([a-z]+-\\d+)")) {
      world_.delete_pod(pod());
    } else if (matches("^([a-z]+-\\d+) is finally removed")) {
      world_.remove_pod(pod());
    } else if (matches("^delete service ([a-z]+-\\d+)")) {
      world_.delete_service(pod());
    } else if (matches("^somebody deletes the PodGroup")) {
      world_.delete_gang();
    } else {
      return false;
    }
    return true;
  }

  bool time_passed() {
    if (matches("^wait until (\\d+) s after creation")) {
      world_.advance(seconds(std::stoi(found_[1])));
    } else if (matches("^(\\d+) s later")) {
      world_.advance(seconds(std::stoi(found_[1])));
    } else {
      return has("a little later");
    }
    return true;
  }

  void machines_did(const json::object& see) {
    bool known = true;
    if (matches("([a-z]+-\\d+).*restartCount (\\d+)")) {
      world_.set_pod(pod(), {.phase = "Running", .restarts = std::stoi(found_[2])});
    } else if (matches("([a-z]+-\\d+) (?:pod phase )?Failed, exit (\\d+)")) {
      world_.set_pod(pod(), {.phase = "Failed", .exit_code = std::stoi(found_[2])});
    } else if (matches("([a-z]+-\\d+) evicted")) {
      world_.set_pod(pod(), {.phase = "Failed", .reason = "Evicted"});
    } else if (matches("([a-z]+-\\d+) container terminated with exit (\\d+)") ||
               matches("([a-z]+-\\d+): tensorflow container ended with (\\d+)")) {
      world_.set_pod(pod(), {.phase = "Running", .exit_code = std::stoi(found_[2]), .main_ended = true});
    } else if (matches("([a-z]+-\\d+).* Succeeded")) {
      world_.set_pod(pod(), {.phase = "Succeeded", .exit_code = 0});
    } else if (has("the deciding pod Succeeded")) {
      world_.set_pod(deciding_pod(), {.phase = "Succeeded", .exit_code = 0});
    } else if (has("Running")) {
      start_as_they(see);
    } else {
      known = false;
    }
    if (matches("PodGroup phase ([A-Z][a-z]+)")) {
      world_.set_gang_phase(found_[1].str());
      known = true;
    }
    CHECK(known);
  }

  // Our pending pods run where theirs do.
  void start_as_they(const json::object& see) {
    for (const auto& member : see.at("pods").as_object()) {
      std::string name(member.key().data(), member.key().size());
      const json::object* fields = member.value().if_object();
      std::string_view phase =
          fields ? kube::text_at(*fields, {"phase"}) : kube::view(member.value().as_string());
      auto ours = world_.pods().find(name);
      if (ours == world_.pods().end() || phase != "Running") continue;
      if (has("bound")) world_.bind_pod(name);
      if (kube::text_at(ours->second, {"status", "phase"}) == "Pending")
        world_.set_pod(name, {.phase = "Running"});
    }
  }

  std::string deciding_pod() const {
    for (const char* role : {"chief", "master"}) {
      std::string name = fmt::format("{}-{}-0", job_, role);
      if (world_.pods().contains(name)) return name;
    }
    return job_ + "-worker-0";
  }

  void edit(std::vector<std::string> path, json::value value) {
    for (auto key = path.rbegin(); key != path.rend(); ++key) {
      json::object outer;
      outer[spelled_as_stored(*key)] = std::move(value);
      value = std::move(outer);
    }
    std::vector<dialect::Problem> problems = world_.patch(value);
    CHECK(problems.empty());
  }

  // Role keys of a manifest may be written in any case.
  std::string spelled_as_stored(const std::string& key) const {
    const json::object* roles = kube::object_at(manifest_, {"spec", "tfReplicaSpecs"});
    for (const auto& role : *roles) {
      std::string stored(role.key().data(), role.key().size());
      bool same = std::equal(stored.begin(), stored.end(), key.begin(), key.end(),
                             [](char a, char b) { return std::tolower(a) == std::tolower(b); });
      if (same) return stored;
    }
    return key;
  }

  World& world_;
  const json::object& manifest_;
  std::string job_;
  std::string deed_;
  std::smatch found_;
};

dialect::Settings settings_for(const std::string& file, bool as_shipped) {
  dialect::Settings settings;
  if (!as_shipped) settings = {.evaluator_in_cluster = true, .default_clean_policy = "None"};
  if (file.starts_with("28")) settings.gang_scheduler = "volcano";
  return settings;
}

// The namespace that a recording's own texts speak of.
std::string name_space_of(const Recording& recording) {
  std::string text = json::serialize(recording.body.at("steps"));
  std::smatch found;
  if (std::regex_search(text, found, std::regex("(rec-[0-9a-z]+)[/.]"))) return found[1];
  return "rec-" + recording.name.substr(0, recording.name.find('-'));
}

std::string refusal(const std::vector<dialect::Problem>& problems) {
  return problems.empty() ? "accepted" : "refused: " + join(problems);
}

std::vector<Difference> replay_in(const Recording& recording, const std::string& name_space,
                                  bool as_shipped) {
  World world(dialect::tfjob(), settings_for(recording.name, as_shipped), name_space);
  const json::object& manifest = recording.body.at("manifest").as_object();
  if (recording.body.at("about").as_string().find("exists before the job") != json::string::npos) {
    world.add_foreign_pod(
        json::parse(R"({"metadata":{"name":"train-worker-0"},"spec":{"restartPolicy":"Always",
        "containers":[{"name":"x","image":"i"}]}})")
            .as_object());
  }
  Sight sight(recording.name + (as_shipped ? " (as shipped)" : ""), world);
  Hand hand(world, manifest);
  std::vector<Difference> found;
  int step = 0;
  for (const json::value& entry : recording.body.at("steps").as_array()) {
    ++step;
    const json::object& whole = entry.at("see").as_object();
    const json::object* see = kube::object_at(whole, {name_space});
    if (see == nullptr) see = &whole;
    std::string_view deed = kube::view(entry.at("do").as_string());
    bool elsewhere =
        deed.find("in the first namespace") != std::string_view::npos && name_space.ends_with("-b");
    std::vector<dialect::Problem> problems = hand.perform(elsewhere ? "a little later" : deed, *see);
    if (!problems.empty()) {
      return {{recording.name, step, "manifest", refusal(problems), "accepted"}};
    }
    sight.compare(step, *see);
    for (Difference& one : sight.take()) found.push_back(std::move(one));
  }
  return found;
}

}  // namespace

std::vector<Difference> replay_tfjob(const Recording& recording, bool as_shipped) {
  std::string name_space = name_space_of(recording);
  if (!recording.name.starts_with("29")) return replay_in(recording, name_space, as_shipped);
  std::vector<Difference> found = replay_in(recording, "rec-29-a", as_shipped);
  for (Difference& one : replay_in(recording, "rec-29-b", as_shipped)) found.push_back(std::move(one));
  return found;
}

}  // namespace trainyard::recorded
