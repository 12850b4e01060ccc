#include "hub/gathering.h"

#include <gtest/gtest.h>

namespace trainyard::hub {
namespace {

TEST(Gathering, WhoWritesAloneNeverWaits) {
  Gathering gathering;
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(gathering.wanted(), 1u);
    gathering.on_commit(1, 0);
  }
}

TEST(Gathering, MoreAreWaitedForWhileOthersComeMeanwhile) {
  Gathering gathering;
  for (size_t i = 1; i <= kGatherAnswersMax + 10; ++i) {
    EXPECT_EQ(gathering.wanted(), std::min(i, kGatherAnswersMax));
    gathering.on_commit(gathering.wanted(), 3);
  }
}

TEST(Gathering, FewerAreWaitedForWhenTheyDidNotComeInTime) {
  Gathering gathering;
  for (int i = 0; i < 7; ++i) gathering.on_commit(gathering.wanted(), 1);
  EXPECT_EQ(gathering.wanted(), 8u);
  gathering.on_commit(5, 1);
  EXPECT_EQ(gathering.wanted(), 5u);
  gathering.on_commit(0, 0);  // the hub's own writes
  EXPECT_EQ(gathering.wanted(), 1u);
}

TEST(Gathering, WhereAllCameTogetherNobodyIsLeftToComeMeanwhile) {
  Gathering gathering;
  for (int i = 0; i < 3; ++i) gathering.on_commit(gathering.wanted(), 1);
  EXPECT_EQ(gathering.wanted(), 4u);
  gathering.on_commit(4, 0);
  EXPECT_EQ(gathering.wanted(), 3u);
}

}  // namespace
}  // namespace trainyard::hub
