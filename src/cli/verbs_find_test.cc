#include "cli/verbs_find.h"

#include <gtest/gtest.h>

#include "cli/dialects.h"
#include "cli/verbs_get.h"
#include "cli/verbs_wait.h"

namespace trainyard::cli {
namespace {

TEST(VerbsFind, NamesOfJobs) {
  struct Row {
    std::string word;
    std::string dialect;
    std::string name;
  };
  for (const Row& row : {
           Row{"mnist", "", "mnist"},
           Row{"tfjob/mnist", "tfjob", "mnist"},
           Row{"TFJobs/mnist", "tfjob", "mnist"},
           Row{"tfjobs.kubeflow.org/mnist", "tfjob", "mnist"},
           Row{"tft/mnist", "t9k", "mnist"},
           Row{"tj/mnist", "t9k", "mnist"},
           Row{"tensorflowtrainingjob/mnist", "t9k", "mnist"},
           Row{"vcjob/mnist", "volcano", "mnist"},
           Row{"vj/mnist", "volcano", "mnist"},
       }) {
    Result<JobName> name = read_job_name(row.word);
    ASSERT_TRUE(name.ok()) << row.word;
    EXPECT_EQ(name->name, row.name);
    EXPECT_EQ(name->dialect == nullptr ? "" : std::string(name->dialect->name), row.dialect) << row.word;
  }
  for (std::string_view bad : {"pod/x", "tfjob/", "tfjob/a/b", "/x"})
    EXPECT_FALSE(read_job_name(bad).ok()) << bad;
}

TEST(VerbsFind, AKindMayStandBeforeTheNames) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(with_kinds({"tfjob", "a", "vcjob/b"}), (Words{"tfjob/a", "vcjob/b"}));
  EXPECT_EQ(with_kinds({"tj", "a", "ps=1"}), (Words{"tft/a", "ps=1"}));
  EXPECT_EQ(with_kinds({"a", "tfjob"}), (Words{"a", "tfjob"}));
  EXPECT_EQ(with_kinds({"tfjob"}), (Words{"tfjob"}));
  EXPECT_EQ(with_kinds({"volcano", "a"}), (Words{"volcano", "a"}));
  EXPECT_EQ(with_kinds({}), Words{});
}

TEST(VerbsFind, WordsAfterGet) {
  const dialect::Dialect* tfjob = &dialect_named("tfjob");
  EXPECT_EQ(read_get_words({}), (WhatToGet{nullptr, {}}));
  EXPECT_EQ(read_get_words({"all-jobs"}), (WhatToGet{nullptr, {}}));
  EXPECT_EQ(read_get_words({"tfjobs"}), (WhatToGet{tfjob, {}}));
  EXPECT_EQ(read_get_words({"tfjob", "a", "b"}), (WhatToGet{tfjob, {"tfjob/a", "tfjob/b"}}));
  EXPECT_EQ(read_get_words({"a", "vcjob/b"}), (WhatToGet{nullptr, {"a", "vcjob/b"}}));
  EXPECT_EQ(read_get_words({"all-jobs", "a"}), (WhatToGet{nullptr, {"a"}}));
}

TEST(VerbsFind, WhenAGoalIsReached) {
  using Answer = std::optional<bool>;
  struct Row {
    Goal goal;
    Answer pending, running, paused, succeeded, failed;
  };
  for (const Row& row : {
           Row{Goal::kSucceeded, {}, {}, {}, true, false},
           Row{Goal::kFailed, {}, {}, {}, false, true},
           Row{Goal::kFinished, {}, {}, {}, true, true},
           Row{Goal::kRunning, {}, true, {}, true, false},
           Row{Goal::kPaused, {}, {}, true, false, false},
       }) {
    EXPECT_EQ(reached(row.goal, Standing::kPending), row.pending);
    EXPECT_EQ(reached(row.goal, Standing::kRunning), row.running);
    EXPECT_EQ(reached(row.goal, Standing::kPaused), row.paused);
    EXPECT_EQ(reached(row.goal, Standing::kSucceeded), row.succeeded);
    EXPECT_EQ(reached(row.goal, Standing::kFailed), row.failed);
  }
}

}  // namespace
}  // namespace trainyard::cli
