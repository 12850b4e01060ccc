#include "dialect/volcano/lower.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dialect/volcano/policies.h"
#include "dialect/volcano/testing.h"

namespace trainyard::dialect::vc {
namespace {

using model::Action;
using model::ActionKind;
using model::Rule;
using model::Scope;
using model::Trigger;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::job;
using testing::lowered;
using ::testing::Pair;
using testing::task;
using ::testing::UnorderedElementsAre;
using testing::usual_job;

// What every table ends with: an eviction is not a failure.
const Rule kEvicted{{Trigger::kDisrupted}, {}, {ActionKind::kRestart, Scope::kPod}, std::nullopt};

TEST(Lower, TheUsualJob) {
  model::JobSpec spec = lowered(usual_job());
  EXPECT_EQ(spec.dialect, "volcano");
  EXPECT_EQ(spec.name_space, "ns");
  EXPECT_EQ(spec.name, "tj");
  EXPECT_EQ(spec.uid, "u1");
  EXPECT_EQ(spec.generation, 2);
  EXPECT_EQ(spec.pod_name({1, 1}), "tj-worker-1");
  ASSERT_EQ(spec.roles.size(), 2u);
  EXPECT_EQ(spec.roles[0].name, "ps");
  EXPECT_EQ(spec.roles[1].replicas, 2);
  EXPECT_EQ(spec.roles[1].min_available, 2);
  EXPECT_TRUE(spec.roles[1].has_min_available);
  EXPECT_EQ(spec.roles[1].container_restarts_max, 3);
  EXPECT_FALSE(spec.roles[1].restarts_in_place);
  EXPECT_EQ(spec.roles[1].otherwise, (Action{ActionKind::kNone, Scope::kPod}));
  EXPECT_THAT(spec.roles[1].rules, ElementsAre(kEvicted));
  EXPECT_EQ(spec.success, model::SuccessRule(model::Tally{std::nullopt, 3, true}));
  EXPECT_EQ(spec.running_min, 3);
  EXPECT_EQ(spec.budget.restarts_max, 2);  // maxRetry 3: the first run and two more
  EXPECT_EQ(spec.cleanup, model::Cleanup::kUnfinished);
  EXPECT_TRUE(spec.pause.keeps_finished);
  EXPECT_FALSE(spec.service_per_replica);
  EXPECT_FALSE(spec.tells_replica_endings);
  EXPECT_THAT(spec.companions, IsEmpty());
  EXPECT_THAT(spec.advice, IsEmpty());
  EXPECT_FALSE(spec.ttl_after_finished.has_value());
}

TEST(Lower, TheGang) {
  model::JobSpec spec = lowered(usual_job("  priorityClassName: high\n  queue: q1\n"));
  ASSERT_TRUE(spec.gang.has_value());
  EXPECT_EQ(spec.gang->name, "tj-u1");
  EXPECT_EQ(spec.gang->scheduler, model::GangScheduler::kVolcano);
  EXPECT_TRUE(spec.gang->owned);
  EXPECT_TRUE(spec.gang->gates_pods);
  EXPECT_EQ(spec.gang->min_member, 3);
  EXPECT_THAT(spec.gang->min_per_role, ElementsAre(Pair("ps", 1), Pair("worker", 2)));
  EXPECT_EQ(spec.gang->queue, "q1");
  EXPECT_EQ(spec.gang->priority_class, "high");
  EXPECT_THAT(spec.gang->min_resources,
              UnorderedElementsAre(Pair("count/pods", "3"), Pair("cpu", "300m"), Pair("memory", "192Mi"),
                                   Pair("pods", "3"), Pair("requests.cpu", "300m"),
                                   Pair("requests.memory", "192Mi")));
}

TEST(Lower, AnotherSchedulerKeepsItsGang) {
  EXPECT_TRUE(lowered(usual_job("  schedulerName: default-scheduler\n")).gang.has_value());
}

TEST(Lower, AJobThatWasNeverStoredHasAGangOfItsName) {
  EXPECT_EQ(lowered(job(task("w", 1), "", "name: tj")).gang->name, "tj");
}

TEST(Lower, TaskMinimaCountOnlyWhenTheJobsCoversThem) {
  struct Case {
    std::string tasks;
    std::string_view rest;
    model::Tally tally;
  };
  for (const Case& c : std::initializer_list<Case>{
           {task("w", 3), "  minAvailable: 2\n", {std::nullopt, 2, false}},                           // 15a
           {task("w", 3, "    minAvailable: 3\n"), "  minAvailable: 2\n", {std::nullopt, 2, false}},  // 15d
           {task("ps", 1, "    minAvailable: 1\n") + task("w", 3, "    minAvailable: 2\n"),
            "",  // 25a
            {std::nullopt, 3, true}},
           {task("w", 3), "  minSuccess: 2\n", {2, 3, true}},  // 14b
       }) {
    model::JobSpec spec = lowered(job(c.tasks, c.rest));
    EXPECT_EQ(spec.success, model::SuccessRule(c.tally)) << c.tasks << c.rest;
    EXPECT_EQ(spec.running_min, c.tally.min_available);
  }
}

TEST(Lower, PoliciesBecomeRulesTaskFirst) {
  model::JobSpec spec =
      lowered(job(task("ps", 1) + task("w", 2,
                                       "    policies:\n"
                                       "    - {event: TaskCompleted, action: CompleteJob}\n"
                                       "    - {exitCode: 3, action: RestartPod, timeout: 8s}\n"),
                  "  policies:\n"
                  "  - {event: PodEvicted, action: RestartJob}\n"
                  "  - {events: [PodFailed, TaskFailed], action: RestartTask}\n"
                  "  - {event: Unknown, action: AbortJob}\n"));
  std::vector<Rule> of_job = {
      {{Trigger::kDisrupted, Trigger::kDeleted}, {}, {ActionKind::kRestart, Scope::kJob}, std::nullopt},
      {{Trigger::kFailed, Trigger::kRoleFailed}, {}, {ActionKind::kRestart, Scope::kRole}, std::nullopt},
      {{Trigger::kGangLost}, {}, {ActionKind::kAbort, Scope::kPod}, std::nullopt},
      kEvicted,
  };
  EXPECT_EQ(spec.roles[0].rules, of_job);
  std::vector<Rule> of_task = {
      {{Trigger::kRoleCompleted}, {}, {ActionKind::kComplete, Scope::kPod}, std::nullopt},
      {{Trigger::kFailed}, {{3, 3}}, {ActionKind::kRestart, Scope::kPod}, seconds(8)},
  };
  of_task.insert(of_task.end(), of_job.begin(), of_job.end());
  EXPECT_EQ(spec.roles[1].rules, of_task);
}

TEST(Lower, EveryActionAndEvent) {
  struct Case {
    std::string_view policy;
    std::vector<Trigger> on;
    Action action;
  };
  for (const Case& c : std::initializer_list<Case>{
           {"{event: PodFailed, action: AbortJob}", {Trigger::kFailed}, {ActionKind::kAbort, Scope::kPod}},
           {"{event: PodFailed, action: TerminateJob}",
            {Trigger::kFailed},
            {ActionKind::kTerminate, Scope::kPod}},
           {"{event: PodFailed, action: ResumeJob}", {Trigger::kFailed}, {ActionKind::kResume, Scope::kPod}},
           {"{event: '*', action: RestartJob}", {Trigger::kAny}, {ActionKind::kRestart, Scope::kJob}},
           {"{event: '*', action: RestartPod, timeout: 1s}",
            {Trigger::kAny, Trigger::kPending},
            {ActionKind::kRestart, Scope::kPod}},
           {"{event: PodPending, action: AbortJob, timeout: 8s}",
            {Trigger::kPending},
            {ActionKind::kAbort, Scope::kPod}},
       }) {
    model::JobSpec spec = lowered(usual_job("  policies: [" + std::string(c.policy) + "]\n"));
    ASSERT_EQ(spec.roles[0].rules.size(), 2u) << c.policy;
    EXPECT_EQ(spec.roles[0].rules[0].on, c.on) << c.policy;
    EXPECT_EQ(spec.roles[0].rules[0].action, c.action) << c.policy;
  }
}

TEST(Lower, PoliciesThatNeverActAreTold) {
  model::JobSpec spec = lowered(usual_job(
      "  policies: [{event: PodPending, action: AbortJob}, {event: JobUpdated, action: RestartJob}]\n"));
  EXPECT_THAT(spec.roles[0].rules, ElementsAre(kEvicted));
  EXPECT_THAT(
      spec.advice,
      ElementsAre(
          model::Advice{"IgnoredPolicy",
                        "The policy of the job with action AbortJob never acts: PodPending needs a timeout"},
          model::Advice{"IgnoredPolicy",
                        "The policy of the job with action RestartJob never acts: nothing ever brings about "
                        "JobUpdated"}));
}

TEST(Lower, RestartScopeWidensAndNeverNarrows) {
  struct Case {
    std::string_view annotation;
    std::string_view action;
    Scope scope;
  };
  for (const Case& c : std::initializer_list<Case>{{"job", "RestartPod", Scope::kJob},
                                                   {"job", "RestartTask", Scope::kJob},
                                                   {"role", "RestartPod", Scope::kRole},
                                                   {"role", "RestartJob", Scope::kJob},
                                                   {"pod", "RestartTask", Scope::kRole},
                                                   {"pod", "RestartPod", Scope::kPod}}) {
    json::object manifest =
        job(task("w", 2), "  policies: [{event: PodFailed, action: " + std::string(c.action) + "}]\n",
            "name: tj, annotations: {trainyard.dev/restart-scope: " + std::string(c.annotation) + "}");
    EXPECT_EQ(lowered(manifest).roles[0].rules[0].action.scope, c.scope) << c.annotation << c.action;
  }
}

TEST(Lower, RestartScopeCoversEvictionsAndDeletions) {
  json::object manifest = job(task("w", 2), "", "name: tj, annotations: {trainyard.dev/restart-scope: job}");
  EXPECT_THAT(
      lowered(manifest).roles[0].rules,
      ElementsAre(Rule{
          {Trigger::kDisrupted, Trigger::kDeleted}, {}, {ActionKind::kRestart, Scope::kJob}, std::nullopt}));
}

TEST(Lower, Partitions) {
  model::JobSpec spec = lowered(
      job(task("a", 4, "    partitionPolicy: {totalPartitions: 2, partitionSize: 2}\n") + task("b", 1),
          "  policies: [{event: PodFailed, action: RestartPartition}]\n"));
  EXPECT_EQ(spec.roles[0].partition_size, 2);
  EXPECT_EQ(spec.roles[0].rules[0].action.scope, Scope::kPartition);
  EXPECT_EQ(spec.roles[1].partition_size, 0);
  EXPECT_EQ(spec.roles[1].rules[0].action.scope, Scope::kRole);  // a task without partitions is one
}

TEST(Lower, DependsOn) {
  model::JobSpec spec = lowered(
      job(task("a", 1) + task("b", 1) + task("c", 2, "    dependsOn: {name: [b, a], iteration: any}\n"),
          "  minAvailable: 1\n"));
  EXPECT_EQ(spec.roles[2].depends_on, (model::DependsOn{{1, 0}, true}));
  EXPECT_EQ(spec.gang->min_member, 1);
  EXPECT_THAT(spec.advice, IsEmpty());
}

// A gang that waits for pods which wait for the gang would never start (in Volcano it never does).
TEST(Lower, AGangDoesNotWaitForPodsThatWaitForIt) {
  model::JobSpec spec = lowered(job(task("ps", 1) + task("worker", 2, "    dependsOn: {name: [ps]}\n")));
  EXPECT_EQ(spec.gang->min_member, 1);
  EXPECT_THAT(spec.gang->min_per_role, ElementsAre(Pair("ps", 1), Pair("worker", 0)));
  EXPECT_EQ(spec.gang->min_resources.at("cpu"), "100m");
  EXPECT_EQ(spec.running_min, 3);
  ASSERT_EQ(spec.advice.size(), 1u);
  EXPECT_EQ(spec.advice[0].message,
            "minAvailable 3 counts tasks that wait for others (dependsOn), which could never start; the gang "
            "is let in "
            "with 1");
}

TEST(Lower, CompanionsOfPluginsAndVolumes) {
  model::JobSpec spec =
      lowered(usual_job("  plugins: {svc: [], ssh: [], env: []}\n"
                        "  volumes: [{mountPath: /a, volumeClaimName: data}, {mountPath: /b, volumeClaim: "
                        "{accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}]\n"));
  ASSERT_EQ(spec.companions.size(), 6u);
  using K = model::CompanionKind;
  EXPECT_EQ(spec.companions[0].kind, K::kService);
  EXPECT_EQ(spec.companions[0].name, "tj");
  EXPECT_EQ(spec.companions[1].kind, K::kConfigMap);
  EXPECT_EQ(spec.companions[1].name, "tj-svc");
  EXPECT_EQ(spec.companions[2].kind, K::kSecret);
  EXPECT_EQ(spec.companions[2].name, "tj-ssh");
  EXPECT_EQ(spec.companions[3].kind, K::kNetworkPolicy);
  EXPECT_EQ(spec.companions[3].name, "tj");
  EXPECT_EQ(spec.companions[4].name, "data");
  EXPECT_TRUE(spec.companions[4].must_exist);
  EXPECT_TRUE(spec.companions[4].outlives_run);
  EXPECT_TRUE(spec.companions[5].name.starts_with("tj-pvc-"));
  EXPECT_EQ(spec.companions[5].name.size(), std::string("tj-pvc-").size() + 12);
  EXPECT_FALSE(spec.companions[5].must_exist);
  EXPECT_TRUE(spec.companions[5].outlives_run);
}

// Scaling must refresh the lists of hosts, and must not make a new key pair.
TEST(Lower, ScalingChangesTheHostsAndNotTheKeys) {
  std::string_view plugins = "  plugins: {svc: [], ssh: []}\n";
  model::JobSpec two = lowered(job(task("w", 2), plugins));
  model::JobSpec three = lowered(job(task("w", 3), plugins));
  for (size_t i = 0; i < two.companions.size(); ++i) {
    bool hosts = two.companions[i].kind == model::CompanionKind::kConfigMap;
    EXPECT_EQ(two.companions[i].digest != three.companions[i].digest, hosts) << two.companions[i].name;
  }
}

TEST(Lower, TimeToLive) {
  EXPECT_EQ(lowered(usual_job("  ttlSecondsAfterFinished: 4\n")).ttl_after_finished, seconds(4));
}

TEST(Lower, TheSourceIsTheDefaultedDocument) {
  model::JobSpec spec = lowered(usual_job("  unknownField: {a: 1}\n"));
  EXPECT_EQ(kube::text_at(*spec.source, {"spec", "queue"}), "default");
  EXPECT_EQ(kube::int_at(*spec.source, {"spec", "unknownField", "a"}), 1);
}

TEST(Policies, NamesOfActions) {
  for (std::string_view name : {"AbortJob", "RestartJob", "RestartTask", "RestartPod", "RestartPartition",
                                "TerminateJob", "CompleteJob", "ResumeJob"}) {
    ASSERT_TRUE(action_named(name).has_value()) << name;
    EXPECT_EQ(name_of(*action_named(name)), name);
  }
  EXPECT_EQ(action_named("SyncJob"), std::nullopt);
}

}  // namespace
}  // namespace trainyard::dialect::vc
