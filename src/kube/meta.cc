#include "kube/meta.h"

#include <charconv>

#include "kube/access.h"
#include "kube/member.h"

namespace trainyard::kube {

std::string Resource::api_version() const {
  std::string text(group);
  if (!group.empty()) text += '/';
  return text.append(version);
}

namespace {

// These few are asked of every object over and over: each looks for one key it knows by heart.

const json::object* metadata_of(const json::object& object) {
  // Nearly always it stands behind the version and the kind.
  constexpr size_t kUsualPlace = 2;
  if (object.size() > kUsualPlace) {
    const json::key_value_pair& third = object.begin()[kUsualPlace];
    if (third.key() == "metadata") return third.value().if_object();
  }
  const json::value* found = member_of(object, "metadata");
  return found == nullptr ? nullptr : found->if_object();
}

std::string_view text_of(const json::value* value) {
  return value != nullptr && value->is_string() ? view(value->get_string()) : std::string_view();
}

// Of a map in the metadata.
std::string_view entry_of(const json::value* map, std::string_view key) {
  const json::object* entries = map == nullptr ? nullptr : map->if_object();
  return entries == nullptr ? std::string_view() : text_of(member_of(*entries, key));
}

}  // namespace

std::string_view name_of(const json::object& object) {
  const json::object* metadata = metadata_of(object);
  return metadata == nullptr ? std::string_view() : text_of(member_of(*metadata, "name"));
}

std::string_view namespace_of(const json::object& object) {
  const json::object* metadata = metadata_of(object);
  return metadata == nullptr ? std::string_view() : text_of(member_of(*metadata, "namespace"));
}

std::string_view uid_of(const json::object& object) {
  const json::object* metadata = metadata_of(object);
  return metadata == nullptr ? std::string_view() : text_of(member_of(*metadata, "uid"));
}

int64_t version_of(const json::object& object) {
  const json::object* metadata = metadata_of(object);
  if (metadata == nullptr) return 0;
  std::string_view text = text_of(member_of(*metadata, "resourceVersion"));
  int64_t n = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  return error == std::errc{} && end == text.data() + text.size() ? n : 0;
}

int64_t generation_of(const json::object& object) {
  return int_at(object, {"metadata", "generation"}).value_or(0);
}

std::string_view label_of(const json::object& object, std::string_view key) {
  const json::object* metadata = metadata_of(object);
  return metadata == nullptr ? std::string_view() : entry_of(member_of(*metadata, "labels"), key);
}

std::string_view annotation_of(const json::object& object, std::string_view key) {
  const json::object* metadata = metadata_of(object);
  return metadata == nullptr ? std::string_view() : entry_of(member_of(*metadata, "annotations"), key);
}

bool is_deleting(const json::object& object) {
  const json::object* metadata = metadata_of(object);
  return metadata != nullptr && !text_of(member_of(*metadata, "deletionTimestamp")).empty();
}

std::optional<Time> creation_time_of(const json::object& object) {
  return parse_rfc3339(text_at(object, {"metadata", "creationTimestamp"}));
}

bool has_finalizer(const json::object& object, std::string_view finalizer) {
  const json::array* list = array_at(object, {"metadata", "finalizers"});
  if (list == nullptr) return false;
  return std::any_of(list->begin(), list->end(), [&](const json::value& entry) {
    return entry.is_string() && view(entry.get_string()) == finalizer;
  });
}

std::string_view controller_uid_of(const json::object& object) {
  const json::object* metadata = metadata_of(object);
  const json::value* owners = metadata == nullptr ? nullptr : member_of(*metadata, "ownerReferences");
  if (owners == nullptr || !owners->is_array()) return {};
  for (const json::value& entry : owners->get_array()) {
    const json::object* owner = entry.if_object();
    if (owner == nullptr) continue;
    const json::value* controls = member_of(*owner, "controller");
    if (controls != nullptr && controls->is_bool() && controls->get_bool()) {
      return text_of(member_of(*owner, "uid"));
    }
  }
  return {};
}

json::object owner_reference(std::string_view api_version, std::string_view kind, std::string_view name,
                             std::string_view uid) {
  return {{"apiVersion", api_version}, {"kind", kind}, {"name", name}, {"uid", uid}, {"controller", true},
          {"blockOwnerDeletion", true}};
}

}  // namespace trainyard::kube
