// Errors in the words of a Kubernetes API server, with their causes. Pure.
//
// An Error of kind kInvalid is about the object (a Status Invalid, 422, with a cause for each
// field that is known); one of bad_request() is about the request itself (a BadRequest, 400).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kube/json.h"
#include "kube/meta.h"

namespace trainyard::store {

// "pods", "tfjobs.kubeflow.org".
std::string qualified(const kube::Resource& resource);

Error not_found(const kube::Resource& resource, std::string_view name);
Error already_exists(const kube::Resource& resource, std::string_view name);
Error forbidden(const kube::Resource& resource, std::string_view name, std::string_view why);
Error conflict(const kube::Resource& resource, std::string_view name, std::string_view why);

// kInvalid with the cause BadRequest: a server answers 400.
Error bad_request(std::string message);
bool is_bad_request(const Error& error);

Error too_old_version(int64_t version, int64_t compacted);
// kUnavailable with the cause ResourceVersionTooLarge: a server answers 504.
Error too_large_version(int64_t version, int64_t newest);

using Causes = std::vector<Cause>;

// What is wrong with a field.
Cause required(std::string_view field, std::string_view why = "");
Cause invalid_value(std::string_view field, const json::value& value, std::string_view why);
Cause forbidden_value(std::string_view field, std::string_view why);
Cause duplicate_value(std::string_view field, const json::value& value);
Cause unsupported_value(std::string_view field, std::string_view value,
                        const std::vector<std::string_view>& supported);

// `Pod "x" is invalid: ...`. REQUIRES: there is a cause.
Error invalid_object(std::string_view kind, std::string_view name, std::vector<Cause> causes);
// The same with the kind as the resource names it.
Error invalid_object(const kube::Resource& resource, std::string_view name, std::vector<Cause> causes);

// Whether the object is the one that is meant; "" demands nothing.
std::optional<Error> check_preconditions(const kube::Resource& resource, const json::object& object,
                                         std::string_view uid, std::string_view version);

}  // namespace trainyard::store
