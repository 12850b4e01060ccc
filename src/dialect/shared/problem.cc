#include "dialect/shared/problem.h"

#include <fmt/format.h>

namespace trainyard::dialect {
namespace {

std::string_view title(ProblemKind kind) {
  switch (kind) {
    case ProblemKind::kRequired:
      return "Required value";
    case ProblemKind::kInvalid:
      return "Invalid value";
    case ProblemKind::kUnsupported:
      return "Unsupported value";
    case ProblemKind::kForbidden:
      return "Forbidden";
    case ProblemKind::kDuplicate:
      return "Duplicate value";
    case ProblemKind::kType:
      return "Invalid type";
    case ProblemKind::kTooLong:
      return "Too long";
    case ProblemKind::kTooMany:
      return "Too many";
  }
  return "Invalid value";
}

}  // namespace

std::string to_string(const Problem& problem) {
  if (problem.found.empty())
    return fmt::format("{}: {}: {}", problem.path, title(problem.kind), problem.message);
  return fmt::format("{}: {}: {}: {}", problem.path, title(problem.kind), problem.found, problem.message);
}

std::string join(const std::vector<Problem>& problems) {
  std::string all;
  for (size_t i = 0; i < problems.size() && i < kProblemsJoinedMax; ++i) {
    if (!all.empty()) all += "; ";
    all += to_string(problems[i]);
  }
  if (problems.size() > kProblemsJoinedMax) {
    all += fmt::format("; and {} more", problems.size() - kProblemsJoinedMax);
  }
  return all;
}

}  // namespace trainyard::dialect
