#include "kube/pod_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "kube/access.h"

namespace trainyard::kube {
namespace {

// Fields of a pod that a variable can be filled from.
constexpr std::array<std::string_view, 9> kFieldsForEnv{
    "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName",
    "status.hostIP", "status.hostIPs",     "status.podIP", "status.podIPs"};

void check_mounts(const json::object& container, PartFaults& faults) {
  const json::array* mounts = array_at(container, {"volumeMounts"});
  for (size_t i = 0; mounts != nullptr && i < mounts->size(); ++i) {
    const json::object* mount = (*mounts)[i].if_object();
    if (mount == nullptr || (!is_there(*mount, "subPath") && !is_there(*mount, "subPathExpr"))) continue;
    std::string at = fmt::format("volumeMounts[{}]", i);
    check_descending(text_at(*mount, {"subPath"}), at + ".subPath", faults);
    std::string_view expression = text_at(*mount, {"subPathExpr"});
    if (!expression.empty() && !text_at(*mount, {"subPath"}).empty()) {
      add_invalid(faults, at + ".subPathExpr", expression, "subPathExpr and subPath are mutually exclusive");
    }
    check_descending(expression, at + ".subPathExpr", faults);
  }
}

bool is_variable_name(std::string_view name) {
  return std::all_of(name.begin(), name.end(), [](char c) { return c >= ' ' && c <= '~' && c != '='; });
}

void check_env(const json::object& container, PartFaults& faults) {
  const json::array* env = array_at(container, {"env"});
  for (size_t i = 0; env != nullptr && i < env->size(); ++i) {
    const json::object* entry = (*env)[i].if_object();
    if (entry == nullptr) continue;
    std::string_view name = text_at(*entry, {"name"});
    if (!is_variable_name(name)) {
      add_invalid(
          faults, fmt::format("env[{}].name", i), name,
          "a valid environment variable name must consist only of printable ASCII characters other than "
          "'='");
    }
    const json::object* source = object_at(*entry, {"valueFrom", "fieldRef"});
    if (source == nullptr) continue;
    check_field_ref(*source, kFieldsForEnv, fmt::format("env[{}].valueFrom.fieldRef", i), faults);
  }
}

void check_probes(const json::object& container, PartFaults& faults) {
  for (std::string_view which : {"livenessProbe", "readinessProbe", "startupProbe"}) {
    const json::object* probe = object_at(container, {which});
    if (probe == nullptr) continue;
    int handlers = 0;
    for (std::string_view handler : {"exec", "httpGet", "tcpSocket", "grpc"}) {
      if (!is_there(*probe, handler) || ++handlers == 1) continue;
      add_forbidden(faults, fmt::format("{}.{}", which, handler), "may not specify more than 1 handler type");
    }
    if (handlers == 0) {
      add_required(faults, std::string(which), "must specify a handler type");
    }
  }
}

}  // namespace

PartFaults container_faults(const json::object& container) {
  PartFaults faults;
  check_env(container, faults);
  check_mounts(container, faults);
  check_probes(container, faults);
  return faults;
}

}  // namespace trainyard::kube
