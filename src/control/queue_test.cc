#include "control/queue.h"

#include <gtest/gtest.h>

#include <string>

namespace trainyard::control {
namespace {

constexpr Time at(int64_t ms) { return Time{ms}; }

TEST(QueueTest, GivesKeysWhenTheyAreDueAndTheLongestWaitingFirst) {
  Queue<std::string> queue;
  queue.add("b", at(20));
  queue.add("a", at(10));
  queue.add("c", at(10));
  EXPECT_EQ(queue.take(at(9)), std::nullopt);
  EXPECT_EQ(queue.next(), at(10));
  EXPECT_EQ(queue.take(at(30)), "a");
  EXPECT_EQ(queue.take(at(30)), "c");
  EXPECT_EQ(queue.take(at(30)), "b");
  EXPECT_EQ(queue.take(at(30)), std::nullopt);
}

TEST(QueueTest, AKeyStandsInItOnceAtTheEarliestTime) {
  Queue<std::string> queue;
  queue.add("a", at(20));
  queue.add("a", at(10));
  queue.add("a", at(30));
  EXPECT_EQ(queue.size(), 1u);
  EXPECT_EQ(queue.take(at(10)), "a");
  EXPECT_TRUE(queue.empty());
}

TEST(QueueTest, NeverTwoOfOneKeyAtOnce) {
  Queue<std::string> queue;
  queue.add("a", at(10));
  EXPECT_EQ(queue.take(at(10)), "a");
  queue.add("a", at(12));
  queue.add("a", at(11));
  EXPECT_EQ(queue.take(at(50)), std::nullopt);
  queue.done("a");
  EXPECT_EQ(queue.next(), at(11));
  EXPECT_EQ(queue.take(at(50)), "a");
}

TEST(QueueTest, ABusyKeyDoesNotStarveTheOthers) {
  Queue<std::string> queue;
  queue.add("busy", at(0));
  queue.add("patient", at(1));
  std::string order;
  for (int64_t now = 2; now < 5; ++now) {
    std::string key = *queue.take(at(now));
    order += key + " ";
    queue.done(key);
    queue.add("busy", at(now));
  }
  EXPECT_EQ(order, "busy patient busy ");
}

TEST(QueueTest, BackOffGrowsToItsLimitUntilReset) {
  Queue<std::string> queue;
  EXPECT_EQ(queue.back_off("a", at(0)), at(200));
  EXPECT_EQ(queue.back_off("a", at(0)), at(400));
  EXPECT_EQ(queue.back_off("b", at(0)), at(200));
  for (int i = 0; i < 100; ++i) queue.back_off("a", at(0));
  EXPECT_EQ(queue.back_off("a", at(0)), at(0) + kBackOffMax);
  queue.reset("a");
  EXPECT_EQ(queue.back_off("a", at(0)), at(200));
}

TEST(QueueTest, ForgetsAKeyAltogether) {
  Queue<std::string> queue;
  queue.add("a", at(1));
  queue.back_off("a", at(0));
  queue.forget("a");
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.take(at(9)), std::nullopt);
  EXPECT_EQ(queue.back_off("a", at(0)), at(200));
}

}  // namespace
}  // namespace trainyard::control
