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

TEST(Gathering, HalfOfThoseWhoAreThereIsWaitedFor) {
  struct Row {
    size_t together, meanwhile, wanted;
  };
  for (const Row& row : {Row{1, 1, 1}, Row{1, 15, 8}, Row{8, 8, 8}, Row{16, 0, 8}, Row{5, 2, 4},
                         Row{500, 0, kGatherAnswersMax}, Row{0, 0, 1}}) {
    Gathering gathering;
    gathering.on_commit(row.together, row.meanwhile);
    EXPECT_EQ(gathering.wanted(), row.wanted) << row.together << " and " << row.meanwhile;
  }
}

// In step they would all wait for the disk, and then the disk for all of them.
TEST(Gathering, ThoseWhoComeAllAtOnceAreParted) {
  Gathering gathering;
  gathering.on_commit(16, 0);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(gathering.wanted(), 8u);
    gathering.on_commit(8, 8);
  }
}

TEST(Gathering, FewerAreWaitedForWhenTheyDidNotComeInTime) {
  Gathering gathering;
  gathering.on_commit(8, 8);
  gathering.on_commit(3, 0);
  EXPECT_EQ(gathering.wanted(), 2u);
  gathering.on_commit(1, 0);
  EXPECT_EQ(gathering.wanted(), 1u);
}

}  // namespace
}  // namespace trainyard::hub
