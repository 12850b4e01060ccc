#include "kube/pod_requests.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>

#include "kube/access.h"
#include "kube/objects.h"
#include "kube/same.h"

namespace trainyard::kube {
namespace {

// Sums stay within int64, whatever a pod asks for.
void add_amount(int64_t& sum, int64_t more) {
  constexpr auto kLimits = std::numeric_limits<int64_t>();
  int64_t out = 0;
  sum = __builtin_add_overflow(sum, more, &out) ? (more > 0 ? kLimits.max() : kLimits.min()) : out;
}
void add_all(Requests& sum, const Requests& more) {
  for (const auto& [name, amount] : more) add_amount(sum[name], amount);
}
void raise_to(Requests& sum, const Requests& least) {
  for (const auto& [name, amount] : least) sum[name] = std::max(sum[name], amount);
}

Requests requests_of_container(const json::object& container) {
  Requests out;
  for (std::string_view part : {"limits", "requests"}) {
    for (const auto& [name, quantity] : decode_resources(object_at(container, {"resources", part}))) {
      out[name] = to_amount(name, quantity);
    }
  }
  return out;
}

// How the status tells of containers that can be resized: looked through once, whatever their number.
class Statuses {
 public:
  explicit Statuses(const json::object& pod) {
    for (bool init : {false, true}) {
      const json::array* statuses =
          array_at(pod, {"status", init ? "initContainerStatuses" : "containerStatuses"});
      for (size_t i = 0; statuses != nullptr && i < statuses->size(); ++i) {
        const json::object* status = (*statuses)[i].if_object();
        if (status != nullptr) by_name_[init].try_emplace(text_at(*status, {"name"}), status);
      }
    }
  }

  // Null when it does not tell of that one, or not what it has.
  const json::object* of(const json::object& container, bool init) const {
    auto found = by_name_[init].find(text_at(container, {"name"}));
    if (found == by_name_[init].end()) return nullptr;
    return object_at(*found->second, {"resources"}) == nullptr ? nullptr : found->second;
  }

 private:
  std::array<std::map<std::string_view, const json::object*>, 2> by_name_;
};

bool is_infeasible(const json::object& pod) {
  const json::array* conditions = array_at(pod, {"status", "conditions"});
  for (size_t i = 0; conditions != nullptr && i < conditions->size(); ++i) {
    const json::object* one = (*conditions)[i].if_object();
    if (one != nullptr && text_at(*one, {"type"}) == "PodResizePending")
      return text_at(*one, {"reason"}) == "Infeasible";
  }
  return false;
}

// What is counted for a container whose status tells what it has.
Requests requests_in_status(const json::object& pod, const json::object& container,
                            const json::object& status) {
  Requests out;
  if (!is_infeasible(pod)) out = requests_of_container(container);
  for (const json::object* given :
       {object_at(status, {"allocatedResources"}), object_at(status, {"resources", "requests"})}) {
    for (const auto& [name, quantity] : decode_resources(given)) {
      out[name] = std::max(out[name], to_amount(name, quantity));
    }
  }
  return out;
}

bool stays(const json::object& starter) { return text_at(starter, {"restartPolicy"}) == "Always"; }

// The pod's containers together, each counted by `count`.
template <typename Count>
Requests sum_of(const json::object& pod, Count count) {
  Requests sum;
  Requests sidecars;
  Requests while_starting;
  const json::array* containers = array_at(pod, {"spec", "containers"});
  for (size_t i = 0; containers != nullptr && i < containers->size(); ++i) {
    if (const json::object* one = (*containers)[i].if_object()) add_all(sum, count(*one, false));
  }
  const json::array* starters = array_at(pod, {"spec", "initContainers"});
  for (size_t i = 0; starters != nullptr && i < starters->size(); ++i) {
    const json::object* one = (*starters)[i].if_object();
    if (one == nullptr) continue;
    Requests wanted = count(*one, true);
    if (stays(*one)) add_all(sidecars, wanted);
    if (!stays(*one)) add_all(wanted, sidecars);
    raise_to(while_starting, stays(*one) ? sidecars : wanted);
  }
  add_all(sum, sidecars);
  raise_to(sum, while_starting);
  for (const auto& [name, quantity] : decode_resources(object_at(pod, {"spec", "overhead"}))) {
    add_amount(sum[name], to_amount(name, quantity));
  }
  return sum;
}

// Whether the two are the same list, absent being empty.
bool are_same(const json::object* a, const json::object* b) {
  if (a == nullptr || b == nullptr) return (a == nullptr || a->empty()) && (b == nullptr || b->empty());
  return same(*a, *b);
}

}  // namespace

int64_t to_amount(std::string_view resource, const Quantity& quantity) {
  return resource == "cpu" ? quantity.value_milli() : quantity.value();
}

Requests requests_of_spec(const json::object& pod) {
  return sum_of(pod, [](const json::object& container, bool) { return requests_of_container(container); });
}

Requests requests_of(const json::object& pod) {
  if (!is_resizing(pod)) return requests_of_spec(pod);
  const Statuses statuses(pod);
  return sum_of(pod, [&](const json::object& container, bool init) {
    const json::object* status = init && !stays(container) ? nullptr : statuses.of(container, init);
    return status == nullptr ? requests_of_container(container) : requests_in_status(pod, container, *status);
  });
}

bool is_resizing(const json::object& pod) {
  const Statuses statuses(pod);
  for (bool init : {false, true}) {
    const json::array* containers = array_at(pod, {"spec", init ? "initContainers" : "containers"});
    for (size_t i = 0; containers != nullptr && i < containers->size(); ++i) {
      const json::object* one = (*containers)[i].if_object();
      if (one == nullptr || (init && !stays(*one))) continue;
      const json::object* status = statuses.of(*one, init);
      if (status == nullptr) continue;
      const json::object* wanted = object_at(*one, {"resources", "requests"});
      const json::object* set_aside = object_at(*status, {"allocatedResources"});
      const json::object* given = object_at(*status, {"resources", "requests"});
      if ((set_aside != nullptr && !are_same(wanted, set_aside)) || !are_same(wanted, given)) return true;
    }
  }
  return false;
}

std::string_view qos_class_of(const json::object& pod) {
  bool any = false;
  bool guaranteed = true;
  for (std::string_view list : {"containers", "initContainers"}) {
    const json::array* containers = array_at(pod, {"spec", list});
    for (size_t i = 0; containers != nullptr && i < containers->size(); ++i) {
      const json::object* container = (*containers)[i].if_object();
      if (container == nullptr) continue;
      auto limits = decode_resources(object_at(*container, {"resources", "limits"}));
      auto requests = decode_resources(object_at(*container, {"resources", "requests"}));
      requests.insert(limits.begin(), limits.end());  // a request that is not written is the limit
      for (const char* resource : {"cpu", "memory"}) {
        auto limit = limits.find(resource);
        auto request = requests.find(resource);
        const bool is_bound = limit != limits.end() && !limit->second.is_zero();
        any = any || is_bound || (request != requests.end() && !request->second.is_zero());
        guaranteed = guaranteed && is_bound && request->second == limit->second;
      }
    }
  }
  if (!any) return "BestEffort";
  return guaranteed ? "Guaranteed" : "Burstable";
}

}  // namespace trainyard::kube
