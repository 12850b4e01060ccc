#include "client/keep.h"

#include "client/document_arena.h"
#include "kube/access.h"
#include "kube/pod.h"

namespace trainyard::client {
namespace {

using Names = std::initializer_list<std::string_view>;

bool is_among(Names names, json::string_view key) {
  return std::find(names.begin(), names.end(), kube::view(key)) != names.end();
}

constexpr size_t kKeptBytes = 3072;  // about what a kept pod takes

// A copy that lies with what else is kept of its document.
json::value copy_of(const json::value& value) { return json::value(value, DocumentArena::storage()); }

// The members of these names, in their order, for which `keep` finds something to keep.
template <typename Keep>
json::object some_of(const json::object& from, Names names, Keep keep) {
  json::object kept(DocumentArena::storage());
  size_t count = 0;
  for (const json::key_value_pair& member : from) count += is_among(names, member.key());
  kept.reserve(count);
  for (const json::key_value_pair& member : from) {
    if (is_among(names, member.key())) kept.emplace(member.key(), keep(member.key(), member.value()));
  }
  return kept;
}

json::object some_of(const json::object& from, Names names) {
  return some_of(from, names, [](json::string_view, const json::value& value) { return copy_of(value); });
}

// Each object of a list, with these members alone.
json::value each_with(const json::value& list, Names names) {
  const json::array* from = list.if_array();
  if (from == nullptr) return nullptr;
  json::array kept(DocumentArena::storage());
  kept.reserve(from->size());
  for (const json::value& one : *from) {
    if (one.is_object()) kept.push_back(some_of(one.get_object(), names));
  }
  return kept;
}

json::value annotations_read(const json::value& all) {
  json::object kept(DocumentArena::storage());
  if (!all.is_object()) return kept;
  for (const json::key_value_pair& member : all.get_object()) {
    if (kube::keeps_annotation(kube::view(member.key()))) kept.emplace(member.key(), member.value());
  }
  return kept;
}

json::value metadata_of(json::string_view key, const json::value& value) {
  if (key != "metadata" || !value.is_object()) return copy_of(value);
  return some_of(
      value.get_object(),
      {"name", "namespace", "uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp",
       "deletionGracePeriodSeconds", "finalizers", "labels", "annotations", "ownerReferences"},
      [](json::string_view part, const json::value& inner) {
        return part == "annotations" ? annotations_read(inner) : copy_of(inner);
      });
}

json::value conditions_read(const json::value& all) {
  if (!all.is_array()) return nullptr;
  json::array kept(DocumentArena::storage());
  kept.reserve(all.get_array().size());
  for (const json::value& one : all.get_array()) {
    if (!one.is_object()) continue;
    const std::string_view type = kube::text_at(one.get_object(), {"type"});
    if (type != "Ready" && type != "PodScheduled" && type != "DisruptionTarget") continue;
    kept.push_back(some_of(one.get_object(), {"type", "status", "reason", "message", "lastTransitionTime"}));
  }
  return kept;
}

json::value status_part(json::string_view key, const json::value& value) {
  if (key == "conditions") return conditions_read(value);
  if (key == "containerStatuses" || key == "initContainerStatuses") {
    return each_with(value, {"name", "ready", "restartCount", "state", "lastState"});
  }
  return copy_of(value);
}

json::value pod_part(json::string_view key, const json::value& value) {
  if (!value.is_object()) return copy_of(value);
  if (key == "spec") {
    return some_of(value.get_object(),
                   {"nodeName", "schedulerName", "restartPolicy", "schedulingGates", "containers"},
                   [](json::string_view part, const json::value& inner) {
                     return part == "containers" ? each_with(inner, {"name"}) : copy_of(inner);
                   });
  }
  if (key == "status") {
    return some_of(value.get_object(),
                   {"phase", "reason", "message", "podIP", "hostIP", "startTime", "conditions",
                    "containerStatuses", "initContainerStatuses"},
                   status_part);
  }
  return metadata_of(key, value);
}

}  // namespace

Object keep_pod(const Object& pod) {
  DocumentArena arena(kKeptBytes);
  return arena.whole(some_of(*pod, {"apiVersion", "kind", "metadata", "spec", "status"}, pod_part));
}

Object keep_identity(const Object& object) {
  DocumentArena arena(kKeptBytes);
  return arena.whole(some_of(*object, {"apiVersion", "kind", "metadata"}, metadata_of));
}

Object keep_all_but_managers(const Object& object) {
  if (kube::find(*object, {"metadata", "managedFields"}) == nullptr) return object;
  DocumentArena arena(kKeptBytes);
  json::object kept(DocumentArena::storage());
  kept.reserve(object->size());
  for (const json::key_value_pair& member : *object) {
    if (member.key() != "metadata" || !member.value().is_object()) {
      kept.emplace(member.key(), member.value());
      continue;
    }
    json::object metadata(DocumentArena::storage());
    for (const json::key_value_pair& part : member.value().get_object()) {
      if (part.key() != "managedFields") metadata.emplace(part.key(), part.value());
    }
    kept.emplace("metadata", std::move(metadata));
  }
  return arena.whole(std::move(kept));
}

}  // namespace trainyard::client
