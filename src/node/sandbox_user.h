// Root without being root: a user namespace in which an ordinary user may make what
// sandboxes are made of (mounts, networks), and nothing else of the machine changes hands.
//
// Called once, before the process has a second thread. Containers of an earlier life live in
// the namespaces that were made then: as long as one of their shims runs, those are entered
// again instead of making new ones.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace trainyard::node {

// Whether the ids of this process are all ids of the machine, from /proc/self/uid_map. Pure.
bool maps_all_users(std::string_view uid_map);
// This process is in a user namespace that has only some of the machine's users.
bool in_user_namespace();

// Shims that an earlier life of the plane with this data folder left, by their pids.
std::vector<int64_t> shims_of_earlier_life(const std::filesystem::path& data_dir);

// The network namespace that the bridge of such a plane lives in.
std::filesystem::path home_network(const std::filesystem::path& data_dir);

// Makes (or finds) the namespaces and enters them: the process is root there, in a mount
// namespace of its own; its network stays the machine's. kForbidden with the reason when
// the machine does not let users do so. Nothing to do for root.
Result<Done> enter_user_namespace(const std::filesystem::path& data_dir);

}  // namespace trainyard::node
