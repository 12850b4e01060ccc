#include "hub/gathered_writes.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "hub/faulty_vfs.h"

namespace trainyard::hub {
namespace {

// A file that is opened as SQLite opens its database.
class GatheredWrites : public testing::Test {
 protected:
  void SetUp() override {
    path_ = std::filesystem::temp_directory_path() / ("gathered-" + std::to_string(::getpid()));
    std::filesystem::remove(path_);
    sqlite3_vfs* vfs = sqlite3_vfs_find(gathered_writes_vfs());
    ASSERT_NE(vfs, nullptr);
    memory_.resize(static_cast<size_t>(vfs->szOsFile));
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MAIN_DB;
    // SQLite gives names that end twice.
    name_ = path_.string() + std::string(2, '\0');
    ASSERT_EQ(vfs->xOpen(vfs, name_.c_str(), file(), flags, nullptr), SQLITE_OK);
  }
  void TearDown() override {
    if (file()->pMethods != nullptr) file()->pMethods->xClose(file());
    std::filesystem::remove(path_);
  }

  sqlite3_file* file() { return reinterpret_cast<sqlite3_file*>(memory_.data()); }
  int write(std::string_view text, sqlite3_int64 at) {
    return file()->pMethods->xWrite(file(), text.data(), static_cast<int>(text.size()), at);
  }
  int sync() { return file()->pMethods->xSync(file(), SQLITE_SYNC_NORMAL); }
  std::string on_disk() const {
    std::ifstream in(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  std::filesystem::path path_;
  std::string name_;
  std::vector<char> memory_;
};

TEST_F(GatheredWrites, PiecesThatFollowOneAnotherAreWrittenWithTheSync) {
  EXPECT_EQ(write("head", 0), SQLITE_OK);
  EXPECT_EQ(write("page", 4), SQLITE_OK);
  EXPECT_EQ(on_disk(), "");
  EXPECT_EQ(sync(), SQLITE_OK);
  EXPECT_EQ(on_disk(), "headpage");
}

TEST_F(GatheredWrites, APieceElsewhereComesAfterThoseBeforeIt) {
  EXPECT_EQ(write("headpage", 0), SQLITE_OK);
  EXPECT_EQ(write("PA", 4), SQLITE_OK);
  EXPECT_EQ(on_disk(), "headpage");
  EXPECT_EQ(sync(), SQLITE_OK);
  EXPECT_EQ(on_disk(), "headPAge");
}

TEST_F(GatheredWrites, WhatWasWrittenIsReadAndCounted) {
  EXPECT_EQ(write("headpage", 0), SQLITE_OK);
  char read[4];
  EXPECT_EQ(file()->pMethods->xRead(file(), read, 4, 4), SQLITE_OK);
  EXPECT_EQ(std::string(read, 4), "page");
  EXPECT_EQ(write("more", 8), SQLITE_OK);
  sqlite3_int64 size = 0;
  EXPECT_EQ(file()->pMethods->xFileSize(file(), &size), SQLITE_OK);
  EXPECT_EQ(size, 12);
  EXPECT_EQ(write("gone", 12), SQLITE_OK);
  EXPECT_EQ(file()->pMethods->xTruncate(file(), 4), SQLITE_OK);
  EXPECT_EQ(on_disk(), "head");
}

TEST_F(GatheredWrites, MuchIsNotHeldBack) {
  const std::string page(4096, 'x');
  std::string all;
  for (int i = 0; i < 100; ++i, all += page) EXPECT_EQ(write(page, i * 4096), SQLITE_OK);
  EXPECT_GE(on_disk().size(), all.size() - 64 * 1024);
  EXPECT_EQ(sync(), SQLITE_OK);
  EXPECT_EQ(on_disk(), all);
}

// More than SQLite's own VFS takes at a time.
TEST_F(GatheredWrites, ALargePieceIsWrittenWhole) {
  std::string all = "head" + std::string(1 << 20, 'y') + "tail";
  EXPECT_EQ(write(all, 0), SQLITE_OK);
  EXPECT_EQ(write("end", static_cast<sqlite3_int64>(all.size())), SQLITE_OK);
  EXPECT_EQ(sync(), SQLITE_OK);
  EXPECT_EQ(on_disk(), all + "end");
}

TEST_F(GatheredWrites, WhatIsHeldBackIsWrittenBeforeTheFileIsClosed) {
  EXPECT_EQ(write("last words", 0), SQLITE_OK);
  EXPECT_EQ(file()->pMethods->xClose(file()), SQLITE_OK);
  file()->pMethods = nullptr;
  EXPECT_EQ(on_disk(), "last words");
}

// A disk that is full must not be told as one whose sync failed: then nothing would be written any more.
class GatheredWritesToAFullDisk : public GatheredWrites {
 protected:
  FaultyVfs faulty_;
};

TEST_F(GatheredWritesToAFullDisk, TheSyncSaysThatAWriteFoundNoRoom) {
  EXPECT_EQ(write("head", 0), SQLITE_OK);
  faulty_.full = true;
  EXPECT_EQ(sync(), SQLITE_FULL);
  faulty_.full = false;
  EXPECT_EQ(write("HEAD", 0), SQLITE_OK);
  EXPECT_EQ(sync(), SQLITE_OK);
  EXPECT_EQ(on_disk(), "HEAD");
}

}  // namespace
}  // namespace trainyard::hub
