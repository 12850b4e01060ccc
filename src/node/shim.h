// The shim: a small process that watches one container, so that the container outlives
// the node. It starts the container, copies its output to the log (one line of text per
// line, with time and stream), takes attachments, reaps and ends every process that the
// container left behind, and at last writes down how it ended. One thread.
//
// It leaves the node at once: a session of its own, signals to the node's group do not
// reach it, its parent is init. Descriptor kShimLifeFd is the writing end of its `life`
// FIFO (see shim_plan.h); no other descriptor is kept.
#pragma once

#include <string>

namespace trainyard::node {

inline constexpr int kShimLifeFd = 3;

// The body of `trainyard shim <plan.json>`. The exit status of the process.
int shim_main(const std::string& plan_file);

}  // namespace trainyard::node
