// The root file system of a container: a read-only folder (an unpacked image, or the host's
// own root) below a layer that the container writes to. Mounted here, for runc to enter.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "node/oci_spec.h"

namespace trainyard::node {

// The options of an overlay mount; a path may hold ',' and ':'. Pure.
std::string overlay_options(const std::filesystem::path& lower, const std::filesystem::path& upper,
                            const std::filesystem::path& work, bool user_namespace);

// Mounts `lower` at <folder>/rootfs with <layer>/upper above it.
Result<Done> mount_root(const std::filesystem::path& lower, const std::filesystem::path& folder,
                        const std::filesystem::path& layer, bool user_namespace);

// In a user namespace the host's root cannot be a lower layer as a whole: makes
// <folder>/rootfs a folder with the links of the host's root, and says which of its folders
// are to be mounted there, with their layers below <layer>. One with something mounted below it that is not
// our own, which would show what is hidden there, can have no layer.
Result<std::vector<HostLayer>> make_host_root(const std::filesystem::path& folder,
                                              const std::filesystem::path& layer,
                                              const std::filesystem::path& our_own);

// Makes the way to `target`, below the folder of the host, in its layer, where there is none: in a folder
// that belongs to somebody else on the host nobody could make it. Where a link is on the way, nothing is
// made.
Result<Done> make_way(const HostLayer& layer, const std::filesystem::path& target, bool to_a_file);

// Holds at `target` what is at `source` at this moment, whatever is put in its place later.
// kForbidden when the way there leads over a link.
Result<Done> hold_exactly(const std::filesystem::path& source, const std::filesystem::path& target);
// Takes away the folder of things that were held, once they are unmounted. What is still held
// stays, and is an error: nothing of a volume goes with it.
Result<Done> drop_held(const std::filesystem::path& folder);

// A memory file system at `target`, unless there is one. `bytes` 0: no size of its own.
Result<Done> mount_memory(const std::filesystem::path& target, int64_t bytes);

// Unmounts everything at and below the folders, the innermost first. Idempotent.
Result<Done> unmount_below(const std::vector<std::filesystem::path>& folders);

// The user databases inside a root file system; a link in it does not lead out of it.
UserFiles read_user_files(const std::filesystem::path& root);

}  // namespace trainyard::node
