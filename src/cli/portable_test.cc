// Conversions of one feature at a time; whole manifests are in tests/golden.
#include "cli/portable.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/dialects.h"
#include "kube/access.h"
#include "kube/yaml.h"

namespace trainyard::cli {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

model::JobSpec lower(std::string_view dialect, const std::string& yaml) {
  json::object body = kube::parse_yaml(yaml).value().at(0).body.as_object();
  return std::get<model::JobSpec>(dialect_named(dialect).lower(body, {}));
}

std::string volcano_job(const std::string& spec, const std::string& task, const std::string& name = "worker",
                        const std::string& restart = "Never") {
  return "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: a}\nspec:\n" + spec +
         "  tasks:\n  - name: " + name + "\n    replicas: 2\n" + task +
         "    template: {spec: {restartPolicy: " + restart + ", containers: [{name: main, image: i}]}}\n";
}

std::string tfjob(const std::string& spec, const std::string& role) {
  return "apiVersion: kubeflow.org/v1\nkind: TFJob\nmetadata: {name: a}\nspec:\n" + spec +
         "  tfReplicaSpecs:\n    Worker:\n      replicas: 2\n" + role +
         "      template: {spec: {containers: [{name: tensorflow, image: i}]}}\n";
}

struct PolicyRow {
  const char* policies;
  const char* restart;
  model::Scope scope;
};

TEST(FromVolcano, PoliciesBecomeARestartPolicyAndAScope) {
  for (const PolicyRow& row : {
           PolicyRow{"", "Never", model::Scope::kPod},
           PolicyRow{"  policies: [{event: PodFailed, action: RestartJob}]\n", "OnFailure",
                     model::Scope::kJob},
           PolicyRow{"  policies: [{event: PodFailed, action: RestartTask}]\n", "OnFailure",
                     model::Scope::kRole},
           PolicyRow{"  policies: [{event: PodFailed, action: RestartPod}]\n", "OnFailure",
                     model::Scope::kPod},
           PolicyRow{"  policies: [{event: PodEvicted, action: RestartJob}]\n", "ExitCode",
                     model::Scope::kJob},
           PolicyRow{"  policies: [{exitCode: 137, action: RestartPod}]\n", "ExitCode", model::Scope::kPod},
           PolicyRow{"  policies: [{exitCode: 3, action: RestartPod}]\n", "Never", model::Scope::kPod},
           PolicyRow{"  policies: [{event: PodFailed, action: AbortJob}]\n", "Never", model::Scope::kPod},
       }) {
    Portable job = from_volcano(lower("volcano", volcano_job(row.policies, "")));
    EXPECT_EQ(to_string(job.roles.at(0).restart), row.restart) << row.policies;
    EXPECT_EQ(job.scope, row.scope) << row.policies;
  }
}

TEST(FromVolcano, WhatHasNoCounterpartIsNamedByItsField) {
  Portable job = from_volcano(lower(
      "volcano", volcano_job("  policies: [{exitCode: 3, action: RestartPod}]\n  minSuccess: 1\n", "")));
  EXPECT_THAT(job.lost, Contains("spec.policies[0] (exit code 3 -> RestartPod): no counterpart"));
  EXPECT_THAT(job.lost, Contains("spec.minSuccess: no counterpart"));
}

TEST(FromVolcano, CompletionOfTheWorkersIsTheSuccessOfAll) {
  Portable job = from_volcano(
      lower("volcano", volcano_job("", "    policies: [{event: TaskCompleted, action: CompleteJob}]\n")));
  EXPECT_TRUE(job.all_workers);
  EXPECT_THAT(job.lost, IsEmpty());
}

TEST(SettleRoleNames, OneStrangeTaskIsTheWorkerTwoAreTooMany) {
  Portable job = from_volcano(lower("volcano", volcano_job("", "", "trainer")));
  EXPECT_TRUE(settle_role_names(job).ok());
  EXPECT_EQ(job.roles.at(0).name, "worker");
  job.roles.push_back(job.roles[0]);
  job.roles[0].name = "alpha";
  job.roles[1].name = "beta";
  Result<Done> settled = settle_role_names(job);
  ASSERT_FALSE(settled.ok());
  EXPECT_THAT(settled.error().message, HasSubstr("alpha, beta"));
}

TEST(ToVolcano, TheFirstRunIsATry) {
  Portable job = from_tfjob(
      lower("tfjob", tfjob("  runPolicy: {backoffLimit: 3}\n", "      restartPolicy: OnFailure\n")));
  json::object written = to_volcano(job).value();
  EXPECT_EQ(kube::int_at(written, {"spec", "maxRetry"}), 4);
  Portable back = from_volcano(std::get<model::JobSpec>(dialect_named("volcano").lower(written, {})));
  EXPECT_EQ(back.restarts_max, 3);
}

TEST(ToVolcano, AWiderScopeForbidsRestartsInPlace) {
  std::string text = tfjob("", "      restartPolicy: OnFailure\n");
  text.replace(text.find("{name: a}"), 9, "{name: a, annotations: {trainyard.dev/restart-scope: job}}");
  Portable job = from_tfjob(lower("tfjob", text));
  json::object written = to_volcano(job).value();
  const json::object& task = kube::array_at(written, {"spec", "tasks"})->at(0).as_object();
  EXPECT_EQ(kube::text_at(task, {"template", "spec", "restartPolicy"}), "Never");
  EXPECT_THAT(json::serialize(*kube::array_at(task, {"policies"})),
              HasSubstr(R"({"event":"PodFailed","action":"RestartJob"})"));
  EXPECT_EQ(kube::find(written, {"metadata", "annotations"}), nullptr);
}

TEST(ToT9k, NoLimitIsWrittenAsTheLargest) {
  Portable job = from_tfjob(lower("tfjob", tfjob("", "      restartPolicy: OnFailure\n")));
  EXPECT_EQ(kube::int_at(to_t9k(job).value(), {"spec", "runPolicy", "backoffLimit"}), 2147483647);
  EXPECT_THAT(job.lost, ElementsAre(HasSubstr("no restart limit")));
  Portable never = from_tfjob(lower("tfjob", tfjob("", "")));
  EXPECT_EQ(kube::int_at(to_t9k(never).value(), {"spec", "runPolicy", "backoffLimit"}), std::nullopt);
  EXPECT_THAT(never.lost, Not(Contains(HasSubstr("no restart limit"))));
}

TEST(WrittenMetadata, KeepsOnlyWhatAPersonWrites) {
  json::object object = kube::parse_yaml(R"(
metadata:
  name: a
  uid: u
  resourceVersion: "7"
  creationTimestamp: "2019-07-16T02:44:38Z"
  labels: {x: z}
  annotations: {kubectl.kubernetes.io/last-applied-configuration: "{}"}
)")
                            .value()
                            .at(0)
                            .body.as_object();
  EXPECT_EQ(json::serialize(written_metadata(object)), R"({"name":"a","labels":{"x":"z"}})");
}

}  // namespace
}  // namespace trainyard::cli
