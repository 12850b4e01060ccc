// Replays one recording of Kubeflow's operator: what was done to its job is done to ours,
// and what was seen is compared.
#pragma once

#include <vector>

#include "harness.h"

namespace trainyard::recorded {

// Where a switch of ours gives Kubeflow's behaviour it is set (cleanPodPolicy None by
// default, the evaluator in the cluster); `as_shipped` replays with our own defaults.
std::vector<Difference> replay_tfjob(const Recording& recording, bool as_shipped = false);

// Recordings that are tables and not stories: exit codes, refused manifests and updates,
// what kubectl prints.
std::vector<Difference> replay_tfjob_exit_codes(const Recording& recording);
std::vector<Difference> replay_tfjob_manifests(const Recording& recording);
std::vector<Difference> replay_tfjob_updates(const Recording& recording);
std::vector<Difference> replay_tfjob_states(const Recording& recording);

}  // namespace trainyard::recorded
