// Limits without root: control groups that the systemd of an ordinary user hands over.
//
// A plane of such a user lives in a scope of its own (systemd_call.h): in its group
// "trainyard-plane", with its shims; beside it the groups of its containers are made. A plane
// that comes back joins the scope in which the containers of its earlier life run. Version 2
// only. Edge: asks systemd, moves this process.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace trainyard::node {

// Where a process is in the version 2 tree ("/user.slice/..."), from its /proc/<pid>/cgroup; ""
// when it does not say. Pure.
std::string unified_group(std::string_view cgroup_file);

// The group in which a plane and the groups of its containers lie, when `group` is a plane's. Pure.
std::optional<std::string> home_of_plane(const std::string& group);

// Whether the group belongs to the systemd of that user: what is in it ends with the user's
// last session, unless the user lingers. Pure.
bool below_user_manager(std::string_view group, uid_t uid);

// Moves this process into a scope of its own, or into that of its earlier life. To be called
// before enter_user_namespace(), in which systemd does not know who asks. Nothing to do for
// root. Otherwise kUnavailable or kForbidden, with the reason why limits are not enforced.
Result<Done> enter_user_scope(const std::filesystem::path& data_dir);

}  // namespace trainyard::node
