#include "dialect/volcano/commands.h"

#include "dialect/volcano/policies.h"
#include "kube/access.h"
#include "kube/meta.h"

namespace trainyard::dialect::vc {

std::optional<CommandFor> see_command(const json::object& command) {
  std::string_view api_version = kube::text_at(command, {"target", "apiVersion"});
  std::string_view job = kube::text_at(command, {"target", "name"});
  bool of_volcano =
      api_version.starts_with("batch.volcano.sh/") && kube::text_at(command, {"target", "kind"}) == "Job";
  if (!of_volcano || job.empty()) return std::nullopt;
  CommandFor result;
  result.job = job;
  result.job_uid = kube::text_at(command, {"target", "uid"});
  result.seen.name = kube::name_of(command);
  result.seen.uid = kube::uid_of(command);
  std::optional<model::Action> action = action_named(kube::text_at(command, {"action"}));
  // Restarting a task, pod or partition needs to say which; a Command cannot.
  bool whole_job =
      action && (action->kind != model::ActionKind::kRestart || action->scope == model::Scope::kJob);
  if (whole_job) result.seen.action = *action;
  return result;
}

}  // namespace trainyard::dialect::vc
