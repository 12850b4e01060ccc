#include "node/pod_resize.h"

#include <fmt/format.h>

#include "kube/access.h"
#include "kube/meta.h"
#include "kube/objects.h"
#include "node/pod_parts.h"

namespace trainyard::node {

using kube::text_at;

namespace {

kube::Resources amounts(const json::object& resources, std::string_view which) {
  return kube::decode_resources(kube::object_at(resources, {which}));
}

json::object resources_in(const json::object& holder) {
  const json::object* resources = kube::object_at(holder, {"resources"});
  return resources == nullptr ? json::object{} : *resources;
}

template <typename Visit>
void each_resizable(const json::object& pod, Visit visit) {
  for (bool init : {true, false}) {
    for (const json::object* container : containers_of(pod, init)) {
      if (!init || is_sidecar(*container)) visit(*container, init);
    }
  }
}

const json::object* status_in(const json::object& pod, std::string_view container, bool init) {
  for (const json::value& entry : kube::or_empty(
           kube::array_at(pod, {"status", init ? "initContainerStatuses" : "containerStatuses"}))) {
    const json::object* status = entry.if_object();
    if (status != nullptr && text_at(*status, {"name"}) == container) return status;
  }
  return nullptr;
}

// Whether the status says that the spec as it is now has been carried out.
bool is_carried_out(const json::object& pod) {
  std::optional<int64_t> seen = kube::int_at(pod, {"status", "observedGeneration"});
  if (!seen || *seen != kube::generation_of(pod)) return false;
  for (const json::value& entry : kube::or_empty(kube::array_at(pod, {"status", "conditions"}))) {
    std::string_view type = entry.is_object() ? text_at(entry.get_object(), {"type"}) : "";
    if (type == "PodResizePending" || type == "PodResizeInProgress") return false;
  }
  return true;
}

bool differs(const json::object& a, const json::object& b, std::string_view which, const char* resource) {
  kube::Resources left = amounts(a, which);
  kube::Resources right = amounts(b, which);
  auto l = left.find(resource);
  auto r = right.find(resource);
  if (l == left.end() || r == right.end()) return (l == left.end()) != (r == right.end());
  return l->second != r->second;
}

bool restarts_for(const json::object& container, std::string_view resource) {
  for (const json::value& entry : kube::or_empty(kube::array_at(container, {"resizePolicy"}))) {
    const json::object* policy = entry.if_object();
    if (policy == nullptr || text_at(*policy, {"resourceName"}) != resource) continue;
    return text_at(*policy, {"restartPolicy"}) == "RestartContainer";
  }
  return false;
}

}  // namespace

Allocation wanted_of(const json::object& pod) {
  Allocation out;
  each_resizable(pod, [&](const json::object& container, bool) {
    out[std::string(text_at(container, {"name"}))] = resources_in(container);
  });
  return out;
}

Allocation allocated_of(const json::object& pod) {
  if (is_carried_out(pod)) return wanted_of(pod);
  Allocation out;
  each_resizable(pod, [&](const json::object& container, bool init) {
    std::string name(text_at(container, {"name"}));
    const json::object* status = status_in(pod, name, init);
    if (status == nullptr || kube::object_at(*status, {"resources"}) == nullptr) {
      out[name] = resources_in(container);
      return;
    }
    json::object resources = resources_in(*status);
    if (const json::object* set_aside = kube::object_at(*status, {"allocatedResources"})) {
      resources["requests"] = *set_aside;
    }
    out[name] = std::move(resources);
  });
  return out;
}

json::object with_allocation(json::object pod, const Allocation& allocated) {
  json::object& spec = kube::ensure_object(pod, {"spec"});
  for (const char* list : {"initContainers", "containers"}) {
    json::value* containers = spec.if_contains(list);
    if (containers == nullptr || !containers->is_array()) continue;
    for (json::value& entry : containers->get_array()) {
      if (!entry.is_object()) continue;
      auto found = allocated.find(text_at(entry.get_object(), {"name"}));
      if (found != allocated.end()) entry.get_object()["resources"] = found->second;
    }
  }
  return pod;
}

bool are_same_resources(const json::object& a, const json::object& b) {
  return amounts(a, "requests") == amounts(b, "requests") && amounts(a, "limits") == amounts(b, "limits");
}

bool are_same_resources(const Allocation& a, const Allocation& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.first == y.first && are_same_resources(x.second, y.second);
  });
}

std::string_view name_of(ResizeState state) {
  switch (state) {
    case ResizeState::kDeferred:
      return "Deferred";
    case ResizeState::kInfeasible:
      return "Infeasible";
    case ResizeState::kNone:
    case ResizeState::kFits:
      break;
  }
  return "";
}

ResizeVerdict judge_resize(const ResizeQuestion& question) {
  struct Row {
    const char* name;
    int64_t wanted, held, used, capacity;
  };
  const Row memory{"memory", question.wanted.memory_bytes, question.held.memory_bytes,
                   question.used.memory_bytes, question.capacity.memory_bytes};
  const Row cpu{"cpu", question.wanted.cpu_millis, question.held.cpu_millis, question.used.cpu_millis,
                question.capacity.cpu_millis};
  auto grows = [&](const Row& row) {
    return row.wanted > row.held && !(question.overcommits_cpu && row.name == cpu.name);
  };
  for (const Row& row : {memory, cpu}) {
    if (!grows(row) || row.wanted <= row.capacity) continue;
    return {ResizeState::kInfeasible,
            fmt::format("Node didn't have enough capacity: {}, requested: {}, capacity: {}", row.name,
                        row.wanted, row.capacity)};
  }
  for (const Row& row : {cpu, memory}) {
    if (!grows(row) || row.used + row.wanted <= row.capacity) continue;
    return {ResizeState::kDeferred,
            fmt::format("Node didn't have enough resource: {}, requested: {}, used: {}, capacity: {}",
                        row.name, row.wanted, row.used, row.capacity)};
  }
  return {ResizeState::kFits, ""};
}

ResizeWay way_of_resize(const json::object& container, const json::object& applied,
                        const json::object& allocated) {
  const bool memory = differs(applied, allocated, "limits", "memory");
  const bool cpu =
      differs(applied, allocated, "limits", "cpu") || differs(applied, allocated, "requests", "cpu");
  if (!memory && !cpu) return ResizeWay::kNone;
  const bool restarts =
      (memory && restarts_for(container, "memory")) || (cpu && restarts_for(container, "cpu"));
  return restarts ? ResizeWay::kRestart : ResizeWay::kInPlace;
}

}  // namespace trainyard::node
