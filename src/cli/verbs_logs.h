// The verb `logs`: what replicas print, one or many, now and as it comes, also of pods that
// are gone where the embedded plane keeps it.
#pragma once

#include "cli/connect.h"
#include "cli/console.h"
#include "cli/verbs.h"

namespace trainyard::cli {

int show_logs(const ShowLogs& verb, const Cluster& cluster, const Console& console);

}  // namespace trainyard::cli
