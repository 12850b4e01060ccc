#include "node/log_prune.h"

#include <gtest/gtest.h>

#include "kube/access.h"
#include "node/files.h"
#include "node/log_files.h"
#include "node/testing.h"

namespace trainyard::node {
namespace {

constexpr Time kPruneNow{1'000'000'000};

std::string pruned(const std::vector<LogRun>& runs, int64_t bytes_max,
                   Duration age_max = Duration{1'000'000}) {
  std::string text;
  for (size_t i : runs_to_prune(runs, {age_max, bytes_max}, kPruneNow)) text += std::to_string(i);
  return text;
}

LogRun run_of(int64_t age_ms, int64_t bytes, bool live = false) {
  return {"x", kPruneNow - Duration{age_ms}, bytes, live};
}

TEST(PruneLogs, TheOldGoAndThenTheOldestUntilTheRestFits) {
  EXPECT_EQ(pruned({}, 0), "");
  EXPECT_EQ(pruned({run_of(1, 50), run_of(2, 50)}, 100), "");
  EXPECT_EQ(pruned({run_of(1, 50), run_of(2, 50)}, 99), "1");
  EXPECT_EQ(pruned({run_of(3, 50), run_of(2, 50), run_of(1, 50)}, 60), "01");
  EXPECT_EQ(pruned({run_of(3, 50, true), run_of(2, 50), run_of(1, 50)}, 60), "12") << "what lives stays";
  EXPECT_EQ(pruned({run_of(2'000'000, 1), run_of(1, 1)}, 100), "0");
  EXPECT_EQ(pruned({run_of(2'000'000, 1, true)}, 0), "");
  EXPECT_EQ(pruned({run_of(5, 1), run_of(5, 1)}, 1), "0") << "of equals the first";
}

class PruneFolder : public ::testing::Test {
 protected:
  void write(const std::string& path, size_t bytes) {
    std::filesystem::path file = folder_.path() / path;
    ASSERT_TRUE(make_folders(file.parent_path()).ok());
    ASSERT_TRUE(write_whole(file, std::string(bytes, 'x')).ok());
  }
  bool there(const std::string& path) { return std::filesystem::exists(folder_.path() / path); }
  int64_t prune(int64_t bytes_max) {
    LogLimits limits;
    limits.bytes_max = bytes_max;
    Time now{static_cast<int64_t>(::time(nullptr)) * 1000};
    return prune_logs(folder_.path(), limits, now, [](const std::string& uid) { return uid == "live"; });
  }
  testing::TempFolder folder_;
};

TEST_F(PruneFolder, TakesWholeRunsAndEmptyFoldersAndNothingElse) {
  write("ns/gone_u1/main/0.log", 10);
  write("ns/gone_u1/main/0.log.1", 10);
  write("ns/gone_u1/pod.json", 5);
  write("ns/lives_live/main/0.log", 10);
  write("ns/lives_live/pod.json", 5);
  EXPECT_EQ(prune(30), 0);
  EXPECT_EQ(prune(25), 20);
  EXPECT_FALSE(there("ns/gone_u1"));
  EXPECT_TRUE(there("ns/lives_live/main/0.log"));
  EXPECT_EQ(prune(0), 0);
  EXPECT_TRUE(there("ns/lives_live/pod.json"));
}

TEST_F(PruneFolder, PodsAreRememberedByWhoOwnedThem) {
  LogFolder logs(folder_.path());
  json::object owner{{"kind", "TFJob"}, {"name", "j"}, {"uid", "o"}, {"controller", true}};
  json::object meta{{"name", "j-worker-0"},
                    {"namespace", "ns"},
                    {"uid", "u"},
                    {"creationTimestamp", "2026-01-01T00:00:00Z"},
                    {"labels", json::object{{"a", "b"}}},
                    {"annotations", json::object{{"secret", "word"}}},
                    {"ownerReferences", json::array{owner}}};
  json::array env{json::object{{"name", "PASSWORD"}, {"value", "hidden"}}};
  json::object spec{{"containers", json::array{json::object{{"name", "main"}, {"env", env}}}}};
  logs.remember(json::object{{"metadata", meta}, {"spec", spec}});
  std::vector<json::object> pods = logs.remembered("ns");
  ASSERT_EQ(pods.size(), 1u);
  EXPECT_EQ(kube::name_of(pods[0]), "j-worker-0");
  EXPECT_EQ(kube::controller_uid_of(pods[0]), "o");
  EXPECT_EQ(kube::label_of(pods[0], "a"), "b");
  std::string text = *read_whole(folder_.path() / "ns/j-worker-0_u/pod.json");
  EXPECT_EQ(text.find("hidden"), std::string::npos);
  EXPECT_EQ(text.find("word"), std::string::npos);
  EXPECT_TRUE(logs.remembered("other").empty());
}

}  // namespace
}  // namespace trainyard::node
