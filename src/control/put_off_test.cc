#include "control/put_off.h"

#include "control/testing.h"

namespace trainyard::control::testing {
namespace {

const JobKey kKey{0, "ns", "j"};

model::JobState state_of(int made_attempt, int made) {
  model::JobState state;
  state.phase = model::Phase::kStarting;
  state.roles.resize(1);
  state.made_attempt = made_attempt;
  state.roles[0].made = made;
  return state;
}

TEST(PutOffTest, OnlyThatPodsHaveExistedMayWait) {
  PutOff put_off;
  Time now{1000};
  model::JobState written = state_of(-1, 0);
  model::JobState planned = state_of(0, 2);
  EXPECT_EQ(put_off.keep(kKey, "u", written, written, now), std::nullopt);
  planned.restarts = 1;
  EXPECT_EQ(put_off.keep(kKey, "u", written, planned, now), std::nullopt);
  EXPECT_EQ(put_off.size(), 0u);
  planned.restarts = 0;
  planned.initialized = true;
  EXPECT_EQ(put_off.keep(kKey, "u", written, planned, now), now + kPutOffMax);
  // Later looks do not put it off further.
  EXPECT_EQ(put_off.keep(kKey, "u", written, planned, now + seconds(1)), now + kPutOffMax);
  EXPECT_EQ(put_off.keep(kKey, "u", written, planned, now + kPutOffMax), std::nullopt);
}

TEST(PutOffTest, RemindsOfTheSameJobAlone) {
  PutOff put_off;
  model::JobState planned = state_of(0, 2);
  planned.initialized = true;
  ASSERT_TRUE(put_off.keep(kKey, "u", state_of(-1, 0), planned, Time{0}));
  model::JobState state = state_of(-1, 0);
  put_off.remind(kKey, "another", state);
  EXPECT_EQ(state, state_of(-1, 0));
  put_off.remind(kKey, "u", state);
  EXPECT_EQ(state, planned);
  // Somebody wrote down more since.
  model::JobState newer = state_of(1, 3);
  put_off.remind(kKey, "u", newer);
  EXPECT_EQ(newer, state_of(1, 3));
  put_off.forget(kKey);
  state = state_of(-1, 0);
  put_off.remind(kKey, "u", state);
  EXPECT_EQ(state, state_of(-1, 0));
}

int status_writes(const Yard& yard) {
  return static_cast<int>(
      std::count_if(yard.tap.log.begin(), yard.tap.log.end(),
                    [](const std::string& line) { return line.find("status") != std::string::npos; }));
}

TEST(PutOffTest, AJobWhosePodsStartSoonIsWrittenOnceLess) {
  Yard yard;
  yard.submit("j", {{"workers", 2}});
  yard.settle();
  EXPECT_EQ(status_writes(yard), 1) << ::testing::PrintToString(yard.tap.log);
  yard.set_pod("j-worker-0", "Running");
  yard.set_pod("j-worker-1", "Running");
  yard.pass(seconds(60));
  EXPECT_EQ(yard.phase(), "Running");
  EXPECT_EQ(status_writes(yard), 2) << ::testing::PrintToString(yard.tap.log);
}

TEST(PutOffTest, ItIsWrittenInTheEndAllTheSame) {
  Yard yard;
  yard.submit("j", {{"workers", 1}});
  yard.settle();
  EXPECT_EQ(status_writes(yard), 1);
  yard.pass(kPutOffMax);
  EXPECT_EQ(status_writes(yard), 2);
  yard.pass(seconds(600));
  EXPECT_EQ(status_writes(yard), 2);
}

}  // namespace
}  // namespace trainyard::control::testing
