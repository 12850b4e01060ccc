#include "store/errors.h"

#include "kube/access.h"

namespace trainyard::store {
namespace {

constexpr std::string_view kBadRequest = "BadRequest";

}  // namespace

std::string qualified(const kube::Resource& resource) {
  std::string name(resource.plural);
  return resource.group.empty() ? name : fmt::format("{}.{}", name, resource.group);
}

Error not_found(const kube::Resource& resource, std::string_view name) {
  return {ErrorKind::kNotFound, fmt::format("{} \"{}\" not found", qualified(resource), name)};
}

Error already_exists(const kube::Resource& resource, std::string_view name) {
  return {ErrorKind::kAlreadyExists, fmt::format("{} \"{}\" already exists", qualified(resource), name)};
}

Error forbidden(const kube::Resource& resource, std::string_view name, std::string_view why) {
  return {ErrorKind::kForbidden, fmt::format("{} \"{}\" is forbidden: {}", qualified(resource), name, why)};
}

Error conflict(const kube::Resource& resource, std::string_view name, std::string_view why) {
  return {ErrorKind::kConflict,
          fmt::format("Operation cannot be fulfilled on {} \"{}\": {}", qualified(resource), name, why)};
}

Error bad_request(std::string message) {
  return {ErrorKind::kInvalid, std::move(message), {{std::string(kBadRequest), "", ""}}};
}

bool is_bad_request(const Error& error) {
  return error.causes.size() == 1 && error.causes.front().reason == kBadRequest;
}

Error too_old_version(int64_t version, int64_t compacted) {
  return {ErrorKind::kGone, fmt::format("too old resource version: {} ({})", version, compacted)};
}

Error too_large_version(int64_t version, int64_t newest) {
  return {ErrorKind::kUnavailable,
          fmt::format("Too large resource version: {}, current: {}", version, newest),
          {{"ResourceVersionTooLarge", "Too large resource version", ""}}};
}

Cause required(std::string_view field, std::string_view why) {
  return {"FieldValueRequired", why.empty() ? "Required value" : fmt::format("Required value: {}", why),
          std::string(field)};
}

Cause invalid_value(std::string_view field, const json::value& value, std::string_view why) {
  return {"FieldValueInvalid", fmt::format("Invalid value: {}: {}", kube::shown(json::serialize(value)), why),
          std::string(field)};
}

Cause forbidden_value(std::string_view field, std::string_view why) {
  return {"FieldValueForbidden", fmt::format("Forbidden: {}", why), std::string(field)};
}

Cause duplicate_value(std::string_view field, const json::value& value) {
  return {"FieldValueDuplicate", fmt::format("Duplicate value: {}", json::serialize(value)),
          std::string(field)};
}

Cause unsupported_value(std::string_view field, std::string_view value,
                        const std::vector<std::string_view>& supported) {
  std::string all;
  for (std::string_view one : supported) all += fmt::format("{}\"{}\"", all.empty() ? "" : ", ", one);
  return {"FieldValueNotSupported",
          fmt::format("Unsupported value: \"{}\": supported values: {}", kube::shown(value), all),
          std::string(field)};
}

Error invalid_object(std::string_view kind, std::string_view name, std::vector<Cause> causes) {
  CHECK(!causes.empty());
  std::string all;
  for (const Cause& cause : causes) {
    all += fmt::format("{}{}: {}", all.empty() ? "" : ", ", cause.field, cause.message);
  }
  if (causes.size() > 1) all = fmt::format("[{}]", all);
  return {ErrorKind::kInvalid, fmt::format("{} \"{}\" is invalid: {}", kind, name, all), std::move(causes)};
}

Error invalid_object(const kube::Resource& resource, std::string_view name, std::vector<Cause> causes) {
  std::string kind(resource.kind);
  if (!resource.group.empty()) kind += fmt::format(".{}", resource.group);
  return invalid_object(kind, name, std::move(causes));
}

std::optional<Error> check_preconditions(const kube::Resource& resource, const json::object& object,
                                         std::string_view uid, std::string_view version) {
  std::string_view own_uid = kube::uid_of(object);
  if (!uid.empty() && uid != own_uid) {
    return conflict(resource, kube::name_of(object),
                    fmt::format("Precondition failed: UID in precondition: {}, UID in object meta: {}",
                                kube::shown(uid), own_uid));
  }
  if (!version.empty() && version != kube::text_at(object, {"metadata", "resourceVersion"})) {
    return conflict(resource, kube::name_of(object),
                    "the object has been modified; please apply your changes to the latest version and try "
                    "again");
  }
  return std::nullopt;
}

}  // namespace trainyard::store
