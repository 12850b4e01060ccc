#include "node/shims.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "node/files.h"
#include "node/testing.h"

namespace trainyard::node {
namespace {

using testing::TempFolder;

// A process that leads a group of its own and stays until it is killed.
pid_t stays() {
  const pid_t pid = ::fork();
  if (pid == 0) {
    for (;;) ::pause();
  }
  ::setpgid(pid, pid);
  return pid;
}

// What a shim that was killed has left behind, of a container whose process had this number.
ContainerId leave_behind(const std::filesystem::path& root, pid_t pid, int64_t start_ticks) {
  const std::filesystem::path folder = root / "pod" / "containers" / "main" / "0";
  std::filesystem::create_directories(folder);
  ShimState state;
  state.pid = pid;
  state.pid_start_ticks = start_ticks;
  state.started = Time{1000};
  EXPECT_TRUE(write_whole(folder / kShimStateFile, to_text(state)).ok());
  return {"pod", "main", 0};
}

TEST(Shims, WhatAKilledShimLeftRunningIsEnded) {
  TempFolder folder;
  const pid_t pid = stays();
  const ContainerId id = leave_behind(folder.path(), pid, start_ticks_of(pid).value());
  Shims shims({folder.path(), {"/bin/false"}});
  EXPECT_EQ(shims.find(id).value().exit_code, 137);
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFSIGNALED(status));
}

TEST(Shims, ANumberThatIsUsedAgainIsNotTakenForTheContainer) {
  TempFolder folder;
  const pid_t other = stays();
  const ContainerId id = leave_behind(folder.path(), other, start_ticks_of(other).value() - 1);
  Shims shims({folder.path(), {"/bin/false"}});
  EXPECT_EQ(shims.find(id).value().phase, ContainerPhase::kExited);
  EXPECT_FALSE(shims.signal(id, SIGKILL, Reach::kGroup).ok());
  EXPECT_EQ(::waitpid(other, nullptr, WNOHANG), 0) << "it still runs";
  ASSERT_EQ(::kill(other, SIGKILL), 0);
  ASSERT_EQ(::waitpid(other, nullptr, 0), other);
}

}  // namespace
}  // namespace trainyard::node
