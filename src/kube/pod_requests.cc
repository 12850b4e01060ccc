#include "kube/pod_requests.h"

#include <algorithm>
#include <limits>

#include "kube/access.h"
#include "kube/objects.h"

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

}  // namespace

int64_t to_amount(std::string_view resource, const Quantity& quantity) {
  return resource == "cpu" ? quantity.value_milli() : quantity.value();
}

Requests requests_of(const json::object& pod) {
  Requests sum;
  Requests sidecars;
  Requests while_starting;
  const json::array* containers = array_at(pod, {"spec", "containers"});
  for (size_t i = 0; containers != nullptr && i < containers->size(); ++i) {
    if (const json::object* one = (*containers)[i].if_object()) add_all(sum, requests_of_container(*one));
  }
  const json::array* starters = array_at(pod, {"spec", "initContainers"});
  for (size_t i = 0; starters != nullptr && i < starters->size(); ++i) {
    const json::object* one = (*starters)[i].if_object();
    if (one == nullptr) continue;
    Requests wanted = requests_of_container(*one);
    const bool stays = text_at(*one, {"restartPolicy"}) == "Always";
    if (stays) add_all(sidecars, wanted);
    if (!stays) add_all(wanted, sidecars);
    raise_to(while_starting, stays ? sidecars : wanted);
  }
  add_all(sum, sidecars);
  raise_to(sum, while_starting);
  for (const auto& [name, quantity] : decode_resources(object_at(pod, {"spec", "overhead"}))) {
    add_amount(sum[name], to_amount(name, quantity));
  }
  return sum;
}

}  // namespace trainyard::kube
