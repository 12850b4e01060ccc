#include "dialect/volcano/commands.h"

#include <gtest/gtest.h>

#include "dialect/volcano/testing.h"

namespace trainyard::dialect::vc {
namespace {

using model::Action;
using model::ActionKind;
using model::Scope;
using testing::from_yaml;

json::object command(std::string_view action, std::string_view target) {
  return from_yaml(
      "{apiVersion: bus.volcano.sh/v1alpha1, kind: Command, metadata: {name: c, namespace: ns, uid: u}, "
      "action: " +
      std::string(action) + ", target: " + std::string(target) + "}");
}

constexpr std::string_view kTarget = "{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, name: tj, uid: u1}";

TEST(Commands, Actions) {
  struct Case {
    std::string_view word;
    Action action;
  };
  for (const Case& c : std::initializer_list<Case>{{"AbortJob", {ActionKind::kAbort, Scope::kPod}},
                                                   {"ResumeJob", {ActionKind::kResume, Scope::kPod}},
                                                   {"RestartJob", {ActionKind::kRestart, Scope::kJob}},
                                                   {"TerminateJob", {ActionKind::kTerminate, Scope::kPod}},
                                                   {"CompleteJob", {ActionKind::kComplete, Scope::kPod}},
                                                   {"RestartTask", {}},
                                                   {"SyncJob", {}},
                                                   {"Nonsense", {}}}) {
    std::optional<CommandFor> got = see_command(command(c.word, kTarget));
    ASSERT_TRUE(got.has_value()) << c.word;
    EXPECT_EQ(got->seen, (model::CommandSeen{"c", "u", c.action})) << c.word;
  }
}

TEST(Commands, Targets) {
  std::optional<CommandFor> got = see_command(command("AbortJob", kTarget));
  ASSERT_TRUE(got.has_value());
  EXPECT_EQ(got->job, "tj");
  EXPECT_EQ(got->job_uid, "u1");
  got = see_command(command("AbortJob", "{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, name: tj}"));
  ASSERT_TRUE(got.has_value());
  EXPECT_EQ(got->job_uid, "");
  for (std::string_view other : {"{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, name: tj}",
                                 "{apiVersion: batch/v1, kind: Job, name: tj}",
                                 "{apiVersion: batch.volcano.sh/v1alpha1, kind: Job}", "null"}) {
    EXPECT_FALSE(see_command(command("AbortJob", other)).has_value()) << other;
  }
}

}  // namespace
}  // namespace trainyard::dialect::vc
