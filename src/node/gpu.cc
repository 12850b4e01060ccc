#include "node/gpu.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <charconv>

namespace trainyard::node {

namespace fs = std::filesystem;

int gpu_index(std::string_view name) {
  constexpr std::string_view kPrefix = "nvidia";
  if (!name.starts_with(kPrefix)) return -1;
  name.remove_prefix(kPrefix.size());
  int index = -1;
  auto [end, failure] = std::from_chars(name.data(), name.data() + name.size(), index);
  if (failure != std::errc() || end != name.data() + name.size() || index < 0) return -1;
  return index;
}

Gpus find_gpus(int declared, const fs::path& dev) {
  Gpus gpus;
  if (declared >= 0) {
    gpus.simulated = true;
    for (int i = 0; i < declared; ++i) gpus.indexes.push_back(i);
    return gpus;
  }
  std::error_code failure;
  for (fs::directory_iterator it(dev, failure), end; !failure && it != end; it.increment(failure)) {
    int index = gpu_index(it->path().filename().string());
    if (index >= 0) gpus.indexes.push_back(index);
  }
  std::sort(gpus.indexes.begin(), gpus.indexes.end());
  return gpus;
}

std::vector<DeviceNode> gpu_devices(const Gpus& gpus, const std::vector<int>& assigned, const fs::path& dev) {
  std::vector<DeviceNode> devices;
  if (gpus.simulated || assigned.empty()) return devices;
  std::vector<std::string> names = {"nvidiactl", "nvidia-uvm", "nvidia-uvm-tools", "nvidia-modeset"};
  for (int index : assigned) names.push_back(fmt::format("nvidia{}", index));
  for (const std::string& name : names) {
    struct stat about {};
    fs::path file = dev / name;
    if (::stat(file.c_str(), &about) != 0 || !S_ISCHR(about.st_mode)) continue;
    devices.push_back({file.string(), 'c', major(about.st_rdev), minor(about.st_rdev)});
  }
  return devices;
}

}  // namespace trainyard::node
