// Checkers about jobs that validation refuses: somebody is told, and when the job is mended nobody is told
// so any more (invariant 18).
#include <fmt/format.h>

#include "kube/access.h"
#include "sim/checkers.h"

namespace trainyard::sim {

void Checkers::event_written(const json::object& event) {
  const std::string_view reason = kube::text_at(event, {"reason"});
  if (reason != "TFJobFailedValidation" && reason != "InvalidSpec") return;
  JobHistory* job = job_of(std::string(kube::text_at(event, {"involvedObject", "uid"})));
  const bool says_where = kube::text_at(event, {"message"}).find("spec.") != std::string_view::npos;
  if (job != nullptr && says_where) job->told_invalid = job->generation;
}

// Of a TFJob by an Event, for it has no words in its status; of the others where their status says how
// they are.
bool Checkers::is_told_invalid(const JobHistory& job) const {
  if (job.kind == Kind::kTfJob) return job.told_invalid == job.generation;
  const store::Object object = cluster_.find(resource_of(job.kind), job.name);
  if (object == nullptr) return false;
  if (job.kind == Kind::kVolcano) {
    return kube::text_at(*object, {"status", "state", "reason"}) == "InvalidSpec" &&
           kube::text_at(*object, {"status", "state", "message"}).find("spec.") != std::string_view::npos;
  }
  const json::array* conditions = kube::array_at(*object, {"status", "conditions"});
  if (conditions == nullptr) return false;
  for (const json::value& one : *conditions) {
    const json::object& condition = one.as_object();
    if (kube::text_at(condition, {"reason"}) == "InvalidSpec" &&
        kube::text_at(condition, {"status"}) == "True" &&
        kube::text_at(condition, {"message"}).find("spec.") != std::string_view::npos)
      return true;
  }
  return false;
}

void Checkers::invalid_at_rest() {
  now_ = cluster_.now();
  for (const auto& [uid, job] : jobs_) {
    if (job.gone || job.deleting || job.wish.valid || job.status.terminal() || is_told_invalid(job)) continue;
    violate(18, "invalid-is-told", fmt::format("nobody is told that {} is invalid", job.name));
  }
}

}  // namespace trainyard::sim
