// Conversions of one feature at a time; whole manifests are in tests/golden.
#include "cli/portable.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "cli/dialects.h"
#include "kube/access.h"
#include "kube/meta.h"
#include "kube/yaml.h"

namespace trainyard::cli {
namespace {

using ::testing::Contains;
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

std::string t9k_job(const std::string& role) {
  return "apiVersion: batch.tensorstack.dev/v1beta1\nkind: TensorFlowTrainingJob\nmetadata: {name: a}\n"
         "spec:\n  replicaSpecs:\n  - {type: worker, replicas: 2, " +
         role + ", template: {spec: {containers: [{name: tensorflow, image: i}]}}}\n";
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

TEST(FromVolcano, WhatIsCarriedInPartSaysWhichPart) {
  struct Row {
    const char* policy;
    const char* said;
  };
  for (const Row& row : {
           Row{"{events: [PodFailed, TaskFailed], action: RestartTask}",
               "(PodFailed, TaskFailed -> RestartTask): carried over for failures and evictions alone"},
           Row{"{event: '*', action: RestartJob}",
               "(* -> RestartJob): carried over for failures and evictions alone"},
           Row{"{events: [PodEvicted, Unknown], action: RestartJob}",
               "(PodEvicted, Unknown -> RestartJob): carried over for PodEvicted alone"},
           Row{"{events: [PodFailed, PodEvicted], action: TerminateJob}",
               "(PodFailed, PodEvicted -> TerminateJob): carried over for PodFailed alone"},
           Row{"{events: [TaskCompleted, Unknown], action: CompleteJob}",
               "(TaskCompleted, Unknown -> CompleteJob): carried over for TaskCompleted alone"},
       }) {
    Portable job =
        from_volcano(lower("volcano", volcano_job(fmt::format("  policies: [{}]\n", row.policy), "")));
    EXPECT_THAT(job.lost, Contains(HasSubstr(row.said))) << row.policy;
  }
  Portable whole = from_volcano(
      lower("volcano", volcano_job("  policies: [{events: [PodFailed, PodEvicted], action: RestartJob}]\n",
                                   "    policies: [{event: TaskCompleted, action: CompleteJob}]\n")));
  EXPECT_THAT(whole.lost, IsEmpty());
}

TEST(FromVolcano, NumbersOfATaskAreNamed) {
  Portable job = from_volcano(lower("volcano", volcano_job("", "    maxRetry: 7\n    minAvailable: 1\n")));
  EXPECT_THAT(job.lost, Contains("spec.tasks[0].maxRetry 7: no counterpart"));
  EXPECT_THAT(job.lost,
              Contains("spec.tasks[0].minAvailable 1: the gang counts the pods of all roles together"));
}

TEST(FromVolcano, ItsBudgetDidNotCountRestartsInPlace) {
  Portable job = from_volcano(lower("volcano", volcano_job("", "", "worker", "OnFailure")));
  EXPECT_THAT(job.lost, Contains("restarts in place of worker: backoffLimit counts them, maxRetry did not"));
}

std::string with_plugin(const std::string& arguments, const std::string& containers) {
  return "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: a}\nspec:\n"
         "  plugins: {tensorflow: [" +
         arguments +
         "]}\n  tasks:\n  - name: trainer\n    replicas: 2\n"
         "    template: {spec: {restartPolicy: Never, containers: [" +
         containers + "]}}\n";
}

// Volcano reads them as Go reads flags: a value may stand in the next argument.
TEST(FromVolcano, ArgumentsOfThePluginInTwoWords) {
  for (const char* arguments : {"--worker=trainer, --port=3333", "--worker, trainer, -port, \"3333\""}) {
    Portable job = from_volcano(lower("volcano", with_plugin(arguments, "{name: main, image: i}")));
    EXPECT_EQ(job.roles.at(0).name, "worker") << arguments;
    EXPECT_THAT(json::serialize(job.roles[0].pod_template),
                HasSubstr(R"("ports":[{"name":"tfjob-port","containerPort":3333}])"))
        << arguments;
  }
}

TEST(FromVolcano, ThePortIsNamedAtTheMainContainer) {
  const std::string two = "{name: side, image: i}, {name: tensorflow, image: i}";
  Portable job = from_volcano(lower("volcano", with_plugin("--worker=trainer, --port=3333", two)));
  EXPECT_THAT(json::serialize(job.roles.at(0).pod_template),
              HasSubstr(R"({"name":"side","image":"i"},{"name":"tensorflow","image":"i","ports":)"));
  const std::string own = "{name: tensorflow, image: i, ports: [{name: tfjob-port, containerPort: 4444}]}";
  Portable named = from_volcano(lower("volcano", with_plugin("--worker=trainer", own)));
  EXPECT_THAT(named.lost,
              Contains("spec.tasks[0]: TensorFlow listens at tfjob-port 4444 of the container, not at 2222 "
                       "of the plugin"));
}

TEST(ToTfjob, MoreExitCodesRestart) {
  Portable job = from_t9k(lower("t9k", t9k_job("restartPolicy: ExitCode")));
  ASSERT_TRUE(to_tfjob(job).ok());
  EXPECT_THAT(job.lost,
              Contains("ExitCode: in a TFJob 42 and all exit codes above 128 but 139 start a replica again, "
                       "not only 130, 137, 138 and 143"));
}

TEST(Convert, WhetherTheNodeStartsContainersAgainIsTold) {
  const char* by_node =
      "restarts of worker: the node starts a failed container again in the same pod; before, a new pod was "
      "made";
  const char* by_us =
      "restarts of worker: a new pod is made; before, the node started a failed container again in the same "
      "pod";
  Portable t9k = from_t9k(lower("t9k", t9k_job("restartPolicy: OnFailure")));
  Portable as_tfjob = t9k;
  ASSERT_TRUE(to_tfjob(as_tfjob).ok());
  EXPECT_THAT(as_tfjob.lost, Contains(by_node));
  ASSERT_TRUE(to_volcano(t9k).ok());
  EXPECT_THAT(t9k.lost, Contains(by_node));
  Portable job = from_tfjob(lower("tfjob", tfjob("", "      restartPolicy: Always\n")));
  Portable same = job;
  ASSERT_TRUE(to_t9k(job).ok());
  EXPECT_THAT(job.lost, Contains(by_us));
  ASSERT_TRUE(to_volcano(same).ok());
  EXPECT_THAT(same.lost, Not(Contains(HasSubstr("same pod;"))));
}

TEST(ToVolcano, WhomTfConfigNamesAndWhoEndsTheJobIsTold) {
  Portable t9k = from_t9k(lower("t9k", t9k_job("restartPolicy: Never")));
  ASSERT_TRUE(to_volcano(t9k).ok());
  EXPECT_THAT(t9k.lost,
              Contains("failures: here any worker that fails for good ends the job, not only worker 0"));
  EXPECT_THAT(t9k.lost, Not(Contains(HasSubstr("evaluator"))));
  Portable job = from_tfjob(lower("tfjob", tfjob("", "")));
  job.roles.push_back(job.roles[0]);
  job.roles[1].name = "evaluator";
  job.roles.push_back(job.roles[0]);
  job.roles[2].name = "master";
  Portable there = job;
  json::object written = to_volcano(there).value();
  EXPECT_THAT(there.lost, Contains("role master: TF_CONFIG calls it chief"));
  EXPECT_THAT(there.lost, Contains("evaluator: Volcano's plugin lists it in the cluster in TF_CONFIG, where "
                                   "a chief of a ParameterServerStrategy waits for it"));
  Portable back = from_volcano(std::get<model::JobSpec>(dialect_named("volcano").lower(written, {})));
  EXPECT_THAT(
      back.lost,
      Contains("evaluator: it is left out of the cluster in TF_CONFIG, in which Volcano's plugin lists it"));
}

TEST(ToTfjob, TheSchedulerOfAGangIsNamed) {
  for (const char* name : {"volcano", "trainyard", "mine"}) {
    Portable job =
        from_volcano(lower("volcano", volcano_job(fmt::format("  schedulerName: {}\n", name), "")));
    const std::string told(kube::annotation_of(to_tfjob(job).value(), "trainyard.dev/gang-scheduler"));
    EXPECT_EQ(told, std::string_view(name) == "mine" ? "volcano" : name);
    EXPECT_EQ(std::count(job.lost.begin(), job.lost.end(), "spec.schedulerName mine: no counterpart"),
              std::string_view(name) == "mine");
  }
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

std::string annotated(std::string manifest, const std::string& annotations) {
  manifest.replace(manifest.find("{name: a}"), 9, "{name: a, annotations: {" + annotations + "}}");
  return manifest;
}

TEST(ToT9k, OnlyTheMainReplicasFailureEndsTheJob) {
  const char* said =
      "failures: here the job goes on without a replica other than worker 0 that fails for good";
  Portable job = from_tfjob(lower("tfjob", tfjob("", "")));
  ASSERT_TRUE(to_t9k(job).ok());
  EXPECT_THAT(job.lost, Contains(said));
  Portable task = from_volcano(
      lower("volcano", volcano_job("", "    policies: [{event: PodFailed, action: TerminateJob}]\n")));
  ASSERT_TRUE(to_t9k(task).ok());
  EXPECT_THAT(task.lost, Contains(said));
  std::string one = tfjob("", "");
  one.replace(one.find("replicas: 2"), 11, "replicas: 1");
  Portable alone = from_tfjob(lower("tfjob", one));
  ASSERT_TRUE(to_t9k(alone).ok());
  EXPECT_THAT(alone.lost, IsEmpty());
}

// It was made of single pods.
TEST(ToT9k, AGangThatOnlyItsSchedulerNamesIsAGang) {
  Portable job =
      from_tfjob(lower("tfjob", annotated(tfjob("", ""), "trainyard.dev/gang-scheduler: volcano")));
  json::object written = to_t9k(job).value();
  EXPECT_NE(kube::find(written, {"spec", "scheduler", "t9kScheduler"}), nullptr);
  EXPECT_EQ(kube::find(written, {"metadata", "annotations"}), nullptr);
  EXPECT_THAT(job.lost, Contains("gang scheduler volcano: T9k's scheduler takes its place"));
  Portable none =
      from_tfjob(lower("tfjob", annotated(tfjob("  runPolicy: {schedulingPolicy: {queue: q}}\n", ""),
                                          "trainyard.dev/gang-scheduler: none")));
  EXPECT_EQ(kube::find(to_t9k(none).value(), {"spec", "scheduler"}), nullptr);
}

// Only Trainyard reads the annotation; Volcano's own controller restarted one pod of four.
TEST(ToVolcano, TheStrategyIsWrittenAsPolicies) {
  Portable job = from_tfjob(lower("tfjob", annotated(tfjob("", "      restartPolicy: ExitCode\n"),
                                                     "trainyard.dev/strategy: MultiWorkerMirrored")));
  json::object written = to_volcano(job).value();
  const std::string policies = json::serialize(
      *kube::array_at(kube::array_at(written, {"spec", "tasks"})->at(0).as_object(), {"policies"}));
  EXPECT_THAT(policies, HasSubstr(R"({"exitCode":42,"action":"RestartJob"})"));
  EXPECT_THAT(policies, Not(HasSubstr("RestartPod")));
  Portable t9k = job;
  t9k.kind = "TensorFlowTrainingJob";
  EXPECT_EQ(to_volcano(t9k).value(), written);
}

TEST(ToVolcano, WhatVolcanoCountsOrLeavesOutIsTold) {
  Portable budget = from_tfjob(
      lower("tfjob", tfjob("  runPolicy: {backoffLimit: 3}\n", "      restartPolicy: ExitCode\n")));
  ASSERT_TRUE(to_volcano(budget).ok());
  EXPECT_THAT(budget.lost, Contains("evictions: Volcano's controller counts them against maxRetry; they were "
                                    "free before"));
  EXPECT_THAT(budget.lost, Contains("gang: the pods of a Volcano Job start together or not at all"));
  Portable always = from_tfjob(lower(
      "tfjob", annotated(tfjob("", "      restartPolicy: Always\n"), "trainyard.dev/restart-scope: job")));
  ASSERT_TRUE(to_volcano(always).ok());
  EXPECT_THAT(always.lost, Contains("Always: a replica that ends well is not started again"));
  Portable many =
      from_tfjob(lower("tfjob", tfjob("  runPolicy: {schedulingPolicy: {minAvailable: 9}}\n", "")));
  EXPECT_EQ(kube::int_at(to_volcano(many).value(), {"spec", "minAvailable"}), 2);
  EXPECT_THAT(many.lost, Contains("minAvailable 9: at most the 2 replicas that there are"));
}

TEST(ToT9k, NoLimitIsWrittenAsTheLargest) {
  Portable job = from_tfjob(lower("tfjob", tfjob("", "      restartPolicy: OnFailure\n")));
  EXPECT_EQ(kube::int_at(to_t9k(job).value(), {"spec", "runPolicy", "backoffLimit"}), 2147483647);
  EXPECT_THAT(job.lost, Contains(HasSubstr("no restart limit")));
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
