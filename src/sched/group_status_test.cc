#include "sched/group_status.h"

#include <gtest/gtest.h>

#include <map>

#include "kube/access.h"
#include "sched/schedule.h"
#include "sched/testing.h"

namespace trainyard::sched {
namespace {

using testing::kNow;
using testing::object;

// One group "train" with minMember 2 of the API group, and pods in these states:
//   w waits  b bound  r running  s succeeded  f failed
struct Stage {
  std::string api;
  std::string pods;
  std::string status = "{}";
  std::string cpus = "8";

  json::object group{};
  GroupSeen group_seen{};
  std::vector<PodSeen> seen;
  Snapshot snapshot;
  Decisions decisions;

  std::optional<json::object> run(Time now = kNow) {
    group = object(fmt::format(R"({{"apiVersion": "{}", "kind": "PodGroup", "metadata": {{"name": "train",
      "namespace": "ns", "uid": "u", "creationTimestamp": "2023-11-14T22:13:20Z"}},
      "spec": {{"minMember": 2}}, "status": {} }})",
                               api, status));
    Shapes shapes;
    seen.clear();
    for (size_t i = 0; i < pods.size(); ++i) seen.push_back(see_pod(pod(i), shapes));
    json::object node = object(fmt::format(
        R"({{"metadata": {{"name": "n"}}, "status": {{"allocatable": {{"cpu": "{}", "pods": "100"}} }} }})",
        cpus));
    Documents documents;
    for (const PodSeen& one : seen) documents.pods.push_back(&one);
    NodeSeen node_seen = see_node(node);
    group_seen = see_group(group);
    documents.nodes = {&node_seen};
    documents.groups = {&group_seen};
    snapshot = assemble(documents, shapes, {});
    decisions = schedule(snapshot.cluster, snapshot.gangs, {}, now);
    return group_status(group, snapshot, 0, verdicts_of(decisions)[snapshot.gangs[0].id], now);
  }

  json::object pod(size_t i) const {
    char state = pods[i];
    json::object out = object(fmt::format(R"({{"metadata": {{"name": "p-{}", "namespace": "ns", "uid": "{}",
      "annotations": {{"scheduling.k8s.io/group-name": "train"}},
      "labels": {{"scheduling.x-k8s.io/pod-group": "train", "scheduler.tensorstack.dev/group-name": "train"}} }},
      "spec": {{"containers": [{{"resources": {{"requests": {{"cpu": "1"}} }} }}]}}, "status": {{"phase": "{}"}} }})",
                                          i, i,
                                          state == 'r'   ? "Running"
                                          : state == 's' ? "Succeeded"
                                          : state == 'f' ? "Failed"
                                                         : "Pending"));
    bool annotated = api.starts_with("scheduling.volcano") || api.starts_with("scheduling.incubator");
    if (!annotated) kube::ensure_object(out, {"metadata"}).erase("annotations");
    bool t9k = api.starts_with("scheduler.tensorstack");
    if (!t9k) kube::ensure_object(out, {"metadata", "labels"}).erase("scheduler.tensorstack.dev/group-name");
    if (state != 'w') kube::ensure_object(out, {"spec"})["nodeName"] = "n";
    return out;
  }
};

std::string phase(const char* api, const char* pods, const char* status = "{}", int cpus = 8) {
  Stage stage{api, pods, status, std::to_string(cpus)};
  std::optional<json::object> out = stage.run();
  json::object before = object(status);
  return std::string(kube::text_at(out ? *out : before, {"phase"}));
}

struct PhaseCase {
  const char* pods;
  const char* status;
  int cpus;
  const char* phase;
};

void expect_phases(const char* api, const std::vector<PhaseCase>& cases) {
  for (const PhaseCase& one : cases) {
    EXPECT_EQ(phase(api, one.pods, one.status, one.cpus), one.phase)
        << api << " " << one.pods << " " << one.status;
  }
}

TEST(GroupStatus, VolcanoPhases) {
  expect_phases("scheduling.volcano.sh/v1beta1", {
                                                     {"", "{}", 8, "Inqueue"},
                                                     {"", R"({"phase": "Pending"})", 8, "Inqueue"},
                                                     {"ww", R"({"phase": "Inqueue"})", 1, "Inqueue"},
                                                     {"bb", R"({"phase": "Inqueue"})", 8, "Running"},
                                                     {"rr", R"({"phase": "Running"})", 8, "Running"},
                                                     {"rw", R"({"phase": "Running"})", 1, "Unknown"},
                                                     {"ss", R"({"phase": "Running"})", 8, "Completed"},
                                                     {"ssw", R"({"phase": "Running"})", 8, "Running"},
                                                     {"sf", R"({"phase": "Running"})", 8, "Completed"},
                                                 });
}

TEST(GroupStatus, KubeBatchPhases) {
  expect_phases("scheduling.incubator.k8s.io/v1alpha1", {
                                                            {"", "{}", 8, "Pending"},
                                                            {"ww", "{}", 1, "Pending"},
                                                            {"ww", "{}", 8, "Running"},
                                                            {"bb", "{}", 8, "Running"},
                                                            {"rw", "{}", 1, "Unknown"},
                                                        });
}

TEST(GroupStatus, CoschedulingPhases) {
  expect_phases("scheduling.x-k8s.io/v1alpha1", {
                                                    {"w", "{}", 8, "Pending"},
                                                    {"ww", "{}", 8, "Scheduling"},
                                                    {"rr", "{}", 8, "Running"},
                                                    {"rs", "{}", 8, "Running"},
                                                    {"ss", "{}", 8, "Finished"},
                                                    {"rf", "{}", 8, "Failed"},
                                                    {"rr", R"({"phase": "Failed"})", 8, "Failed"},
                                                });
}

TEST(GroupStatus, T9kConditions) {
  Stage stage{"scheduler.tensorstack.dev/v1beta1", "rr"};
  json::object status = stage.run().value();
  EXPECT_EQ(json::serialize(status.at("allocated")), R"({"cpu":"2","pods":"2"})");
  EXPECT_EQ(status.at("running"), 2);
  EXPECT_FALSE(status.contains("pending"));
  std::vector<kube::Condition> conditions = kube::decode_conditions({{"status", status}});
  EXPECT_TRUE(kube::find_condition(conditions, "SufficientGroupMember")->is_true());
  EXPECT_EQ(kube::find_condition(conditions, "GroupScheduled")->reason, "PodGroupScheduled");

  Stage small{"scheduler.tensorstack.dev/v1beta1", "ww", "{}", "1"};
  status = small.run().value();
  conditions = kube::decode_conditions({{"status", status}});
  EXPECT_EQ(kube::find_condition(conditions, "GroupScheduled")->reason, "GroupNotScheduled");
  EXPECT_EQ(kube::find_condition(conditions, "GroupScheduled")->message, "needs 2 cpu; there are 1 in all");
}

TEST(GroupStatus, SaysWhyAndOnlyOnce) {
  Stage stage{"scheduling.volcano.sh/v1beta1", "ww", R"({"phase": "Inqueue"})", "1"};
  json::object status = stage.run().value();
  std::vector<kube::Condition> conditions = kube::decode_conditions({{"status", status}});
  const kube::Condition* why = kube::find_condition(conditions, "Unschedulable");
  ASSERT_NE(why, nullptr);
  EXPECT_EQ(why->reason, "NotEnoughResources");
  EXPECT_EQ(why->message, "2/2 tasks in gang unschedulable: needs 2 cpu; there are 1 in all");
  Stage again{stage.api, stage.pods, json::serialize(status), "1"};
  EXPECT_EQ(again.run(kNow + seconds(300)), std::nullopt) << "nothing changed";
  Stage other_words{stage.api, stage.pods, json::serialize(status), "1500m"};
  EXPECT_EQ(other_words.run(kNow + seconds(30)), std::nullopt) << "new figures wait a minute";
  EXPECT_NE(other_words.run(kNow + seconds(60)), std::nullopt);
  Stage fits{stage.api, stage.pods, json::serialize(status), "8"};
  conditions = kube::decode_conditions({{"status", fits.run(kNow + seconds(30)).value()}});
  EXPECT_EQ(kube::find_condition(conditions, "Unschedulable"), nullptr);
  EXPECT_TRUE(kube::find_condition(conditions, "Scheduled")->is_true());
}

const kube::Condition* unschedulable(const json::object& status, std::vector<kube::Condition>& storage) {
  storage = kube::decode_conditions({{"status", status}});
  return kube::find_condition(storage, "Unschedulable");
}

TEST(GroupStatus, AnotherKindOfWaitIsToldAtOnce) {
  for (const char* api : {"scheduling.volcano.sh/v1beta1", "scheduling.incubator.k8s.io/v1alpha1"}) {
    Stage stage{api, "ww", R"({"phase": "Inqueue"})", "1"};
    json::object status = stage.run().value();
    Stage other{api, "ww", json::serialize(status), "0"};
    std::optional<json::object> soon = other.run(kNow + seconds(1));
    ASSERT_TRUE(soon) << "too large for all nodes is not too large for each";
    std::vector<kube::Condition> storage;
    EXPECT_EQ(unschedulable(*soon, storage)->message,
              "2/2 tasks in gang unschedulable: a pod needs 1 cpu; the largest has 0");
  }
}

// How long a gang has been broken decides when it gives its place back.
TEST(GroupStatus, OtherWordsAreNoTransition) {
  Stage stage{"scheduling.volcano.sh/v1beta1", "ww", R"({"phase": "Inqueue"})", "1"};
  json::object status = stage.run().value();
  std::vector<kube::Condition> storage;
  Stage later{stage.api, stage.pods, json::serialize(status), "1500m"};
  json::object reworded = later.run(kNow + seconds(61)).value();
  EXPECT_EQ(unschedulable(reworded, storage)->changed_at, kNow);
  Stage again{stage.api, stage.pods, json::serialize(reworded), "1250m"};
  EXPECT_EQ(again.run(kNow + seconds(119)), std::nullopt) << "a minute since they were said";
  json::object third = again.run(kNow + seconds(121)).value();
  EXPECT_EQ(unschedulable(third, storage)->changed_at, kNow);

  status.at("conditions").as_array()[0].as_object().erase("transitionID");
  Stage pruned{stage.api, stage.pods, json::serialize(status), "1500m"};
  EXPECT_EQ(pruned.run(kNow + seconds(59)), std::nullopt) << "where ids are not kept";
  EXPECT_EQ(unschedulable(pruned.run(kNow + seconds(61)).value(), storage)->changed_at, kNow + seconds(61));
}

TEST(GroupStatus, KubeBatchDoesNotCallARunningGroupUnschedulable) {
  Stage stage{"scheduling.incubator.k8s.io/v1alpha1", "ww", "{}", "1"};
  json::object status = stage.run().value();
  std::vector<kube::Condition> storage;
  EXPECT_NE(unschedulable(status, storage), nullptr);
  Stage runs{stage.api, "rr", json::serialize(status)};
  EXPECT_EQ(unschedulable(runs.run().value(), storage), nullptr);
}

TEST(QueueStatus, BothGroups) {
  Stage stage{"scheduling.volcano.sh/v1beta1", "rr", R"({"phase": "Running"})"};
  stage.run();
  std::vector<const GroupSeen*> groups = {&stage.group_seen};
  json::object queue =
      object(R"({"apiVersion": "scheduling.volcano.sh/v1beta1", "metadata": {"name": "default"}})");
  json::object status = queue_status(queue, stage.snapshot, queue_sums(stage.snapshot), kNow).value();
  EXPECT_EQ(json::serialize(status), R"({"running":1,"state":"Open","allocated":{"cpu":"2","pods":"2"}})");
  queue["status"] = status;
  EXPECT_EQ(queue_status(queue, stage.snapshot, queue_sums(stage.snapshot), kNow + seconds(99)),
            std::nullopt);

  json::object t9k = object(
      R"({"apiVersion": "scheduler.tensorstack.dev/v1beta1", "metadata": {"name": "default", "uid": "q"},
          "spec": {"quota": {"requests": {"cpu": "2"}}}})");
  stage.snapshot.cluster.queues[0].capacity = {2000};
  status = queue_status(t9k, stage.snapshot, queue_sums(stage.snapshot), kNow).value();
  EXPECT_EQ(json::serialize(status.at("pods")),
            R"({"pending":0,"running":2,"succeeded":0,"failed":0,"unknown":0})");
  std::vector<kube::Condition> conditions = kube::decode_conditions({{"status", status}});
  EXPECT_EQ(kube::find_condition(conditions, "QueueClosed")->reason, "QueueOpen");
  EXPECT_TRUE(kube::find_condition(conditions, "ResourcePressure")->is_true());
}

// Gangs of every kind may be in a queue of Volcano's, and it counts them as Volcano would.
TEST(QueueStatus, GroupsThatHaveNoPhaseOfVolcanosAreCountedByTheirPods) {
  const json::object queue =
      object(R"({"apiVersion": "scheduling.volcano.sh/v1beta1", "metadata": {"name": "default"}})");
  auto counted = [&](const char* api, const char* pods, const char* group_status = "{}") {
    Stage stage{api, pods, group_status, "1"};
    stage.run();
    std::vector<const GroupSeen*> groups = {&stage.group_seen};
    json::object status = queue_status(queue, stage.snapshot, queue_sums(stage.snapshot), kNow).value();
    status.erase("state");
    status.erase("allocated");
    return json::serialize(status);
  };
  for (const char* api : {"scheduling.incubator.k8s.io/v1alpha1", "scheduling.x-k8s.io/v1alpha1",
                          "scheduler.tensorstack.dev/v1beta1"}) {
    EXPECT_EQ(counted(api, "ww"), R"({"pending":1})") << api;
    EXPECT_EQ(counted(api, "bb"), R"({"running":1})") << api;
    EXPECT_EQ(counted(api, "rr"), R"({"running":1})") << api;
    EXPECT_EQ(counted(api, "sr"), R"({"running":1})") << api;
    EXPECT_EQ(counted(api, "sf"), R"({"completed":1})") << api;
  }
  EXPECT_EQ(counted("scheduling.x-k8s.io/v1alpha1", "ww", R"({"phase": "Scheduling"})"), R"({"pending":1})");
}

// Who has seen that a status is right does not build it again while the print is the same.
TEST(GroupStatus, OfOnePrintThereIsOneAnswer) {
  for (const char* api : {"scheduling.volcano.sh/v1beta1", "scheduling.incubator.k8s.io/v1alpha1",
                          "scheduling.x-k8s.io/v1alpha1", "scheduler.tensorstack.dev/v1beta1"}) {
    std::map<uint64_t, std::string> answers;
    int prints = 0;
    for (int number = 0; number < 6 * 6 * 6 * 6; ++number) {
      std::string pods;
      for (int left = number; left > 0; left /= 6) pods += std::string(1, " wbrsf"[left % 6]);
      std::erase(pods, ' ');
      Stage stage{api, pods};
      std::optional<json::object> status = stage.run();
      Verdict verdict = verdicts_of(stage.decisions)[stage.snapshot.gangs[0].id];
      std::optional<uint64_t> print = status_print(
          gang_print(stage.snapshot.cluster, stage.snapshot.gangs[0], stage.snapshot.tallies[0]), verdict);
      EXPECT_EQ(print.has_value(), verdict.waiting == nullptr) << pods;
      if (!print) continue;
      ++prints;
      std::string told = status ? json::serialize(*status) : "";
      auto [at, fresh] = answers.emplace(*print, told);
      EXPECT_EQ(at->second, told) << api << " " << pods;
    }
    EXPECT_GT(prints, static_cast<int>(answers.size())) << "some worlds say the same";
    EXPECT_GT(answers.size(), 20u);
  }
}

}  // namespace
}  // namespace trainyard::sched
