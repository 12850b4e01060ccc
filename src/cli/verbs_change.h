// The verbs that change jobs: pause, resume, scale, delete. What is sent is planned purely
// from the job as it is, checked as the API would, and then sent.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cli/connect.h"
#include "cli/console.h"
#include "cli/verbs.h"
#include "cli/verbs_find.h"
#include "kube/request.h"

namespace trainyard::cli {

int pause_jobs(const PauseJobs& verb, const Cluster& cluster, const Console& console);
int resume_jobs(const ResumeJobs& verb, const Cluster& cluster, const Console& console);
int scale_job(const ScaleJob& verb, const Cluster& cluster, const Console& console);
int delete_jobs(const DeleteJobs& verb, const Cluster& cluster, const Console& console);

// The request that pauses or resumes a job: a switch in its spec, or for Volcano a Command.
kube::Request pause_request(const FoundJob& job, bool pause);

// The request that gives roles other numbers. kInvalid with the field path when the job has
// no such role, or may not have so many.
Result<kube::Request> scale_request(const FoundJob& job,
                                    const std::vector<std::pair<std::string, int>>& roles);

}  // namespace trainyard::cli
