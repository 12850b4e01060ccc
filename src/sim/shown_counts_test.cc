#include "sim/shown_counts.h"

#include <gtest/gtest.h>

#include "kube/access.h"

namespace trainyard::sim {
namespace {

json::object job_with(std::string_view status) { return {{"status", json::parse(kube::jview(status))}}; }

PodFacts pod(std::string role, int index, PodPhase phase, int attempt = 0) {
  PodFacts facts;
  facts.role = std::move(role);
  facts.index = index;
  facts.phase = phase;
  facts.attempt = attempt;
  facts.bound = true;
  return facts;
}

// What is wrong with the counts of a status, "" for nothing.
std::string wrong(Kind kind, std::map<std::string, int> replicas, std::string_view status,
                  const std::vector<PodFacts>& pods, std::string_view then = "") {
  const json::object job = job_with(status);
  Wish wish;
  wish.replicas = std::move(replicas);
  const StatusFacts facts = read_status(kind, job);
  CountsInput input{kind, wish, facts, {}};
  for (const PodFacts& one : pods) input.pods.push_back(&one);
  Counts before;
  if (!then.empty()) {
    before = read_counts(kind, job_with(then));
    input.at_the_end = &before;
  }
  return wrong_count(read_counts(kind, job), true_counts(input)).value_or("");
}

TEST(ShownCounts, OfATfJobAreItsOutcomesAndThePodsOfThePresentAttempt) {
  PodFacts leaving = pod("worker", 2, PodPhase::kRunning);
  leaving.deleting = true;
  const std::vector<PodFacts> pods{pod("ps", 0, PodPhase::kFailed), pod("worker", 1, PodPhase::kRunning, 1),
                                   leaving};
  const std::string memory =
      R"(,"trainyard":{"roles":{"ps":{"floor":1},"worker":{"succeeded":"0","replicas":{"1":{"attempt":1}}}}}})";
  const std::map<std::string, int> replicas{{"ps", 1}, {"worker", 3}};
  auto told = [&](std::string_view counts) {
    return wrong(Kind::kTfJob, replicas, R"({"replicaStatuses":)" + std::string(counts) + memory, pods);
  };
  EXPECT_EQ(told(R"({"PS":{},"Worker":{"active":1,"succeeded":1}})"), "");
  EXPECT_EQ(told(R"({"PS":{"failed":1},"Worker":{"active":1,"succeeded":1}})"),
            "1 ps/failed, where there are 0");
  EXPECT_EQ(told(R"({"Worker":{"active":2,"succeeded":1}})"), "2 worker/active, where there are 1");
  EXPECT_EQ(told(R"({"Worker":{"active":1}})"), "0 worker/succeeded, where there are 1");
}

TEST(ShownCounts, OfATfJobThatHasEndedStayButForWhatRunsNoMore) {
  const std::string_view then = R"({"replicaStatuses":{"Worker":{"active":2,"failed":1}}})";
  const std::vector<PodFacts> one{pod("worker", 0, PodPhase::kRunning)};
  auto told = [&](std::string_view counts) {
    return wrong(Kind::kTfJob, {{"worker", 3}}, counts, one, then);
  };
  EXPECT_EQ(told(R"({"replicaStatuses":{"Worker":{"active":1,"failed":1}}})"), "");
  EXPECT_EQ(told(then), "2 worker/active, where there are 0 to 1");
  EXPECT_EQ(told(R"({"replicaStatuses":{"Worker":{"active":1}}})"), "0 worker/failed, where there are 1");
}

TEST(ShownCounts, OfAPausedTfJobNobodyIsActive) {
  const std::vector<PodFacts> pods{pod("worker", 0, PodPhase::kRunning)};
  EXPECT_EQ(wrong(Kind::kTfJob, {{"worker", 1}}, R"({"trainyard":{"phase":"Pausing"}})", pods), "");
}

TEST(ShownCounts, OfAT9kJobAreItsPods) {
  PodFacts waiting = pod("worker", 0, PodPhase::kPending);
  waiting.bound = false;
  const std::vector<PodFacts> pods{waiting, pod("worker", 1, PodPhase::kRunning)};
  auto told = [&](std::string_view tasks, std::string_view aggregate) {
    return wrong(Kind::kT9k, {{"worker", 3}},
                 fmt::format(R"({{"tasks":[{{"type":"worker","replicas":[{}]}}],"aggregate":{{{}}},
                     "trainyard":{{"roles":{{"worker":{{"succeeded":"2"}}}}}}}})",
                             tasks, aggregate),
                 pods);
  };
  const std::string_view right = R"({"phase":"Creating"},{"phase":"Running"},{"phase":"Deleted"})";
  EXPECT_EQ(told(right, R"("creating":1,"running":1,"deleted":1,"failed":0)"), "");
  EXPECT_EQ(told(right, R"("creating":1,"running":2,"deleted":1)"), "2 /running, where there are 1");
  EXPECT_EQ(told(R"({"phase":"Pending"},{"phase":"Running"},{"phase":"Deleted"})",
                 R"("pending":1,"running":1,"deleted":1)"),
            "1 /pending, where there are 0");
  EXPECT_EQ(told(R"({"phase":"Creating"},{"phase":"Running"})", R"("creating":1,"running":1)"),
            "0 /deleted, where there are 1");
}

TEST(ShownCounts, OfAVolcanoJobAreThePodsOfUseAndTheOutcomesOfThoseThatAreGone) {
  PodFacts leaving = pod("worker", 1, PodPhase::kRunning);
  leaving.deleting = true;
  const std::vector<PodFacts> pods{pod("ps", 0, PodPhase::kRunning), leaving,
                                   pod("worker", 7, PodPhase::kRunning)};
  auto told = [&](std::string_view counts) {
    return wrong(Kind::kVolcano, {{"ps", 1}, {"worker", 3}},
                 fmt::format(R"({{{},"controlledResources":{{"trainyard.dev/state":
            "{{\"roles\":{{\"worker\":{{\"succeeded\":\"0\"}}}}}}"}}}})",
                             counts),
                 pods);
  };
  const std::string_view tasks =
      R"("taskStatusCount":{"ps":{"phase":{"Running":1}},"worker":{"phase":{"Succeeded":1}}})";
  EXPECT_EQ(told(fmt::format(R"("running":1,"succeeded":1,"terminating":2,{})", tasks)), "");
  EXPECT_EQ(told(fmt::format(R"("running":2,"succeeded":1,"terminating":1,{})", tasks)),
            "2 /running, where there are 1");
  EXPECT_EQ(told(R"("running":1,"succeeded":1,"terminating":2)"), "0 ps/running, where there are 1");
}

}  // namespace
}  // namespace trainyard::sim
