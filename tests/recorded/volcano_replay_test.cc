// Replays every recording of Volcano and holds the differences against DIFFERENCES.md.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "volcano_groups.h"
#include "volcano_replay.h"

namespace trainyard::recorded {
namespace {

TEST(Recorded, Volcano) {
  const std::string section = "volcano-1.15.1";
  std::string folder = recordings_folder(section);
  if (folder.empty()) {
    GTEST_SKIP() << "the recordings of " << section
                 << " are not here: whether Volcano Jobs are still what Volcano makes of them is not tested";
  }
  std::vector<Recording> recordings = read_recordings(folder);
  EXPECT_GE(recordings.size(), 62u);
  std::vector<Difference> found;
  for (const Recording& recording : recordings) {
    // Without one: plain pods and their PodGroups, which are the scheduler's.
    std::vector<Difference> own =
        has_volcano_job(recording) ? replay_volcano(recording) : replay_groups(recording);
    found.insert(found.end(), own.begin(), own.end());
  }
  std::string wrong = compare_with_table(found, read_rows(section));
  EXPECT_EQ(wrong, "") << found.size() << " differences in all";
}

}  // namespace
}  // namespace trainyard::recorded
