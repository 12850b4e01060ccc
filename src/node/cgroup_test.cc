#include "node/cgroup.h"

#include <gtest/gtest.h>

#include <fstream>

#include "node/testing.h"

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

// A folder with the files of a control group as the kernel writes them.
class CgroupFiles : public ::testing::Test {
 protected:
  void put(const std::string& file, const std::string& text) {
    std::filesystem::create_directories((mount_.path() / file).parent_path());
    std::ofstream(mount_.path() / file) << text;
  }
  std::string get(const std::string& file) { return testing::text_of(mount_.path() / file); }
  Cgroups groups(bool v2) {
    return Cgroups({v2, false, {mount_.path()}, mount_.path(), mount_.path(), "", true});
  }

  testing::TempFolder mount_;
};

TEST_F(CgroupFiles, UsageOfVersionTwo) {
  put("t/p/c/memory.current", "10485760\n");
  put("t/p/c/memory.stat",
      "anon 4096\nfile 3145728\ninactive_anon 1\nactive_file 5\ninactive_file 2097152\n");
  put("t/p/c/cpu.stat", "usage_usec 1500000\nuser_usec 1000000\nsystem_usec 500000\nnr_periods 0\n");
  std::optional<Usage> usage = groups(true).usage("/t/p/c");
  ASSERT_TRUE(usage);
  EXPECT_EQ(usage->cpu_nanos_total, 1'500'000'000);
  EXPECT_EQ(usage->memory_bytes, 8'388'608);
  EXPECT_FALSE(groups(true).usage("/t/p/d"));
}

TEST_F(CgroupFiles, UsageOfVersionOne) {
  put("t/memory.usage_in_bytes", "10485760\n");
  put("t/memory.stat", "cache 9\ninactive_file 1\ntotal_inactive_file 2097152\n");
  put("t/cpuacct.usage", "1500000000\n");
  std::optional<Usage> usage = groups(false).usage("/t");
  ASSERT_TRUE(usage);
  EXPECT_EQ(usage->cpu_nanos_total, 1'500'000'000);
  EXPECT_EQ(usage->memory_bytes, 8'388'608);
}

TEST_F(CgroupFiles, WhoWasKilledForMemory) {
  put("two/memory.events", "low 0\nhigh 0\nmax 17\noom 2\noom_kill 1\noom_group_kill 0\n");
  EXPECT_EQ(groups(true).oom_kills("/two"), 1);
  // It reached its limit and gave memory back: nobody was killed.
  put("near/memory.events", "low 0\nhigh 0\nmax 17\noom 1\noom_kill 0\n");
  EXPECT_EQ(groups(true).oom_kills("/near"), 0);
  put("one/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n");
  EXPECT_EQ(groups(false).oom_kills("/one"), 3);
  EXPECT_EQ(groups(true).oom_kills("/none"), 0);
}

TEST_F(CgroupFiles, ProcessesAndGroupsBelow) {
  put("t/cgroup.procs", "");
  put("t/b/cgroup.procs", "31\n7\n");
  put("t/a/x/cgroup.procs", "7\n8\n");
  EXPECT_EQ(groups(true).processes("/t"), (std::vector<int>{7, 8, 31}));
  EXPECT_EQ(groups(true).children("/t"), (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(groups(true).exists("/t/a"));
  EXPECT_FALSE(groups(true).exists("/t/c"));
}

TEST_F(CgroupFiles, WhatVersionTwoLimitsIsHandedOn) {
  put("cgroup.controllers", "cpuset cpu io memory hugetlb pids rdma misc\n");
  put("cgroup.subtree_control", "cpu pids\n");
  EXPECT_TRUE(groups(true).writable().ok());
  EXPECT_TRUE(get("cgroup.subtree_control").starts_with("+memory")) << get("cgroup.subtree_control");
  put("cgroup.subtree_control", "cpuset cpu io memory pids\n");
  EXPECT_TRUE(groups(true).writable().ok());
  EXPECT_EQ(get("cgroup.subtree_control"), "cpuset cpu io memory pids\n");

  // In a container, at times.
  put("cgroup.controllers", "cpu hugetlb memory\n");
  Result<Done> none = groups(true).writable();
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().kind, ErrorKind::kForbidden);
  EXPECT_NE(none.error().message.find("cannot limit pids"), std::string::npos) << none.error().message;
  put("cgroup.controllers", "cpu memory pids\n");
  std::filesystem::remove(mount_.path() / "cgroup.subtree_control");
  EXPECT_FALSE(groups(true).writable().ok());
}

TEST_F(CgroupFiles, GroupsBelowAHome) {
  put("u/s.scope/cgroup.controllers", "memory pids\n");
  put("u/s.scope/cgroup.subtree_control", "\n");
  put("u/s.scope/t/c/memory.events", "oom_kill 2\n");
  put("t/c/memory.events", "oom_kill 9\n");
  Cgroups below(layout_below(groups(true).layout(), "/u/s.scope"));
  EXPECT_FALSE(below.layout().limits_cpu);
  Result<Done> writable = below.writable();
  EXPECT_TRUE(writable.ok()) << writable.error().message;
  EXPECT_EQ(get("u/s.scope/cgroup.subtree_control"), "+memory +pids");
  EXPECT_EQ(below.oom_kills("/t/c"), 2);
  EXPECT_EQ(below.path_below_mount("/t/c"), "/u/s.scope/t/c");

  put("u/s.scope/cgroup.controllers", "cpu memory pids\n");
  EXPECT_TRUE(layout_below(groups(true).layout(), "/u/s.scope").limits_cpu);
  // Without that of memory there is nothing to be had.
  put("u/s.scope/cgroup.controllers", "pids\n");
  EXPECT_FALSE(Cgroups(layout_below(groups(true).layout(), "/u/s.scope")).writable().ok());
}

}  // namespace
}  // namespace trainyard::node
