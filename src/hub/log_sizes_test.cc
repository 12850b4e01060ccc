#include "hub/log_sizes.h"

#include <gtest/gtest.h>

namespace trainyard::hub {
namespace {

TEST(LogSizesTest, TheOldestGoFirst) {
  LogSizes sizes(10);
  EXPECT_EQ(sizes.excess_over(0), std::nullopt);
  for (size_t bytes : {40U, 30U, 20U, 10U}) sizes.add(bytes);
  EXPECT_EQ(sizes.total(), 100U);
  EXPECT_EQ(sizes.of(10), 0U);
  EXPECT_EQ(sizes.of(11), 40U);
  EXPECT_EQ(sizes.of(14), 10U);
  EXPECT_EQ(sizes.of(15), 0U);
  EXPECT_EQ(sizes.excess_over(100), std::nullopt);
  EXPECT_EQ(sizes.excess_over(99), 11);
  EXPECT_EQ(sizes.excess_over(60), 11);
  EXPECT_EQ(sizes.excess_over(59), 12);
  EXPECT_EQ(sizes.excess_over(0), 14);
}

TEST(LogSizesTest, WhatIsForgottenIsNotKnown) {
  LogSizes sizes(0);
  for (size_t bytes : {40U, 30U, 20U}) sizes.add(bytes);
  sizes.forget(2);
  EXPECT_EQ(sizes.total(), 20U);
  EXPECT_EQ(sizes.of(2), 0U);
  EXPECT_EQ(sizes.of(3), 20U);
  sizes.forget(1);
  EXPECT_EQ(sizes.total(), 20U);
  sizes.forget(9);
  EXPECT_EQ(sizes.total(), 0U);
  sizes.add(5);
  EXPECT_EQ(sizes.of(4), 5U);
}

}  // namespace
}  // namespace trainyard::hub
