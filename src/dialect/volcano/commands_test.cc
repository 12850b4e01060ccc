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
    std::optional<Command> got = decode_command(command(c.word, kTarget));
    ASSERT_TRUE(got.has_value()) << c.word;
    EXPECT_EQ(got->seen, (model::CommandSeen{"c", "u", c.action})) << c.word;
  }
}

TEST(Commands, Targets) {
  model::JobSpec spec = testing::lowered(testing::usual_job());
  auto is_for_us = [&](std::string_view target) {
    std::optional<Command> got = decode_command(command("AbortJob", target));
    return got && is_for(*got, spec);
  };
  EXPECT_TRUE(is_for_us(kTarget));
  EXPECT_TRUE(is_for_us("{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, name: tj}"));
  EXPECT_FALSE(is_for_us("{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, name: tj, uid: another}"));
  EXPECT_FALSE(is_for_us("{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, name: tk}"));
  EXPECT_FALSE(is_for_us("{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, name: tj}"));
  EXPECT_FALSE(is_for_us("{apiVersion: batch/v1, kind: Job, name: tj}"));
  EXPECT_FALSE(is_for_us("null"));
}

}  // namespace
}  // namespace trainyard::dialect::vc
