#include "dialect/t9k/lower.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dialect/t9k/testing.h"
#include "kube/access.h"

namespace trainyard::t9k {
namespace {

using model::Action;
using model::ActionKind;
using model::Rule;
using model::Scope;
using model::Trigger;
using ::testing::ElementsAre;
using testing::from_yaml;
using ::testing::IsEmpty;
using testing::job;
using testing::lowered;
using testing::replica_spec;

TEST(T9kLower, DefaultsAreTheDocumentedOnes) {
  json::object object = job(replica_spec("worker", 4));
  json::array& specs = object["spec"].as_object()["replicaSpecs"].as_array();
  specs[0].as_object().erase("replicas");
  model::JobSpec spec = lowered(object);

  EXPECT_EQ(spec.dialect, "t9k");
  EXPECT_EQ(spec.name, "train");
  EXPECT_EQ(spec.name_space, "demo");
  EXPECT_EQ(spec.uid, "3f1c");
  EXPECT_EQ(spec.generation, 4);
  ASSERT_EQ(spec.roles.size(), 1u);
  EXPECT_EQ(spec.roles[0].name, "worker");
  EXPECT_EQ(spec.roles[0].title, "worker");
  EXPECT_EQ(spec.roles[0].replicas, 1);
  EXPECT_THAT(spec.roles[0].rules, IsEmpty());
  EXPECT_FALSE(spec.roles[0].restarts_in_place);
  EXPECT_EQ(spec.budget.restarts_max, 3);
  EXPECT_FALSE(spec.budget.spent_fails_job);
  EXPECT_EQ(spec.cleanup, model::Cleanup::kNone);
  EXPECT_EQ(spec.mode, model::RunMode::kRun);
  EXPECT_FALSE(spec.pause.keeps_finished);
  EXPECT_EQ(spec.active_deadline, std::nullopt);
  EXPECT_EQ(spec.gang, std::nullopt);
  EXPECT_EQ(spec.tensorboard, std::nullopt);
  EXPECT_TRUE(spec.service_per_replica);
  EXPECT_THAT(spec.advice, IsEmpty());

  const json::object& source = *spec.source;
  EXPECT_EQ(kube::int_at(source, {"spec", "runPolicy", "backoffLimit"}), 3);
  EXPECT_EQ(kube::text_at(source, {"spec", "runPolicy", "cleanUpPolicy"}), "None");
  const json::object& kept = source.at("spec").at("replicaSpecs").as_array()[0].as_object();
  EXPECT_EQ(kube::int_at(kept, {"replicas"}), 1);
  EXPECT_EQ(kube::text_at(kept, {"restartPolicy"}), "Never");
}

TEST(T9kLower, RunPolicyIsCarriedOver) {
  model::JobSpec spec = lowered(job(replica_spec("worker", 2),
                                    "  runPolicy: {activeDeadlineSeconds: 60, backoffLimit: 20, "
                                    "cleanUpPolicy: Unfinished}\n"));
  EXPECT_EQ(spec.active_deadline, seconds(60));
  EXPECT_EQ(spec.budget.restarts_max, 20);
  EXPECT_EQ(spec.cleanup, model::Cleanup::kUnfinished);
  EXPECT_EQ(lowered(job(replica_spec("worker", 1), "  runPolicy: {cleanUpPolicy: All}\n")).cleanup,
            model::Cleanup::kAll);
}

TEST(T9kLower, AHugeDeadlineIsNeverReachedAndOverflowsNothing) {
  model::JobSpec spec =
      lowered(job(replica_spec("worker", 1), "  runPolicy: {activeDeadlineSeconds: 9223372036854775807}\n"));
  EXPECT_GT(spec.active_deadline->count(), 0);
  EXPECT_GT(Time{1'800'000'000'000} + *spec.active_deadline, Time{1'800'000'000'000});
}

struct PolicyCase {
  std::string policy;
  std::vector<int> restarts_on;  // exit codes
  std::vector<int> permanent;
  bool repairs_disruption = false;
  bool runs_forever = false;
};

bool restarts(const model::Role& role, Trigger trigger, int code) {
  for (const Rule& rule : role.rules) {
    bool listed = std::find(rule.on.begin(), rule.on.end(), trigger) != rule.on.end();
    bool in_range =
        rule.exits.empty() || std::any_of(rule.exits.begin(), rule.exits.end(), [&](model::ExitRange range) {
          return range.first <= code && code <= range.last;
        });
    if (listed && in_range) return rule.action.kind == ActionKind::kRestart;
  }
  return false;
}

TEST(T9kLower, RestartPoliciesBecomeRules) {
  const PolicyCase cases[] = {
      {"Never", {}, {1, 2, 127, 130, 137, 138, 139, 143, 255}, false, false},
      {"OnFailure", {1, 2, 127, 130, 137, 138, 139, 143, 255}, {}, true, false},
      {"Always", {1, 2, 127, 130, 137, 138, 139, 143, 255}, {}, true, true},
      {"ExitCode",
       {130, 137, 138, 143},
       {1, 2, 42, 126, 127, 128, 129, 131, 136, 139, 142, 144, 255},
       true,
       false},
  };
  for (const PolicyCase& c : cases) {
    SCOPED_TRACE(c.policy);
    model::Role role = lowered(job(replica_spec("worker", 2, c.policy))).roles[0];
    for (int code : c.restarts_on) EXPECT_TRUE(restarts(role, Trigger::kFailed, code)) << code;
    for (int code : c.permanent) EXPECT_FALSE(restarts(role, Trigger::kFailed, code)) << code;
    EXPECT_EQ(restarts(role, Trigger::kDisrupted, -1), c.repairs_disruption);
    EXPECT_FALSE(restarts(role, Trigger::kDeleted, -1)) << "made again anyway";
    EXPECT_EQ(role.runs_forever, c.runs_forever);
    EXPECT_FALSE(role.restarts_in_place);
  }
}

TEST(T9kLower, ATemplatePolicyCountsOnlyWhereTheReplicaHasNone) {
  auto with_template_policy = [](std::string_view own) {
    json::object object = job(replica_spec("worker", 1, own));
    object["spec"]
        .as_object()["replicaSpecs"]
        .as_array()[0]
        .as_object()["template"]
        .as_object()["spec"]
        .as_object()["restartPolicy"] = "OnFailure";
    return lowered(object);
  };
  model::JobSpec taken = with_template_policy("");
  EXPECT_TRUE(restarts(taken.roles[0], Trigger::kFailed, 1));
  EXPECT_THAT(taken.advice, IsEmpty());

  model::JobSpec overridden = with_template_policy("Never");
  EXPECT_FALSE(restarts(overridden.roles[0], Trigger::kFailed, 1));
  ASSERT_EQ(overridden.advice.size(), 1u);
  EXPECT_EQ(overridden.advice[0].reason, "RestartPolicyOverridden");
  EXPECT_EQ(overridden.advice[0].message,
            "spec.replicaSpecs[0].template.spec.restartPolicy OnFailure has no effect: the replica's "
            "restartPolicy is "
            "Never");
}

TEST(T9kLower, RestartScopeComesFromTheAnnotation) {
  json::object object = job(replica_spec("worker", 2, "OnFailure"));
  object["metadata"].as_object()["annotations"] = json::object{{"trainyard.dev/restart-scope", "job"}};
  model::Role role = lowered(object).roles[0];
  for (const Rule& rule : role.rules) EXPECT_EQ(rule.action, (Action{ActionKind::kRestart, Scope::kJob}));
  EXPECT_TRUE(restarts(role, Trigger::kDeleted, -1)) << "survivors must start again too";
}

TEST(T9kLower, AMirroredJobRestartsAsAWholeAndAfter42) {
  json::object object = job(replica_spec("worker", 2, "ExitCode"));
  EXPECT_FALSE(restarts(lowered(object).roles[0], Trigger::kFailed, 42)) << "the document names four codes";
  object["metadata"].as_object()["annotations"] =
      json::object{{"trainyard.dev/strategy", "MultiWorkerMirrored"}};
  model::Role role = lowered(object).roles[0];
  for (const Rule& rule : role.rules) EXPECT_EQ(rule.action, (Action{ActionKind::kRestart, Scope::kJob}));
  for (int code : {42, 130, 137, 138, 143}) EXPECT_TRUE(restarts(role, Trigger::kFailed, code)) << code;
  EXPECT_FALSE(restarts(role, Trigger::kFailed, 1));
}

struct MainCase {
  std::string specs;
  int role;
};

TEST(T9kLower, TheMainReplicaIsTheChiefElseWorkerZero) {
  const MainCase cases[] = {
      {replica_spec("worker", 4), 0},
      {replica_spec("ps", 2) + replica_spec("worker", 4), 1},
      {replica_spec("worker", 4) + replica_spec("chief", 1), 1},
      {replica_spec("chief", 1) + replica_spec("evaluator", 1), 0},
      {replica_spec("chief", 0) + replica_spec("worker", 1), 1},
  };
  for (const MainCase& c : cases) {
    model::JobSpec spec = lowered(job(c.specs));
    EXPECT_EQ(spec.success, model::SuccessRule(model::MainReplica{.id = {c.role, 0}})) << c.specs;
    for (size_t i = 0; i < spec.roles.size(); ++i) {
      EXPECT_EQ(spec.roles[i].otherwise, Action{}) << "others only report";
      bool main = static_cast<int>(i) == c.role;
      EXPECT_EQ(spec.roles[i].otherwise_main, main ? std::optional(Action{ActionKind::kFail}) : std::nullopt);
    }
    EXPECT_EQ(spec.running_min, spec.total_replicas());
  }
}

TEST(T9kLower, TheSchedulerBecomesAGangOfAllReplicas) {
  model::JobSpec spec = lowered(job(replica_spec("worker", 2) + replica_spec("ps", 1),
                                    "  scheduler: {t9kScheduler: {queue: gpu, priority: 50}}\n"));
  ASSERT_TRUE(spec.gang);
  EXPECT_EQ(spec.gang->scheduler, model::GangScheduler::kT9k);
  EXPECT_EQ(spec.gang->name, spec.pod_prefix);
  EXPECT_EQ(spec.gang->min_member, 3);
  EXPECT_EQ(spec.gang->queue, "gpu");
  EXPECT_EQ(spec.gang->priority, 50);
  EXPECT_TRUE(spec.gang->owned);
  EXPECT_FALSE(spec.gang->gates_pods);

  EXPECT_EQ(
      lowered(job(replica_spec("worker", 1), "  scheduler: {t9kScheduler: {queue: null}}\n")).gang->queue,
      "default");
  EXPECT_EQ(lowered(job(replica_spec("worker", 1), "  scheduler: {}\n")).gang, std::nullopt);
}

TEST(T9kLower, TensorBoardAndChildrenShareThePrefix) {
  model::JobSpec spec = lowered(job(replica_spec("worker", 1), "  tensorboardSpec: {image: tb}\n"));
  EXPECT_EQ(spec.tensorboard, spec.pod_prefix);
  EXPECT_EQ(spec.pod_name({0, 0}), spec.pod_prefix + "-worker-0");
}

TEST(T9kLower, PauseIsTheRunModeWhicheverWayItIsSpelled) {
  EXPECT_EQ(lowered(job(replica_spec("worker", 1), "  runMode: {pause: {enabled: true}}\n")).mode,
            model::RunMode::kPause);
  model::JobSpec legacy = lowered(job(replica_spec("worker", 1), "  runMode: {pause: {enable: true}}\n"));
  EXPECT_EQ(legacy.mode, model::RunMode::kPause);
  ASSERT_EQ(legacy.advice.size(), 1u);
  EXPECT_EQ(legacy.advice[0].reason, "DeprecatedField");
  EXPECT_EQ(legacy.advice[0].message,
            "spec.runMode.pause.enable is the old spelling of this switch: write enabled");
  model::JobSpec both =
      lowered(job(replica_spec("worker", 1), "  runMode: {pause: {enable: true, enabled: false}}\n"));
  EXPECT_EQ(both.mode, model::RunMode::kRun);
}

TEST(T9kLower, UnknownFieldsSurvive) {
  json::object object = job(replica_spec("worker", 1), "  somethingNew: {a: [1, 2]}\n");
  model::JobSpec spec = lowered(object);
  EXPECT_EQ(spec.source->at("spec").at("somethingNew"), object["spec"].at("somethingNew"));
}

struct UpdateCase {
  std::string what;
  json::object before;
  json::object after;
  std::vector<std::string> problems;
};

TEST(T9kLower, WhatMayNotChange) {
  const std::string worker = replica_spec("worker", 2);
  const std::string resume_a =
      "  runMode: {pause: {enabled: true, resumeSpecs: [{type: worker, command: [a]}]}}\n";
  const std::string resume_a_off =
      "  runMode: {pause: {enabled: false, resumeSpecs: [{type: worker, command: [a]}]}}\n";
  const std::string resume_b =
      "  runMode: {pause: {enabled: true, resumeSpecs: [{type: worker, command: [b]}]}}\n";
  const std::string queue_a = "  scheduler: {t9kScheduler: {queue: a}}\n";
  const UpdateCase cases[] = {
      {"nothing", job(worker), job(worker), {}},
      {"pause on", job(worker), job(worker, "  runMode: {pause: {enabled: true}}\n"), {}},
      {"pause off", job(worker, resume_a), job(worker, resume_a_off), {}},
      {"replicas", job(worker), job(replica_spec("worker", 5)), {}},
      {"empty resumeSpecs", job(worker), job(worker, "  runMode: {pause: {resumeSpecs: []}}\n"), {}},
      {"default queue written out",
       job(worker, "  scheduler: {t9kScheduler: {}}\n"),
       job(worker, "  scheduler: {t9kScheduler: {queue: default, priority: 0}}\n"),
       {}},
      {"resumeSpecs",
       job(worker, resume_a),
       job(worker, resume_b),
       {"spec.runMode.pause.resumeSpecs: Forbidden: field is immutable: resume settings are set when the job "
        "is "
        "created"}},
      {"resumeSpecs added",
       job(worker),
       job(worker, resume_b),
       {"spec.runMode.pause.resumeSpecs: Forbidden: field is immutable: resume settings are set when the job "
        "is "
        "created"}},
      {"queue",
       job(worker, queue_a),
       job(worker, "  scheduler: {t9kScheduler: {queue: b}}\n"),
       {"spec.scheduler: Forbidden: field is immutable: pods cannot change their queue or PodGroup"}},
      {"priority",
       job(worker, queue_a),
       job(worker, "  scheduler: {t9kScheduler: {queue: a, priority: 5}}\n"),
       {}},
      {"scheduler dropped",
       job(worker, queue_a),
       job(worker),
       {"spec.scheduler: Forbidden: field is immutable: pods cannot change their queue or PodGroup"}},
      {"type added",
       job(worker),
       job(worker + replica_spec("ps", 1)),
       {"spec.replicaSpecs: Forbidden: replica types cannot be added or removed once the job is created"}},
      {"chief gone",
       job(worker + replica_spec("chief", 1)),
       job(worker + replica_spec("chief", 0)),
       {"spec.replicaSpecs: Forbidden: the chief cannot come or go once the job is created: its end decides "
        "the "
        "job's"}},
  };
  for (const UpdateCase& c : cases) {
    std::vector<std::string> found;
    for (const dialect::Problem& problem : validate_update(c.before, c.after))
      found.push_back(to_string(problem));
    EXPECT_EQ(found, c.problems) << c.what;
  }
}

TEST(T9kLower, UpdatesOfNonsenseDoNotCrash) {
  EXPECT_THAT(validate_update({}, {}), IsEmpty());
  EXPECT_THAT(validate_update(from_yaml("{spec: 3}"), from_yaml("{spec: {replicaSpecs: 7, runMode: []}}")),
              IsEmpty());
  EXPECT_EQ(validate_update(from_yaml("{spec: {replicaSpecs: [1]}}"), job(replica_spec("worker", 1))).size(),
            1u);
}

}  // namespace
}  // namespace trainyard::t9k
