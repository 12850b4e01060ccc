#include "cli/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "cli/dialects.h"

namespace trainyard::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
namespace fs = std::filesystem;

class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("trainyard-manifest-test-" + std::to_string(getpid()))) {
    fs::create_directories(path_ / "inner");
  }
  ~Folder() { fs::remove_all(path_); }
  void write(const std::string& name, const std::string& text) { std::ofstream(path_ / name) << text; }
  std::string path() const { return path_; }

 private:
  fs::path path_;
};

std::vector<std::string> labels(const std::vector<TextFile>& files, const Folder& folder) {
  std::vector<std::string> all;
  for (const TextFile& file : files) {
    all.push_back(file.label.substr(std::min(file.label.size(), folder.path().size() + 1)) +
                  (file.fault.empty() ? "" : " " + file.fault));
  }
  return all;
}

TEST(ReadPaths, DirectoriesAreWalkedInOrder) {
  Folder folder;
  folder.write("b.yaml", "b");
  folder.write("a.yml", "a");
  folder.write("inner/c.json", "c");
  folder.write("notes.txt", "not a manifest");
  std::istringstream nothing;
  EXPECT_THAT(labels(read_paths({folder.path()}, nothing), folder),
              ElementsAre("a.yml", "b.yaml", "inner/c.json"));
  EXPECT_THAT(labels(read_paths({folder.path() + "/notes.txt"}, nothing), folder), ElementsAre("notes.txt"));
}

TEST(ReadPaths, WhatCannotBeReadSaysWhy) {
  Folder folder;
  std::istringstream nothing;
  EXPECT_THAT(labels(read_paths({folder.path() + "/inner"}, nothing), folder),
              ElementsAre("inner has no .yaml, .yml or .json file in it"));
  EXPECT_THAT(labels(read_paths({folder.path() + "/gone"}, nothing), folder),
              ElementsAre("gone cannot be read: No such file or directory"));
  // Opens, and then fails as a disk may.
  EXPECT_EQ(read_paths({"/proc/self/mem"}, nothing)[0].fault,
            "cannot be read to its end: Input/output error");
}

// Thousands of them may lie in one folder.
TEST(ReadPaths, AFileTakesNoMoreMemoryThanItsText) {
  Folder folder;
  folder.write("a.yaml", "a: 1\n");
  std::istringstream nothing;
  std::vector<TextFile> files = read_paths({folder.path()}, nothing);
  ASSERT_EQ(files.size(), 1u);
  EXPECT_LT(files[0].text.capacity(), 100'000u);
}

TEST(ReadPaths, LinksToFoldersAreNotFollowed) {
  Folder folder;
  folder.write("a.yaml", "a: 1\n");
  fs::create_directory_symlink(folder.path(), folder.path() + "/again");
  std::istringstream nothing;
  EXPECT_THAT(labels(read_paths({folder.path()}, nothing), folder), ElementsAre("a.yaml"));
}

TEST(ReadPaths, ALinkThatLeadsNowhereIsTold) {
  Folder folder;
  folder.write("a.yaml", "a: 1\n");
  fs::create_symlink("gone.yaml", folder.path() + "/b.yaml");
  std::istringstream nothing;
  EXPECT_THAT(labels(read_paths({folder.path()}, nothing), folder),
              ElementsAre("a.yaml", "b.yaml cannot be read: No such file or directory"));
}

TEST(ReadPaths, ADashIsStandardInput) {
  std::istringstream in("a: 1\n");
  std::vector<TextFile> files = read_paths({"-"}, in);
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(files[0].label, "<stdin>");
  EXPECT_EQ(files[0].text, "a: 1\n");
}

TEST(TakeApart, AListIsItsItemsAndKeepsTheirPlaces) {
  std::vector<TextFile> files = {
      {"f.yaml",
       "apiVersion: v1\nkind: List\nitems:\n- apiVersion: kubeflow.org/v1\n  kind: TFJob\n"
       "  metadata:\n    name: a\n- apiVersion: v1\n  kind: Pod\n",
       ""}};
  Manifests manifests = take_apart(files, all_dialects());
  EXPECT_THAT(manifests.complaints, IsEmpty());
  ASSERT_EQ(manifests.objects.size(), 2u);
  EXPECT_EQ(manifests.objects[0].title(), "TFJob a");
  EXPECT_EQ(manifests.objects[0].dialect->name, "tfjob");
  EXPECT_EQ(manifests.objects[0].place_of("metadata.name"), "f.yaml:7");
  EXPECT_EQ(manifests.objects[0].place_of("spec.tfReplicaSpecs"), "f.yaml:4");
  EXPECT_EQ(manifests.objects[1].dialect, nullptr);
}

TEST(TakeApart, ListsOfOurKindsAreListsAndListsMayBeInLists) {
  std::vector<TextFile> files = {
      {"f.yaml",
       "apiVersion: v1\nkind: List\nitems:\n- apiVersion: kubeflow.org/v1\n  kind: TFJobList\n  items:\n"
       "  - apiVersion: kubeflow.org/v1\n    kind: TFJob\n    metadata: {name: a}\n  - 7\n"
       "- {apiVersion: v1, kind: PodList, items: []}\n- {apiVersion: kubeflow.org/v7, kind: TFJobList}\n",
       ""}};
  Manifests manifests = take_apart(files, all_dialects());
  EXPECT_THAT(manifests.complaints, ElementsAre("f.yaml:10: items[0].items[1]: must be an object"));
  ASSERT_EQ(manifests.objects.size(), 3u);
  EXPECT_EQ(manifests.objects[0].title(), "TFJob a");
  EXPECT_EQ(manifests.objects[0].place_of("metadata.name"), "f.yaml:9");
  EXPECT_EQ(manifests.objects[1].dialect, nullptr) << "other lists pass through whole";
  EXPECT_EQ(manifests.objects[2].dialect, nullptr);
}

TEST(TakeApart, ItemsOfAListShareTheirPlaces) {
  std::vector<TextFile> files = {
      {"f.yaml",
       "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Pod}\n- {apiVersion: v1, kind: Pod}\n",
       ""}};
  Manifests manifests = take_apart(files, all_dialects());
  ASSERT_EQ(manifests.objects.size(), 2u);
  EXPECT_EQ(manifests.objects[0].lines, manifests.objects[1].lines);
}

TEST(TakeApart, AJobOfKubernetesItselfPassesThrough) {
  std::vector<TextFile> files = {{"f.yaml", "apiVersion: batch/v1\nkind: Job\n", ""}};
  Manifests manifests = take_apart(files, all_dialects());
  EXPECT_THAT(manifests.complaints, IsEmpty());
  ASSERT_EQ(manifests.objects.size(), 1u);
  EXPECT_EQ(manifests.objects[0].dialect, nullptr);
}

}  // namespace
}  // namespace trainyard::cli
