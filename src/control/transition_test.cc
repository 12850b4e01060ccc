#include "control/transition.h"

#include <gtest/gtest.h>

#include "control/retry.h"

namespace trainyard::control {
namespace {

using model::JobState;
using model::Phase;
using model::ResultKind;

TEST(TransitionTest, CountsWhatChangedBetweenTwoStates) {
  JobState before;
  JobState after;
  EXPECT_EQ(transition_between(before, after), Transition{});
  after.phase = Phase::kRunning;
  EXPECT_EQ(transition_between(before, after), (Transition{.created = 1, .running = 1}));
  before = after;
  after.phase = Phase::kRestarting;
  after.restarts = 2;
  after.disruptions = 1;
  EXPECT_EQ(transition_between(before, after), (Transition{.restarted = 2, .disrupted = 1}));
  before = after;
  after.result = ResultKind::kFailed;
  EXPECT_EQ(transition_between(before, after), Transition{.failed = 1});
  before = after;
  after.phase = Phase::kFinished;
  EXPECT_EQ(transition_between(before, after), Transition{});
}

TEST(TransitionTest, Adds) {
  Transition sum{.created = 1};
  sum += Transition{.created = 1, .succeeded = 2};
  EXPECT_EQ(sum, (Transition{.created = 2, .succeeded = 2}));
}

TEST(RetryTest, TheKindDecides) {
  EXPECT_EQ(retry_for(ErrorKind::kInvalid), Retry::kTell);
  EXPECT_EQ(retry_for(ErrorKind::kConflict), Retry::kNow);
  EXPECT_EQ(retry_for(ErrorKind::kUnavailable), Retry::kBackOff);
  EXPECT_EQ(retry_for(ErrorKind::kUnknown), Retry::kBackOff);
  EXPECT_EQ(retry_for(ErrorKind::kForbidden), Retry::kTell);
}

}  // namespace
}  // namespace trainyard::control
