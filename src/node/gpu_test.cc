#include "node/gpu.h"

#include <gtest/gtest.h>

#include <fstream>

#include "node/testing.h"

namespace trainyard::node {
namespace {

TEST(Gpu, OnlyNumberedDevicesAreGpus) {
  EXPECT_EQ(gpu_index("nvidia0"), 0);
  EXPECT_EQ(gpu_index("nvidia15"), 15);
  for (const char* name : {"nvidia", "nvidiactl", "nvidia-uvm", "nvidia1x", "sda1", "nvidia-1"}) {
    EXPECT_EQ(gpu_index(name), -1) << name;
  }
}

TEST(Gpu, AreFoundOrDeclared) {
  testing::TempFolder dev;
  for (const char* name : {"nvidia10", "nvidia2", "nvidiactl", "null"}) std::ofstream(dev.path() / name);
  EXPECT_EQ(find_gpus(-1, dev.path()), (Gpus{{2, 10}, false}));
  EXPECT_EQ(find_gpus(3, dev.path()), (Gpus{{0, 1, 2}, true}));
  EXPECT_EQ(find_gpus(0, dev.path()), (Gpus{{}, true}));
  EXPECT_TRUE(gpu_devices(find_gpus(3, dev.path()), {1}, dev.path()).empty());
}

TEST(Gpu, DevicesAreThoseAssigned) {
  Gpus gpus{{0, 1}, false};
  // Plain files are not devices; a real character device is needed, so an existing one stands in.
  testing::TempFolder dev;
  std::filesystem::create_symlink("/dev/null", dev.path() / "nvidia1");
  std::filesystem::create_symlink("/dev/zero", dev.path() / "nvidiactl");
  std::filesystem::create_symlink("/dev/full", dev.path() / "nvidia0");
  std::vector<DeviceNode> devices = gpu_devices(gpus, {1}, dev.path());
  ASSERT_EQ(devices.size(), 2u);
  EXPECT_EQ(devices[0], (DeviceNode{(dev.path() / "nvidiactl").string(), 'c', 1, 5}));
  EXPECT_EQ(devices[1], (DeviceNode{(dev.path() / "nvidia1").string(), 'c', 1, 3}));
  EXPECT_TRUE(gpu_devices(gpus, {}, dev.path()).empty());
}

}  // namespace
}  // namespace trainyard::node
