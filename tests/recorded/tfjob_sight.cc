#include "tfjob_sight.h"

#include <fmt/format.h>

#include <algorithm>

#include "dialect/shared/conditions.h"
#include "harness.h"
#include "kube/access.h"

namespace trainyard::recorded {
namespace {

std::string_view key_text(const json::key_value_pair& member) {
  return {member.key().data(), member.key().size()};
}

std::string counts_text(const json::object& statuses) {
  std::set<std::string> roles;
  for (const auto& role : statuses) {
    std::string counts;
    for (std::string_view key : {"active", "succeeded", "failed"}) {
      auto n = kube::int_at(role.value().as_object(), {key});
      if (n) counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", key, *n);
    }
    roles.insert(fmt::format("{}({})", key_text(role), counts));
  }
  return joined(roles, " ");
}

// The roles that say by which labels their pods are found.
std::string selectors_text(const json::object& statuses) {
  std::set<std::string> roles;
  for (const auto& role : statuses) {
    if (role.value().as_object().contains("selector")) roles.insert(std::string(key_text(role)));
  }
  return joined(roles, " ");
}

json::array owners_view(const json::object& object) {
  json::array owners;
  if (const json::array* list = kube::array_at(object, {"metadata", "ownerReferences"})) {
    for (const json::value& entry : *list) {
      json::object owner;
      for (const char* key : {"kind", "name", "controller", "blockOwnerDeletion"}) owner[key] = entry.at(key);
      owners.push_back(std::move(owner));
    }
  }
  return owners;
}

// As the API server completes it.
json::array ports_view(const json::array& ports, bool host_network) {
  json::array out;
  for (const json::value& entry : ports) {
    json::object port = entry.as_object();
    if (!port.contains("protocol")) port["protocol"] = "TCP";
    if (host_network) port["hostPort"] = port["containerPort"];
    out.push_back(std::move(port));
  }
  return out;
}

json::object pod_view(const json::object& pod) {
  json::object view;
  for (const char* key : {"labels", "annotations"}) {
    if (const json::object* found = kube::object_at(pod, {"metadata", key})) view[key] = *found;
  }
  view["owners"] = owners_view(pod);
  view["restartPolicy"] = kube::jview(kube::text_at(pod, {"spec", "restartPolicy"}));
  std::string_view scheduler = kube::text_at(pod, {"spec", "schedulerName"});
  view["schedulerName"] = scheduler.empty() ? "default-scheduler" : kube::jview(scheduler);
  bool on_host = kube::bool_at(pod, {"spec", "hostNetwork"}) == true;
  if (on_host) view["hostNetwork"] = true;
  json::array containers;
  for (const json::value& entry : *kube::array_at(pod, {"spec", "containers"})) {
    json::object container;
    container["name"] = entry.at("name");
    const json::object& body = entry.as_object();
    if (const json::array* ports = kube::array_at(body, {"ports"}))
      container["ports"] = ports_view(*ports, on_host);
    if (const json::array* env = kube::array_at(body, {"env"})) container["env"] = *env;
    containers.push_back(std::move(container));
  }
  view["containers"] = std::move(containers);
  return view;
}

json::object service_view(const json::object& service) {
  json::object view;
  view["labels"] = *kube::object_at(service, {"metadata", "labels"});
  view["owners"] = owners_view(service);
  view["selector"] = *kube::object_at(service, {"spec", "selector"});
  view["type"] = "ClusterIP";
  view["clusterIP"] = kube::jview(kube::text_at(service, {"spec", "clusterIP"}));
  json::array ports;
  for (const json::value& entry : *kube::array_at(service, {"spec", "ports"})) {
    json::object port = entry.as_object();
    if (!port.contains("protocol")) port["protocol"] = "TCP";
    port["targetPort"] = port["port"];
    ports.push_back(std::move(port));
  }
  view["ports"] = std::move(ports);
  return view;
}

std::string ports_text(const json::object& container) {
  const json::value* ports = container.if_contains("ports");
  return ports == nullptr ? "" : json::serialize(sorted(*ports));
}

std::string env_text(const json::object& container) {
  std::string text;
  if (const json::array* env = kube::array_at(container, {"env"})) {
    for (const json::value& entry : *env) {
      const json::object& one = entry.as_object();
      text += fmt::format("{}{}={}", text.empty() ? "" : " ", kube::text_at(one, {"name"}),
                          kube::text_at(one, {"value"}));
    }
  }
  return text;
}

void add_containers(const json::array& containers, const std::string& of, Facts& facts) {
  int n = 0;
  for (const json::value& entry : containers) {
    const json::object& container = entry.as_object();
    std::string name = fmt::format("{} container {} ({})", of, ++n, kube::text_at(container, {"name"}));
    facts[name + " ports"] = ports_text(container);
    facts[name + " env"] = env_text(container);
  }
}

// The fields that the recording shows, one fact each.
Facts fields_of(const json::object& view, const json::object& shown, const std::string& of) {
  Facts facts;
  for (const auto& member : shown) {
    std::string key(key_text(member));
    const json::value* value = view.if_contains(member.key());
    if (key == "containers" && value != nullptr) {
      add_containers(value->as_array(), of, facts);
      continue;
    }
    facts[of + " " + key] = value == nullptr || value->is_null() ? "" : json::serialize(sorted(*value));
  }
  return facts;
}

const std::set<std::string> kPodWords = {"phase",        "incarnation", "terminating",
                                         "restartCount", "reason",      "fields_changed"};

// Only the fields, without the words about the pod's state.
json::object shown_fields(const json::value& pod) {
  json::object fields;
  if (const json::object* object = pod.if_object()) {
    for (const auto& member : *object) {
      if (!kPodWords.contains(std::string(key_text(member)))) fields[member.key()] = member.value();
    }
    if (fields.contains("labels") && !fields.contains("annotations")) fields["annotations"] = nullptr;
  }
  return fields;
}

std::string pod_word(std::string_view name, std::string_view phase, int64_t incarnation, bool terminating) {
  return fmt::format("{}={}{}{}", name, phase, incarnation > 1 ? fmt::format("#{}", incarnation) : "",
                     terminating ? " terminating" : "");
}

std::string their_pod_word(std::string_view name, const json::value& pod) {
  if (pod.is_string()) return pod_word(name, kube::view(pod.get_string()), 1, false);
  const json::object& object = pod.as_object();
  return pod_word(name, kube::text_at(object, {"phase"}), kube::int_at(object, {"incarnation"}).value_or(1),
                  kube::bool_at(object, {"terminating"}).value_or(false));
}

// Reasons that the recorded operator gives again and again while nothing changes; how
// often depends on the moment.
bool repeats_by_chance(std::string_view reason) {
  return !reason.starts_with("SuccessfulCreate") && !reason.starts_with("SuccessfulDelete");
}

}  // namespace

Facts status_facts(const json::object& status) {
  Facts facts;
  std::string list;
  for (const json::value& entry : dialect::conditions_of(status)) {
    const json::object& one = entry.get_object();
    std::string type(kube::text_at(one, {"type"}));
    list += fmt::format("{}{}={}", list.empty() ? "" : " ", type, kube::text_at(one, {"status"}));
    facts["condition " + type] =
        fmt::format("{}: {}", kube::text_at(one, {"reason"}), kube::text_at(one, {"message"}));
  }
  facts["conditions"] = list;
  if (const json::object* counts = kube::object_at(status, {"replicaStatuses"})) {
    facts["replicaStatuses"] = counts_text(*counts);
    if (std::string told = selectors_text(*counts); !told.empty()) facts["selectors"] = told;
  }
  for (std::string_view key : {"startTime", "completionTime", "lastReconcileTime"}) {
    if (!kube::text_at(status, {key}).empty()) facts[std::string(key)] = "set";
  }
  return facts;
}

std::string event_line(std::string_view type, std::string_view reason, std::string_view message) {
  std::string line = fmt::format("{} {}: {}", type, reason, message);
  return line.substr(0, line.find_last_not_of(' ') + 1);
}

void Sight::note(int step, const std::string& what, const std::string& ours, const std::string& theirs) {
  if (ours != theirs) found_.push_back({file_, step, what, ours, theirs});
}

void Sight::compare_facts(int step, const Facts& ours, const Facts& theirs) {
  std::set<std::string> keys;
  for (const auto& [key, value] : ours) keys.insert(key);
  for (const auto& [key, value] : theirs) keys.insert(key);
  for (const std::string& key : keys) {
    // A condition that only one has is told by the list of them.
    if (key.starts_with("condition ") && (!ours.contains(key) || !theirs.contains(key))) continue;
    note(step, key, ours.contains(key) ? ours.at(key) : "", theirs.contains(key) ? theirs.at(key) : "");
  }
}

void Sight::compare_times(int step, const json::object& ours, const json::object& theirs) {
  for (std::string_view key : {"startTime", "completionTime"}) {
    std::string_view before[] = {kube::text_at(our_last_status_, {key}),
                                 kube::text_at(their_last_status_, {key})};
    std::string_view after[] = {kube::text_at(ours, {key}), kube::text_at(theirs, {key})};
    if (before[0].empty() || before[1].empty() || after[0].empty() || after[1].empty()) continue;
    note(step, fmt::format("{} of the step before", key), before[0] == after[0] ? "kept" : "changed",
         before[1] == after[1] ? "kept" : "changed");
  }
  for (const json::value& entry : dialect::conditions_of(ours)) {
    std::string_view type = kube::text_at(entry.get_object(), {"type"});
    json::array lists[] = {dialect::conditions_of(our_last_status_),
                           dialect::conditions_of(their_last_status_), dialect::conditions_of(theirs)};
    const json::object* ours_before = dialect::find_condition(lists[0], type);
    const json::object* theirs_before = dialect::find_condition(lists[1], type);
    const json::object* theirs_now = dialect::find_condition(lists[2], type);
    if (ours_before == nullptr || theirs_before == nullptr || theirs_now == nullptr) continue;
    for (std::string_view key : {"lastTransitionTime", "lastUpdateTime"}) {
      bool our_kept = kube::text_at(entry.get_object(), {key}) == kube::text_at(*ours_before, {key});
      bool their_kept = kube::text_at(*theirs_now, {key}) == kube::text_at(*theirs_before, {key});
      note(step, fmt::format("{} of {}", key, type), our_kept ? "kept" : "changed",
           their_kept ? "kept" : "changed");
    }
  }
}

void Sight::compare_job(int step, const json::value& job) {
  bool theirs_there = job.is_object();
  note(step, "job", world_.job() ? "there" : "gone", theirs_there ? "there" : "gone");
  if (!theirs_there || !world_.job()) return;
  const json::value& status = job.at("status");
  if (const json::object* whole = status.if_object()) their_status_ = *whole;
  if (status.is_string() && status.get_string() == "<no status>") their_status_ = {};
  compare_facts(step, status_facts(world_.status()), status_facts(their_status_));
  compare_times(step, world_.status(), their_status_);
  our_last_status_ = world_.status();
  their_last_status_ = their_status_;
}

void Sight::compare_pods(int step, const json::value& pods) {
  std::set<std::string> ours;
  std::set<std::string> theirs;
  for (const auto& [name, pod] : world_.pods()) {
    ours.insert(pod_word(name, kube::text_at(pod, {"status", "phase"}), world_.pod_incarnation(name),
                         kube::find(pod, {"metadata", "deletionTimestamp"}) != nullptr));
  }
  const json::object* list = pods.if_object();
  for (const auto& member : list ? *list : json::object()) {
    std::string name(key_text(member));
    theirs.insert(their_pod_word(name, member.value()));
    auto at = world_.pods().find(name);
    json::object shown = shown_fields(member.value());
    if (at == world_.pods().end() || shown.empty()) continue;
    compare_facts(step, fields_of(pod_view(at->second), shown, name), fields_of(shown, shown, name));
  }
  note(step, "pods", joined(ours, " "), joined(theirs, " "));
}

void Sight::compare_services(int step, const json::value& services) {
  std::set<std::string> ours;
  std::set<std::string> theirs;
  for (const auto& [name, service] : world_.services()) {
    int made = world_.service_incarnation(name);
    bool again = our_services_made_[name] > 0 && made > our_services_made_[name];
    ours.insert(name + (again ? " (new object)" : ""));
    our_services_made_[name] = made;
  }
  if (const json::array* names = services.if_array()) {
    for (const json::value& name : *names) theirs.insert(std::string(kube::view(name.as_string())));
  }
  if (const json::object* map = services.if_object()) {
    for (const auto& member : *map) {
      std::string name(key_text(member));
      bool again = member.value().is_string() && member.value().get_string() == "new object";
      theirs.insert(name + (again ? " (new object)" : ""));
      const json::object* shown = member.value().if_object();
      auto at = world_.services().find(name);
      if (shown == nullptr || shown->contains("changed") || at == world_.services().end()) continue;
      compare_facts(step, fields_of(service_view(at->second), *shown, "service " + name),
                    fields_of(*shown, *shown, "service " + name));
    }
  }
  note(step, "services", joined(ours, " "), joined(theirs, " "));
}

void Sight::compare_gang(int step, const json::value& groups) {
  const json::object* map = groups.if_object();
  bool theirs_there = map != nullptr && !map->empty();
  note(step, "PodGroup", world_.gang() ? "there" : "none", theirs_there ? "there" : "none");
  if (!theirs_there || !world_.gang()) return;
  const json::object* shown = map->begin()->value().if_object();
  if (shown == nullptr) return;
  json::object view;
  view["apiVersion"] = world_.gang()->at("apiVersion");
  view["owners"] = owners_view(*world_.gang());
  view["spec"] = world_.gang()->at("spec");
  if (const json::value* status = world_.gang()->if_contains("status")) view["status"] = *status;
  json::object fields = *shown;
  fields.erase("new_object");
  compare_facts(step, fields_of(view, fields, "PodGroup"), fields_of(fields, fields, "PodGroup"));
}

void Sight::compare_events(int step, const json::array& theirs) {
  std::set<std::string> only_ours;
  for (const dialect::EventText& event : world_.take_events()) {
    only_ours.insert(event_line(event.warning ? "Warning" : "Normal", event.reason, event.message));
  }
  std::set<std::string> only_theirs;
  for (const json::value& entry : theirs) {
    const json::object& event = entry.as_object();
    std::string_view reason = kube::text_at(event, {"reason"});
    std::string line = event_line(kube::text_at(event, {"type"}), reason, kube::text_at(event, {"message"}));
    if (only_ours.erase(line) > 0) continue;
    if (event.contains("count_was") && repeats_by_chance(reason)) continue;
    only_theirs.insert(line);
  }
  note(step, "events", joined(only_ours, "; "), joined(only_theirs, "; "));
}

void Sight::compare(int step, const json::object& see) {
  if (const json::value* job = see.if_contains("job")) compare_job(step, *job);
  compare_pods(step, see.at("pods"));
  compare_services(step, see.at("services"));
  if (const json::value* groups = see.if_contains("podgroups")) compare_gang(step, *groups);
  compare_events(step, see.at("new_events").as_array());
}

}  // namespace trainyard::recorded
