// Volumes on this machine: makes what volume_plan.h describes below
// <data>/pods/<uid>/volumes and <data>/volumes (claims), and finds where a mount comes
// from. A sub path never leaves its volume, whatever links somebody put there. Edge.
//
// Files of secrets, configMaps and the like are replaced all at once, as a kubelet does it: they
// lie in a folder of their own, "..data" points to it, and what people see points into "..data".
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "node/runtime.h"
#include "node/volume_plan.h"

namespace trainyard::node {

class Volumes {
 public:
  explicit Volumes(std::filesystem::path data_dir) : data_dir_(std::move(data_dir)) {}

  // Idempotent. Files of secrets and the like are written anew. What is not the host's own is
  // given to the group, if there is one: it may read and write all of it.
  Result<Done> set_up(const std::string& ns, const std::string& pod_uid,
                      const std::vector<VolumePlan>& volumes, std::optional<int64_t> group = {}) const;
  // Where a container's mounts come from; makes sub paths that are not there.
  Result<std::vector<Mount>> mounts(const std::string& ns, const std::string& pod_uid,
                                    const std::vector<VolumePlan>& volumes,
                                    const std::vector<MountWish>& wishes) const;
  // Everything of the pod but its logs and claims.
  void tear_down(const std::string& pod_uid) const;

  // What an emptyDir on disk holds now, in bytes.
  int64_t bytes_of(const std::string& pod_uid, const std::string& volume) const;

  std::filesystem::path claim_folder(const std::string& ns, const std::string& claim) const;

 private:
  std::filesystem::path folder_of(const std::string& ns, const std::string& pod_uid,
                                  const VolumePlan& volume) const;
  std::filesystem::path data_dir_;
};

// What is there is not what the hostPath's type demands, or nothing is there and nothing would be made; ""
// when all is well. Looks, and makes nothing.
std::string unfit_host_path(const HostVolume& host);

// The real path of `sub_path` below `root`, made as folders where it is not there.
// kForbidden when it would leave the root.
Result<std::filesystem::path> resolve_beneath(const std::filesystem::path& root, const std::string& sub_path);

// The mounts that show a part of a memory volume have that part as their source.
// REQUIRES: the volumes themselves are there.
Result<Done> find_memory_folders(std::vector<Mount>& mounts);

}  // namespace trainyard::node
