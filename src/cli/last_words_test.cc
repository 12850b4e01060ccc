#include "cli/last_words.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include "base/check.h"
#include "cli/dialects.h"
#include "node/log_writer.h"

namespace trainyard::cli {
namespace {

class LastWordsTest : public testing::Test {
 protected:
  ~LastWordsTest() override { std::filesystem::remove_all(folder_); }

  static std::string made_folder() {
    std::string name = testing::TempDir() + "last-words-XXXXXX";
    CHECK(mkdtemp(name.data()) != nullptr);
    return name;
  }
  void print(std::string_view uid, int index, int attempt, std::string_view text,
             std::string_view owner = "job-uid") {
    json::object pod = json::parse(fmt::format(R"({{
      "metadata": {{"name": "mnist-worker-{0}", "namespace": "default", "uid": "{1}",
                   "labels": {{"training.kubeflow.org/job-name": "mnist",
                              "training.kubeflow.org/replica-type": "worker",
                              "training.kubeflow.org/replica-index": "{0}"}},
                   "ownerReferences": [{{"apiVersion": "kubeflow.org/v1", "kind": "TFJob", "name": "mnist",
                                        "uid": "{2}", "controller": true}}]}},
      "spec": {{"containers": [{{"name": "tensorflow"}}, {{"name": "aside"}}]}}}})",
                                               index, uid, owner))
                           .as_object();
    kept_.remember(pod);
    std::filesystem::path file =
        kept_.file("default", fmt::format("mnist-worker-{}", index), uid, "tensorflow", attempt);
    std::filesystem::create_directories(file.parent_path());
    node::LogWriter writer(file, 1 << 20, 2);
    writer.write(node::LogStream::kOut, text, 0);
    writer.finish(0);
  }
  std::string words(std::string_view replica) {
    json::object job =
        json::parse(R"({"metadata": {"name": "mnist", "namespace": "default", "uid": "job-uid"}})")
            .as_object();
    return last_words(kept_, dialect_named("tfjob"), job, replica);
  }

  const std::string folder_ = made_folder();
  node::LogFolder kept_{folder_};
};

TEST_F(LastWordsTest, TheEndOfTheLastRunOfThatReplica) {
  EXPECT_EQ(words("worker-1"), "");
  print("a", 0, 0, "another replica\n");
  print("b", 1, 0, "the run before\n");
  print("b", 1, 1, "step 1\nValueError: no such thing");
  print("c", 1, 0, "a job that had the same name\n", "older-uid");
  EXPECT_EQ(words("worker-1"), "  step 1\n  ValueError: no such thing\n");
}

TEST_F(LastWordsTest, OfMuchOnlySoMuch) {
  std::string text;
  for (int i = 1; i <= 50; ++i) text += fmt::format("line {}\n", i);
  print("a", 0, 0, text);
  std::string told = words("worker-0");
  EXPECT_TRUE(told.starts_with("  line 41\n")) << told;
  EXPECT_TRUE(told.ends_with("  line 50\n")) << told;
  print("a", 0, 1, std::string(100'000, 'x') + "\n");
  EXPECT_LE(words("worker-0").size(), kLastWordsBytesMax + 2);
}

}  // namespace
}  // namespace trainyard::cli
