#include "server/status.h"

#include <fmt/format.h>

#include "kube/access.h"
#include "server/patched.h"
#include "store/errors.h"

namespace trainyard::server {
namespace {

constexpr std::string_view kApplyFailed = "Apply failed with ";
constexpr std::string_view kModified =
    "the object has been modified; please apply your changes to the latest version and try again";

// "tfjobs.kubeflow.org", "pods".
std::string qualified(const kube::Resource& resource) {
  if (resource.group.empty()) return std::string(resource.plural);
  return fmt::format("{}.{}", resource.plural, resource.group);
}

Status about(const kube::Resource& resource, std::string_view name, int code, std::string_view reason,
             std::string message) {
  Status status;
  status.code = code;
  status.reason = reason;
  status.message = std::move(message);
  status.name = name;
  status.group = resource.group;
  status.kind = resource.plural;
  return status;
}

Status plain(int code, std::string_view reason, std::string message) {
  Status status;
  status.code = code;
  status.reason = reason;
  status.message = std::move(message);
  return status;
}

// The message with its opening, which it may have already.
std::string opened(std::string_view opening, std::string_view message) {
  return message.starts_with(opening) ? std::string(message) : fmt::format("{}{}", opening, message);
}

// The lines of an apply's conflict, each with who owns the field. Written either as
//   Apply failed with 1 conflict: conflict with "a" using v1: .spec.x
// or, when there are more, as
//   Apply failed with 2 conflicts: conflicts with "a" using v1:
//   - .spec.x
//   - .spec.y
std::vector<StatusCause> conflict_causes(std::string_view message) {
  std::vector<StatusCause> causes;
  size_t start = message.find(": ");
  if (start == std::string_view::npos) return causes;
  message.remove_prefix(start + 2);
  std::string owner;
  while (!message.empty()) {
    size_t end = std::min(message.find('\n'), message.size());
    std::string_view line = message.substr(0, end);
    message.remove_prefix(std::min(end + 1, message.size()));
    if (line.starts_with("- ")) {
      causes.push_back({"FieldManagerConflict", owner, std::string(line.substr(2))});
      continue;
    }
    size_t path = line.rfind(": .");
    std::string_view who = line.substr(0, path);
    if (who.ends_with(':')) who.remove_suffix(1);
    if (who.starts_with("conflicts with ")) {
      owner = fmt::format("conflict with {}", who.substr(std::string_view("conflicts with ").size()));
    } else {
      owner = who;
    }
    if (path != std::string_view::npos) {
      causes.push_back({"FieldManagerConflict", owner, std::string(line.substr(path + 2))});
    }
  }
  return causes;
}

Status conflict_of(const Error& error, const kube::Resource& resource, std::string_view name) {
  if (error.message.starts_with(kApplyFailed)) {
    Status status = plain(409, "Conflict", error.message);
    status.causes = conflict_causes(error.message);
    return status;
  }
  std::string_view why = error.message.empty() ? kModified : std::string_view(error.message);
  if (why.starts_with("Operation cannot be fulfilled on ")) {
    return about(resource, name, 409, "Conflict", std::string(why));
  }
  return about(resource, name, 409, "Conflict",
               fmt::format("Operation cannot be fulfilled on {} \"{}\": {}", qualified(resource), name, why));
}

std::vector<StatusCause> causes_of(const Error& error) {
  std::vector<StatusCause> causes;
  for (const Cause& cause : error.causes) causes.push_back({cause.reason, cause.message, cause.field});
  return causes;
}

std::string joined(const std::vector<std::string_view>& words) {
  std::string text;
  for (std::string_view word : words) {
    if (!text.empty()) text += ", ";
    text += word;
  }
  return text;
}

// The namespace that is not there, where an object was to be made.
std::optional<std::string> missing_namespace(const Error& error, const kube::Resource& resource) {
  constexpr std::string_view kOpening = "namespaces \"";
  if (resource == kube::kNamespaces || !error.message.starts_with(kOpening)) return std::nullopt;
  std::string_view name = std::string_view(error.message).substr(kOpening.size());
  return std::string(name.substr(0, name.find('"')));
}

json::object to_json(const StatusCause& cause) {
  json::object out;
  if (!cause.reason.empty()) out["reason"] = cause.reason;
  if (!cause.message.empty()) out["message"] = cause.message;
  if (!cause.field.empty()) out["field"] = cause.field;
  return out;
}

json::object details_of(const Status& status) {
  json::object details;
  if (!status.name.empty()) details["name"] = status.name;
  if (!status.group.empty()) details["group"] = status.group;
  if (!status.kind.empty()) details["kind"] = status.kind;
  if (!status.uid.empty()) details["uid"] = status.uid;
  if (!status.causes.empty()) {
    json::array causes;
    for (const StatusCause& cause : status.causes) causes.push_back(to_json(cause));
    details["causes"] = std::move(causes);
  }
  if (status.retry_after_seconds > 0) details["retryAfterSeconds"] = status.retry_after_seconds;
  return details;
}

}  // namespace

json::object to_json(const Status& status) {
  json::object out{{"kind", "Status"},
                   {"apiVersion", "v1"},
                   {"metadata", json::object()},
                   {"status", status.reason.empty() ? "Success" : "Failure"}};
  if (!status.message.empty()) out["message"] = status.message;
  if (!status.reason.empty()) out["reason"] = status.reason;
  json::object details = details_of(status);
  if (!details.empty()) out["details"] = std::move(details);
  if (!status.reason.empty()) out["code"] = status.code;
  if (!status.continue_token.empty()) out["metadata"].get_object()["continue"] = status.continue_token;
  return out;
}

Status status_of(const Error& error, const kube::Resource& resource, std::string_view name) {
  switch (error.kind) {
    case ErrorKind::kInvalid:
      if (store::is_bad_request(error)) return bad_request(error.message);
      if (is_object_too_large(error)) return body_too_large(kObjectBytesMax);
      return invalid(resource, name, error.message, causes_of(error));
    case ErrorKind::kNotFound:
      if (auto missing = missing_namespace(error, resource)) return not_found(kube::kNamespaces, *missing);
      return not_found(resource, name);
    case ErrorKind::kAlreadyExists:
      return about(resource, name, 409, "AlreadyExists",
                   fmt::format("{} \"{}\" already exists", qualified(resource), name));
    case ErrorKind::kConflict:
      return conflict_of(error, resource, name);
    case ErrorKind::kGone:
      return expired(error.message);
    case ErrorKind::kForbidden:
      return about(resource, name, 403, "Forbidden",
                   opened(fmt::format("{} \"{}\" is forbidden: ", qualified(resource), name), error.message));
    case ErrorKind::kUnavailable:
      return unavailable(error.message);
    case ErrorKind::kUnknown:
      return timeout(error.message, 1);
  }
  CHECK(!"an error of no kind");
  return {};
}

Status status_of_query(const Error& error, std::string_view options) {
  if (error.causes.empty()) return bad_request(error.message);
  const std::string_view group = "meta.k8s.io";
  Status status = plain(
      422, "Invalid", store::invalid_object(fmt::format("{}.{}", options, group), "", error.causes).message);
  status.group = group;
  status.kind = options;
  status.causes = causes_of(error);
  return status;
}

Status deleted(const kube::Resource& resource, std::string_view name, std::string_view uid) {
  Status status = about(resource, name, 200, "", "");
  status.uid = uid;
  return status;
}

Status bad_request(std::string message) { return plain(400, "BadRequest", std::move(message)); }

Status unauthorized() { return plain(401, "Unauthorized", "Unauthorized"); }

Status forbidden(std::string message) { return plain(403, "Forbidden", std::move(message)); }

Status path_not_found() { return plain(404, "NotFound", "the server could not find the requested resource"); }

Status not_found(const kube::Resource& resource, std::string_view name) {
  return about(resource, name, 404, "NotFound",
               fmt::format("{} \"{}\" not found", qualified(resource), name));
}

Status method_not_allowed(const kube::Resource* resource, std::string_view verb) {
  if (resource == nullptr) {
    return plain(405, "MethodNotAllowed", fmt::format("{} is not supported on the requested resource", verb));
  }
  return about(*resource, "", 405, "MethodNotAllowed",
               fmt::format("{} is not supported on resources of kind \"{}\"", verb, qualified(*resource)));
}

Status not_acceptable(const std::vector<std::string_view>& media_types) {
  return plain(406, "NotAcceptable",
               fmt::format("only the following media types are accepted: {}", joined(media_types)));
}

Status expired(std::string message) { return plain(410, "Expired", std::move(message)); }

Status body_too_large(int64_t bytes_max) {
  return plain(413, "RequestEntityTooLarge", fmt::format("Request entity too large: limit is {}", bytes_max));
}

Status unsupported_media_type(std::string_view was, const std::vector<std::string_view>& media_types) {
  return plain(415, "UnsupportedMediaType",
               fmt::format("the body of the request was in an unknown format ({}) - accepted media types "
                           "include: {}",
                           kube::shown(was), joined(media_types)));
}

Status invalid(const kube::Resource& resource, std::string_view name, std::string_view what,
               std::vector<StatusCause> causes) {
  std::string kind(resource.kind);
  if (!resource.group.empty()) kind += fmt::format(".{}", resource.group);
  // What asked for any name is told with the one it was given.
  const bool is_named = name.empty() && what.starts_with(fmt::format("{} \"", kind));
  std::string message =
      is_named ? std::string(what) : opened(fmt::format("{} \"{}\" is invalid: ", kind, name), what);
  // Of an object with a name kubectl shows the causes alone: without any it must not know the name.
  if (causes.empty()) return plain(422, "Invalid", std::move(message));
  Status status = about(resource, name, 422, "Invalid", std::move(message));
  status.kind = resource.kind;  // here the real server has the kind itself
  status.causes = std::move(causes);
  return status;
}

Status too_many_requests(std::string message, int64_t retry_after_seconds) {
  Status status = plain(429, "TooManyRequests", std::move(message));
  status.retry_after_seconds = retry_after_seconds;
  return status;
}

Status internal_error(std::string_view what) {
  Status status = plain(500, "InternalError", fmt::format("Internal error occurred: {}", what));
  status.causes.push_back({"", std::string(what), ""});
  return status;
}

Status unavailable(std::string message) {
  Status status = plain(503, "ServiceUnavailable", std::move(message));
  status.retry_after_seconds = 1;
  return status;
}

Status timeout(std::string message, int64_t retry_after_seconds) {
  Status status = plain(504, "Timeout", fmt::format("Timeout: {}", message));
  status.retry_after_seconds = retry_after_seconds;
  return status;
}

Status version_too_large(int64_t asked, int64_t current) {
  Status status = timeout(fmt::format("Too large resource version: {}, current: {}", asked, current), 1);
  status.causes.push_back({"ResourceVersionTooLarge", "Too large resource version", ""});
  return status;
}

Status exit_status(int exit_code) {
  if (exit_code == 0) return {};
  Status status = plain(500, "NonZeroExitCode",
                        fmt::format("command terminated with non-zero exit code: exit status {}", exit_code));
  status.causes.push_back({"ExitCode", fmt::format("{}", exit_code), ""});
  return status;
}

}  // namespace trainyard::server
