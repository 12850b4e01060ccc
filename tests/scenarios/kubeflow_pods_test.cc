// What the tests of Kubeflow's own operator expect, groups 20-31: TF_CONFIG, restart
// policies, scaling, and the table from what pods do to what the job says.
#include <gtest/gtest.h>

#include "dialect/tfjob/tfjob.h"
#include "kube/access.h"
#include "words.h"
#include "yard.h"

namespace trainyard::scenarios {
namespace {

// TF_CONFIG of the role's first replica, as the pod would have it.
std::string config_of(const std::string& yaml, std::string_view role, const dialect::Settings& settings = {},
                      int index = 0) {
  model::JobSpec spec = lowered(dialect::tfjob(), yaml, settings);
  model::JobState state;
  state.roles.resize(spec.roles.size());
  dialect::PodContext context{.id = {spec.role_named(role), index}, .state = &state};
  json::object pod = dialect::tfjob().render_pod(spec, settings, context);
  return env_of(kube::array_at(pod, {"spec", "containers"})->front().get_object(), "TF_CONFIG");
}

// Differs: the evaluator is not in the cluster, where it would hang a chief that waits for
// all of it; a switch puts it there as theirs does (0007-evaluator-out-of-cluster.md).
TEST(Kubeflow, S20_TfConfig) {
  dialect::Settings domain{.cluster_domain = "tf.training.org"};
  EXPECT_EQ(config_of(tfjob("Worker 1"), "worker"), "");
  EXPECT_EQ(config_of(tfjob("Worker 1"), "worker", domain), "");
  EXPECT_EQ(config_of(tfjob("Worker 1, PS 1"), "worker"),
            R"({"cluster":{"ps":["j-ps-0.ns.svc:2222"],"worker":["j-worker-0.ns.svc:2222"]},)"
            R"("task":{"type":"worker","index":0},"environment":"cloud"})");
  EXPECT_EQ(config_of(tfjob("Worker 1, PS 1"), "worker", domain),
            R"({"cluster":{"ps":["j-ps-0.ns.svc.tf.training.org:2222"],)"
            R"("worker":["j-worker-0.ns.svc.tf.training.org:2222"]},)"
            R"("task":{"type":"worker","index":0},"environment":"cloud"})");
  std::string three = tfjob("Worker 1, PS 1, Evaluator 1");
  EXPECT_EQ(config_of(three, "worker"),
            R"({"cluster":{"ps":["j-ps-0.ns.svc:2222"],"worker":["j-worker-0.ns.svc:2222"]},)"
            R"("task":{"type":"worker","index":0},"environment":"cloud"})");
  EXPECT_EQ(config_of(three, "worker", {.evaluator_in_cluster = true}),
            R"({"cluster":{"evaluator":["j-evaluator-0.ns.svc:2222"],"ps":["j-ps-0.ns.svc:2222"],)"
            R"("worker":["j-worker-0.ns.svc:2222"]},)"
            R"("task":{"type":"worker","index":0},"environment":"cloud"})");
  EXPECT_EQ(config_of(three, "worker", {.cluster_domain = "tf.training.org", .evaluator_in_cluster = true}),
            R"({"cluster":{"evaluator":["j-evaluator-0.ns.svc.tf.training.org:2222"],)"
            R"("ps":["j-ps-0.ns.svc.tf.training.org:2222"],)"
            R"("worker":["j-worker-0.ns.svc.tf.training.org:2222"]},)"
            R"("task":{"type":"worker","index":0},"environment":"cloud"})");
}

TEST(Kubeflow, S21_WhichJobsAreDistributed) {
  struct Row {
    std::string_view roles, of;
    bool distributed;
  };
  for (const Row& row : {Row{"Worker 1", "worker", false}, Row{"Worker 1, PS 1", "worker", true},
                         Row{"PS 1", "ps", false}, Row{"Chief 1, Worker 1", "chief", true}}) {
    EXPECT_EQ(!config_of(tfjob(row.roles), row.of).empty(), row.distributed) << row.roles;
  }
}

TEST(Kubeflow, S22_RestartPolicyOfThePod) {
  struct Row {
    std::string_view replica, pod;
  };
  for (const Row& row : {Row{"ExitCode", "Never"}, Row{"Never", "Never"}, Row{"OnFailure", "OnFailure"},
                         Row{"Always", "Always"}}) {
    Yard yard;
    yard.submit(tfjob("Worker 1 " + std::string(row.replica)));
    EXPECT_EQ(kube::text_at(yard.pod("worker-0"), {"spec", "restartPolicy"}), row.pod) << row.replica;
  }
}

TEST(Kubeflow, S23_ARetryableExitCodeStartsThePodAgain) {
  Yard yard;
  yard.submit(tfjob("Worker 2 ExitCode")).let("* Running");
  yard.let("worker-1 Failed 130");
  EXPECT_EQ(yard.pods(), "worker-0 Running, worker-1 Pending@1");
  EXPECT_EQ(yard.services(), "worker-0, worker-1");
  EXPECT_EQ(yard.conditions(), "Created=True Restarting=True");
  EXPECT_EQ(yard.condition("Restarting"),
            "True TFJobRestarting: job j is restarting because Worker replica(s) failed.");
  EXPECT_EQ(yard.events("Restarting"),
            "Warning TFJobRestarting: job j is restarting because Worker replica(s) failed.");
  EXPECT_EQ(yard.events("ExitedWithCode"), "Normal ExitedWithCode: Pod: ns.j-worker-1 exited with code 130");
}

TEST(Kubeflow, S24_APermanentExitCodeFailsTheJob) {
  Yard yard;
  yard.submit(with(tfjob("Worker 2 ExitCode"), "name: j", "name: test-noretry-exit-code")).let("* Running");
  yard.let("worker-1 Failed 1");
  EXPECT_EQ(yard.conditions(), "Created=True Running=False Failed=True");
  EXPECT_EQ(
      yard.condition("Failed"),
      "True TFJobFailed: job \"test-noretry-exit-code\" is failing because \"Worker\" replica(s) failed.");
  EXPECT_EQ(yard.events("TFJobFailed"),
            "Warning TFJobFailed: job \"test-noretry-exit-code\" is failing because \"Worker\" replica(s) "
            "failed.");
}

TEST(Kubeflow, S25_ScaleDown) {
  Yard yard;
  yard.submit(tfjob("Worker 3", "", "enableDynamicWorker: true")).let("* Running");
  yard.edit("spec: {tfReplicaSpecs: {Worker: {replicas: 2}}}");
  EXPECT_EQ(yard.pods(), "worker-0 Running, worker-1 Running");
  EXPECT_EQ(yard.services(), "worker-0, worker-1");
  EXPECT_EQ(yard.conditions(), "Created=True Running=True");
}

TEST(Kubeflow, S26_ScaleUp) {
  Yard yard;
  yard.submit(tfjob("Worker 1", "", "enableDynamicWorker: true")).let("* Running");
  yard.edit("spec: {tfReplicaSpecs: {Worker: {replicas: 3}}}");
  EXPECT_EQ(yard.pods(), "worker-0 Running, worker-1 Pending, worker-2 Pending");
  EXPECT_EQ(yard.services(), "worker-0, worker-1, worker-2");
}

struct StatusRow {
  std::string_view roles;
  std::string_view spec;    // of spec
  std::string_view script;  // after all pods ran
  std::string_view conditions;
};

void expect_status(const StatusRow& row) {
  SCOPED_TRACE(testing::Message() << row.roles << " " << row.spec << ": " << row.script);
  Yard yard;
  yard.submit(tfjob(row.roles, "", row.spec)).let("* Running");
  if (!row.script.empty()) yard.let(row.script);
  EXPECT_EQ(yard.conditions(), row.conditions);
}

constexpr std::string_view kRuns = "Created=True Running=True";
constexpr std::string_view kSucceeded = "Created=True Running=False Succeeded=True";
constexpr std::string_view kFailed = "Created=True Running=False Failed=True";

TEST(Kubeflow, S27_Worker0Completed) {
  for (const StatusRow& row : {
           StatusRow{"Worker 1", "", "", kRuns},
           StatusRow{"Worker 1", "", "worker-0 Succeeded", kSucceeded},
           StatusRow{"Master 1", "", "master-0 Succeeded", kSucceeded},
           StatusRow{"Chief 1", "", "chief-0 Succeeded", kSucceeded},
           StatusRow{"Worker 2", "", "worker-0 Succeeded; worker-1 Failed 1", kSucceeded},
           StatusRow{"Worker 2", "", "worker-0 Failed 1", kFailed},
       }) {
    expect_status(row);
  }
}

// Differs: a success that is there wins over failures seen beside it, and the job then says
// one thing only (0017-success-wins.md); theirs says Succeeded and Failed at once.
TEST(Kubeflow, S28_StatusTable) {
  for (const StatusRow& row : {
           StatusRow{"Chief 1", "", "chief-0 Succeeded", kSucceeded},
           StatusRow{"Chief 1", "", "", kRuns},
           StatusRow{"Chief 1", "", "chief-0 Failed 1", kFailed},
           StatusRow{"Worker 1", "", "worker-0 Failed 1", kFailed},
           StatusRow{"Worker 1", "", "worker-0 Succeeded", kSucceeded},
           StatusRow{"Worker 1", "", "", kRuns},
           StatusRow{"Worker 4, PS 2", "", "worker-2 Succeeded; worker-3 Succeeded", kRuns},
           StatusRow{"Worker 4, PS 2", "", "worker-2 Failed 1; worker-3 Failed 1", kFailed},
           StatusRow{"Worker 4, PS 2", "",
                     "worker-2 Succeeded; worker-3 Succeeded; worker-0 Failed 1; worker-1 Failed 1", kFailed},
           StatusRow{"Worker 4, PS 2", "", "worker-0 Succeeded", kSucceeded},
           StatusRow{"Worker 4, PS 2", "successPolicy: AllWorkers", "worker-0 Succeeded", kRuns},
           StatusRow{"Worker 4, PS 2", "successPolicy: AllWorkers", "worker-* Succeeded", kSucceeded},
           StatusRow{"Worker 4, PS 2", "successPolicy: AllWorkers", "worker-0 Succeeded; worker-3 Failed 1",
                     kFailed},
           StatusRow{"Chief 1, Worker 4, PS 2", "", "worker-* Failed 1", kFailed},
           StatusRow{"Chief 1, Worker 4, PS 2", "", "worker-* Succeeded", kRuns},
           StatusRow{"Chief 1, Worker 4, PS 2", "", "ps-* Failed 1", kFailed},
           StatusRow{"Chief 1, Worker 4, PS 2", "", "chief-0 Failed 1; worker-* Succeeded", kFailed},
           StatusRow{"Chief 1, Worker 4, PS 2", "", "chief-0 Succeeded; worker-* Failed 1", kSucceeded},
           StatusRow{"Chief 1 ExitCode, Worker 4 ExitCode, PS 2 ExitCode", "", "chief-0 Failed 130",
                     "Created=True Restarting=True"},
       }) {
    expect_status(row);
  }
}

TEST(Kubeflow, S29_OneFailedWorker) {
  Yard yard;
  yard.submit(tfjob("Worker 3")).let("* Running").let("worker-2 Failed 1");
  EXPECT_EQ(yard.condition("Failed"),
            "True TFJobFailed: TFJob ns/j has failed because 1 Worker replica(s) failed.");
  EXPECT_EQ(yard.replicas(), "Worker failed=1");
  EXPECT_EQ(yard.events("TFJobFailed"),
            "Normal TFJobFailed: TFJob ns/j has failed because 1 Worker replica(s) failed.");
  EXPECT_EQ(yard.status({"completionTime"}), "\"2026-01-05T09:00:00Z\"");
}

TEST(Kubeflow, S30_SparseCluster) {
  std::string dynamic = tfjob("Worker 2, PS 2", "", "enableDynamicWorker: true");
  EXPECT_EQ(config_of(dynamic, "worker"),
            R"({"cluster":{"worker":{"0":"j-worker-0.ns.svc:2222"},)"
            R"("ps":["j-ps-0.ns.svc:2222","j-ps-1.ns.svc:2222"]},"task":{"type":"worker","index":0}})");
  EXPECT_EQ(config_of(dynamic, "ps"),
            R"({"cluster":{"worker":{},"ps":["j-ps-0.ns.svc:2222"]},"task":{"type":"ps","index":0}})");
}

// Differs: theirs writes "-" for "/" in a job's name; such a name cannot be stored, and is refused
// (0013-refused-manifests.md).
TEST(Kubeflow, S31_OwnerAndLabels) {
  Yard yard;
  yard.submit(tfjob("Chief 1, Worker 2"));
  json::object worker = yard.pod("worker-1");
  EXPECT_EQ(*kube::object_at(worker, {"metadata", "labels"}),
            (json::object{{"training.kubeflow.org/job-name", "j"},
                          {"training.kubeflow.org/operator-name", "tfjob-controller"},
                          {"training.kubeflow.org/replica-index", "1"},
                          {"training.kubeflow.org/replica-type", "worker"}}));
  EXPECT_EQ(kube::label_of(yard.pod("chief-0"), "training.kubeflow.org/job-role"), "master");
  EXPECT_EQ(json::serialize(*kube::array_at(worker, {"metadata", "ownerReferences"})),
            R"([{"apiVersion":"kubeflow.org/v1","kind":"TFJob","name":"j","uid":")" +
                std::string(kube::uid_of(yard.job())) + R"(","controller":true,"blockOwnerDeletion":true}])");
  EXPECT_NE(problems(dialect::tfjob(), with(tfjob("Worker 1"), "name: j", "name: a/b")), "");
}

}  // namespace
}  // namespace trainyard::scenarios
