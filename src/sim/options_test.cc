#include "sim/options.h"

#include <gtest/gtest.h>

#include <set>
#include <tuple>

namespace trainyard::sim {
namespace {

TEST(Options, OneSeedGivesOneWorld) {
  EXPECT_EQ(derive_options(42), derive_options(42));
  EXPECT_FALSE(derive_options(42) == derive_options(43));
}

// Some faults belong to crowded worlds, which are one in eight: hence so many seeds.
TEST(Options, EveryFaultIsTriedWithAndWithoutEveryOther) {
  for (int i = 0; i < kFaultCount; ++i) {
    int alone = 0;
    int together = 0;
    for (uint64_t seed = 0; seed < 4'000; ++seed) {
      const Options options = derive_options(seed);
      if (!options.faults.has(static_cast<Fault>(i))) continue;
      ++together;
      if (!options.faults.has(static_cast<Fault>((i + 1) % kFaultCount))) ++alone;
    }
    EXPECT_GT(together, 100) << to_string(static_cast<Fault>(i));
    EXPECT_GT(alone, 50) << to_string(static_cast<Fault>(i));
  }
}

TEST(Options, WhatTheSeedItselfChoosesIsTriedTogether) {
  std::set<std::tuple<bool, bool, bool>> tried;
  for (uint64_t seed = 0; seed < 1'000; ++seed) {
    const Options options = derive_options(seed);
    tried.emplace(options.crowded, options.reserves_room(), options.keeps_text());
  }
  EXPECT_EQ(tried.size(), 8u);
}

TEST(Options, SomeWorldsHaveNoFaults) {
  int healthy = 0;
  for (uint64_t seed = 0; seed < 2'000; ++seed) healthy += derive_options(seed).faults.empty() ? 1 : 0;
  EXPECT_GT(healthy, 10);
}

TEST(Options, FaultsHaveNamesOfTheirOwn) {
  std::set<std::string_view> names;
  for (int i = 0; i < kFaultCount; ++i) names.insert(to_string(static_cast<Fault>(i)));
  EXPECT_EQ(names.size(), static_cast<size_t>(kFaultCount));
  EXPECT_FALSE(names.contains(""));
}

TEST(Options, StreamsAreApart) {
  Rng users = stream(1, Stream::kUsers);
  Rng api = stream(1, Stream::kApi);
  Rng next = stream(2, Stream::kUsers);
  const uint64_t first = users.next();
  EXPECT_NE(first, api.next());
  EXPECT_NE(first, next.next());
}

TEST(Options, ReadLikeASentence) {
  Options options;
  options.seed = 7;
  options.faults.add(Fault::kCrash);
  options.faults.add(Fault::kScale);
  EXPECT_EQ(
      to_string(options),
      "seed 7: 1 jobs, up to 3 replicas of a role, 0 user actions, 2 nodes, 60s of trouble; faults at 10%: "
      "crash, scale");
}

}  // namespace
}  // namespace trainyard::sim
