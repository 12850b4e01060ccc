// How a command ends that cannot go on: the reason on `err`, the exit status back.
#pragma once

#include "base/result.h"
#include "cli/commands.h"
#include "cli/console.h"

namespace trainyard::cli {

inline int complain(const Console& console, const Error& error) {
  console.err << error.message << "\n";
  return kInputAtFault;
}

}  // namespace trainyard::cli
