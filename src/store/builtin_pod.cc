// Pods: defaults, validation, and what an update may change.
#include "kube/access.h"
#include "kube/placement_parts.h"
#include "kube/pod_parts.h"
#include "kube/pod_requests.h"
#include "kube/quantity.h"
#include "kube/volume_parts.h"
#include "store/builtin.h"
#include "store/errors.h"
#include "store/resize.h"

namespace trainyard::store {

using kube::jview;
using kube::text_at;
using kube::view;

namespace {

constexpr std::string_view kUpdateRule =
    "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";
constexpr std::string_view kDebugRule =
    "ephemeral containers are added to a pod that is there; they may not be changed or removed";
constexpr std::string_view kPortRule = "must be between 1 and 65535, inclusive";
// How many members may be added: room for all is made once.
constexpr size_t kContainerDefaults = 4;
constexpr size_t kSpecDefaults = 7;

void default_probe(json::object& container, std::string_view which) {
  json::value* value = container.if_contains(jview(which));
  if (value == nullptr || !value->is_object()) return;
  json::object& probe = value->get_object();
  set_default(probe, "timeoutSeconds", 1);
  set_default(probe, "periodSeconds", 10);
  set_default(probe, "successThreshold", 1);
  set_default(probe, "failureThreshold", 3);
  if (json::value* get = probe.if_contains("httpGet"); get != nullptr && get->is_object()) {
    set_default(get->get_object(), "path", "/");
    set_default(get->get_object(), "scheme", "HTTP");
  }
}

// A request that is not written is as large as the limit.
void default_requests(json::object& container) {
  json::object& resources = kube::ensure_object(container, {"resources"});
  const json::object* limits = kube::object_at(resources, {"limits"});
  if (limits == nullptr || limits->empty()) return;
  const json::object copy = *limits;
  json::object& requests = kube::ensure_object(resources, {"requests"});
  for (const json::key_value_pair& limit : copy) set_default(requests, view(limit.key()), limit.value());
}

void default_container(json::object& container) {
  container.reserve(container.size() + kContainerDefaults);
  set_default(container, "terminationMessagePath", "/dev/termination-log");
  set_default(container, "terminationMessagePolicy", "File");
  std::string_view image = text_at(container, {"image"});
  size_t slash = image.rfind('/');
  std::string_view last = image.substr(slash == image.npos ? 0 : slash + 1);
  const bool is_newest =
      last.find('@') == last.npos && (last.find(':') == last.npos || last.ends_with(":latest"));
  set_default(container, "imagePullPolicy", is_newest ? "Always" : "IfNotPresent");
  default_requests(container);
  for (std::string_view probe : {"livenessProbe", "readinessProbe", "startupProbe"}) {
    default_probe(container, probe);
  }
  if (json::value* ports = container.if_contains("ports"); ports != nullptr && ports->is_array()) {
    for (json::value& port : ports->get_array()) {
      if (port.is_object()) set_default(port.get_object(), "protocol", "TCP");
    }
  }
  if (json::value* env = container.if_contains("env"); env != nullptr && env->is_array()) {
    for (json::value& entry : env->get_array()) {
      if (!entry.is_object() || kube::object_at(entry.get_object(), {"valueFrom", "fieldRef"}) == nullptr)
        continue;
      set_default(kube::ensure_object(entry.get_object(), {"valueFrom", "fieldRef"}), "apiVersion", "v1");
    }
  }
}

void default_volume(json::object& volume) {
  if (!kube::has_source(volume)) volume["emptyDir"].emplace_object();
  for (std::string_view source : {"configMap", "secret", "projected", "downwardAPI"}) {
    json::value* value = volume.if_contains(jview(source));
    if (value != nullptr && value->is_object()) set_default(value->get_object(), "defaultMode", 420);
  }
  if (json::value* path = volume.if_contains("hostPath"); path != nullptr && path->is_object()) {
    set_default(path->get_object(), "type", "");
  }
}

template <typename Visit>
void each_object(json::object& spec, std::string_view list, Visit visit) {
  json::value* found = spec.if_contains(jview(list));
  if (found == nullptr || !found->is_array()) return;
  for (json::value& entry : found->get_array()) {
    if (entry.is_object()) visit(entry.get_object());
  }
}

}  // namespace

void default_pod_spec(json::object& spec) {
  spec.reserve(spec.size() + kSpecDefaults);
  set_default(spec, "restartPolicy", "Always");
  set_default(spec, "terminationGracePeriodSeconds", 30);
  set_default(spec, "dnsPolicy", "ClusterFirst");
  set_default(spec, "schedulerName", "default-scheduler");
  set_default(spec, "serviceAccountName", "default");
  set_default(spec, "securityContext", json::object{});
  set_default(spec, "enableServiceLinks", true);
  for (std::string_view list : {"containers", "initContainers", "ephemeralContainers"}) {
    each_object(spec, list, default_container);
  }
  each_object(spec, "volumes", default_volume);
}

namespace {

void add_faults(const kube::PartFaults& faults, const std::string& path, Causes& causes) {
  using Kind = kube::PartFault::Kind;
  for (const kube::PartFault& fault : faults) {
    const std::string at = fmt::format("{}.{}", path, fault.path);
    switch (fault.kind) {
      case Kind::kRequired:
        causes.push_back(required(at, fault.why));
        break;
      case Kind::kInvalid:
        causes.push_back(invalid_value(at, fault.value, fault.why));
        break;
      case Kind::kForbidden:
        causes.push_back(forbidden_value(at, fault.why));
        break;
      case Kind::kUnsupported:
        causes.push_back(unsupported_value(at, view(fault.value.get_string()), fault.supported));
        break;
    }
  }
}

void check_resources(const json::object& container, const std::string& path, Causes& causes) {
  for (std::string_view which : {"limits", "requests"}) {
    const json::object* list = kube::object_at(container, {"resources", which});
    if (list == nullptr) continue;
    for (const json::key_value_pair& entry : *list) {
      std::string at = fmt::format("{}.resources.{}[{}]", path, which, kube::shown(view(entry.key())));
      Result<kube::Quantity> amount = kube::Quantity::from_json(entry.value());
      if (!amount.ok()) {
        causes.push_back(invalid_value(at, entry.value(), "must be a quantity"));
        continue;
      }
      if (amount->is_negative()) {
        causes.push_back(invalid_value(at, entry.value(), "must be greater than or equal to 0"));
      }
      const json::value* limit = kube::find(container, {"resources", "limits", view(entry.key())});
      if (which == "limits" || limit == nullptr) continue;
      Result<kube::Quantity> most = kube::Quantity::from_json(*limit);
      if (most.ok() && *most < *amount) {
        causes.push_back(invalid_value(fmt::format("{}.resources.requests", path), entry.value(),
                                       fmt::format("must be less than or equal to {} limit of {}",
                                                   view(entry.key()), most->to_string())));
      }
    }
  }
}

void check_mounts(const json::object& container, const std::string& path,
                  const std::set<std::string>& volumes, Causes& causes) {
  const json::array* mounts = kube::array_at(container, {"volumeMounts"});
  if (mounts == nullptr) return;
  std::set<std::string> paths;
  for (size_t i = 0; i < mounts->size(); ++i) {
    const json::object* mount = (*mounts)[i].if_object();
    std::string at = fmt::format("{}.volumeMounts[{}]", path, i);
    if (mount == nullptr) {
      causes.push_back(required(at));
      continue;
    }
    std::string name(text_at(*mount, {"name"}));
    std::string where(text_at(*mount, {"mountPath"}));
    if (name.empty()) causes.push_back(required(at + ".name"));
    if (!volumes.contains(name)) {
      causes.push_back(
          {"FieldValueNotFound", fmt::format("Not found: \"{}\"", kube::shown(name)), at + ".name"});
    }
    if (where.empty()) causes.push_back(required(at + ".mountPath"));
    if (!where.empty() && !paths.insert(where).second) {
      causes.push_back(invalid_value(at + ".mountPath", json::value(where), "must be unique"));
    }
  }
}

void check_env_and_ports(const json::object& container, const std::string& path, Causes& causes) {
  if (const json::array* env = kube::array_at(container, {"env"})) {
    for (size_t i = 0; i < env->size(); ++i) {
      const json::object* entry = (*env)[i].if_object();
      if (entry == nullptr || text_at(*entry, {"name"}).empty()) {
        causes.push_back(required(fmt::format("{}.env[{}].name", path, i)));
      }
    }
  }
  if (const json::array* ports = kube::array_at(container, {"ports"})) {
    for (size_t i = 0; i < ports->size(); ++i) {
      const json::object* port = (*ports)[i].if_object();
      std::string at = fmt::format("{}.ports[{}].containerPort", path, i);
      const json::value* number = port == nullptr ? nullptr : port->if_contains("containerPort");
      if (number == nullptr) {
        causes.push_back(required(at));
        continue;
      }
      int64_t n = kube::as_whole(*number).value_or(0);
      if (n < 1 || n > 65535) causes.push_back(invalid_value(at, *number, kPortRule));
    }
  }
}

void check_containers(const json::object& spec, std::string_view list, const std::set<std::string>& volumes,
                      std::set<std::string>& names, Causes& causes) {
  const json::array* containers = kube::array_at(spec, {list});
  if (containers == nullptr) return;
  for (size_t i = 0; i < containers->size(); ++i) {
    std::string path = fmt::format("spec.{}[{}]", list, i);
    const json::object* container = (*containers)[i].if_object();
    if (container == nullptr) {
      causes.push_back(required(path));
      continue;
    }
    std::string name(text_at(*container, {"name"}));
    if (name.empty()) {
      causes.push_back(required(path + ".name"));
    } else if (!is_dns_label(name)) {
      causes.push_back(invalid_value(path + ".name", json::value(name), kDnsLabelRule));
    } else if (!names.insert(name).second) {
      causes.push_back(duplicate_value(path + ".name", json::value(name)));
    }
    if (text_at(*container, {"image"}).empty()) causes.push_back(required(path + ".image"));
    std::string_view pull = text_at(*container, {"imagePullPolicy"});
    if (pull != "Always" && pull != "IfNotPresent" && pull != "Never") {
      causes.push_back(
          unsupported_value(path + ".imagePullPolicy", pull, {"Always", "IfNotPresent", "Never"}));
    }
    check_env_and_ports(*container, path, causes);
    check_mounts(*container, path, volumes, causes);
    add_faults(kube::container_faults(*container), path, causes);
    check_resources(*container, path, causes);
    check_resize_policy(*container, path, text_at(spec, {"restartPolicy"}), causes);
  }
}

// The names of those that mounts can name: a volume that is refused itself is none.
std::set<std::string> check_volumes(const json::object& spec, Causes& causes) {
  std::set<std::string> names;
  const json::array* volumes = kube::array_at(spec, {"volumes"});
  if (volumes == nullptr) return names;
  for (size_t i = 0; i < volumes->size(); ++i) {
    const json::object* volume = (*volumes)[i].if_object();
    const size_t before = causes.size();
    if (volume != nullptr) {
      add_faults(kube::volume_faults(*volume), fmt::format("spec.volumes[{}]", i), causes);
    }
    std::string at = fmt::format("spec.volumes[{}].name", i);
    std::string name(volume == nullptr ? "" : text_at(*volume, {"name"}));
    if (name.empty()) {
      causes.push_back(required(at));
    } else if (!is_dns_label(name)) {
      causes.push_back(invalid_value(at, json::value(name), kDnsLabelRule));
    } else if (names.contains(name)) {
      causes.push_back(duplicate_value(at, json::value(name)));
    }
    if (causes.size() == before) names.insert(std::move(name));
  }
  return names;
}

}  // namespace

void check_pod_spec(const json::object& spec, Causes& causes) {
  const json::array* containers = kube::array_at(spec, {"containers"});
  if (containers == nullptr || containers->empty()) causes.push_back(required("spec.containers"));
  std::set<std::string> volumes = check_volumes(spec, causes);
  std::set<std::string> names;
  check_containers(spec, "initContainers", volumes, names, causes);
  check_containers(spec, "containers", volumes, names, causes);
  check_containers(spec, "ephemeralContainers", volumes, names, causes);
  add_faults(kube::placement_faults(spec), "spec", causes);
  std::string_view policy = text_at(spec, {"restartPolicy"});
  if (policy != "Always" && policy != "OnFailure" && policy != "Never") {
    causes.push_back(unsupported_value("spec.restartPolicy", policy, {"Always", "OnFailure", "Never"}));
  }
  for (std::string_view field : {"terminationGracePeriodSeconds", "activeDeadlineSeconds"}) {
    const json::value* value = spec.if_contains(jview(field));
    if (value == nullptr || value->is_null()) continue;
    const int64_t least = field == "activeDeadlineSeconds" ? 1 : 0;
    if (kube::as_whole(*value).value_or(-1) >= least) continue;
    causes.push_back(invalid_value(
        fmt::format("spec.{}", field), *value,
        least == 1 ? "must be between 1 and 2147483647, inclusive" : "must be greater than or equal to 0"));
  }
}

namespace {

// The spec without what may change: images, deadlines, tolerations, where the pod is bound.
json::object fixed_part(const json::object& spec, const json::object& before) {
  json::object fixed = spec;
  for (std::string_view list : {"containers", "initContainers"}) {
    each_object(fixed, list, [](json::object& container) { container.erase("image"); });
  }
  fixed.erase("ephemeralContainers");
  fixed.erase("activeDeadlineSeconds");
  fixed.erase("tolerations");
  if (text_at(before, {"nodeName"}).empty()) fixed.erase("nodeName");
  fixed.erase("schedulingGates");
  return fixed;
}

// Each that was there is there as it was: they are added, never changed.
bool keeps_all(const json::object& spec, const json::object& before, std::string_view list) {
  const json::array* old = kube::array_at(before, {list});
  const json::array* all = kube::array_at(spec, {list});
  if (old == nullptr || old->empty()) return true;
  return all != nullptr && std::all_of(old->begin(), old->end(), [&](const json::value& one) {
           return std::find(all->begin(), all->end(), one) != all->end();
         });
}

void check_update(const json::object& spec, const json::object& before, Causes& causes) {
  json::object then = fixed_part(before, before);
  json::object now = fixed_part(spec, before);
  if (now != then || !keeps_all(spec, before, "tolerations")) {
    causes.push_back(forbidden_value("spec", kUpdateRule));
  }
  if (!keeps_all(spec, before, "ephemeralContainers")) {
    causes.push_back(forbidden_value("spec.ephemeralContainers", kDebugRule));
  }
}

}  // namespace

Causes admit_pod(json::object& pod, const json::object* before) {
  Causes causes;
  json::value* given = pod.if_contains("spec");
  if (given == nullptr || !given->is_object()) {
    causes.push_back(required("spec.containers"));
    return causes;
  }
  json::object& spec = given->get_object();
  if (before != nullptr) {
    const json::object* old = kube::object_at(*before, {"spec"});
    if (old != nullptr && *old == spec) return causes;
    default_pod_spec(spec);
    check_pod_spec(spec, causes);
    if (causes.empty() && old != nullptr) check_update(spec, *old, causes);
    return causes;
  }
  default_pod_spec(spec);
  check_pod_spec(spec, causes);
  const json::array* debug = kube::array_at(spec, {"ephemeralContainers"});
  if (debug != nullptr && !debug->empty()) {
    causes.push_back(forbidden_value("spec.ephemeralContainers", kDebugRule));
  }
  if (causes.empty()) kube::ensure_object(pod, {"status"})["qosClass"] = kube::jview(kube::qos_class_of(pod));
  return causes;
}

}  // namespace trainyard::store
