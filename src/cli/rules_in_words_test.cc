#include "cli/rules_in_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/dialects.h"
#include "server/schema.h"

namespace trainyard::cli {
namespace {

using model::Action;
using model::ActionKind;
using model::Rule;
using model::Scope;
using model::Trigger;
using ::testing::ElementsAre;

model::JobSpec job(model::Role role) {
  model::JobSpec spec;
  spec.roles.push_back(std::move(role));
  spec.success = model::WholeRole{0};
  spec.running_min = spec.total_replicas();
  return spec;
}

model::Role worker(std::vector<Rule> rules, ActionKind otherwise) {
  model::Role role;
  role.name = "worker";
  role.replicas = 2;
  role.rules = std::move(rules);
  role.otherwise.kind = otherwise;
  return role;
}

std::string rule_about(const model::JobSpec& spec, std::string_view subject) {
  for (const JobRule& rule : job_rules(spec)) {
    if (rule.subject == subject) return rule.text;
  }
  return "";
}

TEST(ReplicaRules, SayWhatTheTableSays) {
  Action again{ActionKind::kRestart, Scope::kPod};
  model::JobSpec spec = job(worker(
      {Rule{.on = {Trigger::kFailed}, .exits = {{42, 42}, {129, 138}, {143, 144}}, .action = again},
       Rule{.on = {Trigger::kDisrupted, Trigger::kDeleted}, .action = {ActionKind::kRestart, Scope::kJob}},
       Rule{.on = {Trigger::kPending}, .action = {ActionKind::kAbort}, .delay = seconds(600)}},
      ActionKind::kFail));
  EXPECT_THAT(replica_rules(spec, spec.roles[0]),
              ElementsAre("exit code 42, 129 to 138, 143 or 144: the replica starts again",
                          "it is evicted or lost or is deleted by somebody: the whole job starts again",
                          "it is pending and 10m have passed: the job stops and may be resumed",
                          "any other failure: the job fails"));
}

TEST(ReplicaRules, ARuleForEveryFailureLeavesNoOther) {
  model::JobSpec spec = job(worker(
      {Rule{.on = {Trigger::kFailed}, .action = {ActionKind::kRestart, Scope::kRole}}}, ActionKind::kFail));
  EXPECT_THAT(replica_rules(spec, spec.roles[0]), ElementsAre("it fails: its whole role starts again"));
}

TEST(ReplicaRules, WhatARuleAboveAnswersIsNotSaidAgain) {
  Action again{ActionKind::kRestart, Scope::kPod};
  model::JobSpec spec = job(worker(
      {Rule{.on = {Trigger::kFailed}, .exits = {{3, 3}}, .action = {ActionKind::kAbort}},
       Rule{.on = {Trigger::kFailed, Trigger::kDisrupted}, .action = {ActionKind::kRestart, Scope::kJob}},
       Rule{.on = {Trigger::kFailed}, .exits = {{4, 4}}, .action = {ActionKind::kAbort}},
       Rule{.on = {Trigger::kDisrupted}, .action = again},
       Rule{.on = {Trigger::kDisrupted, Trigger::kDeleted}, .action = again}},
      ActionKind::kFail));
  EXPECT_THAT(
      replica_rules(spec, spec.roles[0]),
      ElementsAre("exit code 3: the job stops and may be resumed",
                  "it fails or is evicted or lost: the whole job starts again",
                  "exit code 4: the job stops and may be resumed (never: a rule above answers it first)",
                  "it is evicted or lost or is deleted by somebody: the replica starts again"));
}

TEST(ReplicaRules, TheMainReplicaMayBeTreatedApart) {
  model::JobSpec spec = job(worker({}, ActionKind::kNone));
  spec.roles[0].otherwise_main = Action{ActionKind::kFail};
  spec.success = model::MainReplica{.id = {0, 0}};
  EXPECT_THAT(replica_rules(spec, spec.roles[0]),
              ElementsAre("a failure of worker-0: the job fails",
                          "a failure of the others: the job goes on without it"));
}

TEST(ReplicaRules, OfThoseThatRunAlwaysSomeEndTheJob) {
  model::Role role = worker({}, ActionKind::kFail);
  role.runs_forever = true;
  model::JobSpec spec = job(role);
  EXPECT_THAT(replica_rules(spec, spec.roles[0]), ElementsAre("it fails: the job fails"));
  spec.success = model::NoSuccess{};
  EXPECT_THAT(replica_rules(spec, spec.roles[0]),
              ElementsAre("it ends well: the replica starts again, for it is to run always",
                          "it fails: the job fails"));
  spec.success = model::MainReplica{{0, 0}};
  EXPECT_THAT(
      replica_rules(spec, spec.roles[0]),
      ElementsAre("another than worker-0 ends well: the replica starts again, for it is to run always",
                  "it fails: the job fails"));
  spec.roles[0].replicas = 1;
  EXPECT_THAT(replica_rules(spec, spec.roles[0]), ElementsAre("it fails: the job fails"));
}

TEST(JobRules, SayHowOftenAndHowLong) {
  model::JobSpec spec = job(worker(
      {Rule{.on = {Trigger::kFailed}, .action = {ActionKind::kRestart, Scope::kPod}}}, ActionKind::kFail));
  EXPECT_EQ(rule_about(spec, "Restarts"), "without limit. Evictions and deletions are not counted");
  spec.budget.restarts_max = 3;
  EXPECT_EQ(rule_about(spec, "Restarts"),
            "3 at most, all replicas together; the next failure fails the job. Evictions and deletions are "
            "not counted");
  spec.active_deadline = seconds(3600);
  EXPECT_EQ(rule_about(spec, "Deadline"), "fails when it is not done 1h after its start");
  spec.roles[0].rules.clear();
  EXPECT_EQ(rule_about(spec, "Restarts"),
            "none: no rule asks for one. A pod that somebody deletes is made again");
}

TEST(JobRules, SayWhatSuccessIs) {
  model::JobSpec spec = job(worker({}, ActionKind::kFail));
  EXPECT_EQ(rule_about(spec, "Success"), "when every worker has ended with exit code 0");
  spec.success = model::MainReplica{.id = {0, 0}, .or_all = true};
  EXPECT_EQ(rule_about(spec, "Success"), "when worker-0 ends with exit code 0, or all of worker have");
  spec.success = model::Tally{.min_success = 1, .min_available = 2, .per_role = true};
  EXPECT_EQ(rule_about(spec, "Success"),
            "as soon as 1 replicas have succeeded; or when all have ended and at least 2 have succeeded, and "
            "of each "
            "role its own minimum");
  spec.success = model::NoSuccess{};
  EXPECT_EQ(rule_about(spec, "Success"), "only by a rule or by command");
}

// What kubectl explain and the CRDs say of ExitCode is what a TFJob does.
TEST(JobRules, TheSchemaTellsTheSameExitCodes) {
  const json::object job =
      json::parse(R"({"apiVersion":"kubeflow.org/v1","kind":"TFJob","metadata":{"name":"j"},
      "spec":{"tfReplicaSpecs":{"Worker":{"restartPolicy":"ExitCode","template":{"spec":{"containers":[
      {"name":"tensorflow","image":"i"}]}}}}}})")
          .as_object();
  const model::JobSpec spec = std::get<model::JobSpec>(dialect_named("tfjob").lower(job, {}));
  std::vector<int> retried;
  for (const Rule& rule : spec.roles.at(0).rules) {
    for (const model::ExitRange& range : rule.exits) {
      for (int code = range.first; code <= range.last; ++code) retried.push_back(code);
    }
  }
  std::vector<int> told = {42};
  for (int code = 129; code <= 255; ++code) {
    if (code != 139) told.push_back(code);
  }
  EXPECT_EQ(retried, told);
  EXPECT_EQ(server::schema_named("org.kubeflow.v1.ReplicaSpec")->field("restartPolicy")->description,
            "Always, OnFailure, Never or ExitCode; the last retries 42 and 129 to 255 without 139.");
}

}  // namespace
}  // namespace trainyard::cli
