// The verb `submit`: creates what the files hold. Everything is checked before anything is
// created; a job that is there already is left alone, and the user told what to do.
#pragma once

#include "cli/connect.h"
#include "cli/console.h"
#include "cli/verbs.h"

namespace trainyard::cli {

int submit(const Submit& verb, const Cluster& cluster, const Console& console);

}  // namespace trainyard::cli
