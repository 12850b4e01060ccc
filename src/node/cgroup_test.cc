#include "node/cgroup.h"

#include <gtest/gtest.h>

namespace trainyard::node {
namespace {

constexpr const char* kHybrid =
    "30 24 0:25 / /sys/fs/cgroup ro,nosuid shared:9 - tmpfs tmpfs ro,mode=755\n"
    "31 30 0:26 / /sys/fs/cgroup/unified rw,relatime shared:10 - cgroup2 cgroup2 rw\n"
    "33 30 0:28 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
    "34 30 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct\n";

TEST(Cgroup, LayoutIsReadFromTheMounts) {
  std::optional<CgroupLayout> hybrid = cgroup_layout(kHybrid);
  ASSERT_TRUE(hybrid);
  EXPECT_FALSE(hybrid->v2);
  EXPECT_TRUE(hybrid->hybrid);
  EXPECT_EQ(hybrid->memory, "/sys/fs/cgroup/memory");
  EXPECT_EQ(hybrid->cpu_usage, "/sys/fs/cgroup/cpu,cpuacct");
  EXPECT_EQ(hybrid->mounts.size(), 3u);

  std::optional<CgroupLayout> v2 =
      cgroup_layout("31 30 0:26 / /sys/fs/cgroup rw,nosuid shared:10 - cgroup2 cgroup2 rw,nsdelegate\n");
  ASSERT_TRUE(v2);
  EXPECT_TRUE(v2->v2);
  EXPECT_FALSE(v2->hybrid);
  EXPECT_EQ(v2->mounts, (std::vector<std::filesystem::path>{"/sys/fs/cgroup"}));

  EXPECT_EQ(cgroup_layout("25 1 8:1 / / rw - ext4 /dev/sda1 rw\n"), std::nullopt);
  // Version 1 without memory is of no use to us.
  EXPECT_EQ(cgroup_layout("34 30 0:29 / /c rw - cgroup cgroup rw,cpu,cpuacct\n"), std::nullopt);
}

TEST(Cgroup, FieldsAreFoundByWholeNames) {
  const char* text = "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n";
  EXPECT_EQ(cgroup_field(text, "oom_kill"), 3);
  EXPECT_EQ(cgroup_field(text, "oom"), std::nullopt);
  EXPECT_EQ(cgroup_field("usage_usec 123456\nuser_usec 5\n", "usage_usec"), 123456);
}

}  // namespace
}  // namespace trainyard::node
