#include "store/resize.h"

#include <algorithm>
#include <set>

#include "kube/access.h"
#include "kube/objects.h"
#include "kube/pod_requests.h"
#include "kube/same.h"
#include "store/builtin.h"
#include "store/metadata.h"

namespace trainyard::store {

using kube::text_at;

namespace {

using Amounts = kube::Resources;

constexpr std::string_view kContainerLists[] = {"initContainers", "containers"};

bool is_resizable(std::string_view resource) { return resource == "cpu" || resource == "memory"; }

const json::array& list_of(const json::object& pod, std::string_view name) {
  return kube::or_empty(kube::array_at(pod, {"spec", name}));
}

std::string_view name_at(const json::array& containers, size_t i) {
  const json::object* container = containers[i].if_object();
  return container == nullptr ? "" : text_at(*container, {"name"});
}

bool are_same_containers(const json::array& a, const json::array& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!a[i].is_object() || name_at(a, i) != name_at(b, i)) return false;
  }
  return true;
}

Amounts amounts_of(const json::object& container, std::string_view which) {
  return kube::decode_resources(kube::object_at(container, {"resources", which}));
}

// Whatever is in their place, even if it is no amount.
bool are_removed(const json::object& container, const json::object& before, std::string_view which) {
  const json::object* now = kube::object_at(container, {"resources", which});
  const json::object* then = kube::object_at(before, {"resources", which});
  return then != nullptr && std::any_of(then->begin(), then->end(), [&](const json::key_value_pair& each) {
           return now == nullptr || !now->contains(each.key());
         });
}

Amounts without_resizable(Amounts amounts) {
  std::erase_if(amounts, [](const auto& each) { return is_resizable(each.first); });
  return amounts;
}

std::string_view memory_policy_of(const json::object& container) {
  const json::array* policies = kube::array_at(container, {"resizePolicy"});
  for (size_t i = 0; policies != nullptr && i < policies->size(); ++i) {
    const json::object* one = (*policies)[i].if_object();
    if (one != nullptr && text_at(*one, {"resourceName"}) == "memory")
      return text_at(*one, {"restartPolicy"});
  }
  return "";
}

void check_memory_limit(const json::object& container, const Amounts& now, const Amounts& then,
                        const std::string& path, Causes& causes) {
  auto limit = now.find("memory");
  auto old = then.find("memory");
  if (limit == now.end() || memory_policy_of(container) == "RestartContainer") return;
  std::string_view how = old == then.end() ? "added" : limit->second < old->second ? "decreased" : "";
  if (how.empty()) return;
  causes.push_back(forbidden_value(
      path + ".limits[memory]",
      fmt::format("memory limits cannot be {} unless resizePolicy is RestartContainer", how)));
}

void check_amounts(const json::object& container, const json::object& before, const std::string& path,
                   Causes& causes) {
  for (std::string_view which : {"requests", "limits"}) {
    if (!are_removed(container, before, which)) continue;
    causes.push_back(forbidden_value(fmt::format("{}.{}", path, which),
                                     fmt::format("resource {} cannot be removed", which)));
  }
  check_memory_limit(container, amounts_of(container, "limits"), amounts_of(before, "limits"), path, causes);
}

// Whether more than amounts of CPU and memory differs.
bool changes_more(const json::object& container, const json::object& before) {
  auto differs = [&](std::string_view which) {
    return without_resizable(amounts_of(container, which)) != without_resizable(amounts_of(before, which));
  };
  const json::value* claims = kube::find(container, {"resources", "claims"});
  const json::value* old_claims = kube::find(before, {"resources", "claims"});
  const bool same_claims =
      claims == nullptr || old_claims == nullptr ? claims == old_claims : kube::same(*claims, *old_claims);
  return differs("requests") || differs("limits") || !same_claims ||
         !same_member(container, before, "resizePolicy");
}

bool changes_amounts(const json::object& container, const json::object& before) {
  return amounts_of(container, "requests") != amounts_of(before, "requests") ||
         amounts_of(container, "limits") != amounts_of(before, "limits");
}

void check_container(const json::object& container, const json::object& before, bool init,
                     const std::string& path, Causes& causes) {
  const bool stays = !init || text_at(before, {"restartPolicy"}) == "Always";
  if (stays) check_amounts(container, before, path + ".resources", causes);
  const bool more = changes_more(container, before);
  if (!stays && (more || changes_amounts(container, before))) {
    causes.push_back(forbidden_value("spec", "resources for non-sidecar init containers are immutable"));
  } else if (more) {
    causes.push_back(
        forbidden_value("spec", init ? "only cpu and memory resources for sidecar containers are mutable"
                                     : "only cpu and memory resources are mutable"));
  }
}

void check_order(const json::array& now, const json::array& then, std::string_view list, Causes& causes) {
  const std::string path = fmt::format("spec.{}", list);
  if (now.size() != then.size()) {
    causes.push_back(forbidden_value(path, fmt::format("{} may not be added or removed on resize", list)));
    return;
  }
  for (size_t i = 0; i < then.size(); ++i) {
    if (name_at(now, i) == name_at(then, i)) continue;
    causes.push_back(forbidden_value(fmt::format("{}[{}].name", path, i),
                                     fmt::format("{} may not be renamed or reordered on resize", list)));
  }
}

// A container that runs says what it was given, where the node can change it.
bool can_node_resize(const json::object& pod) {
  const json::array* statuses = kube::array_at(pod, {"status", "containerStatuses"});
  for (size_t i = 0; statuses != nullptr && i < statuses->size(); ++i) {
    const json::object* status = (*statuses)[i].if_object();
    if (status == nullptr || kube::object_at(*status, {"state", "running"}) == nullptr) continue;
    return kube::object_at(*status, {"resources"}) != nullptr;
  }
  return true;
}

// Why a pod can be resized in no way; "" when it can.
std::string_view never_resized(const json::object& pod, const json::object& before) {
  for (const json::object* each : {&before, &pod}) {
    for (std::string_view which : {"requests", "limits"}) {
      const json::object* amounts = kube::object_at(*each, {"spec", "resources", which});
      if (amounts != nullptr && !amounts->empty()) return "pods with pod-level resources cannot be resized";
    }
  }
  if (kube::find(before, {"metadata", "annotations", "kubernetes.io/config.mirror"}) != nullptr) {
    return "static pods cannot be resized";
  }
  return text_at(before, {"spec", "os", "name"}) == "windows" ? "windows pods cannot be resized" : "";
}

void check_containers_of(const json::object& pod, const json::object& before, Causes& causes) {
  Causes disorder;
  for (std::string_view list : {"containers", "initContainers"}) {
    check_order(list_of(pod, list), list_of(before, list), list, disorder);
  }
  causes.insert(causes.end(), disorder.begin(), disorder.end());
  if (!disorder.empty()) return;
  for (std::string_view list : kContainerLists) {
    const json::array& now = list_of(pod, list);
    const json::array& then = list_of(before, list);
    for (size_t i = 0; i < now.size(); ++i) {
      check_container(now[i].get_object(), then[i].get_object(), list == "initContainers",
                      fmt::format("spec.{}[{}]", list, i), causes);
    }
  }
}

}  // namespace

json::object with_resources(const json::object& before, json::object body) {
  json::object after = copy_of(before);
  for (std::string_view list : kContainerLists) {
    const json::array& now = list_of(body, list);
    const json::array& then = list_of(before, list);
    if (then.empty() && now.empty()) continue;
    json::object& spec = kube::ensure_object(after, {"spec"});
    if (!are_same_containers(now, then)) {
      spec[kube::jview(list)] = now;
      continue;
    }
    for (size_t i = 0; i < now.size(); ++i) {
      json::object& container = spec[kube::jview(list)].get_array()[i].get_object();
      keep_member(container, now[i].get_object(), "resources");
      keep_member(container, now[i].get_object(), "resizePolicy");
    }
  }
  keep_member(kube::ensure_object(after, {"metadata"}), kube::ensure_object(body, {"metadata"}),
              "managedFields");
  return after;
}

Causes admit_resize(json::object& pod, const json::object& before) {
  Causes causes;
  const json::object* old = kube::object_at(before, {"spec"});
  json::object& spec = kube::ensure_object(pod, {"spec"});
  if (old != nullptr && kube::same(*old, spec)) return causes;
  default_pod_spec(spec);
  check_pod_spec(spec, causes);
  if (std::string_view why = never_resized(pod, before); !why.empty()) return {forbidden_value("", why)};
  std::string_view quality = text_at(before, {"status", "qosClass"});
  if (quality.empty()) quality = kube::qos_class_of(before);
  if (quality != kube::qos_class_of(pod)) {
    causes.push_back(invalid_value("spec", json::value(kube::jview(quality)),
                                   "Pod QOS Class may not change as a result of resizing"));
  }
  if (!can_node_resize(before)) {
    causes.push_back(forbidden_value("spec", "Pod running on node without support for resize"));
  }
  check_containers_of(pod, before, causes);
  return causes;
}

void check_resize_policy(const json::object& container, const std::string& path,
                         std::string_view restart_policy, Causes& causes) {
  const json::array* policies = kube::array_at(container, {"resizePolicy"});
  const std::string at = path + ".resizePolicy";
  std::set<std::string> names;
  for (size_t i = 0; policies != nullptr && i < policies->size(); ++i) {
    static const json::object kEmpty;
    const json::object* one = (*policies)[i].if_object();
    if (one == nullptr) one = &kEmpty;
    std::string name(text_at(*one, {"resourceName"}));
    if (!names.insert(name).second) {
      causes.push_back(duplicate_value(fmt::format("{}[{}]", at, i), json::value(name)));
    }
    if (name.empty()) {
      causes.push_back(required(at));
    } else if (!is_resizable(name)) {
      causes.push_back(unsupported_value(at, name, {"cpu", "memory"}));
    }
    std::string_view policy = text_at(*one, {"restartPolicy"});
    if (policy.empty()) {
      causes.push_back(required(at));
    } else if (policy != "NotRequired" && policy != "RestartContainer") {
      causes.push_back(unsupported_value(at, policy, {"NotRequired", "RestartContainer"}));
    }
    if (restart_policy == "Never" && policy != "NotRequired") {
      causes.push_back(invalid_value(at, json::value(kube::jview(policy)),
                                     "must be 'NotRequired' when `restartPolicy` is 'Never'"));
    }
  }
}

}  // namespace trainyard::store
