// The small objects around a job: builders for those we write, views of those we read.
// Pure. A builder gives the object exactly as it is sent; a view holds what we read of
// an object and leaves a field at its default when it is absent or of a wrong type.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "kube/json.h"
#include "kube/meta.h"
#include "kube/quantity.h"

namespace trainyard::kube {

using Pairs = std::vector<std::pair<std::string, std::string>>;  // in the order they are written
json::object to_object(const Pairs& pairs);

// What the metadata of a child holds. Empty parts are left out.
struct NewMeta {
  std::string name;
  std::string ns;
  Pairs labels;
  Pairs annotations;
  std::optional<json::object> owner;  // an owner_reference()
};
// {"apiVersion", "kind", "metadata"} to which spec or data is added.
json::object new_object(const Resource& resource, const NewMeta& meta);

struct ServicePort {
  std::string name;  // "" is left out
  int32_t port = 0;
  std::optional<int32_t> target_port;
  std::string protocol;  // "" is left out
};
// clusterIP None: the name resolves to the pods themselves.
json::object headless_service(const NewMeta& meta, const Pairs& selector,
                              const std::vector<ServicePort>& ports,
                              bool publish_not_ready_addresses = false);

json::object config_map(const NewMeta& meta, const Pairs& data);

// `data` in clear; it is written in base64. type defaults to Opaque.
json::object secret(const NewMeta& meta, const Pairs& data, std::string_view type = "Opaque");

// Pods with these labels take connections only from pods with these labels.
json::object same_labels_network_policy(const NewMeta& meta, const Pairs& labels);

enum class EventType { kNormal, kWarning };
struct NewEvent {
  std::string name;
  std::string ns;
  json::object involved;  // see involved_object()
  EventType type = EventType::kNormal;
  std::string reason;
  std::string message;
  std::string component;  // source.component
  Time first;
  Time last;
  int32_t count = 1;
};
json::object event(NewEvent of);
// What an event is about, taken from the object itself.
json::object involved_object(const json::object& object);

std::string encode_base64(std::string_view bytes);
std::optional<std::string> decode_base64(std::string_view text);

// --- views ---

struct Condition {
  std::string type;
  std::string status;  // "True", "False", "Unknown"
  std::string reason;
  std::string message;
  std::optional<Time> changed_at;

  bool is_true() const { return status == "True"; }
  bool operator==(const Condition&) const = default;
};
std::vector<Condition> decode_conditions(const json::object& object);  // of status.conditions
// The condition of that type, null when there is none.
const Condition* find_condition(const std::vector<Condition>& conditions, std::string_view type);

using Resources = std::map<std::string, Quantity>;
// A resource list; entries that are not quantities are left out.
Resources decode_resources(const json::object* list);

// PodGroup of volcano, kube-batch, scheduler-plugins or T9k: `group` says which.
struct PodGroup {
  std::string group;  // the API group: "scheduling.volcano.sh", ...
  std::string name;
  std::string ns;
  std::string uid;
  int64_t version = 0;
  std::string controller_uid;
  std::optional<Time> created_at;
  bool deleting = false;

  int32_t min_member = 0;
  std::map<std::string, int32_t> min_task_member;  // volcano's minTaskMember, T9k's roles
  Resources min_resources;
  std::string queue;
  int32_t priority = 0;  // T9k
  std::string priority_class;
  std::optional<int64_t> schedule_timeout_seconds;

  std::string phase;
  std::vector<Condition> conditions;
  int32_t running = 0;
  int32_t succeeded = 0;
  int32_t failed = 0;

  bool operator==(const PodGroup&) const = default;
};
PodGroup decode_pod_group(const json::object& object);

// Queue of volcano (cluster-wide) or T9k.
struct Queue {
  std::string group;
  std::string name;
  std::string ns;
  std::string uid;
  int64_t version = 0;

  int32_t weight = 1;
  int32_t priority = 0;
  Resources capability;  // volcano's capability, T9k's quota.requests
  Resources deserved;
  Resources guarantee;
  bool reclaimable = true;  // volcano's reclaimable, T9k's preemptible
  bool closed = false;      // T9k's spec.closed, or volcano's state Closed or Closing
  std::string parent;
  std::string max_duration;                       // T9k, as written
  std::optional<json::value> node_selector;       // T9k, LabelSelector; absent: all nodes
  std::optional<json::value> namespace_selector;  // T9k, LabelSelector; absent: no namespace

  std::string state;  // volcano's status.state: Open, Closed, Closing, Unknown
  Resources allocated;
  std::vector<Condition> conditions;

  bool operator==(const Queue&) const = default;
};
Queue decode_queue(const json::object& object);

struct TensorBoard {
  std::string name;
  std::string ns;
  std::string uid;
  int64_t version = 0;
  std::string controller_uid;
  bool deleting = false;

  std::string image;
  std::vector<std::string> training_log_filesets;
  json::object spec;       // whole, for what is compared and passed on
  bool suspended = false;  // suspend, or the older runMode: paused

  std::string phase;
  std::string url;
  std::vector<Condition> conditions;

  bool is_ready() const;
  bool operator==(const TensorBoard&) const = default;
};
TensorBoard decode_tensor_board(const json::object& object);

}  // namespace trainyard::kube
