// The GPUs of this machine: those that NVIDIA's driver shows, or a number that was declared
// (devices that are counted and assigned but do not exist, for trying things out).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "node/oci_spec.h"

namespace trainyard::node {

struct Gpus {
  std::vector<int> indexes;  // sorted
  bool simulated = false;
  bool operator==(const Gpus&) const = default;
};

// The number of "/dev/nvidia<number>"; -1 for other names (nvidiactl, nvidia-uvm). Pure.
int gpu_index(std::string_view device_name);

// `declared` >= 0 wins over what is there.
Gpus find_gpus(int declared, const std::filesystem::path& dev = "/dev");

// The devices that a container with these GPUs needs: theirs and those that all share.
// Empty for simulated ones.
std::vector<DeviceNode> gpu_devices(const Gpus& gpus, const std::vector<int>& assigned,
                                    const std::filesystem::path& dev = "/dev");

}  // namespace trainyard::node
