// What the query of a URL, and the body of a delete, ask for, as the values that the hub
// takes. Pure. kInvalid says which parameter is at fault; with causes it is about options
// that no such request may have (422), without about what cannot be read (400).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "kube/request.h"
#include "server/registry.h"
#include "server/uri.h"

namespace trainyard::server {

// `revision` is the newest one. A version that is yet to come is told apart, because the
// answer to it is "later" and not "wrong".
struct TooNew {
  int64_t asked = 0;
};

Result<kube::List> list_of_query(const ApiResource& resource, const Query& query);
// A version of "0" or "" begins with the present; `revision` stands for "from now on".
Result<kube::Watch> watch_of_query(const ApiResource& resource, const Query& query, int64_t revision);
// `patch` is of what kind the patch is, if it is one: some options are of an apply alone.
Result<kube::WriteOptions> write_options_of_query(const Query& query,
                                                  std::optional<kube::PatchKind> patch = std::nullopt);

struct DeleteQuery {
  kube::DeleteOptions options;
  bool dry_run = false;
};
// `body` is null when none was sent.
Result<DeleteQuery> delete_of_query(const Query& query, const json::object* body);

Result<kube::LabelSelector> labels_of_query(const Query& query);
// Only fields that such objects can be selected by; what the API calls differently from
// the object (an event's "source") is translated.
Result<kube::FieldSelector> fields_of_query(const kube::Resource& resource, const Query& query);

// The version asked for when it is a number above `revision`.
std::optional<TooNew> too_new(const Query& query, int64_t revision);

}  // namespace trainyard::server
