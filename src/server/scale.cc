#include "server/scale.h"

#include <fmt/format.h>

#include <limits>

#include "kube/access.h"
#include "kube/meta.h"
#include "server/table_path.h"
#include "server/table_rows.h"

namespace trainyard::server {
namespace {

using kube::array_at;
using kube::int_at;
using kube::object_at;
using kube::text_at;

// What a Scale shows of an object.
struct Numbers {
  int64_t wanted = 0;
  int64_t present = 0;
  std::string selector;
};

// How one kind is scaled.
struct Scaling {
  Result<Numbers> (*read)(const ApiResource& resource, const json::object& object);
  Result<json::object> (*patch)(const ApiResource& resource, const json::object& object, int64_t replicas);
};

Error nothing_to_scale(const json::object& object, std::string_view what) {
  return Error{ErrorKind::kInvalid, fmt::format("\"{}\" has no {} to scale", kube::name_of(object), what)};
}

bool is_worker(std::string_view name) {
  constexpr std::string_view kWorker = "worker";
  return std::equal(name.begin(), name.end(), kWorker.begin(), kWorker.end(),
                    [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; });
}

// The key of the workers in a TFJob, in the case it was written in; "" when there are none.
std::string worker_key(const json::object& job) {
  const json::object* roles = object_at(job, {"spec", "tfReplicaSpecs"});
  for (const json::key_value_pair& role : roles ? *roles : json::object()) {
    if (is_worker(kube::view(role.key()))) return std::string(kube::view(role.key()));
  }
  return {};
}

Result<Numbers> read_tf_job(const ApiResource&, const json::object& job) {
  std::string key = worker_key(job);
  if (key.empty()) return nothing_to_scale(job, "Worker replicas");
  return Numbers{int_at(job, {"spec", "tfReplicaSpecs", key, "replicas"}).value_or(1),
                 int_at(job, {"status", "replicaStatuses", "Worker", "active"}).value_or(0),
                 fmt::format("training.kubeflow.org/job-name={},training.kubeflow.org/replica-type=worker",
                             kube::name_of(job))};
}

Result<json::object> patch_tf_job(const ApiResource&, const json::object& job, int64_t replicas) {
  std::string key = worker_key(job);
  if (key.empty()) return nothing_to_scale(job, "Worker replicas");
  json::object patch;
  kube::ensure_object(patch, {"spec", "tfReplicaSpecs", key})["replicas"] = replicas;
  return patch;
}

// The element of a list that is the workers: the one named so, or the only one there is.
const json::object* worker_in(const json::array* list, std::string_view field) {
  if (list == nullptr) return nullptr;
  for (const json::value& each : *list) {
    const json::object* role = each.if_object();
    if (role && is_worker(text_at(*role, {field}))) return role;
  }
  return list->size() == 1 ? list->front().if_object() : nullptr;
}

int64_t running_in(const json::object& job, std::string_view type) {
  int64_t running = 0;
  const json::array* tasks = array_at(job, {"status", "tasks"});
  for (const json::value& each : kube::or_empty(tasks)) {
    const json::object* task = each.if_object();
    if (task == nullptr || text_at(*task, {"type"}) != type) continue;
    const json::array* replicas = array_at(*task, {"replicas"});
    for (const json::value& replica : kube::or_empty(replicas)) {
      running += replica.is_object() && text_at(replica.get_object(), {"phase"}) == "Running";
    }
  }
  return running;
}

Result<Numbers> read_t9k_job(const ApiResource&, const json::object& job) {
  const json::object* worker = worker_in(array_at(job, {"spec", "replicaSpecs"}), "type");
  if (worker == nullptr) return nothing_to_scale(job, "worker replicas");
  std::string_view type = text_at(*worker, {"type"});
  return Numbers{int_at(*worker, {"replicas"}).value_or(1), running_in(job, type),
                 fmt::format("tensorstack.dev/owner-name={},replica-type={}", kube::name_of(job), type)};
}

// A list is replaced whole by a merge patch, so the patch is for this version alone.
void pin_version(json::object& patch, const json::object& object) {
  std::string_view version = text_at(object, {"metadata", "resourceVersion"});
  if (!version.empty()) kube::ensure_object(patch, {"metadata"})["resourceVersion"] = kube::jview(version);
}

Result<json::object> patch_t9k_job(const ApiResource&, const json::object& job, int64_t replicas) {
  const json::array* roles = array_at(job, {"spec", "replicaSpecs"});
  const json::object* worker = worker_in(roles, "type");
  if (worker == nullptr) return nothing_to_scale(job, "worker replicas");
  json::array changed = *roles;
  for (size_t i = 0; i < changed.size(); ++i) {
    if ((*roles)[i].if_object() == worker) changed[i].get_object()["replicas"] = replicas;
  }
  json::object patch;
  kube::ensure_object(patch, {"spec"})["replicaSpecs"] = std::move(changed);
  pin_version(patch, job);
  return patch;
}

Result<Numbers> read_volcano_job(const ApiResource&, const json::object& job) {
  const json::object* worker = worker_in(array_at(job, {"spec", "tasks"}), "name");
  if (worker == nullptr) return nothing_to_scale(job, "task named worker");
  std::string_view task = text_at(*worker, {"name"});
  return Numbers{int_at(*worker, {"replicas"}).value_or(0),
                 int_at(job, {"status", "taskStatusCount", task, "phase", "Running"}).value_or(0),
                 fmt::format("volcano.sh/job-name={},volcano.sh/task-spec={}", kube::name_of(job), task)};
}

int64_t sum_of_replicas(const json::array& tasks) {
  int64_t sum = 0;
  for (const json::value& each : tasks) {
    if (each.is_object()) sum += int_at(each.get_object(), {"replicas"}).value_or(0);
  }
  return sum;
}

// A gang that was the whole task or the whole job stays the whole of it.
Result<json::object> patch_volcano_job(const ApiResource&, const json::object& job, int64_t replicas) {
  const json::array* tasks = array_at(job, {"spec", "tasks"});
  const json::object* worker = worker_in(tasks, "name");
  if (worker == nullptr) return nothing_to_scale(job, "task named worker");
  int64_t before = int_at(*worker, {"replicas"}).value_or(0);
  json::array changed = *tasks;
  for (size_t i = 0; i < changed.size(); ++i) {
    if ((*tasks)[i].if_object() != worker) continue;
    json::object& task = changed[i].get_object();
    if (int_at(task, {"minAvailable"}) == before) task["minAvailable"] = replicas;
    task["replicas"] = replicas;
  }
  json::object patch;
  json::object& spec = kube::ensure_object(patch, {"spec"});
  if (int_at(job, {"spec", "minAvailable"}) == sum_of_replicas(*tasks)) {
    spec["minAvailable"] = sum_of_replicas(changed);
  }
  spec["tasks"] = std::move(changed);
  pin_version(patch, job);
  return patch;
}

ScalePaths paths_of(const ApiResource& resource) {
  return resource.scale ? *resource.scale : ScalePaths{".spec.replicas", ".status.replicas", ""};
}

int64_t number_at(const json::object& object, std::string_view path) {
  std::vector<const json::value*> found = find_path(object, path);
  return found.empty() ? 0 : kube::as_whole(*found.front()).value_or(0);
}

Result<Numbers> read_by_path(const ApiResource& resource, const json::object& object) {
  ScalePaths paths = paths_of(resource);
  Numbers numbers{number_at(object, paths.spec_replicas), number_at(object, paths.status_replicas), ""};
  if (resource.built_in) {
    numbers.selector = selector_text(object_at(object, {"spec", "selector"}));
  } else if (!paths.label_selector.empty()) {
    std::vector<const json::value*> found = find_path(object, paths.label_selector);
    if (!found.empty() && found.front()->is_string()) {
      numbers.selector = kube::view(found.front()->get_string());
    }
  }
  return numbers;
}

Result<json::object> patch_by_path(const ApiResource& resource, const json::object&, int64_t replicas) {
  std::vector<std::string> keys = keys_of_path(paths_of(resource).spec_replicas);
  if (keys.empty()) return Error{ErrorKind::kInvalid, "specReplicasPath cannot be written to"};
  json::object patch;
  json::object* at = &patch;
  for (size_t i = 0; i + 1 < keys.size(); ++i) at = &(*at)[keys[i]].emplace_object();
  (*at)[keys.back()] = replicas;
  return patch;
}

Scaling scaling_of(const ApiResource& resource) {
  if (!resource.from_crd) {
    const kube::Resource& kind = resource.resource;
    if (kind.group == kube::kTfJobs.group) return {read_tf_job, patch_tf_job};
    if (kind.group == kube::kT9kJobs.group) return {read_t9k_job, patch_t9k_job};
    if (kind.group == kube::kVolcanoJobs.group) return {read_volcano_job, patch_volcano_job};
  }
  return {read_by_path, patch_by_path};
}

void copy_metadata(const json::object& object, json::object& to, std::string_view field) {
  const json::value* value = kube::find(object, {"metadata", field});
  if (value != nullptr) to[kube::jview(field)] = *value;
}

}  // namespace

Result<json::object> scale_of(const ApiResource& resource, const json::object& object) {
  if (resource.subresource("scale") == nullptr) return nothing_to_scale(object, "scale");
  Result<Numbers> numbers = scaling_of(resource).read(resource, object);
  if (!numbers.ok()) return numbers.error();
  json::object metadata;
  for (std::string_view field : {"name", "namespace", "uid", "resourceVersion", "creationTimestamp"}) {
    copy_metadata(object, metadata, field);
  }
  json::object status{{"replicas", numbers->present}};
  if (!numbers->selector.empty()) status["selector"] = numbers->selector;
  return json::object{{"kind", "Scale"},
                      {"apiVersion", "autoscaling/v1"},
                      {"metadata", std::move(metadata)},
                      {"spec", json::object{{"replicas", numbers->wanted}}},
                      {"status", std::move(status)}};
}

Result<json::object> patch_of_scale(const ApiResource& resource, const json::object& object,
                                    const json::object& scale) {
  if (resource.subresource("scale") == nullptr) return nothing_to_scale(object, "scale");
  const json::value* wanted = kube::find(scale, {"spec", "replicas"});
  // A Scale without the number is one that says zero, as clients leave zeros out.
  std::optional<int64_t> replicas = wanted ? kube::as_whole(*wanted) : 0;
  if (!replicas || *replicas > std::numeric_limits<int32_t>::max()) {
    return Error{ErrorKind::kInvalid, "spec.replicas: Invalid value: must be a whole number"};
  }
  if (*replicas < 0) {
    return Error{
        ErrorKind::kInvalid,
        fmt::format("spec.replicas: Invalid value: {}: must be greater than or equal to 0", *replicas)};
  }
  Result<json::object> patch = scaling_of(resource).patch(resource, object, *replicas);
  if (patch.ok()) pin_version(patch.value(), scale);
  return patch;
}

}  // namespace trainyard::server
