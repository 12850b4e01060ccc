#include "control/shown.h"

#include <gtest/gtest.h>

namespace trainyard::control {
namespace {

class ShownTest : public ::testing::Test {
 protected:
  ShownTest() {
    seen_.spec.source = std::make_shared<const json::object>();
    seen_.pods.emplace_back().name = "j-worker-0";
    state_.restarts = 1;
    shown_.keep(key_, 7, model::Observation(seen_), state_);
  }

  bool holds(const model::Observation& seen) const { return shown_.holds(key_, 7, seen, state_); }

  JobKey key_{0, "a", "j"};
  model::Observation seen_;
  model::JobState state_;
  Shown shown_;
};

TEST_F(ShownTest, HoldsForTheSameSightStateAndVersion) {
  EXPECT_TRUE(holds(seen_));
  EXPECT_FALSE(shown_.holds({0, "a", "k"}, 7, seen_, state_));
  EXPECT_FALSE(shown_.holds(key_, 8, seen_, state_)) << "somebody else may have written the status";
  model::JobState other = state_;
  ++other.restarts;
  EXPECT_FALSE(shown_.holds(key_, 7, seen_, other));
}

TEST_F(ShownTest, WhateverIsSeenOtherwiseCounts) {
  using Change = void (*)(model::Observation&);
  const Change changes[] = {
      [](model::Observation& seen) { seen.spec.source = std::make_shared<const json::object>(); },
      [](model::Observation& seen) { seen.deleting = true; },
      [](model::Observation& seen) { seen.has_finalizer = true; },
      [](model::Observation& seen) { seen.pods.front().phase = model::PodPhase::kRunning; },
      [](model::Observation& seen) { seen.services.emplace_back(); },
      [](model::Observation& seen) { seen.companions.emplace_back(); },
      [](model::Observation& seen) { seen.gang.emplace().message = "no room"; },
      [](model::Observation& seen) { seen.tensorboard.emplace(); },
      [](model::Observation& seen) { seen.commands.emplace_back(); },
  };
  for (size_t i = 0; i < std::size(changes); ++i) {
    model::Observation other = seen_;
    changes[i](other);
    EXPECT_FALSE(holds(other)) << i;
  }
}

TEST_F(ShownTest, TheStateThatIsSeenDoesNotCount) {
  seen_.state.restarts = 5;
  EXPECT_TRUE(holds(seen_)) << "after a write it is what was planned before";
}

TEST_F(ShownTest, NothingIsKnownOfAManifestWithoutASourceNorOfAJobWithoutAVersion) {
  shown_.keep(key_, 0, model::Observation(seen_), state_);
  EXPECT_FALSE(shown_.holds(key_, 0, seen_, state_));
  seen_.spec.source = nullptr;
  shown_.keep(key_, 7, model::Observation(seen_), state_);
  EXPECT_FALSE(holds(seen_));
}

TEST_F(ShownTest, ForgetsAndStaysSmall) {
  for (size_t i = 0; i < kShownMax; ++i) {
    shown_.keep({0, "a", std::to_string(i)}, 1, model::Observation(seen_), state_);
    EXPECT_LE(shown_.size(), kShownMax);
  }
  shown_.keep(key_, 7, model::Observation(seen_), state_);
  shown_.forget(key_);
  EXPECT_FALSE(holds(seen_));
}

}  // namespace
}  // namespace trainyard::control
