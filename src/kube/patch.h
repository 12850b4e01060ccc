// Patches: JSON patch (RFC 6902), merge patch (RFC 7386), strategic merge patch for the
// built-in kinds. Pure functions from a document and a patch to the new document; the
// input is never touched. A patch that cannot be applied is kInvalid (for a failed
// `test`: kConflict), with the operation and path in the message.
#pragma once

#include <string_view>

#include "base/result.h"
#include "kube/json.h"
#include "kube/meta.h"

namespace trainyard::kube {

inline constexpr size_t kPatchOperationsMax = 10'000;
inline constexpr size_t kPatchCopiedNodesMax = 200'000;
inline constexpr int kPatchDepthMax = 200;

Result<json::value> apply_json_patch(const json::value& target, const json::value& patch);

// Who has no more use for the document gives it away: what the patch leaves alone is then not copied.
Result<json::value> apply_merge_patch(json::value target, const json::value& patch);

// Whether it is a kind of Kubernetes itself, by its group.
bool is_built_in(const Resource& resource);

// The kinds whose lists we know how to merge are the built-in ones; a custom resource has no
// strategic merge patch (the API server answers 415), so for those this is kInvalid.
Result<json::value> apply_strategic_patch(const json::value& target, const json::value& patch,
                                          const Resource& resource);

// The smallest merge patch that turns `before` into `after`: {} when they are equal.
// REQUIRES: neither holds a null member (a merge patch cannot set one).
json::value merge_patch_between(const json::value& before, const json::value& after);

}  // namespace trainyard::kube
