#include "dialect/volcano/min_resources.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "kube/access.h"
#include "kube/objects.h"
#include "kube/quantity.h"

namespace trainyard::dialect::vc {
namespace {

using Amounts = kube::Resources;

// What is beyond counting stays what it was: no node has it.
void add(Amounts& sum, const std::string& key, const kube::Quantity& amount) {
  auto [entry, fresh] = sum.emplace(key, amount);
  if (fresh) return;
  Result<kube::Quantity> whole = entry->second.plus(amount);
  if (whole.ok()) entry->second = *whole;
}

void add_times(Amounts& sum, const Amounts& each, int times) {
  for (const auto& [key, amount] : each) {
    Result<kube::Quantity> product = amount.times(times);
    if (product.ok()) add(sum, key, *product);
  }
}

struct Asked {
  Amounts requests;
  Amounts limits;
};

Asked asked_by(const json::object& container) {
  Asked asked;
  asked.requests = kube::decode_resources(kube::object_at(container, {"resources", "requests"}));
  asked.limits = kube::decode_resources(kube::object_at(container, {"resources", "limits"}));
  for (const auto& [key, amount] : asked.limits) asked.requests.emplace(key, amount);
  return asked;
}

void raise(Amounts& to, const Amounts& least) {
  for (const auto& [key, amount] : least) {
    auto [entry, fresh] = to.emplace(key, amount);
    if (!fresh && entry->second < amount) entry->second = amount;
  }
}

void add_asked(Asked& sum, const Asked& one) {
  add_times(sum.requests, one.requests, 1);
  add_times(sum.limits, one.limits, 1);
}

// As Kubernetes counts a pod: sidecars (init containers that always restart) throughout, another init
// container beside the sidecars before it, and what the pod itself costs.
Asked asked_by_pod(const json::object& pod_template) {
  Asked sum;
  Asked sidecars;
  Asked start;
  auto each = [&](std::string_view list, auto use) {
    const json::array* containers = kube::array_at(pod_template, {"spec", list});
    if (containers == nullptr) return;
    for (const json::value& entry : *containers) {
      if (const json::object* container = entry.if_object()) use(*container);
    }
  };
  each("containers", [&](const json::object& container) { add_asked(sum, asked_by(container)); });
  each("initContainers", [&](const json::object& container) {
    Asked moment = sidecars;
    add_asked(moment, asked_by(container));
    if (kube::text_at(container, {"restartPolicy"}) == "Always") sidecars = moment;
    raise(start.requests, moment.requests);
    raise(start.limits, moment.limits);
  });
  add_asked(sum, sidecars);
  raise(sum.requests, start.requests);
  raise(sum.limits, start.limits);
  Amounts overhead = kube::decode_resources(kube::object_at(pod_template, {"spec", "overhead"}));
  for (const auto& [key, amount] : overhead) {
    add(sum.requests, key, amount);
    if (sum.limits.contains(key)) add(sum.limits, key, amount);
  }
  return sum;
}

bool is_compute(std::string_view key) {
  return key == "cpu" || key == "memory" || key == "ephemeral-storage";
}

Amounts quota_form(const Asked& asked) {
  Amounts quota;
  quota["pods"] = kube::Quantity::of_whole(1);
  quota["count/pods"] = kube::Quantity::of_whole(1);
  for (const auto& [key, amount] : asked.requests) {
    quota[key] = amount;
    quota["requests." + key] = amount;
  }
  for (const auto& [key, amount] : asked.limits) {
    if (is_compute(key)) quota["limits." + key] = amount;
  }
  return quota;
}

// How many pods of each task are counted.
std::vector<int> counted(const Spec& spec, int min_member) {
  std::vector<int> taken(spec.tasks.size(), 0);
  int left = min_member;
  auto take = [&](size_t task, int most) {
    int now = std::clamp(most, 0, left);
    taken[task] += now;
    left -= now;
  };
  if (min_member >= spec.total_min_available()) {
    for (size_t i = 0; i < taken.size(); ++i) take(i, spec.tasks[i].min_available);
  }
  for (size_t i = 0; i < taken.size(); ++i) take(i, spec.tasks[i].replicas - taken[i]);
  return taken;
}

}  // namespace

std::map<std::string, std::string> min_resources(const Spec& spec, int min_member) {
  std::vector<int> taken = counted(spec, min_member);
  Amounts sum;
  for (size_t i = 0; i < taken.size(); ++i) {
    if (taken[i] > 0) add_times(sum, quota_form(asked_by_pod(*spec.tasks[i].pod_template)), taken[i]);
  }
  std::map<std::string, std::string> written;
  for (const auto& [key, amount] : sum) written[key] = amount.to_string();
  return written;
}

}  // namespace trainyard::dialect::vc
