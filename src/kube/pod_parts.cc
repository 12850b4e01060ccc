#include "kube/pod_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

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

constexpr std::array<std::string_view, 3> kRestartPolicies{"Always", "OnFailure", "Never"};

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// What is asked, and where: of a probe or a hook.
void check_handler(const json::object& owner, const std::string& at, PartFaults& faults) {
  if (const json::object* exec = object_at(owner, {"exec"})) {
    const json::value* command = exec->if_contains("command");
    const json::array* words = command == nullptr ? nullptr : command->if_array();
    if (command == nullptr || command->is_null() || (words != nullptr && words->empty()))
      add_required(faults, at + ".exec.command");
  }
  for (std::string_view handler : {"httpGet", "tcpSocket", "grpc"}) {
    const json::object* asked = object_at(owner, {handler});
    if (asked == nullptr) continue;
    const std::string place = fmt::format("{}.{}.port", at, handler);
    const json::value* port = asked->if_contains("port");
    if (port == nullptr || port->is_null()) {
      add_required(faults, place);
    } else if (std::optional<int64_t> number = as_whole(*port); number && (*number < 1 || *number > 65535)) {
      add_invalid_value(faults, place, *port, "must be between 1 and 65535, inclusive");
    }
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
    check_handler(*probe, std::string(which), faults);
    for (std::string_view number :
         {"initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"}) {
      const json::value* given = probe->if_contains(jview(number));
      std::optional<int64_t> count = given == nullptr ? std::nullopt : as_whole(*given);
      if (!count || *count >= 0) continue;
      add_invalid_value(faults, fmt::format("{}.{}", which, number), *given,
                        "must be greater than or equal to 0");
    }
  }
}

void check_hooks(const json::object& container, PartFaults& faults) {
  for (std::string_view which : {"postStart", "preStop"}) {
    const json::object* hook = object_at(container, {"lifecycle", which});
    if (hook == nullptr) continue;
    const std::string at = fmt::format("lifecycle.{}", which);
    int handlers = 0;
    for (std::string_view handler : {"exec", "httpGet", "tcpSocket", "sleep"}) {
      if (!is_there(*hook, handler) || ++handlers == 1) continue;
      add_forbidden(faults, fmt::format("{}.{}", at, handler), "may not specify more than 1 handler type");
    }
    if (handlers == 0) add_required(faults, at, "must specify a handler type");
    check_handler(*hook, at, faults);
  }
}

// What a container is begun with.
void check_start(const json::object& container, PartFaults& faults) {
  std::string_view image = text_at(container, {"image"});
  if (!image.empty() && (is_blank(image.front()) || is_blank(image.back()))) {
    add_invalid(faults, "image", image, "must not have leading or trailing whitespace");
  }
  std::string_view policy = text_at(container, {"restartPolicy"});
  if (!policy.empty() && policy != "Always" && policy != "OnFailure" && policy != "Never") {
    add_unsupported(faults, "restartPolicy", policy, kRestartPolicies);
  }
  for (std::string_view who : {"runAsUser", "runAsGroup"}) {
    std::optional<int64_t> id = int_at(container, {"securityContext", who});
    if (!id || (*id >= 0 && *id <= std::numeric_limits<int32_t>::max())) continue;
    add_invalid_value(faults, fmt::format("securityContext.{}", who), *id,
                      "must be between 0 and 2147483647, inclusive");
  }
}

}  // namespace

PartFaults container_faults(const json::object& container) {
  PartFaults faults;
  check_env(container, faults);
  check_mounts(container, faults);
  check_probes(container, faults);
  check_hooks(container, faults);
  check_start(container, faults);
  return faults;
}

}  // namespace trainyard::kube
