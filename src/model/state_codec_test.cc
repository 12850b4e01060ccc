#include <gtest/gtest.h>

#include "model/job_state.h"

namespace trainyard::model {
namespace {

JobSpec two_roles() {
  JobSpec spec;
  spec.roles.resize(2);
  spec.roles[0].name = "ps";
  spec.roles[1].name = "worker";
  return spec;
}

JobState fresh(const JobSpec& spec) {
  JobState state;
  state.roles.resize(spec.roles.size());
  return state;
}

void expect_round_trip(const JobSpec& spec, const JobState& state) {
  json::object encoded = encode_state(spec, state);
  EXPECT_EQ(decode_state(spec, encoded), state) << json::serialize(encoded);
  EXPECT_EQ(encode_state(spec, decode_state(spec, encoded)), encoded);
}

TEST(StateCodec, RoundTripsEverything) {
  JobSpec spec = two_roles();
  JobState state = fresh(spec);
  expect_round_trip(spec, state);
  state.phase = Phase::kRestarting;
  state.result = ResultKind::kTerminated;
  state.cause = {CauseKind::kReplicaPermanent, "worker", 3, 137, 2, "OOMKilled"};
  state.started_at = Time{1'702'953'625'000};
  state.finished_at = Time{1'702'953'626'000};
  state.attempt = 7;
  state.floor = 2;
  state.kills = 3;
  state.restarts = 4;
  state.disruptions = 5;
  state.resumes = 1;
  state.budget_refused = true;
  state.initialized = true;
  state.asked_mode = RunMode::kPause;
  state.gang_lost_attempt = 0;
  state.last_command_uid = "c-1";
  state.observed_generation = 12;
  state.made_attempt = 4;
  state.roles[0] = {3, 2, 1, 2, 0};
  state.roles[1].restarts = 2;
  for (int i : {0, 1, 2, 5, 7}) state.record({1, i}).outcome = Outcome::kSucceeded;
  ReplicaRecord& odd = state.record({1, 6});
  odd.attempt = 7;
  odd.outcome = Outcome::kFailed;
  odd.exit_code = 1;
  odd.counted_uid = "u";
  odd.counted = 3;
  state.delayed.push_back(
      {{1, 2}, "u2", Trigger::kPending, {ActionKind::kRestart, Scope::kRole}, Time{5000}});
  expect_round_trip(spec, state);
}

TEST(StateCodec, ThousandSuccessesStaySmall) {
  JobSpec spec = two_roles();
  JobState state = fresh(spec);
  for (int i = 0; i < 1000; ++i) state.record({1, i}).outcome = Outcome::kSucceeded;
  EXPECT_EQ(json::serialize(encode_state(spec, state)),
            R"({"phase":"New","roles":{"worker":{"succeeded":"0-999"}}})");
  expect_round_trip(spec, state);
}

TEST(StateCodec, NonsenseIsTakenAsNeverWritten) {
  JobSpec spec = two_roles();
  for (const char* text :
       {R"({})", R"({"phase":3})", R"({"phase":"Nonsense","roles":[1],"delayed":{"a":1}})",
        R"({"roles":{"worker":{"succeeded":"9-","replicas":{"x":{},"1e9":{},"-4":{}}}}})",
        R"({"attempt":-99,"restarts":1e300,"delayed":[1,{"role":"nobody"}],"roles":{"gone":{"floor":3}}})"}) {
    JobState state = decode_state(spec, json::parse(text).as_object());
    EXPECT_EQ(state.roles.size(), 2u) << text;
    EXPECT_EQ(state.phase, Phase::kNew) << text;
    EXPECT_EQ(state.restarts, 0) << text;
    EXPECT_TRUE(state.delayed.empty()) << text;
  }
}

TEST(JobState, OutcomeBelongsToOneAttempt) {
  JobSpec spec = two_roles();
  JobState state = fresh(spec);
  state.record({1, 0}).outcome = Outcome::kSucceeded;
  EXPECT_EQ(state.outcome_of({1, 0}), Outcome::kSucceeded);
  state.roles[1].floor = 1;
  EXPECT_EQ(state.outcome_of({1, 0}), std::nullopt);
  EXPECT_EQ(state.attempt_of({1, 0}), 1);
  EXPECT_EQ(state.attempt_of({0, 0}), 0);
}

}  // namespace
}  // namespace trainyard::model
