// Paths where nothing can be mounted: a plain process sees the machine's own files, so what
// its manifest calls /data is a folder elsewhere. These rewrite the paths that stand in its
// command line and environment. Pure.
//
// A path is taken for one only where it begins and ends as one: "/data", "--dir=/data/x" and
// "a:/data" are rewritten, "/database" and "/mnt/data" are not. Paths that a program knows by
// itself or puts together are not found: cannot_honour() says so.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "node/runtime.h"

namespace trainyard::node {

// Not the root, not what has no source, and not /dev/shm: that is the machine's own memory.
bool is_relocated(const Mount& mount);

// Every path at or below a mount's target becomes one at or below its source. Of nested
// targets the innermost counts.
std::string relocated(std::string_view text, const std::vector<Mount>& mounts);

}  // namespace trainyard::node
