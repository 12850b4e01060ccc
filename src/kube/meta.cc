#include "kube/meta.h"

#include <charconv>

#include "kube/access.h"

namespace trainyard::kube {

std::string Resource::api_version() const {
  return group.empty() ? std::string(version) : fmt::format("{}/{}", group, version);
}

std::string_view name_of(const json::object& object) { return text_at(object, {"metadata", "name"}); }
std::string_view namespace_of(const json::object& object) {
  return text_at(object, {"metadata", "namespace"});
}
std::string_view uid_of(const json::object& object) { return text_at(object, {"metadata", "uid"}); }

int64_t version_of(const json::object& object) {
  std::string_view text = text_at(object, {"metadata", "resourceVersion"});
  int64_t n = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  return error == std::errc{} && end == text.data() + text.size() ? n : 0;
}

int64_t generation_of(const json::object& object) {
  return int_at(object, {"metadata", "generation"}).value_or(0);
}

std::string_view label_of(const json::object& object, std::string_view key) {
  return text_at(object, {"metadata", "labels", key});
}

std::string_view annotation_of(const json::object& object, std::string_view key) {
  return text_at(object, {"metadata", "annotations", key});
}

bool is_deleting(const json::object& object) {
  return !text_at(object, {"metadata", "deletionTimestamp"}).empty();
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
  const json::array* owners = array_at(object, {"metadata", "ownerReferences"});
  if (owners == nullptr) return {};
  for (const json::value& entry : *owners) {
    const json::object* owner = entry.if_object();
    if (owner != nullptr && bool_at(*owner, {"controller"}).value_or(false)) return text_at(*owner, {"uid"});
  }
  return {};
}

json::object owner_reference(std::string_view api_version, std::string_view kind, std::string_view name,
                             std::string_view uid) {
  return {{"apiVersion", api_version}, {"kind", kind}, {"name", name}, {"uid", uid}, {"controller", true},
          {"blockOwnerDeletion", true}};
}

}  // namespace trainyard::kube
