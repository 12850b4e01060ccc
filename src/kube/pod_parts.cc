#include "kube/pod_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "kube/access.h"

namespace trainyard::kube {
namespace {

using Faults = std::vector<PartFault>;
using Kind = PartFault::Kind;

// In the order in which the real server looks at them.
constexpr std::array<std::string_view, 30> kSources{
    "emptyDir",
    "hostPath",
    "gitRepo",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "secret",
    "nfs",
    "iscsi",
    "glusterfs",
    "flocker",
    "persistentVolumeClaim",
    "rbd",
    "cinder",
    "cephfs",
    "quobyte",
    "downwardAPI",
    "fc",
    "flexVolume",
    "configMap",
    "azureFile",
    "vsphereVolume",
    "photonPersistentDisk",
    "portworxVolume",
    "azureDisk",
    "storageos",
    "projected",
    "scaleIO",
    "csi",
    "ephemeral",
    "image",
};

// Fields of a pod that a variable can be filled from.
constexpr std::array<std::string_view, 9> kFieldsForEnv{
    "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName",
    "status.hostIP", "status.hostIPs",     "status.podIP", "status.podIPs"};
// And those that there are, which cannot.
constexpr std::array<std::string_view, 5> kOtherFields{
    "metadata.annotations", "metadata.labels", "spec.restartPolicy", "spec.schedulerName", "status.phase"};

bool is_there(const json::object& in, std::string_view member) {
  const json::value* found = in.if_contains(jview(member));
  return found != nullptr && !found->is_null();
}

template <typename List>
bool contains(const List& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

bool goes_up(std::string_view path) {
  while (true) {
    size_t slash = path.find('/');
    if (path.substr(0, slash) == "..") return true;
    if (slash == path.npos) return false;
    path.remove_prefix(slash + 1);
  }
}

void add(Faults& faults, Kind kind, std::string path, std::string_view value, std::string why) {
  faults.push_back({kind, std::move(path), std::string(value), std::move(why), {}});
}

// A path that stays below where it begins.
void check_descending(const json::object& mount, std::string_view member, const std::string& at,
                      Faults& faults) {
  std::string_view path = text_at(mount, {member});
  if (path.empty()) return;
  std::string where = fmt::format("{}.{}", at, member);
  if (path.starts_with('/')) add(faults, Kind::kInvalid, where, path, "must be a relative path");
  if (goes_up(path)) add(faults, Kind::kInvalid, where, path, "must not contain '..'");
}

void check_mounts(const json::object& container, Faults& faults) {
  const json::array* mounts = array_at(container, {"volumeMounts"});
  for (size_t i = 0; mounts != nullptr && i < mounts->size(); ++i) {
    const json::object* mount = (*mounts)[i].if_object();
    if (mount == nullptr || (!is_there(*mount, "subPath") && !is_there(*mount, "subPathExpr"))) continue;
    std::string at = fmt::format("volumeMounts[{}]", i);
    check_descending(*mount, "subPath", at, faults);
    std::string_view expression = text_at(*mount, {"subPathExpr"});
    if (!expression.empty() && !text_at(*mount, {"subPath"}).empty()) {
      add(faults, Kind::kInvalid, at + ".subPathExpr", expression,
          "subPathExpr and subPath are mutually exclusive");
    }
    check_descending(*mount, "subPathExpr", at, faults);
  }
}

bool is_variable_name(std::string_view name) {
  return std::all_of(name.begin(), name.end(), [](char c) { return c >= ' ' && c <= '~' && c != '='; });
}

// "metadata.labels['app']" and the like are taken whatever the key is.
bool has_subscript(std::string_view path) {
  return (path.starts_with("metadata.labels['") || path.starts_with("metadata.annotations['")) &&
         path.ends_with("']");
}

void check_field(std::string_view path, std::string at, Faults& faults) {
  if (path.empty()) return add(faults, Kind::kRequired, std::move(at), "", "");
  if (contains(kFieldsForEnv, path) || has_subscript(path)) return;
  if (!contains(kOtherFields, path)) {
    return add(faults, Kind::kInvalid, std::move(at), path,
               fmt::format("error converting fieldPath: field label not supported: {}", shown(path)));
  }
  faults.push_back({Kind::kUnsupported, std::move(at), std::string(path), "", {}});
  faults.back().supported.assign(kFieldsForEnv.begin(), kFieldsForEnv.end());
}

void check_env(const json::object& container, Faults& faults) {
  const json::array* env = array_at(container, {"env"});
  for (size_t i = 0; env != nullptr && i < env->size(); ++i) {
    const json::object* entry = (*env)[i].if_object();
    if (entry == nullptr) continue;
    std::string_view name = text_at(*entry, {"name"});
    if (!is_variable_name(name)) {
      add(faults, Kind::kInvalid, fmt::format("env[{}].name", i), name,
          "a valid environment variable name must consist only of printable ASCII characters other than "
          "'='");
    }
    const json::object* source = object_at(*entry, {"valueFrom", "fieldRef"});
    if (source == nullptr) continue;
    check_field(text_at(*source, {"fieldPath"}), fmt::format("env[{}].valueFrom.fieldRef.fieldPath", i),
                faults);
  }
}

void check_probes(const json::object& container, Faults& faults) {
  for (std::string_view which : {"livenessProbe", "readinessProbe", "startupProbe"}) {
    const json::object* probe = object_at(container, {which});
    if (probe == nullptr) continue;
    int handlers = 0;
    for (std::string_view handler : {"exec", "httpGet", "tcpSocket", "grpc"}) {
      if (!is_there(*probe, handler) || ++handlers == 1) continue;
      add(faults, Kind::kForbidden, fmt::format("{}.{}", which, handler), "",
          "may not specify more than 1 handler type");
    }
    if (handlers == 0) {
      add(faults, Kind::kRequired, std::string(which), "", "must specify a handler type");
    }
  }
}

}  // namespace

std::vector<PartFault> volume_faults(const json::object& volume) {
  Faults faults;
  int sources = 0;
  for (std::string_view source : kSources) {
    if (!is_there(volume, source)) continue;
    if (++sources > 1) {
      add(faults, Kind::kForbidden, std::string(source), "", "may not specify more than 1 volume type");
    } else if (source == "hostPath" && goes_up(text_at(volume, {"hostPath", "path"}))) {
      add(faults, Kind::kInvalid, "hostPath.path", text_at(volume, {"hostPath", "path"}),
          "must not contain '..'");
    }
  }
  return faults;
}

bool has_source(const json::object& volume) {
  return std::any_of(kSources.begin(), kSources.end(),
                     [&](std::string_view source) { return is_there(volume, source); });
}

std::vector<PartFault> container_faults(const json::object& container) {
  Faults faults;
  check_env(container, faults);
  check_mounts(container, faults);
  check_probes(container, faults);
  return faults;
}

}  // namespace trainyard::kube
