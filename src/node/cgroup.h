// Control groups of sandboxes, version 1 (also beside a version 2 tree, "hybrid") and
// version 2: where they are, what they used, who was killed for memory, ending all in one.
//
// Names are paths below the mount point of each hierarchy, or below the home in it:
// "/trainyard/<plane>/pod<uid>/<container>".
// The OCI runtime makes a container's groups; here they are read and taken away. Any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "node/runtime.h"

namespace trainyard::node {

struct CgroupLayout {
  bool v2 = false;      // the one tree; otherwise version 1 controllers
  bool hybrid = false;  // version 1 controllers with a version 2 tree that has none of them
  // Where each hierarchy is mounted; of v2 a single one. Controllers share a mount at times.
  std::vector<std::filesystem::path> mounts;
  std::filesystem::path cpu_usage;  // the mount that counts CPU time
  std::filesystem::path memory;
  // The group below which ours are made, of version 2: "" for the machine's root, otherwise what
  // an ordinary user was handed over (user_scope.h), perhaps without a controller of CPU.
  std::string home;
  bool limits_cpu = true;
  bool operator==(const CgroupLayout&) const = default;
};

// From /proc/self/mountinfo. nullopt when no hierarchy with memory and CPU is mounted. Pure.
std::optional<CgroupLayout> cgroup_layout(std::string_view mountinfo);

// The same hierarchies with groups below `home` only; it limits what has been handed to it.
CgroupLayout layout_below(CgroupLayout layout, std::string home);

// The value of a "name value" line; nullopt when there is none. Pure.
std::optional<int64_t> cgroup_field(std::string_view text, std::string_view name);

class Cgroups {
 public:
  explicit Cgroups(CgroupLayout layout);

  const CgroupLayout& layout() const { return layout_; }
  // The name as the OCI runtime knows it: below the mount point.
  std::string path_below_mount(const std::string& name) const { return layout_.home + name; }
  // Whether groups with limits can be made here, and if not why. In version 2 what sandboxes
  // are limited by is handed on to groups below, where it is not yet.
  Result<Done> writable() const;
  bool can_limit_swap() const;

  bool exists(const std::string& name) const;
  std::optional<Usage> usage(const std::string& name) const;
  // How many processes of it the kernel ended because it ran out of its memory.
  int64_t oom_kills(const std::string& name) const;
  std::vector<int> processes(const std::string& name) const;  // of it and of those below it
  // Kills everything in it and below it until nothing is left, then takes the groups away.
  Result<Done> destroy(const std::string& name) const;
  // The groups directly below it, sorted.
  std::vector<std::string> children(const std::string& name) const;

 private:
  std::filesystem::path folder(const std::filesystem::path& mount, const std::string& name) const;
  Result<Done> hand_on_controllers() const;

  CgroupLayout layout_;
};

}  // namespace trainyard::node
