#include "sim/facts.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "kube/access.h"

namespace trainyard::sim {
namespace {

json::object parse(std::string_view text) { return json::parse(kube::jview(text)).as_object(); }

TEST(Facts, APodIsReadByItsName) {
  const PodFacts facts = read_pod(parse(R"({"metadata":{"name":"train-5b373-worker-12","uid":"u",
      "annotations":{"trainyard.dev/attempt":"3"},
      "ownerReferences":[{"uid":"j","controller":true}]},
      "spec":{"nodeName":"n"},
      "status":{"phase":"Failed","containerStatuses":[{"restartCount":2,"state":{"terminated":{"exitCode":137}}}]}})"));
  EXPECT_EQ(facts.role, "worker");
  EXPECT_EQ(facts.index, 12);
  EXPECT_EQ(facts.attempt, 3);
  EXPECT_EQ(facts.job_uid, "j");
  EXPECT_EQ(facts.phase, PodPhase::kFailed);
  EXPECT_EQ(facts.exit_code, 137);
  EXPECT_EQ(facts.restarts, 2);
  EXPECT_TRUE(facts.bound);
  EXPECT_FALSE(facts.disrupted);
}

TEST(Facts, DisruptionIsSeenInReasonAndCondition) {
  EXPECT_TRUE(read_pod(parse(R"({"status":{"phase":"Failed","reason":"Evicted"}})")).disrupted);
  EXPECT_TRUE(read_pod(parse(R"({"status":{"conditions":[{"type":"DisruptionTarget"}]}})")).disrupted);
  const std::string_view marked =
      R"("status":{"conditions":[{"type":"DisruptionTarget","reason":"PreemptionByScheduler"}]})";
  EXPECT_FALSE(read_pod(parse(fmt::format("{{{}}}", marked))).disrupted);
  EXPECT_TRUE(read_pod(parse(fmt::format("{{{}}}", marked))).marked);
  EXPECT_TRUE(read_pod(parse(fmt::format(
                           R"({{"metadata":{{"deletionTimestamp":"2026-11-15T10:00:00Z"}},{}}})", marked)))
                  .disrupted);
}

TEST(Facts, TheEndIsReadInTheWordsOfEachDialect) {
  struct Case {
    Kind kind;
    std::string_view status;
    bool succeeded, failed, terminated, stopped;
  };
  const Case cases[] = {
      {Kind::kTfJob, R"({"conditions":[{"type":"Succeeded","status":"True"}]})", true, false, false, false},
      {Kind::kTfJob, R"({"conditions":[{"type":"Failed","status":"False"}]})", false, false, false, false},
      {Kind::kTfJob, R"({"conditions":[{"type":"Suspended","status":"True"}]})", false, false, false, true},
      {Kind::kT9k, R"({"phase":"Failed"})", false, true, false, false},
      {Kind::kT9k, R"({"phase":"Paused"})", false, false, false, true},
      {Kind::kVolcano, R"({"state":{"phase":"Completed"}})", true, false, false, false},
      {Kind::kVolcano, R"({"state":{"phase":"Terminated"}})", false, false, true, false},
      {Kind::kVolcano, R"({"state":{"phase":"Aborted"}})", false, false, false, true},
  };
  for (const Case& c : cases) {
    const StatusFacts facts = read_status(c.kind, json::object{{"status", parse(c.status)}});
    EXPECT_EQ(facts.succeeded, c.succeeded) << c.status;
    EXPECT_EQ(facts.failed, c.failed) << c.status;
    EXPECT_EQ(facts.terminated, c.terminated) << c.status;
    EXPECT_EQ(facts.stopped, c.stopped) << c.status;
  }
}

TEST(Facts, WhatIsRememberedIsFoundWhereverItIsKept) {
  const StatusFacts volcano =
      read_status(Kind::kVolcano,
                  parse(R"({"status":{"controlledResources":{"trainyard.dev/state":"{\"restarts\":2}"}}})"));
  EXPECT_EQ(kube::int_at(volcano.memory, {"restarts"}), 2);
  const StatusFacts tfjob = read_status(Kind::kTfJob, parse(R"({"status":{"trainyard":{"restarts":1}}})"));
  EXPECT_EQ(kube::int_at(tfjob.memory, {"restarts"}), 1);
}

TEST(Facts, TfConfigIsReadFromWhicheverContainerHasIt) {
  const auto config = read_tf_config(parse(
      R"({"spec":{"containers":[{"name":"a"},{"name":"b","env":[{"name":"TF_CONFIG",
          "value":"{\"cluster\":{\"worker\":[\"h:1\"]},\"task\":{\"type\":\"worker\",\"index\":0}}"}]}]}})"));
  ASSERT_TRUE(config.has_value());
  EXPECT_EQ(config->cluster, R"({"worker":["h:1"]})");
  EXPECT_EQ(config->task_type, "worker");
  EXPECT_EQ(config->task_index, 0);
  EXPECT_FALSE(read_tf_config(parse(R"({"spec":{"containers":[{"name":"a"}]}})")).has_value());
}

}  // namespace
}  // namespace trainyard::sim
