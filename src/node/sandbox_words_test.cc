#include "node/sandbox_words.h"

#include <gtest/gtest.h>

namespace trainyard::node {
namespace {

TEST(SandboxWords, StartFailuresBecomeExitCodes) {
  StartVerdict missing = read_start_failure(
      "time=\"2026-11-16T03:00:00Z\" level=error msg=\"runc run failed: unable to start container process: "
      "exec: "
      "\\\"nosuch\\\": executable file not found in $PATH\"\n");
  EXPECT_EQ(missing.exit_code, 127);
  EXPECT_EQ(missing.message, "exec: \"nosuch\": executable file not found in $PATH");

  StartVerdict no_file = read_start_failure(
      "time=\"x\" level=error msg=\"runc run failed: unable to start container process: exec /bin/x: no such "
      "file or "
      "directory\"");
  EXPECT_EQ(no_file.exit_code, 127);

  StartVerdict denied = read_start_failure(
      "level=error msg=\"runc run failed: unable to start container process: exec: \\\"/etc/passwd\\\": "
      "permission "
      "denied\"");
  EXPECT_EQ(denied.exit_code, 126);

  // The same from crun.
  EXPECT_EQ(
      read_start_failure("executable file `nosuch` not found in $PATH: No such file or directory").exit_code,
      127);
  EXPECT_EQ(read_start_failure("open executable: Permission denied").exit_code, 126);
  // And on a terminal.
  StartVerdict painted = read_start_failure(
      "\x1b[1;31m2026-11-18T02:15:45.307294Z: \x1b[1;31m2026-11-18T02:15:45.306783Z: executable file "
      "`nosuch` not found in $PATH: No such file or directory\x1b[0m\r\n\x1b[0m\r\n");
  EXPECT_EQ(painted.exit_code, 127);
  EXPECT_EQ(painted.message, "executable file `nosuch` not found in $PATH: No such file or directory");

  StartVerdict other =
      read_start_failure("level=error msg=\"runc run failed: error during container init: x\"");
  EXPECT_EQ(other.exit_code, 128);
  EXPECT_EQ(other.message, "error during container init: x");
  EXPECT_EQ(read_start_failure("something else").message, "something else");
}

TEST(SandboxWords, AnImageOfAnotherMachineIsTold) {
  EXPECT_EQ(foreign_image_words("a/b:1", "amd64", "amd64"), "");
  EXPECT_EQ(foreign_image_words("a/b:1", "", "amd64"), "");
  EXPECT_EQ(foreign_image_words("a/b:1", "arm64", "amd64"),
            "image a/b:1 was made for arm64 and this machine is amd64: its programs may not start");
}

TEST(SandboxWords, NameServersOfTheHostsLoopbackAreNotThePods) {
  const char* host = "search lan\nnameserver 127.0.0.53\nnameserver 192.168.1.1\noptions edns0\n";
  EXPECT_EQ(resolv_text(host, true), "search lan\nnameserver 192.168.1.1\noptions edns0\n");
  EXPECT_EQ(resolv_text(host, false).find("nameserver"), std::string::npos);
}

TEST(SandboxWords, SysctlsOfTheWholeMachineAreForeign) {
  PodPlan pod;
  pod.sysctls = {{"kernel.shmmax", "1"},
                 {"net.core.somaxconn", "1"},
                 {"vm.swappiness", "1"},
                 {"fs.mqueue.msg_max", "1"},
                 {"kernel.panic", "1"}};
  EXPECT_EQ(foreign_sysctls(pod), (std::vector<std::string>{"kernel.panic", "vm.swappiness"}));
  pod.host_network = true;
  EXPECT_EQ(foreign_sysctls(pod),
            (std::vector<std::string>{"kernel.panic", "net.core.somaxconn", "vm.swappiness"}));
}

TEST(SandboxWords, AUserIsToldWhichLimitsAreNotEnforcedAndWhy) {
  ContainerPlan plan;
  plan.id.container = "c";
  plan.limits = {1000, 1 << 20, 0};
  auto told = [&](Enforced enforced, std::string_view why) {
    std::vector<std::string> words;
    add_rootless_words({plan}, enforced, why, words);
    return words;
  };
  EXPECT_EQ(
      told({false, false}, "no systemd"),
      (std::vector<std::string>{"container c: the memory limit is not enforced without root (no systemd)",
                                "container c: the CPU limit is not enforced without root (no systemd)"}));
  EXPECT_EQ(
      told({false, true}, ""),
      (std::vector<std::string>{"container c: the CPU limit is not enforced without root (systemd does not "
                                "hand users the control of CPU here)"}));
  EXPECT_EQ(told({true, true}, ""), std::vector<std::string>{});
}

}  // namespace
}  // namespace trainyard::node
