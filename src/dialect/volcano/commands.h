// Commands: requests to a job that are objects of their own (bus.volcano.sh), with
// their fields at the top. Pure.
#pragma once

#include <optional>
#include <string>

#include "kube/json.h"
#include "model/job_spec.h"
#include "model/observation.h"

namespace trainyard::dialect::vc {

struct Command {
  std::string name_space;
  std::string job;      // the name of the job it is for
  std::string job_uid;  // "" when it means whatever job has that name
  model::CommandSeen seen;

  bool operator==(const Command&) const = default;
};

// nullopt when it is for something else than a Volcano Job (queues have commands too).
// Actions are AbortJob, ResumeJob, RestartJob, TerminateJob and CompleteJob; any other
// word comes out as ActionKind::kNone, to be taken away without effect.
std::optional<Command> decode_command(const json::object& command);

bool is_for(const Command& command, const model::JobSpec& job);

}  // namespace trainyard::dialect::vc
