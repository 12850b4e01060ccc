// Replays every recording and holds the differences against DIFFERENCES.md.
#include <gtest/gtest.h>

#include <iostream>

#include "harness.h"
#include "tfjob_replay.h"

namespace trainyard::recorded {
namespace {

void append(std::vector<Difference>& all, std::vector<Difference> more) {
  for (Difference& one : more) all.push_back(std::move(one));
}

std::vector<Difference> replay(const Recording& recording) {
  if (recording.name.starts_with("08b")) return replay_tfjob_exit_codes(recording);
  if (recording.name.starts_with("26b")) return replay_tfjob_updates(recording);
  if (recording.name.starts_with("26")) return replay_tfjob_manifests(recording);
  if (recording.name.starts_with("30")) return replay_tfjob_states(recording);
  std::vector<Difference> found = replay_tfjob(recording);
  bool about_defaults = recording.name.starts_with("05-") || recording.name.starts_with("14c") ||
                        recording.name.starts_with("14d");
  if (about_defaults) append(found, replay_tfjob(recording, /*as_shipped=*/true));
  return found;
}

TEST(Recorded, KubeflowTrainingOperator) {
  const std::string section = "training-operator-1.9.4";
  std::string folder = recordings_folder(section);
  if (folder.empty()) {
    GTEST_SKIP() << "the recordings of " << section
                 << " are not here: whether TFJobs are still what Kubeflow's operator "
                 << "makes of them is not tested";
  }
  std::vector<Recording> recordings = read_recordings(folder);
  EXPECT_GE(recordings.size(), 63u);
  std::vector<Difference> found;
  for (const Recording& recording : recordings) append(found, replay(recording));
  std::string wrong = compare_with_table(found, read_rows(section));
  EXPECT_EQ(wrong, "") << found.size() << " differences in all";
}

TEST(Table, ARowThatNoLongerHoldsIsTold) {
  Difference one{"a", 1, "pods", "x", "y"};
  EXPECT_EQ(compare_with_table({one}, {{one, false, "0001"}}), "");
  EXPECT_NE(compare_with_table({one}, {}), "");
  EXPECT_NE(compare_with_table({}, {{one, false, "0001"}}), "");
  EXPECT_NE(compare_with_table({one}, {{one, false, ""}}), "");
  Difference later{"a", 3, "pods", "p", "q"};
  Row parted{{"a", 1, "everything", "words", "words"}, true, "0001"};
  EXPECT_EQ(compare_with_table({one, later}, {parted}), "");
  EXPECT_NE(compare_with_table({later}, {parted}), "") << "nothing differs where the row says so";
}

}  // namespace
}  // namespace trainyard::recorded
