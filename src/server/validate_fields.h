// Fields that a body has and its kind does not (misspelt, misplaced), and those it has
// twice; what fieldValidation=Warn and Strict are about. And values that nobody could read as
// what their field is, which are always refused. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/json.h"
#include "server/registry.h"
#include "server/status.h"

namespace trainyard::server {

inline constexpr size_t kFieldProblemsMax = 100;

struct FieldProblems {
  // `unknown field "spec.foo"`, `unknown field "spec.containers[0].imagge"`, in the order of the
  // document.
  std::vector<std::string> unknown;
  // About values of another type than their field's: a kind of Kubernetes is refused with 400 and
  // the first of them, `Pod in version "v1" cannot be handled as a Pod: json: cannot unmarshal
  // string into Go struct field ...`, another with 422 and all. Kinds with a CRD are not looked at
  // here (validate_values.h).
  std::optional<Status> refusal;
};
// One walk over the body. A kind without a schema has no problems.
FieldProblems field_problems(const ApiResource& resource, const json::object& body);
// Drops them, for the kinds of Kubernetes itself: nobody else's are known to the last field.
void drop_unknown_fields(const ApiResource& resource, json::object& body);
// `duplicate field "spec.foo"`, from the text itself (parsing keeps one of them). JSON alone:
// the YAML reader refuses duplicates by itself.
std::vector<std::string> duplicate_fields(std::string_view json_text);
// The same, sooner where there is none. `parsed` is what was read of it.
std::vector<std::string> duplicate_fields(std::string_view json_text, const json::value& parsed);

// 400: `TFJob in version "v1" cannot be handled as a TFJob: strict decoding error: unknown
// field "spec.foo", unknown field "spec.bar"`.
Status strict_decoding_error(const ApiResource& resource, const std::vector<std::string>& problems);

// The same as the real server tells it of a patch: 422 about the field "patch".
Status strict_patch_error(const Status& decoding_error);

// For a kind whose CRD has a schema: drops the fields it does not know, as the real server
// does before storing, and fills in its defaults. Does nothing for other kinds.
void prune_and_default(const ApiResource& resource, json::object& body);

}  // namespace trainyard::server
