// Volumes of a pod and where its containers want them, as values. Pure: files of secrets,
// configMaps and the downward API are given with their contents; making them is for
// volumes.h, which also follows sub paths without ever leaving a volume.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "kube/json.h"
#include "node/env_plan.h"

namespace trainyard::node {

struct EmptyVolume {
  bool memory = false;
  std::optional<int64_t> bytes_max;
  bool operator==(const EmptyVolume&) const = default;
};
struct HostVolume {
  std::string path;
  std::string type;  // "", Directory, DirectoryOrCreate, File, FileOrCreate, Socket, ...
  bool operator==(const HostVolume&) const = default;
};
struct ClaimVolume {
  std::string claim;
  bool read_only = false;
  bool operator==(const ClaimVolume&) const = default;
};
struct VolumeFile {
  std::string path;  // inside the volume, relative and clean
  std::string content;
  unsigned mode = 0644;
  bool operator==(const VolumeFile&) const = default;
};
struct FileVolume {
  std::vector<VolumeFile> files;
  bool operator==(const FileVolume&) const = default;
};

struct VolumePlan {
  std::string name;
  std::variant<EmptyVolume, HostVolume, ClaimVolume, FileVolume> kind;
  bool operator==(const VolumePlan&) const = default;
};

// A container's wish; the source is found when it is started.
struct MountWish {
  std::string volume;
  std::string target;    // absolute and clean
  std::string sub_path;  // relative and clean, "" for the whole volume
  bool read_only = false;
  bool operator==(const MountWish&) const = default;
};

// The kind of a volume that this node has none of ("nfs"); "" for those it has.
std::string foreign_volume_kind(const json::object& volume);

// The error is what a kubelet says when it cannot set a volume up.
Result<std::vector<VolumePlan>> plan_volumes(const json::object& pod, const Around& around);
// Sorted by target. `env` is for subPathExpr.
Result<std::vector<MountWish>> plan_mounts(const json::object& container, const Env& env);

// A relative path without empty parts, "." and ".."; nullopt when it is not to be had.
std::optional<std::string> clean_relative(std::string_view path);

}  // namespace trainyard::node
