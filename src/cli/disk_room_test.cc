#include "cli/disk_room.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainyard::cli {
namespace {

TEST(DiskRoom, IsToldWhenItEndsAndWhenItIsBack) {
  DiskRoom room("/data");
  EXPECT_EQ(room.news(kDiskRoomMin), std::nullopt);
  EXPECT_THAT(room.news(0).value_or(""), ::testing::StartsWith("the disk of /data is full"));
  EXPECT_EQ(room.news(kDiskRoomMin - 1), std::nullopt);
  EXPECT_EQ(room.news(kDiskRoomMin), "the disk of /data has room again");
  EXPECT_EQ(room.news(kDiskRoomMin), std::nullopt);
}

TEST(DiskRoom, OfAFolderThatIsNotThereNothingIsKnown) {
  EXPECT_EQ(DiskRoom("/no/such/folder").look(), std::nullopt);
}

}  // namespace
}  // namespace trainyard::cli
