#include "volcano_sight.h"

#include <fmt/format.h>

#include <algorithm>
#include <regex>
#include <set>

#include "dialect/volcano/volcano.h"
#include "harness.h"
#include "kube/access.h"
#include "kube/meta.h"

namespace trainyard::recorded {
namespace {

std::string text_of(const json::value& value) {
  return value.is_string() ? std::string(kube::view(value.get_string())) : json::serialize(value);
}

std::string shown(const json::value& value) { return json::serialize(sorted(value)); }

// The names that are made anew for every job, as the recordings write them.
std::string without_names(std::string text, const std::string& job, std::string_view uid) {
  auto replace = [&](const std::string& what, const std::string& by) {
    for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
      text.replace(at, what.size(), by);
    }
  };
  if (!uid.empty()) replace(fmt::format("{}-{}", job, uid), job + "-<uid>");
  replace("\"recorded\"", "\"<ns>\"");
  replace(" recorded:", " <ns>:");
  text = std::regex_replace(text, std::regex(job + "-pvc-[0-9a-z]{12}"), job + "-pvc-<random>");
  return std::regex_replace(text, std::regex("\"" + job + "-[0-9a-z]{12}\""), "\"" + job + "-<random>\"");
}

json::array owners_of(const json::object& object) {
  json::array owners;
  const json::array* list = kube::array_at(object, {"metadata", "ownerReferences"});
  if (list == nullptr) return owners;
  for (const json::value& entry : *list) {
    const json::object& owner = entry.get_object();
    owners.push_back(
        json::value(fmt::format("{}/{}{}{}", kube::text_at(owner, {"kind"}), kube::text_at(owner, {"name"}),
                                kube::bool_at(owner, {"controller"}) == true ? " controller" : "",
                                kube::bool_at(owner, {"blockOwnerDeletion"}) == true ? " block" : "")));
  }
  return owners;
}

json::object without_ours(const json::object& map) {
  json::object rest;
  for (const auto& member : map) {
    std::string_view key = kube::view(member.key());
    if (!key.starts_with("trainyard.dev/") && key != "volcano.sh/controller-out-of-sync")
      rest[key] = member.value();
  }
  return rest;
}

void copy(const json::object& from, std::string_view key, json::object& to) {
  const json::value* found = from.if_contains(kube::jview(key));
  if (found != nullptr && !found->is_null()) to[kube::jview(key)] = *found;
}

json::object shown_container(const json::object& container) {
  json::object shown;
  copy(container, "name", shown);
  if (const json::array* env = kube::array_at(container, {"env"})) {
    std::map<std::string, json::value> by_name;
    for (const json::value& entry : *env)
      by_name[std::string(kube::text_at(entry.get_object(), {"name"}))] = entry;
    json::array all;
    for (auto& [name, entry] : by_name) all.push_back(std::move(entry));
    shown["env"] = std::move(all);
  }
  copy(container, "volumeMounts", shown);
  return shown;
}

// A pod as podDetail has it, with what the API server fills in.
json::object detail_of(const json::object& pod) {
  json::object detail;
  if (const json::object* labels = kube::object_at(pod, {"metadata", "labels"})) detail["labels"] = *labels;
  if (const json::object* notes = kube::object_at(pod, {"metadata", "annotations"})) {
    detail["annotations"] = without_ours(*notes);
  }
  detail["ownerReferences"] = owners_of(pod);
  const json::object& spec = *kube::object_at(pod, {"spec"});
  for (std::string_view key :
       {"hostname", "subdomain", "schedulerName", "restartPolicy", "priorityClassName"}) {
    copy(spec, key, detail);
  }
  if (const json::array* volumes = kube::array_at(spec, {"volumes"})) {
    json::array all = *volumes;
    for (json::value& entry : all) {
      json::value* map = entry.get_object().if_contains("configMap");
      if (map != nullptr && !map->get_object().contains("defaultMode"))
        map->get_object()["defaultMode"] = 420;
    }
    detail["volumes"] = std::move(all);
  }
  json::array containers;
  for (const json::value& each : *kube::array_at(spec, {"containers"})) {
    containers.push_back(shown_container(each.get_object()));
  }
  detail["containers"] = std::move(containers);
  return detail;
}

json::object other_of(const json::object& object) {
  json::object shown;
  json::array owners = owners_of(object);
  if (!owners.empty()) shown["ownerReferences"] = std::move(owners);
  for (std::string_view key : {"spec", "data", "type"}) copy(object, key, shown);
  std::string_view kind = kube::text_at(object, {"kind"});
  if (kind == "Service") {
    json::object& spec = kube::ensure_object(shown, {"spec"});
    spec["clusterIPs"] = json::array{"None"};
    spec["type"] = "ClusterIP";
    spec.erase("publishNotReadyAddresses");
  }
  if (kind == "PersistentVolumeClaim") kube::ensure_object(shown, {"spec"})["volumeMode"] = "Filesystem";
  if (kind == "Secret") {
    for (auto& member : kube::ensure_object(shown, {"data"})) member.value() = "<data>";
  }
  return shown;
}

// Merges a later showing into what was shown; "<absent>" drops a key.
void merge(json::object& into, const json::object& change) {
  for (const auto& member : change) {
    if (member.value() == json::value("<absent>")) {
      into.erase(member.key());
    } else if (member.value().is_object() && into.contains(member.key()) && into[member.key()].is_object()) {
      merge(into[member.key()].get_object(), member.value().get_object());
    } else {
      into[member.key()] = member.value();
    }
  }
}

// "Pending bound version=0" and its like; the version only where it is comparable.
std::string without_version(std::string text) {
  return std::regex_replace(text, std::regex(" version=\\d+"), "");
}

std::string listed(const json::object& status, std::initializer_list<std::string_view> keys) {
  std::string text;
  for (std::string_view key : keys) {
    const json::value* found = status.if_contains(kube::jview(key));
    if (found != nullptr) text += fmt::format("{}{}={}", text.empty() ? "" : " ", key, shown(*found));
  }
  return text;
}

std::string conditions_of(const json::object& status) {
  std::string text;
  const json::array* list = kube::array_at(status, {"conditions"});
  if (list == nullptr) return text;
  for (const json::value& entry : *list) {
    const json::object* object = entry.if_object();
    text += (text.empty() ? "" : " > ") +
            (object == nullptr ? text_of(entry) : std::string(kube::text_at(*object, {"status"})));
  }
  return text;
}

std::string tasks_of(const json::object& status) {
  std::string text;
  const json::object* tasks = kube::object_at(status, {"taskStatusCount"});
  if (tasks == nullptr) return text;
  json::value ordered = sorted(*tasks);
  for (const auto& member : ordered.get_object()) {
    text += fmt::format("{}{}{}", text.empty() ? "" : " ", kube::view(member.key()),
                        shown(member.value().get_object().at("phase")));
  }
  return text;
}

std::map<std::string, std::string> status_facts(const json::object& status, bool versions) {
  std::map<std::string, std::string> facts;
  std::string phase(kube::text_at(status, {"state", "phase"}));
  facts["conditions"] = conditions_of(status);
  if (!facts["conditions"].ends_with(phase)) facts["phase"] = phase;  // it is the last of them otherwise
  facts["counts"] = listed(status, {"pending", "running", "succeeded", "failed", "terminating", "unknown"});
  std::string tasks = tasks_of(status);
  if (!tasks.empty()) facts["counts"] += "; " + tasks;
  facts["minAvailable"] = listed(status, {"minAvailable"});
  facts["retryCount"] = listed(status, {"retryCount"});
  if (versions) facts["version"] = listed(status, {"version"});
  facts["runningDuration"] = status.contains("runningDuration") ? "there" : "";
  const json::object* resources = kube::object_at(status, {"controlledResources"});
  json::object rest = resources == nullptr ? json::object() : without_ours(*resources);
  facts["controlledResources"] = rest.empty() ? "" : shown(rest);
  return facts;
}

// A fact per field, and per key of the maps.
void put_detail(const std::string& pod, const json::object& detail,
                std::map<std::string, std::string>& facts) {
  for (const auto& member : detail) {
    std::string name = fmt::format("{} {}", pod, kube::view(member.key()));
    const json::object* map = member.value().if_object();
    if (map == nullptr) {
      facts[name] = shown(member.value());
      continue;
    }
    for (const auto& entry : *map)
      facts[fmt::format("{} {}", name, kube::view(entry.key()))] = text_of(entry.value());
  }
}

// Which phases were entered, in order, beginning after `before`.
std::string path_from(const std::string& before, const std::vector<std::string>& phases) {
  std::string text;
  std::string last = before;
  for (const std::string& phase : phases) {
    if (phase == last || phase.empty()) continue;
    text += (text.empty() ? "" : " > ") + phase;
    last = phase;
  }
  return text;
}

std::string event_words(std::string text) {
  text = std::regex_replace(text, std::regex(" \\((again|several times)\\)$"), "");
  while (text.ends_with(' ')) text.pop_back();
  return text;
}

}  // namespace

bool VolcanoSight::was_stopped() const {
  std::string ways = conditions_of(world_.status()) + conditions_of(their_status_);
  for (std::string_view word : {"Completing", "Completed", "Aborting", "Terminating", "Failed"}) {
    if (ways.find(word) != std::string::npos) return true;
  }
  return false;
}

void VolcanoSight::learn_job(const json::value& job) {
  if (!job.is_object()) {
    their_job_ = false;
    return;
  }
  const json::object* own = kube::object_at(job.get_object(), {job_});
  const json::object& mine = own == nullptr ? job.get_object() : *own;
  their_job_ = true;
  const json::object* status = kube::object_at(mine, {"status"});
  their_status_ = status == nullptr ? json::object() : *status;
}

void VolcanoSight::learn(const json::object& see) {
  if (const json::value* job = see.if_contains("job")) learn_job(*job);
  if (const json::value* pods = see.if_contains("pods")) {
    their_pods_ = pods->is_object() ? pods->get_object() : json::object();
  }
  auto learn_changes = [&](std::string_view key, json::object& into) {
    const json::object* changes = kube::object_at(see, {key});
    if (changes == nullptr) return;
    for (const auto& member : *changes) {
      if (!member.value().is_object()) {
        into.erase(member.key());
      } else if (member.value().get_object().contains("ownerReferences") || !into.contains(member.key())) {
        into[member.key()] = member.value();  // a complete showing
      } else {
        merge(into[member.key()].get_object(), member.value().get_object());
      }
    }
  };
  learn_changes("podDetail", their_details_);
  learn_changes("podGroup", their_groups_);
  learn_changes("others", their_others_);
}

VolcanoSight::Facts VolcanoSight::our_facts() {
  Facts facts;
  std::vector<std::string> phases;
  for (const json::object& status : world_.take_history()) {
    phases.emplace_back(kube::text_at(status, {"state", "phase"}));
  }
  facts["job"] = world_.job() ? "there" : "gone";
  std::set<std::string> events;
  for (const dialect::EventText& event : world_.take_events()) {
    if (event.reason == "PodGroupPending") continue;
    events.insert(event_words(
        fmt::format("{} {}: {}", event.warning ? "Warning" : "Normal", event.reason, event.message)));
  }
  facts["events"] = joined(events, "; ");
  if (!world_.job()) return facts;
  facts["phases"] = path_from(our_phase_, phases);
  our_phase_ = kube::text_at(world_.status(), {"state", "phase"});
  std::string uid(kube::uid_of(*world_.job()));
  auto plain = [&](std::string text) { return without_names(std::move(text), job_, uid); };
  bool versions = !was_stopped();
  for (auto& [name, text] : status_facts(world_.status(), versions)) facts[name] = plain(text);
  std::string pods;
  for (const auto& [name, pod] : world_.pods()) {
    std::string line =
        fmt::format("{}: {} {}{} version={}", name, kube::text_at(pod, {"status", "phase"}),
                    world_.is_bound(name) ? "bound" : "unbound", kube::is_deleting(pod) ? " terminating" : "",
                    kube::annotation_of(pod, "volcano.sh/job-version"));
    pods += (pods.empty() ? "" : ", ") + (versions ? line : without_version(line));
    if (their_details_.contains(name) && their_pods_.contains(name)) {
      json::object detail = detail_of(pod);
      if (!versions) kube::ensure_object(detail, {"annotations"}).erase("volcano.sh/job-version");
      put_detail(name, json::parse(plain(json::serialize(detail))).get_object(), facts);
    }
  }
  facts["pods"] = pods;
  if (world_.gang()) {
    json::object group;
    group["ownerReferences"] = owners_of(*world_.gang());
    copy(*world_.gang(), "spec", group);
    facts["PodGroup"] = plain(shown(group));
  }
  for (const auto& [key, object] : world_.companions()) {
    std::string name = plain(fmt::format("\"{}/{}\"", kube::text_at(object, {"kind"}), key.second));
    facts[name.substr(1, name.size() - 2)] = plain(shown(other_of(object)));
  }
  return facts;
}

VolcanoSight::Facts VolcanoSight::their_facts(const json::object& see) const {
  Facts facts;
  facts["job"] = their_job_ ? "there" : "gone";
  std::set<std::string> events;
  if (const json::array* list = kube::array_at(see, {"events"})) {
    for (const json::value& entry : *list) {
      std::string line = text_of(entry);
      if (!line.starts_with("Job ") || line.find(" PodGroupPending:") != std::string::npos) continue;
      events.insert(event_words(line.substr(4)));
    }
  }
  facts["events"] = joined(events, "; ");
  if (!their_job_) return facts;
  std::vector<std::string> phases;
  if (const json::array* list = kube::array_at(see, {"jobPassed"})) {
    for (const json::value& entry : *list) {
      std::string line = text_of(entry);
      size_t colon = line.find(": ");
      if (colon != std::string::npos && line.substr(0, colon) != job_) continue;
      if (colon != std::string::npos) line = line.substr(colon + 2);
      if (!line.starts_with("(")) phases.push_back(line.substr(0, line.find(' ')));
    }
  }
  facts["phases"] = path_from(their_phase_, phases);
  bool versions = !was_stopped();
  facts.merge(status_facts(their_status_, versions));
  std::string pods;
  json::value ordered = sorted(their_pods_);
  for (const auto& member : ordered.get_object()) {
    std::string name(kube::view(member.key()));
    if (!name.starts_with(job_ + "-")) continue;
    std::string line = fmt::format("{}: {}", name, text_of(member.value()));
    pods += (pods.empty() ? "" : ", ") + (versions ? line : without_version(line));
    const json::value* detail = their_details_.if_contains(member.key());
    if (detail == nullptr || !world_.pods().contains(name)) continue;
    json::object mine = detail->get_object();
    kube::ensure_object(mine, {"annotations"}) = without_ours(*kube::object_at(mine, {"annotations"}));
    if (!versions) kube::ensure_object(mine, {"annotations"}).erase("volcano.sh/job-version");
    put_detail(name, mine, facts);
  }
  facts["pods"] = pods;
  if (const json::object* group = kube::object_at(their_groups_, {job_ + "-<uid>"})) {
    json::object mine = *group;
    mine.erase("status");
    facts["PodGroup"] = shown(mine);
  }
  for (const auto& member : their_others_) {
    json::object mine = member.value().get_object();
    mine.erase("status");
    mine.erase("annotations");
    facts[std::string(kube::view(member.key()))] = shown(mine);
  }
  return facts;
}

void VolcanoSight::compare_facts(int step, const Facts& ours, const Facts& theirs) {
  std::set<std::string> names;
  for (const auto& [name, text] : ours) names.insert(name);
  for (const auto& [name, text] : theirs) names.insert(name);
  for (const std::string& name : names) {
    auto mine = ours.find(name);
    auto other = theirs.find(name);
    std::string our_text = mine == ours.end() ? "" : mine->second;
    std::string their_text = other == theirs.end() ? "" : other->second;
    std::pair<std::string, std::string> now{our_text, their_text};
    bool happens_once = name == "events" || name == "phases";
    bool told = !happens_once && told_.contains(name) && told_[name] == now;
    told_[name] = now;
    if (our_text == their_text || told) continue;
    found_.push_back({file_, step, name, our_text, their_text});
  }
}

void VolcanoSight::add_spec(const json::object& see, Facts& ours, Facts& theirs) const {
  json::object shown_spec;
  if (const json::object* fields = kube::object_at(see, {"jobSpecNow"})) shown_spec = *fields;
  if (const json::value* volumes = see.if_contains("jobSpecVolumesNow")) shown_spec["volumes"] = *volumes;
  if (shown_spec.empty()) return;
  const dialect::LowerResult lowered = dialect::volcano().lower(*world_.job(), {});
  const json::object& source = *std::get<model::JobSpec>(lowered).source;
  for (const auto& member : shown_spec) {
    const std::string key(kube::view(member.key()));
    const json::value* mine = kube::find(source, {"spec", key});
    ours["spec." + key] = mine == nullptr ? "" : shown(*mine);
    theirs["spec." + key] = shown(member.value());
  }
}

void VolcanoSight::compare(int step, const json::object& see) {
  learn(see);
  Facts ours = our_facts();
  Facts theirs = their_facts(see);
  if (world_.job()) add_spec(see, ours, theirs);
  if (their_job_) their_phase_ = kube::text_at(their_status_, {"state", "phase"});
  compare_facts(step, ours, theirs);
}

}  // namespace trainyard::recorded
