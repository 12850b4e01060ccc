// Problem: one thing that is wrong with a manifest, told so that a person can mend
// it: where (field path), what was found, what is allowed. Validation collects all of
// them; nothing stops at the first.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard::dialect {

enum class ProblemKind {
  kRequired,
  kInvalid,
  kUnsupported,
  kForbidden,
  kDuplicate,
  kType,
  kTooLong,
  kTooMany
};

struct Problem {
  std::string path;  // "spec.tfReplicaSpecs[Worker].replicas"
  ProblemKind kind = ProblemKind::kInvalid;
  std::string found;    // what is there, as JSON, shortened; "" when nothing is
  std::string message;  // what is wrong and what is allowed

  bool operator==(const Problem&) const = default;
};

// "spec.tfReplicaSpecs[Worker].replicas: Invalid value: -1: must be greater than or equal to 0",
// in the form that kubectl users know.
std::string to_string(const Problem& problem);

// More than fit into a message or a status: beyond, they are counted.
inline constexpr size_t kProblemsJoinedMax = 100;
std::string join(const std::vector<Problem>& problems);

}  // namespace trainyard::dialect
