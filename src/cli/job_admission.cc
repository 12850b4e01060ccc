#include "cli/job_admission.h"

#include "kube/access.h"
#include "kube/meta.h"

namespace trainyard::cli {
namespace {

std::string_view reason_of(dialect::ProblemKind kind) {
  switch (kind) {
    case dialect::ProblemKind::kRequired:
      return "FieldValueRequired";
    case dialect::ProblemKind::kInvalid:
      return "FieldValueInvalid";
    case dialect::ProblemKind::kUnsupported:
      return "FieldValueNotSupported";
    case dialect::ProblemKind::kForbidden:
      return "FieldValueForbidden";
    case dialect::ProblemKind::kDuplicate:
      return "FieldValueDuplicate";
    case dialect::ProblemKind::kType:
      return "FieldValueTypeInvalid";
    case dialect::ProblemKind::kTooLong:
      return "FieldValueTooLong";
    case dialect::ProblemKind::kTooMany:
      return "FieldValueTooMany";
  }
  return "FieldValueInvalid";
}

Error refusal(const dialect::Dialect& dialect, const json::object& job,
              const std::vector<dialect::Problem>& problems) {
  Error error{ErrorKind::kInvalid,
              fmt::format("{}.{} \"{}\" is invalid: {}", dialect.resource.kind, dialect.resource.group,
                          kube::name_of(job), dialect::join(problems))};
  for (size_t i = 0; i < problems.size() && i < dialect::kProblemsJoinedMax; ++i) {
    const dialect::Problem& problem = problems[i];
    std::string words = dialect::to_string(problem);
    if (words.starts_with(problem.path + ": ")) words.erase(0, problem.path.size() + 2);
    error.causes.push_back({std::string(reason_of(problem.kind)), words, problem.path});
  }
  return error;
}

bool same_intent(const json::object& before, const json::object& after) {
  const json::value* spec_before = kube::find(before, {"spec"});
  const json::value* spec_after = kube::find(after, {"spec"});
  const json::value* notes_before = kube::find(before, {"metadata", "annotations"});
  const json::value* notes_after = kube::find(after, {"metadata", "annotations"});
  auto same = [](const json::value* a, const json::value* b) {
    return a == nullptr || b == nullptr ? a == b : *a == *b;
  };
  return same(spec_before, spec_after) && same(notes_before, notes_after);
}

}  // namespace

store::Admission job_admission(const dialect::Dialect& dialect, const dialect::Settings& settings) {
  return [&dialect, settings](json::object& job, const json::object* before, kube::Part) -> Result<Done> {
    // A status or a label says nothing new about the job, even if it was let in under other rules.
    if (before != nullptr && same_intent(*before, job)) return Done{};
    dialect::LowerResult lowered = dialect.lower(job, settings);
    if (const auto* problems = std::get_if<std::vector<dialect::Problem>>(&lowered)) {
      return refusal(dialect, job, *problems);
    }
    if (before != nullptr) {
      std::vector<dialect::Problem> problems = dialect.validate_update(*before, job);
      if (!problems.empty()) return refusal(dialect, job, problems);
    }
    return Done{};
  };
}

json::object as_stored(const dialect::Dialect& dialect, json::object job) {
  job["apiVersion"] = kube::jview(dialect.resource.api_version());
  json::object& metadata = kube::ensure_object(job, {"metadata"});
  if (kube::namespace_of(job).empty()) metadata["namespace"] = "default";
  return job;
}

}  // namespace trainyard::cli
