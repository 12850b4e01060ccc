#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "kube/access.h"
#include "kube/meta.h"
#include "kube/objects.h"
#include "kube/scheduling.h"
#include "sched/decode.h"
#include "sched/volumes.h"

namespace trainyard::sched {
namespace {

using kube::array_at;
using kube::object_at;
using kube::text_at;

constexpr std::string_view kNoProvisioner = "kubernetes.io/no-provisioner";
// What claims and volumes named their class by before they had a field for it.
constexpr std::string_view kClassAnnotation = "volume.beta.kubernetes.io/storage-class";

std::string class_name_of(const json::object& object) {
  std::string_view annotated = kube::annotation_of(object, kClassAnnotation);
  return std::string(annotated.empty() ? text_at(object, {"spec", "storageClassName"}) : annotated);
}

std::string volume_mode_of(const json::object& object) {
  std::string_view mode = text_at(object, {"spec", "volumeMode"});
  return std::string(mode.empty() ? "Filesystem" : mode);
}

int64_t storage_in(const json::object* quantities) {
  kube::Resources all = kube::decode_resources(quantities);
  auto found = all.find("storage");
  return found == all.end() ? 0 : found->second.value();
}

std::optional<int64_t> bytes_at(const json::object& object, std::string_view key) {
  const json::value* value = kube::find(object, {key});
  if (value == nullptr) return std::nullopt;
  Result<kube::Quantity> read = kube::Quantity::from_json(*value);
  return read.ok() ? std::optional(read->value()) : std::nullopt;
}

std::string key_of(std::string_view ns, std::string_view name) { return fmt::format("{}/{}", ns, name); }

}  // namespace

bool ClassSeen::provisions() const { return provisioner != kNoProvisioner; }

ClaimSeen see_claim(const json::object& claim) {
  ClaimSeen out;
  out.ns = kube::namespace_of(claim);
  out.name = kube::name_of(claim);
  out.key = key_of(out.ns, out.name);
  out.uid = kube::uid_of(claim);
  out.volume = text_at(claim, {"spec", "volumeName"});
  out.phase = text_at(claim, {"status", "phase"});
  out.storage_class = class_name_of(claim);
  out.selected_node = kube::annotation_of(claim, kube::kSelectedNodeAnnotation);
  out.size = storage_in(object_at(claim, {"spec", "resources", "requests"}));
  out.modes = decode_texts(array_at(claim, {"spec", "accessModes"}));
  out.volume_mode = volume_mode_of(claim);
  out.attributes_class = text_at(claim, {"spec", "volumeAttributesClassName"});
  if (const json::value* selector = kube::find(claim, {"spec", "selector"})) {
    out.selector = decode_selector(*selector);
  }
  return out;
}

VolumeSeen see_volume(const json::object& volume) {
  VolumeSeen out;
  out.name = kube::name_of(volume);
  out.uid = kube::uid_of(volume);
  out.phase = text_at(volume, {"status", "phase"});
  if (const json::object* claim = object_at(volume, {"spec", "claimRef"})) {
    out.claim = key_of(text_at(*claim, {"namespace"}), text_at(*claim, {"name"}));
    out.claim_uid = text_at(*claim, {"uid"});
  }
  out.storage_class = class_name_of(volume);
  out.size = storage_in(object_at(volume, {"spec", "capacity"}));
  out.modes = decode_texts(array_at(volume, {"spec", "accessModes"}));
  out.volume_mode = volume_mode_of(volume);
  out.attributes_class = text_at(volume, {"spec", "volumeAttributesClassName"});
  out.labels = decode_labels(object_at(volume, {"metadata", "labels"}));
  out.deleting = kube::is_deleting(volume);
  const json::array* terms = array_at(volume, {"spec", "nodeAffinity", "required", "nodeSelectorTerms"});
  for (size_t i = 0; terms != nullptr && i < terms->size(); ++i) {
    if (const json::object* term = (*terms)[i].if_object()) out.terms.push_back(decode_node_term(*term));
  }
  return out;
}

ClassSeen see_storage_class(const json::object& object) {
  ClassSeen out;
  out.name = kube::name_of(object);
  out.provisioner = text_at(object, {"provisioner"});
  out.waits_for_consumer = text_at(object, {"volumeBindingMode"}) == "WaitForFirstConsumer";
  // [{matchLabelExpressions: [{key, values}]}]: all labels of one of them.
  const json::array* list = array_at(object, {"allowedTopologies"});
  for (size_t i = 0; list != nullptr && i < list->size(); ++i) {
    const json::object* topology = (*list)[i].if_object();
    const json::array* labels =
        topology != nullptr ? array_at(*topology, {"matchLabelExpressions"}) : nullptr;
    if (labels == nullptr) continue;
    json::array expressions;
    for (const json::value& entry : *labels) {
      json::object expression = entry.is_object() ? entry.get_object() : json::object();
      expression["operator"] = "In";
      expressions.push_back(std::move(expression));
    }
    out.terms.push_back({decode_requirements(&expressions), {}});
  }
  return out;
}

DriverSeen see_driver(const json::object& driver) {
  return {std::string(kube::name_of(driver)),
          kube::bool_at(driver, {"spec", "storageCapacity"}).value_or(false)};
}

RoomSeen see_room(const json::object& room) {
  RoomSeen out;
  out.key = key_of(kube::namespace_of(room), kube::name_of(room));
  out.storage_class = text_at(room, {"storageClassName"});
  if (const json::value* nodes = kube::find(room, {"nodeTopology"})) out.nodes = decode_selector(*nodes);
  std::optional<int64_t> total = bytes_at(room, "capacity");
  std::optional<int64_t> largest = bytes_at(room, "maximumVolumeSize");
  out.largest = largest.value_or(total.value_or(0));
  // One volume that may be that large is believed to fit, whatever else is said.
  out.total = total ? std::max(*total, out.largest) : std::numeric_limits<int64_t>::max();
  return out;
}

}  // namespace trainyard::sched
