#include "kube/kept_only.h"

#include <fmt/format.h>

#include <algorithm>

#include "kube/access.h"

namespace trainyard::kube {
namespace {

constexpr std::string_view kLimits[] = {"ResourceQuota", "LimitRange", "NetworkPolicy",
                                        "PodDisruptionBudget"};

// "port 80 is 8080" for each port that a cluster would turn into another.
std::string other_ports(const json::object& service) {
  std::string text;
  for (const json::value& entry : or_empty(array_at(service, {"spec", "ports"}))) {
    const json::object* port = entry.if_object();
    if (port == nullptr) continue;
    std::optional<int64_t> target = int_at(*port, {"targetPort"});
    std::optional<int64_t> own = int_at(*port, {"port"});
    if (!target || !own || *target == *own) continue;
    text += fmt::format("{}{}, not {}", text.empty() ? "" : "; ", *target, *own);
  }
  return text;
}

bool has_address(const json::object& service) {
  return text_at(service, {"spec", "clusterIP"}) != "None" &&
         text_at(service, {"spec", "type"}) != "ExternalName";
}

}  // namespace

std::vector<std::string> kept_only(std::string_view group, std::string_view kind,
                                   const json::object& object) {
  if (group == "apps" || group == "batch") {
    return {fmt::format(
        "a {} is only kept here: no controller of Trainyard acts on it, so no pod will come of it", kind)};
  }
  if (std::find(std::begin(kLimits), std::end(kLimits), kind) != std::end(kLimits)) {
    return {fmt::format("a {} is only kept here: Trainyard does not enforce it", kind)};
  }
  if (!group.empty() || kind != "Service" || !has_address(object)) return {};
  std::string ports = other_ports(object);
  return {
      fmt::format("a Service has no address of its own here: its name leads to one of its pods, on the "
                  "ports of that pod{}{}{}",
                  ports.empty() ? "" : " (", ports, ports.empty() ? "" : ")")};
}

}  // namespace trainyard::kube
