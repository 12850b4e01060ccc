#include <limits>

#include "kube/access.h"
#include "kube/objects.h"

namespace trainyard::kube {
namespace {

int32_t small_at(const json::object& from, std::initializer_list<std::string_view> path,
                 int32_t fallback = 0) {
  std::optional<int64_t> n = int_at(from, path);
  if (!n || *n < std::numeric_limits<int32_t>::min() || *n > std::numeric_limits<int32_t>::max())
    return fallback;
  return static_cast<int32_t>(*n);
}

std::string group_of(const json::object& object) {
  std::string_view version = text_at(object, {"apiVersion"});
  size_t slash = version.find('/');
  return slash == version.npos ? "" : std::string(version.substr(0, slash));
}

std::optional<json::value> copy_at(const json::object& from, std::initializer_list<std::string_view> path) {
  const json::value* found = find(from, path);
  if (found == nullptr || found->is_null()) return std::nullopt;
  return *found;
}

// Volcano writes a map from task to number, T9k a list of roles.
std::map<std::string, int32_t> members_by_role(const json::object& object) {
  std::map<std::string, int32_t> out;
  if (const json::object* tasks = object_at(object, {"spec", "minTaskMember"})) {
    for (const json::key_value_pair& task : *tasks) {
      out[std::string(task.key().data(), task.key().size())] =
          small_at(*tasks, {std::string_view(task.key().data(), task.key().size())});
    }
  }
  if (const json::array* roles = array_at(object, {"spec", "roles"})) {
    for (const json::value& entry : *roles) {
      const json::object* role = entry.if_object();
      if (role != nullptr) out[std::string(text_at(*role, {"name"}))] = small_at(*role, {"minMember"});
    }
  }
  return out;
}

}  // namespace

std::vector<Condition> decode_conditions(const json::object& object) {
  std::vector<Condition> out;
  const json::array* list = array_at(object, {"status", "conditions"});
  if (list == nullptr) return out;
  for (const json::value& entry : *list) {
    const json::object* condition = entry.if_object();
    if (condition == nullptr) continue;
    out.push_back({std::string(text_at(*condition, {"type"})), std::string(text_at(*condition, {"status"})),
                   std::string(text_at(*condition, {"reason"})),
                   std::string(text_at(*condition, {"message"})),
                   parse_rfc3339(text_at(*condition, {"lastTransitionTime"}))});
  }
  return out;
}

const Condition* find_condition(const std::vector<Condition>& conditions, std::string_view type) {
  for (const Condition& condition : conditions) {
    if (condition.type == type) return &condition;
  }
  return nullptr;
}

Resources decode_resources(const json::object* list) {
  Resources out;
  if (list == nullptr) return out;
  for (const json::key_value_pair& entry : *list) {
    Result<Quantity> amount = Quantity::from_json(entry.value());
    if (amount.ok()) out[std::string(entry.key().data(), entry.key().size())] = amount.value();
  }
  return out;
}

PodGroup decode_pod_group(const json::object& object) {
  PodGroup out;
  out.group = group_of(object);
  out.name = name_of(object);
  out.ns = namespace_of(object);
  out.uid = uid_of(object);
  out.version = version_of(object);
  out.controller_uid = controller_uid_of(object);
  out.created_at = creation_time_of(object);
  out.deleting = is_deleting(object);
  out.min_member = small_at(object, {"spec", "minMember"});
  out.min_task_member = members_by_role(object);
  out.min_resources = decode_resources(object_at(object, {"spec", "minResources"}));
  out.queue = text_at(object, {"spec", "queue"});
  out.priority = small_at(object, {"spec", "priority"});
  out.priority_class = text_at(object, {"spec", "priorityClassName"});
  out.schedule_timeout_seconds = int_at(object, {"spec", "scheduleTimeoutSeconds"});
  out.phase = text_at(object, {"status", "phase"});
  out.conditions = decode_conditions(object);
  out.running = small_at(object, {"status", "running"});
  out.succeeded = small_at(object, {"status", "succeeded"});
  out.failed = small_at(object, {"status", "failed"});
  return out;
}

Queue decode_queue(const json::object& object) {
  Queue out;
  out.group = group_of(object);
  bool t9k = out.group == kT9kQueues.group;
  out.name = name_of(object);
  out.ns = namespace_of(object);
  out.uid = uid_of(object);
  out.version = version_of(object);
  out.weight = small_at(object, {"spec", "weight"}, 1);
  out.priority = small_at(object, {"spec", "priority"});
  out.capability = decode_resources(t9k ? object_at(object, {"spec", "quota", "requests"})
                                        : object_at(object, {"spec", "capability"}));
  out.deserved = decode_resources(object_at(object, {"spec", "deserved"}));
  out.guarantee = decode_resources(object_at(object, {"spec", "guarantee", "resource"}));
  out.reclaimable = bool_at(object, {"spec", t9k ? "preemptible" : "reclaimable"}).value_or(true);
  out.state = text_at(object, {"status", "state"});
  out.closed = t9k ? bool_at(object, {"spec", "closed"}).value_or(false)
                   : out.state == "Closed" || out.state == "Closing";
  out.parent = text_at(object, {"spec", "parent"});
  out.max_duration = text_at(object, {"spec", "maxDuration"});
  out.node_selector = copy_at(object, {"spec", "nodeSelector"});
  out.namespace_selector = copy_at(object, {"spec", "namespaceSelector"});
  out.allocated = decode_resources(object_at(object, {"status", "allocated"}));
  out.conditions = decode_conditions(object);
  return out;
}

TensorBoard decode_tensor_board(const json::object& object) {
  TensorBoard out;
  out.name = name_of(object);
  out.ns = namespace_of(object);
  out.uid = uid_of(object);
  out.version = version_of(object);
  out.controller_uid = controller_uid_of(object);
  out.deleting = is_deleting(object);
  out.image = text_at(object, {"spec", "image"});
  if (const json::array* filesets = array_at(object, {"spec", "trainingLogFilesets"})) {
    for (const json::value& entry : *filesets) {
      if (entry.is_string()) out.training_log_filesets.emplace_back(view(entry.get_string()));
    }
  }
  if (const json::object* spec = object_at(object, {"spec"})) out.spec = *spec;
  out.suspended =
      bool_at(object, {"spec", "suspend"}).value_or(text_at(object, {"spec", "runMode"}) == "paused");
  out.phase = text_at(object, {"status", "phase"});
  out.url = text_at(object, {"status", "url"});
  out.conditions = decode_conditions(object);
  return out;
}

bool TensorBoard::is_ready() const {
  const Condition* ready = find_condition(conditions, "Ready");
  return ready != nullptr && ready->is_true();
}

}  // namespace trainyard::kube
