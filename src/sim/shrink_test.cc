#include "sim/shrink.h"

#include <gtest/gtest.h>

namespace trainyard::sim {
namespace {

TEST(Shrink, KeepsOnlyWhatTheFailureNeeds) {
  Options options = derive_options(7);
  for (int i = 0; i < kFaultCount; ++i) options.faults.add(static_cast<Fault>(i));
  options.jobs = 3;
  options.replicas_max = 3;
  options.user_actions = 6;
  options.trouble = seconds(64);
  const auto fails = [](const Options& o) {
    return o.faults.has(Fault::kCrash) && o.faults.has(Fault::kScale) && o.user_actions >= 2 &&
           o.trouble >= seconds(10);
  };
  const Options smallest = shrink_options(options, fails);
  FaultSet needed;
  needed.add(Fault::kCrash);
  needed.add(Fault::kScale);
  EXPECT_EQ(smallest.faults, needed);
  EXPECT_EQ(smallest.jobs, 1);
  EXPECT_EQ(smallest.replicas_max, 1);
  EXPECT_EQ(smallest.user_actions, 2);
  EXPECT_EQ(smallest.nodes, 1);
  EXPECT_EQ(smallest.trouble, seconds(16));
  EXPECT_EQ(smallest.seed, options.seed);
}

TEST(Shrink, LeavesAMinimalWorldAlone) {
  Options options;
  options.nodes = 1;
  options.replicas_max = 1;
  options.trouble = seconds(1);
  EXPECT_EQ(shrink_options(options, [](const Options&) { return true; }), options);
}

}  // namespace
}  // namespace trainyard::sim
