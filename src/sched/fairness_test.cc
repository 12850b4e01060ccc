#include "sched/fairness.h"

#include <gtest/gtest.h>

namespace trainyard::sched {
namespace {

TEST(Share, ComparesFractionsExactly) {
  EXPECT_TRUE(less({1, 3, 1}, {1, 2, 1}));
  EXPECT_FALSE(less({1, 2, 1}, {2, 4, 1}));
  EXPECT_FALSE(less({2, 4, 1}, {1, 2, 1}));
  EXPECT_TRUE(less({1, 2, 2}, {1, 2, 1})) << "twice the weight, half the share";
  constexpr int64_t kMuch = int64_t{1} << 52;
  EXPECT_TRUE(less({kMuch - 1, kMuch, 65535}, {kMuch, kMuch, 65535})) << "beyond 64 bits";
  constexpr int64_t kMost = INT64_MAX;
  constexpr int64_t kHeavy = INT32_MAX;
  EXPECT_TRUE(less({kMost - 1, kMost, kHeavy}, {kMost, kMost, kHeavy})) << "beyond 128 bits";
  EXPECT_FALSE(less({kMost, kMost, kHeavy}, {kMost - 1, kMost, kHeavy}));
  EXPECT_FALSE(less({kMost, kMost, kHeavy}, {kMost, kMost, kHeavy}));
  EXPECT_TRUE(less({kMost, kMost, kHeavy}, {kMost, kMost, kHeavy - 1}));
  EXPECT_TRUE(less({kMuch, 1, 1}, {1, 0, 1})) << "of nothing is more than any";
  EXPECT_FALSE(less({1, 0, 1}, {2, 0, 1}));
}

TEST(Share, TheDominantResource) {
  EXPECT_EQ(dominant_resource({1000, 10}, {4000, 20}), kMemory);
  EXPECT_EQ(dominant_resource({3000, 10}, {4000, 20}), kCpu);
  EXPECT_EQ(dominant_resource({}, {4000, 20}), kCpu);
  Share share = dominant_share({1000, 10, 0, 1}, {4000, 20, 5}, 3);
  EXPECT_EQ(share.amount, 1) << "a resource that nobody has";
  EXPECT_EQ(share.of, 0);
}

TEST(Share, WhatAQueueIsMeasuredBy) {
  Queue queue{"q"};
  queue.deserved = {1000};
  queue.capacity = {4000, 30};
  EXPECT_EQ(measure_of(queue, {8000, 20, 7}), (Amounts{1000, 20, 7}));
}

struct PartsCase {
  const char* what;
  std::vector<Queue> queues;
  std::vector<Amounts> wanted;
  int64_t total;
  std::vector<int64_t> parts;
};

Queue queue(int weight, int64_t guarantee = 0, int64_t capacity = 0, int64_t deserved = 0) {
  Queue out;
  out.weight = weight;
  out.guarantee = {guarantee};
  out.capacity = {capacity};
  out.deserved = {deserved};
  return out;
}

TEST(DeservedParts, WaterFilling) {
  const PartsCase cases[] = {
      {"by weight", {queue(1), queue(3)}, {{100}, {100}}, 40, {10, 30}},
      {"no more than is wanted; the rest goes on", {queue(1), queue(3)}, {{100}, {6}}, 40, {34, 6}},
      {"no more than may be held", {queue(1, 0, 5), queue(1)}, {{100}, {100}}, 40, {5, 35}},
      {"the guarantee first", {queue(1, 30), queue(1)}, {{100}, {100}}, 40, {35, 5}},
      {"as far as it is wanted", {queue(1, 30), queue(1)}, {{2}, {100}}, 40, {2, 38}},
      {"what is stated", {queue(1, 0, 0, 10), queue(1)}, {{100}, {100}}, 40, {10, 30}},
      {"nobody wants anything", {queue(1), queue(1)}, {{0}, {0}}, 40, {0, 0}},
      {"less than can be shared", {queue(1), queue(1), queue(1)}, {{9}, {9}, {9}}, 2, {0, 0, 0}},
  };
  for (const PartsCase& one : cases) {
    std::vector<Amounts> parts = deserved_parts(one.queues, one.wanted, {one.total});
    for (size_t q = 0; q < parts.size(); ++q)
      EXPECT_EQ(parts[q][0], one.parts[q]) << one.what << ", queue " << q;
  }
}

TEST(Amounts, AsPeopleWriteThem) {
  EXPECT_EQ(amount_phrase("cpu", 1500), "1500m cpu");
  EXPECT_EQ(amount_phrase("memory", int64_t{8} << 30), "8Gi memory");
  EXPECT_EQ(amount_phrase("nvidia.com/gpu", 4), "4 x nvidia.com/gpu");
  EXPECT_EQ(amount_text("memory", 1500), "1500");
  EXPECT_EQ(bounded_amount("cpu", kube::Quantity::of_milli(250)), 250);
  EXPECT_EQ(bounded_amount("memory", kube::Quantity::of_whole(250)), 250);
  EXPECT_EQ(bounded_amount("memory", kube::Quantity::of_whole(INT64_MAX)), kAmountMax);
  EXPECT_EQ(bounded_amount("cpu", kube::Quantity::of_whole(-1)), 0);
  EXPECT_EQ(plus(INT64_MAX, 1), INT64_MAX);
}

}  // namespace
}  // namespace trainyard::sched
