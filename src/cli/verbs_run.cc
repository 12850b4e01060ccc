#include "cli/verbs_run.h"

#include "base/match.h"
#include "cli/commands.h"
#include "cli/verbs_change.h"
#include "cli/verbs_exec.h"
#include "cli/verbs_get.h"
#include "cli/verbs_logs.h"
#include "cli/verbs_show.h"
#include "cli/verbs_submit.h"
#include "cli/verbs_wait.h"

namespace trainyard::cli {

int carry_out(const Verb& verb, const Cluster& cluster, const Console& console) {
  return std::visit(Match{[&](const Submit& v) { return submit(v, cluster, console); },
                          [&](const GetJobs& v) { return get_jobs(v, cluster, console); },
                          [&](const DescribeJobs& v) { return describe_jobs(v, cluster, console); },
                          [&](const ShowLogs& v) { return show_logs(v, cluster, console); },
                          [&](const PauseJobs& v) { return pause_jobs(v, cluster, console); },
                          [&](const ResumeJobs& v) { return resume_jobs(v, cluster, console); },
                          [&](const ScaleJob& v) { return scale_job(v, cluster, console); },
                          [&](const DeleteJobs& v) { return delete_jobs(v, cluster, console); },
                          [&](const WaitForJob& v) { return wait_for_job(v, cluster, console); },
                          [&](const TopJobs& v) { return top_jobs(v, cluster, console); },
                          [&](const ShowEvents& v) { return show_events(v, cluster, console); },
                          [&](const ExecIn& v) { return exec_in(v, cluster, console); }},
                    verb);
}

int run_verb(const OnCluster& command, const Console& console) {
  Result<std::unique_ptr<Connection>> connection = connect(command.target);
  if (!connection.ok()) {
    console.err << connection.error().message << "\n";
    return kInputAtFault;
  }
  return carry_out(command.verb, connection.value()->cluster(), console);
}

}  // namespace trainyard::cli
