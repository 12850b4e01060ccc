#include "server/room.h"

#include <gtest/gtest.h>

namespace trainyard::server {
namespace {

TEST(RoomTest, SharesAreGivenBack) {
  Room room(100);
  Room::Share first = room.take(60);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(room.take(41), nullptr);
  Room::Share second = room.take(40);
  EXPECT_NE(second, nullptr);
  EXPECT_EQ(room.used(), 100U);
  EXPECT_EQ(room.take(1), nullptr);
  Room::Share copy = first;
  first.reset();
  EXPECT_EQ(room.used(), 100U);
  copy.reset();
  EXPECT_EQ(room.used(), 40U);
  EXPECT_NE(room.take(60), nullptr);
}

TEST(RoomTest, WhatIsLargerThanTheRoomIsLetInAlone) {
  Room room(100);
  Room::Share large = room.take(1'000);
  ASSERT_NE(large, nullptr);
  EXPECT_EQ(room.take(1), nullptr);
  EXPECT_EQ(room.take(~size_t{0}), nullptr);
  large.reset();
  EXPECT_NE(room.take(100), nullptr);
}

}  // namespace
}  // namespace trainyard::server
