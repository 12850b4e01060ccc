// Replays every recording of Volcano and holds the differences against DIFFERENCES.md.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

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
  std::vector<std::string> without_job;
  for (const Recording& recording : recordings) {
    if (!has_volcano_job(recording)) without_job.push_back(recording.name);
    for (Difference& one : replay_volcano(recording)) found.push_back(std::move(one));
  }
  // Plain pods and their PodGroups: the scheduler's, not the jobs'.
  EXPECT_EQ(without_job, (std::vector<std::string>{"30a-user-podgroup", "30c-bare-pod"}));
  std::string wrong = compare_with_table(found, read_rows(section));
  EXPECT_EQ(wrong, "") << found.size() << " differences in all";
}

}  // namespace
}  // namespace trainyard::recorded
