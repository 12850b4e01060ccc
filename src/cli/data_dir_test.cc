#include "cli/data_dir.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

namespace trainyard::cli {
namespace {

TEST(UpCommand, NamesTheFolderUnlessItIsTheUsualOne) {
  EXPECT_EQ(up_command({"/srv/plane"}), "trainyard up --data-dir /srv/plane");
  EXPECT_EQ(up_command({"/srv/my plane"}), "trainyard up --data-dir '/srv/my plane'");
  EXPECT_EQ(for_a_shell("it's"), "'it'\\''s'");
  Result<std::filesystem::path> usual = default_data_dir();
  ASSERT_TRUE(usual.ok());
  EXPECT_EQ(up_command({*usual}), "trainyard up");
}

class DataDirTest : public ::testing::Test {
 protected:
  DataDirTest() {
    std::string name = (std::filesystem::temp_directory_path() / "trainyard-lock-XXXXXX").string();
    CHECK(::mkdtemp(name.data()) != nullptr);
    dir_.root = name;
  }
  ~DataDirTest() override { std::filesystem::remove_all(dir_.root); }
  // Somebody has the lock, and says that a process of that number does.
  Fd hold(int pid) const {
    Fd lock(::open(dir_.lock().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    std::string text = std::to_string(pid) + "\n";
    CHECK(::flock(lock.get(), LOCK_EX | LOCK_NB) == 0);
    CHECK(::write(lock.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()));
    return lock;
  }
  DataDir dir_;
};

TEST_F(DataDirTest, IsHeldByOne) {
  Result<Fd> first = claim(dir_);
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(holder_of(dir_), ::getpid());
  EXPECT_EQ(claim(dir_).error().kind, ErrorKind::kAlreadyExists);
  first.value().reset();
  EXPECT_EQ(holder_of(dir_), 0);
}

TEST_F(DataDirTest, AHolderThatIsNoMoreIsWaitedFor) {
  pid_t gone = ::fork();
  if (gone == 0) ::_exit(0);
  ::waitpid(gone, nullptr, 0);
  Fd left = hold(gone);
  std::thread child([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    left.reset();
  });
  EXPECT_TRUE(claim(dir_).ok());
  child.join();
}

TEST_F(DataDirTest, AHolderWithoutANameIsWaitedFor) {
  Fd looks(::open(dir_.lock().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_EQ(::flock(looks.get(), LOCK_SH | LOCK_NB), 0);
  std::thread leaves([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    looks.reset();
  });
  EXPECT_TRUE(claim(dir_).ok());
  leaves.join();
}

}  // namespace
}  // namespace trainyard::cli
