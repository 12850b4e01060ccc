#include "node/volumes.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "node/files.h"
#include "node/testing.h"

namespace trainyard::node {
namespace {

using testing::TempFolder;

TEST(ResolveBeneath, NeverLeavesTheVolume) {
  TempFolder outside;
  TempFolder folder;
  std::filesystem::path root = folder.path() / "volume";
  std::filesystem::create_directories(root / "a");
  std::filesystem::create_symlink(outside.path(), root / "out");
  std::filesystem::create_symlink("../..", root / "up");
  std::filesystem::create_symlink("a", root / "in");
  std::filesystem::create_symlink("/etc", root / "etc");

  EXPECT_EQ(*resolve_beneath(root, "a"), std::filesystem::canonical(root / "a"));
  EXPECT_EQ(*resolve_beneath(root, "in"), std::filesystem::canonical(root / "a"));
  EXPECT_EQ(*resolve_beneath(root, "b/c/d"), std::filesystem::canonical(root) / "b/c/d");
  EXPECT_TRUE(std::filesystem::is_directory(root / "b/c/d"));
  for (std::string bad : {"out", "out/x", "up", "up/x", "etc/passwd", "a/../../x"}) {
    Result<std::filesystem::path> found = resolve_beneath(root, bad);
    ASSERT_FALSE(found.ok()) << bad << " is " << found->native();
    EXPECT_EQ(found.error().kind, ErrorKind::kForbidden) << bad;
  }
  EXPECT_TRUE(std::filesystem::is_empty(outside.path()));
}

TEST(ResolveBeneath, WhatItMakesIsAsOpenAsTheVolume) {
  TempFolder folder;
  std::filesystem::path root = folder.path() / "volume";
  std::filesystem::create_directories(root);
  ASSERT_EQ(::chmod(root.c_str(), 0777), 0);
  ASSERT_TRUE(resolve_beneath(root, "a/b").ok());
  for (std::string made : {"a", "a/b"}) {
    struct stat about {};
    ASSERT_EQ(::stat((root / made).c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 07777, 0777u) << made;
  }
}

class VolumesTest : public ::testing::Test {
 protected:
  TempFolder folder_;
  Volumes volumes_{folder_.path()};
};

TEST_F(VolumesTest, APartOfAMemoryVolumeIsFoundWhenTheVolumeIsThere) {
  std::vector<VolumePlan> plans{{"cache", EmptyVolume{true, 1024}}};
  ASSERT_TRUE(volumes_.set_up("ns", "u", plans).ok());
  std::filesystem::path own = folder_.path() / "pods/u/volumes/cache";
  std::vector<Mount> mounts = *volumes_.mounts("ns", "u", plans, {{"cache", "/part", "a/b", false}});
  EXPECT_EQ(mounts.at(0).source, own);
  EXPECT_TRUE(std::filesystem::is_empty(own));
  ASSERT_TRUE(find_memory_folders(mounts).ok());
  EXPECT_EQ(mounts.at(0).source, std::filesystem::canonical(own) / "a/b");
  mounts.at(0) = {own, "/part", false, 1024, true, false, "../x"};
  EXPECT_EQ(find_memory_folders(mounts).error().kind, ErrorKind::kForbidden);
}

TEST_F(VolumesTest, MakesFoldersAndFiles) {
  std::vector<VolumePlan> plans{{"scratch", EmptyVolume{}},
                                {"shm", EmptyVolume{true, 1024}},
                                {"secret", FileVolume{{{"a", "A", 0400}, {"d/b", "B", 0644}}}},
                                {"claim", ClaimVolume{"data", false}}};
  ASSERT_TRUE(volumes_.set_up("ns", "u", plans).ok());
  ASSERT_TRUE(volumes_.set_up("ns", "u", plans).ok());
  std::filesystem::path own = folder_.path() / "pods/u/volumes";
  EXPECT_EQ(*read_whole(own / "secret/d/b"), "B");
  struct stat about {};
  ASSERT_EQ(::stat((own / "secret/a").c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 07777, 0400u);
  Result<std::vector<Mount>> mounts = volumes_.mounts("ns", "u", plans,
                                                      {{"scratch", "/s", "", false},
                                                       {"shm", "/dev/shm", "", false},
                                                       {"secret", "/k", "", false},
                                                       {"claim", "/d", "sub", true}});
  ASSERT_TRUE(mounts.ok());
  std::vector<Mount> wanted{{own / "scratch", "/s"},
                            {own / "shm", "/dev/shm", false, 1024, true},
                            {own / "secret", "/k", true},
                            {folder_.path() / "volumes/ns/data/sub", "/d", true, std::nullopt, false, true}};
  EXPECT_EQ(*mounts, wanted);
  EXPECT_TRUE(std::filesystem::is_directory(own / "shm"));
  volumes_.tear_down("u");
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "pods/u"));
  EXPECT_TRUE(std::filesystem::exists(folder_.path() / "volumes/ns/data"));
}

TEST_F(VolumesTest, FilesAreReplacedAllAtOnce) {
  auto set_up = [&](std::vector<VolumeFile> files) {
    return volumes_.set_up("ns", "u", {{"c", FileVolume{std::move(files)}}}).ok();
  };
  std::filesystem::path own = folder_.path() / "pods/u/volumes/c";
  ASSERT_TRUE(set_up({{"a", "1", 0644}, {"d/x", "1", 0644}, {"old", "1", 0644}}));
  EXPECT_EQ(std::filesystem::read_symlink(own / "a"), "..data/a");
  EXPECT_EQ(std::filesystem::read_symlink(own / "d"), "..data/d");
  std::filesystem::path first = std::filesystem::read_symlink(own / "..data");
  ASSERT_TRUE(set_up({{"a", "2", 0644}, {"d/x", "2", 0644}, {"new", "2", 0644}}));
  EXPECT_NE(std::filesystem::read_symlink(own / "..data"), first);
  EXPECT_FALSE(std::filesystem::exists(own / first)) << "what was before is cleared away";
  for (const char* name : {"a", "d/x", "new"}) EXPECT_EQ(*read_whole(own / name), "2") << name;
  EXPECT_FALSE(std::filesystem::exists(std::filesystem::symlink_status(own / "old")));
  // What an earlier release left as plain files is taken over.
  std::filesystem::remove_all(own);
  std::filesystem::create_directories(own / "d");
  ASSERT_TRUE(write_whole(own / "a", "0").ok());
  ASSERT_TRUE(set_up({{"a", "3", 0644}, {"d/x", "3", 0644}}));
  EXPECT_EQ(*read_whole(own / "a"), "3");
  EXPECT_EQ(*read_whole(own / "d/x"), "3");
}

TEST_F(VolumesTest, BelongToTheGroupOfThePod) {
  if (::geteuid() != 0) GTEST_SKIP() << "groups are given away by root alone";
  std::vector<VolumePlan> plans{{"e", EmptyVolume{}}, {"s", FileVolume{{{"k", "K", 0400}}}}};
  std::filesystem::path own = folder_.path() / "pods/u/volumes";
  std::filesystem::create_directories(own / "e");
  ASSERT_TRUE(write_whole(own / "e/f", "x", 0600).ok());
  ASSERT_TRUE(volumes_.set_up("ns", "u", plans, 4711).ok());
  struct stat about {};
  ASSERT_EQ(::stat((own / "e").c_str(), &about), 0);
  EXPECT_EQ(about.st_gid, 4711u);
  EXPECT_EQ(about.st_mode & 02770, 02770u);
  ASSERT_EQ(::stat((own / "e/f").c_str(), &about), 0);
  EXPECT_EQ(about.st_gid, 4711u);
  EXPECT_EQ(about.st_mode & 07777, 0660u);
  ASSERT_EQ(::stat((own / "s/k").c_str(), &about), 0);
  EXPECT_EQ(about.st_gid, 4711u);
  EXPECT_EQ(about.st_mode & 07777, 0440u);
  EXPECT_GT(volumes_.bytes_of("u", "e"), 0);
}

TEST_F(VolumesTest, HostPathsAreChecked) {
  struct Case {
    std::string name;
    std::string type;
    std::string words;  // "" when it is well
  };
  std::filesystem::create_directories(folder_.path() / "d");
  ASSERT_TRUE(write_whole(folder_.path() / "f", "").ok());
  const Case cases[] = {
      {"d", "", ""},
      {"d", "Directory", ""},
      {"f", "File", ""},
      {"f", "Directory", "is not a directory"},
      {"d", "File", "is not a file"},
      {"d", "Socket", "is not a socket file"},
      {"none", "", "does not exist"},
      {"none", "Directory", "is not a directory"},
      {"new-d", "DirectoryOrCreate", ""},
      {"new-f", "FileOrCreate", ""},
  };
  for (const Case& each : cases) {
    Result<Done> done =
        volumes_.set_up("ns", "u", {{"v", HostVolume{folder_.path() / each.name, each.type}}});
    EXPECT_EQ(done.ok(), each.words.empty()) << each.name << " " << each.type;
    std::string words = done.ok() ? "" : done.error().message;
    EXPECT_NE(words.find(each.words), std::string::npos) << words;
  }
  EXPECT_TRUE(std::filesystem::is_directory(folder_.path() / "new-d"));
  EXPECT_TRUE(std::filesystem::is_regular_file(folder_.path() / "new-f"));
}

TEST_F(VolumesTest, HostPathsAreLookedAtWithoutMakingThem) {
  EXPECT_EQ(unfit_host_path({folder_.path() / "new", "DirectoryOrCreate"}), "");
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "new"));
  EXPECT_EQ(unfit_host_path({folder_.path(), "Directory"}), "");
  EXPECT_EQ(unfit_host_path({"/no/such", ""}), "hostPath /no/such does not exist");
  EXPECT_EQ(unfit_host_path({"/no/such", "Directory"}),
            "hostPath type check failed: /no/such is not a directory");
}

TEST_F(VolumesTest, TearsDownNothingElse) {
  std::filesystem::create_directories(folder_.path() / "pods/u");
  for (std::string bad : {"", ".", "..", "../volumes", "u/.."}) volumes_.tear_down(bad);
  EXPECT_TRUE(std::filesystem::exists(folder_.path() / "pods/u"));
}

}  // namespace
}  // namespace trainyard::node
