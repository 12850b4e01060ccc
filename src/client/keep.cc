#include "client/keep.h"

#include <algorithm>

#include "client/document_arena.h"
#include "kube/access.h"
#include "kube/pod.h"

namespace trainyard::client {
namespace {

constexpr Wanted kMetadata[] = {{"name"},
                                {"namespace"},
                                {"uid"},
                                {"resourceVersion"},
                                {"generation"},
                                {"creationTimestamp"},
                                {"deletionTimestamp"},
                                {"deletionGracePeriodSeconds"},
                                {"finalizers"},
                                {"labels"},
                                {"annotations"},
                                {"ownerReferences"}};
constexpr Wanted kNameAlone[] = {{"name"}};
constexpr Wanted kPodSpec[] = {
    {"nodeName"}, {"schedulerName"}, {"restartPolicy"}, {"schedulingGates"}, {"containers", kNameAlone}};
constexpr Wanted kCondition[] = {{"type"}, {"status"}, {"reason"}, {"message"}, {"lastTransitionTime"}};
constexpr Wanted kContainerStatus[] = {{"name"}, {"ready"}, {"restartCount"}, {"state"}, {"lastState"}};
constexpr Wanted kPodStatus[] = {{"phase"},
                                 {"reason"},
                                 {"message"},
                                 {"podIP"},
                                 {"hostIP"},
                                 {"startTime"},
                                 {"conditions", kCondition},
                                 {"containerStatuses", kContainerStatus},
                                 {"initContainerStatuses", kContainerStatus}};
constexpr Wanted kIdentity[] = {{"apiVersion"}, {"kind"}, {"metadata", kMetadata}};
constexpr Wanted kPod[] = {
    {"apiVersion"}, {"kind"}, {"metadata", kMetadata}, {"spec", kPodSpec}, {"status", kPodStatus}};

constexpr size_t kKeptBytes = 3072;  // about what a kept pod takes

// A copy that lies with what else is kept of its document.
json::value copy_of(const json::value& value) { return json::value(value, DocumentArena::storage()); }

json::value annotations_read(const json::value& all) {
  json::object kept(DocumentArena::storage());
  if (!all.is_object()) return kept;
  for (const json::key_value_pair& member : all.get_object()) {
    if (kube::keeps_annotation(kube::view(member.key()))) kept.emplace(member.key(), member.value());
  }
  return kept;
}

bool is_kept_condition(const json::object& condition) {
  const std::string_view type = kube::text_at(condition, {"type"});
  return type == "Ready" || type == "PodScheduled" || type == "DisruptionTarget";
}

json::object some_of(const json::object& from, std::span<const Wanted> wanted);

// What is kept of a member's value, where not all of it is.
json::value part_of(const Wanted& member, const json::value& value) {
  if (const json::object* object = value.if_object()) return some_of(*object, member.parts);
  const json::array* list = value.if_array();
  if (list == nullptr) return copy_of(value);
  json::array kept(DocumentArena::storage());
  kept.reserve(list->size());
  for (const json::value& one : *list) {
    const json::object* object = one.if_object();
    const bool is_kept = object != nullptr && (member.name != "conditions" || is_kept_condition(*object));
    if (is_kept) kept.push_back(some_of(*object, member.parts));
  }
  return kept;
}

// The members that are wanted, in their order.
json::object some_of(const json::object& from, std::span<const Wanted> wanted) {
  const auto of_name = [&](json::string_view key) {
    return std::ranges::find(wanted, kube::view(key), &Wanted::name);
  };
  json::object kept(DocumentArena::storage());
  kept.reserve(std::min(from.size(), wanted.size()));
  for (const json::key_value_pair& member : from) {
    const auto found = of_name(member.key());
    if (found == wanted.end()) continue;
    const bool is_whole = found->parts.empty();
    kept.emplace(member.key(), found->name == "annotations" ? annotations_read(member.value())
                               : is_whole                   ? copy_of(member.value())
                                                            : part_of(*found, member.value()));
  }
  return kept;
}

bool keeps_all(const json::object& from, std::span<const Wanted> wanted);

// Whether some_of() would keep all of a member's value.
bool keeps_value(const Wanted& member, const json::value& value) {
  if (member.name == "annotations") {
    const json::object* all = value.if_object();
    return all != nullptr && std::ranges::all_of(*all, [](const json::key_value_pair& one) {
             return kube::keeps_annotation(kube::view(one.key()));
           });
  }
  if (member.parts.empty()) return true;
  if (const json::object* object = value.if_object()) return keeps_all(*object, member.parts);
  const json::array* list = value.if_array();
  return list == nullptr || std::ranges::all_of(*list, [&](const json::value& one) {
           const json::object* object = one.if_object();
           return object != nullptr && (member.name != "conditions" || is_kept_condition(*object)) &&
                  keeps_all(*object, member.parts);
         });
}

bool keeps_all(const json::object& from, std::span<const Wanted> wanted) {
  return std::ranges::all_of(from, [&](const json::key_value_pair& member) {
    const auto found = std::ranges::find(wanted, kube::view(member.key()), &Wanted::name);
    return found != wanted.end() && keeps_value(*found, member.value());
  });
}

// Of a text that was read with nothing but what is wanted there is nothing to leave out.
Object kept_of(const Object& object, std::span<const Wanted> wanted) {
  if (keeps_all(*object, wanted)) return object;
  DocumentArena arena(kKeptBytes);
  return arena.whole(some_of(*object, wanted));
}

}  // namespace

Object keep_pod(const Object& pod) { return kept_of(pod, kPod); }

Object keep_identity(const Object& object) { return kept_of(object, kIdentity); }

std::span<const Wanted> wanted_of_pod() { return kPod; }
std::span<const Wanted> wanted_of_identity() { return kIdentity; }

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
