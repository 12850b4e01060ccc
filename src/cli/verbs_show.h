// The verbs that show and change nothing: describe, events, top (get: see verbs_get.h).
#pragma once

#include "cli/connect.h"
#include "cli/console.h"
#include "cli/verbs.h"

namespace trainyard::cli {

int describe_jobs(const DescribeJobs& verb, const Cluster& cluster, const Console& console);
int show_events(const ShowEvents& verb, const Cluster& cluster, const Console& console);
int top_jobs(const TopJobs& verb, const Cluster& cluster, const Console& console);

}  // namespace trainyard::cli
