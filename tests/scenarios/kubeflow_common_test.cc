// What the tests of Kubeflow's own operator expect, groups 32-49: defaults and validation,
// deletion, limits, conditions, adoption. Where ours deliberately differs, the test says so
// and names the decision record in docs/decisions.
#include <gtest/gtest.h>

#include "client/barrier.h"
#include "dialect/t9k/t9k.h"
#include "dialect/tfjob/tfjob.h"
#include "dialect/volcano/volcano.h"
#include "kube/access.h"
#include "words.h"
#include "yard.h"

namespace trainyard::scenarios {
namespace {

std::string ports_of(const std::string& yaml) {
  model::JobSpec spec = lowered(dialect::tfjob(), yaml);
  const json::object* pod_template =
      kube::object_at(*spec.source, {"spec", "tfReplicaSpecs", "Worker", "template"});
  const json::object& container = kube::array_at(*pod_template, {"spec", "containers"})->front().get_object();
  return json::serialize(*kube::array_at(container, {"ports"}));
}

TEST(Kubeflow, S32_Defaults) {
  std::string bare = with(tfjob("WORKER 1"), "      replicas: 1\n", "");
  model::JobSpec spec = lowered(dialect::tfjob(), bare);
  ASSERT_EQ(spec.roles.size(), 1u);
  EXPECT_EQ(spec.roles[0].title, "Worker");
  EXPECT_EQ(spec.roles[0].replicas, 1);
  EXPECT_EQ(kube::text_at(*spec.source, {"spec", "tfReplicaSpecs", "Worker", "restartPolicy"}), "Never");
  // Differs: theirs is None (0003-clean-pod-policy-default.md).
  EXPECT_EQ(kube::text_at(*spec.source, {"spec", "runPolicy", "cleanPodPolicy"}), "Running");
  EXPECT_EQ(lowered(dialect::tfjob(), tfjob("Worker 1", "cleanPodPolicy: All")).cleanup,
            model::Cleanup::kAll);
  EXPECT_EQ(ports_of(tfjob("Worker 1")), R"([{"name":"tfjob-port","containerPort":2222}])");
  EXPECT_EQ(
      ports_of(with(tfjob("Worker 1"), "image: tf", "image: tf, ports: [{name: web, containerPort: 80}]")),
      R"([{"name":"web","containerPort":80},{"name":"tfjob-port","containerPort":2222}])");
  EXPECT_EQ(ports_of(with(tfjob("Worker 1"), "image: tf",
                          "image: tf, ports: [{name: tfjob-port, containerPort: 5000}]")),
            R"([{"name":"tfjob-port","containerPort":5000}])");
}

TEST(Kubeflow, S33_Validation) {
  struct Row {
    std::string yaml, problems;
  };
  std::string job = tfjob("Worker 1");
  for (const Row& row : {
           Row{job, ""},
           Row{with(job, "name: j", "name: 00test"),
               "metadata.name: Invalid value: \"00test\": should match: a DNS-1035 label must consist of "
               "lower "
               "case alphanumeric characters or '-', start with an alphabetic character, and end with an "
               "alphanumeric character"},
           Row{with(job, "containers: [{name: tensorflow, image: tf}]", "containers: []"),
               "spec.tfReplicaSpecs[Worker].template.spec.containers: Required value: must be specified\n"
               "spec.tfReplicaSpecs[Worker].template.spec.containers: Required value: must have at least one "
               "container with name tensorflow"},
           Row{with(job, "image: tf", "image: \"\""),
               "spec.tfReplicaSpecs[Worker].template.spec.containers[0].image: Required value: must be "
               "required"},
           Row{with(job, "name: tensorflow", "name: other"),
               "spec.tfReplicaSpecs[Worker].template.spec.containers: Required value: must have at least one "
               "container with name tensorflow"},
           Row{tfjob("Chief 1, Master 1"),
               "spec.tfReplicaSpecs: Forbidden: must not have more than 1 Chief or Master role"},
           Row{tfjob("Worker 1", "managedBy: other"),
               "spec.runPolicy.managedBy: Unsupported value: \"other\": supported values: "
               "\"kueue.x-k8s.io/multikueue\", \"kubeflow.org/training-operator\""},
           // Differs: theirs compares the spelling here, so that these two pass it
           // (0013-refused-manifests.md).
           Row{tfjob("chief 1, Master 1"),
               "spec.tfReplicaSpecs: Forbidden: must not have more than 1 Chief or Master role"},
       }) {
    EXPECT_EQ(problems(dialect::tfjob(), row.yaml), row.problems) << row.yaml;
  }
}

// Differs: services go with the job unless the policy is None (0010-services-end-with-the-job.md).
// Of a job that has not ended all goes when it is stopped or deleted, whatever the policy.
TEST(Kubeflow, S34_DeletePodsAndServices) {
  struct Row {
    std::string_view policy, ending, pods, services;
  };
  for (const Row& row : {
           Row{"Running", "worker-0 Succeeded", "worker-0 Succeeded", ""},
           Row{"All", "worker-0 Succeeded", "", ""},
           Row{"None", "worker-0 Failed 1", "worker-0 Failed(1), worker-1 Running", "worker-0, worker-1"},
           Row{"Running", "suspend", "", ""},
           Row{"None", "suspend", "", ""},
           Row{"None", "delete", "", ""},
       }) {
    SCOPED_TRACE(testing::Message() << row.policy << ", " << row.ending);
    Yard yard;
    yard.submit(tfjob("Worker 2", "cleanPodPolicy: " + std::string(row.policy))).let("* Running");
    if (row.ending == "suspend")
      yard.edit("spec: {runPolicy: {suspend: true}}");
    else if (row.ending == "delete")
      yard.delete_job();
    else
      yard.let(row.ending);
    EXPECT_EQ(yard.pods(), row.pods);
    EXPECT_EQ(yard.services(), row.services);
  }
}

TEST(Kubeflow, S35_CleanupAfterTheBackoffLimit) {
  struct Row {
    std::string_view policy, pods;
  };
  for (const Row& row :
       {Row{"None", "worker-0 Running, worker-1 Running"}, Row{"All", ""}, Row{"Running", ""}}) {
    Yard yard;
    std::string policy = "backoffLimit: 1, cleanPodPolicy: " + std::string(row.policy);
    yard.submit(tfjob("Worker 2 OnFailure", policy)).let("* Running").let("worker-1 Restarted 1");
    EXPECT_EQ(yard.condition("Failed"),
              "True TFJobFailed: Job j has failed because it has reached the specified backoff limit");
    EXPECT_EQ(yard.pods(), row.pods) << row.policy;
  }
}

TEST(Kubeflow, S36_PastBackoffLimit) {
  struct Row {
    int limit, restarts;
    bool past;
  };
  for (const Row& row : {Row{0, 0, false}, Row{0, 1, true}, Row{3, 2, false}, Row{3, 3, true}}) {
    Yard yard;
    yard.submit(tfjob("Worker 1 OnFailure", "backoffLimit: " + std::to_string(row.limit))).let("* Running");
    if (row.restarts > 0) yard.let("worker-0 Restarted " + std::to_string(row.restarts));
    EXPECT_EQ(!yard.condition("Failed").empty(), row.past) << row.limit << " and " << row.restarts;
  }
}

TEST(Kubeflow, S37_PastActiveDeadline) {
  struct Row {
    int deadline;
    bool past;
  };
  for (const Row& row : {Row{0, true}, Row{2, false}}) {
    Yard yard;
    yard.submit(tfjob("Worker 1", "activeDeadlineSeconds: " + std::to_string(row.deadline)));
    EXPECT_EQ(!yard.condition("Failed").empty(), row.past) << row.deadline;
  }
}

// Differs: an empty name is refused, as their webhook does; if it slips in, theirs leaves the job
// alone without a word, ours tells what is wrong with it (0013-refused-manifests.md).
TEST(Kubeflow, S38_ManagedBy) {
  struct Row {
    std::string_view policy;
    bool made;
  };
  for (const Row& row : {Row{"suspend: false", true}, Row{"managedBy: kubeflow.org/training-operator", true},
                         Row{"managedBy: kueue.x-k8s.io/multikueue", false}, Row{"managedBy: \"\"", false}}) {
    Yard yard;
    yard.submit(tfjob("Worker 1", row.policy));
    EXPECT_EQ(yard.pods(), row.made ? "worker-0 Pending" : "") << row.policy;
    bool is_wrong = row.policy == "managedBy: \"\"";
    EXPECT_EQ(yard.events("TFJobFailedValidation").empty(), !is_wrong) << row.policy;
  }
  EXPECT_EQ(problems(dialect::tfjob(), tfjob("Worker 1", "managedBy: \"\"")),
            "spec.runPolicy.managedBy: Unsupported value: \"\": supported values: "
            "\"kueue.x-k8s.io/multikueue\", \"kubeflow.org/training-operator\"");
}

// Differs: theirs counts it as failed, and so the job fails; ours counts it as no longer active
// and makes it again when it is gone (0006-deleted-pods-come-back.md).
TEST(Kubeflow, S39_ARunningPodThatIsBeingDeleted) {
  Yard yard;
  yard.submit(tfjob("Worker 2")).let("* Running").let("worker-1 leaves");
  EXPECT_EQ(yard.pods(), "worker-0 Running, worker-1 Running leaving");
  EXPECT_EQ(yard.replicas(), "Worker active=1");
  EXPECT_EQ(yard.condition("Failed"), "");
  yard.let("worker-1 gone");
  EXPECT_EQ(yard.pods(), "worker-0 Running, worker-1 Pending");
}

// Which indexes are looked after. Differs: those below replicas, whatever else is there; theirs also
// fills the gaps below the highest index that exists (0018-tfjob-differences.md).
TEST(Kubeflow, S40_Slots) {
  struct Row {
    int replicas;
    std::string_view pods;
  };
  for (const Row& row : {
           Row{3, "worker-0 Running, worker-1 Running, worker-2 Running"},
           Row{4, "worker-0 Running, worker-1 Running, worker-2 Running, worker-3 Pending"},
           Row{2, "worker-0 Running, worker-1 Running"},
       }) {
    Yard yard;
    yard.submit(tfjob("Worker 3")).let("* Running");
    yard.edit("spec: {tfReplicaSpecs: {Worker: {replicas: " + std::to_string(row.replicas) + "}}}");
    EXPECT_EQ(yard.pods(), row.pods) << row.replicas;
  }
  Yard yard;
  yard.submit(tfjob("Worker 5")).let("* Running");
  yard.slow_nodes();
  yard.edit("spec: {tfReplicaSpecs: {Worker: {replicas: 3}}}");
  yard.let("worker-3 gone");
  EXPECT_EQ(yard.pods(), "worker-0 Running, worker-1 Running, worker-2 Running, worker-4 Running leaving");
}

// Differs: theirs makes pods for unknown role names and then ignores them; ours refuses them,
// and a pod of the job's that belongs to no role of its goes (0013-refused-manifests.md).
TEST(Kubeflow, S41_PodsByType) {
  Yard yard;
  yard.submit(tfjob("Worker 2, PS 1")).let("ps-0 Running; worker-0 Running");
  EXPECT_EQ(yard.replicas(), "PS active=1, Worker active=1");
  json::object odd = yard.pod("worker-1");
  kube::ensure_object(odd, {"metadata"}).erase("resourceVersion");
  kube::ensure_object(odd, {"metadata"}).erase("uid");
  kube::ensure_object(odd, {"metadata"})["name"] = "j-odd-0";
  kube::ensure_object(odd, {"metadata", "labels"})["training.kubeflow.org/replica-type"] = "odd";
  ASSERT_TRUE(yard.store.create(kube::kPods, "ns", odd, yard.now).ok());
  yard.settle();
  EXPECT_EQ(yard.replicas(), "PS active=1, Worker active=1");
  EXPECT_EQ(yard.pods(), "ps-0 Running, worker-0 Running, worker-1 Pending");
  EXPECT_EQ(problems(dialect::tfjob(), tfjob("Worker 1, Odd 1")),
            "spec.tfReplicaSpecs[Odd]: Unsupported value: \"Odd\": supported values: \"Chief\", \"Master\", "
            "\"PS\", "
            "\"Worker\", \"Evaluator\"");
}

TEST(Kubeflow, S42_ConditionsReplaceOneAnother) {
  Yard yard;
  yard.submit(tfjob("Worker 2 ExitCode")).let("* Running");
  EXPECT_EQ(yard.conditions(), "Created=True Running=True");
  yard.let("worker-1 Failed 137");
  EXPECT_EQ(yard.conditions(), "Created=True Restarting=True");
  yard.let("worker-1 Running");
  EXPECT_EQ(yard.conditions(), "Created=True Running=True");
  yard.let("worker-1 Failed 1");
  EXPECT_EQ(yard.conditions(), "Created=True Running=False Failed=True");
}

// Differs: of 128 and 139, which theirs retries, ours takes as permanent what the documents
// list so; 42 is TensorFlow's own word for "start me again" (0002-exit-codes.md).
TEST(Kubeflow, S43_ExitCodes) {
  struct Row {
    int code;
    bool retried;
  };
  for (const Row& row : {Row{1, false}, Row{2, false}, Row{3, false}, Row{126, false}, Row{127, false},
                         Row{128, false}, Row{139, false}, Row{42, true}, Row{129, true}, Row{130, true},
                         Row{137, true}, Row{138, true}, Row{140, true}, Row{143, true}, Row{255, true}}) {
    Yard yard;
    yard.submit(tfjob("Worker 2 ExitCode")).let("* Running");
    yard.let("worker-1 Failed " + std::to_string(row.code));
    EXPECT_EQ(yard.condition("Failed").empty(), row.retried) << row.code;
    EXPECT_EQ(!yard.condition("Restarting").empty(), row.retried) << row.code;
  }
}

// A job that another operator brought this far, of which we remember nothing.
TEST(Kubeflow, S44_WhichConditionsMeanFinished) {
  struct Row {
    std::string_view type;
    bool finished;
  };
  for (const Row& row : {Row{"Created", false}, Row{"Running", false}, Row{"Restarting", false},
                         Row{"Suspended", false}, Row{"Succeeded", true}, Row{"Failed", true}}) {
    json::object job = parse(tfjob("Worker 1"));
    job["status"] = parse("conditions: [{type: " + std::string(row.type) + ", status: \"True\"}]");
    model::JobSpec spec = lowered(dialect::tfjob(), tfjob("Worker 1"));
    EXPECT_EQ(dialect::tfjob().recall(spec, job).finished(), row.finished) << row.type;
  }
}

TEST(Kubeflow, S45_WhenTheTimeToLiveEnds) {
  struct Row {
    int ttl, passed;
    std::optional<int> left;
  };
  for (const Row& row : {Row{10, 0, 10}, Row{10, 7, 3}, Row{3600, 60, 3540}}) {
    Yard yard;
    yard.submit(tfjob("Worker 1", "ttlSecondsAfterFinished: " + std::to_string(row.ttl)));
    yard.let("worker-0 Succeeded").after(row.passed);
    ASSERT_TRUE(yard.plan().wake.has_value());
    EXPECT_EQ(*yard.plan().wake - yard.now, seconds(*row.left)) << row.ttl << " after " << row.passed;
  }
  Yard yard;
  yard.submit(tfjob("Worker 1")).let("worker-0 Succeeded");
  EXPECT_FALSE(yard.plan().wake.has_value());
}

// The event keeps the older name, as users' documents have it (0009-template-restart-policy.md).
TEST(Kubeflow, S46_AnotherScheduler) {
  struct Row {
    std::string_view scheduler, events;
  };
  for (const Row& row : {
           Row{"", ""},
           Row{"schedulerName: volcano, ", ""},
           Row{"schedulerName: mine, ",
               "Warning SettedPodTemplateSchedulerName: Another scheduler is specified when gang-scheduling "
               "is enabled and it will not be overwritten"},
       }) {
    Yard yard(dialect::Settings{.gang_scheduler = "volcano"});
    yard.submit(with(tfjob("Worker 1"), "{spec: {", "{spec: {" + std::string(row.scheduler)));
    EXPECT_EQ(yard.events("Scheduler"), row.events) << row.scheduler;
    yard.gang_is("Inqueue");
    EXPECT_EQ(kube::text_at(yard.pod("worker-0"), {"spec", "schedulerName"}),
              row.scheduler.find("mine") == std::string_view::npos ? "volcano" : "mine");
  }
}

// Differs: what theirs does with counters of expected events, which a restart forgets and which
// expire after five minutes, ours does with versions: a job is not planned again before the caches
// have shown what was written for it (0011-state-on-the-object.md).
TEST(Kubeflow, S47_Expectations) {
  client::Cache cache;
  cache.apply(client::Init{}, {});
  cache.apply(client::InitDone{5}, {});
  client::Barrier<std::string> barrier;
  auto caches = [&](int) -> const client::Cache& { return cache; };
  EXPECT_FALSE(barrier.blocks("j", caches));
  barrier.expect("j", {.stream = 0, .object = {"ns", "j-worker-0"}, .version = 7});
  EXPECT_TRUE(barrier.blocks("j", caches));
  EXPECT_FALSE(barrier.blocks("other", caches));
  cache.apply(client::Seen{6}, {});
  EXPECT_TRUE(barrier.blocks("j", caches));
  cache.apply(client::Seen{7}, {});
  EXPECT_FALSE(barrier.blocks("j", caches));
}

// Which kinds a dialect takes; what none of them recognises is left to others. The flag by which
// both operators are told the kinds to serve is read in src/cli/command_line_operator_test.cc.
TEST(Kubeflow, S48_KindsThatAreServed) {
  std::vector<dialect::Dialect> all{dialect::tfjob(), dialect::t9k(), dialect::volcano()};
  struct Row {
    std::string_view api_version, kind, dialect;
  };
  for (const Row& row : {
           Row{"kubeflow.org/v1", "TFJob", "tfjob"},
           Row{"kubeflow.org/v1beta1", "TFJob", "tfjob"},
           Row{"kubeflow.org/v1beta2", "TFJob", "tfjob"},
           Row{"kubeflow.org/v1alpha2", "TFJob", "tfjob"},
           Row{"kubeflow.org/v1", "PyTorchJob", ""},
           Row{"kubeflow.org/v2", "TFJob", ""},
           Row{"batch/v1", "Job", ""},
           Row{"batch.volcano.sh/v1alpha1", "Job", "volcano"},
           Row{"batch.tensorstack.dev/v1beta1", "TensorFlowTrainingJob", "t9k"},
       }) {
    json::object document{{"apiVersion", kube::jview(row.api_version)}, {"kind", kube::jview(row.kind)}};
    const dialect::Dialect* found = dialect::find_dialect(all, document);
    EXPECT_EQ(found == nullptr ? "" : found->name, row.dialect) << row.api_version << " " << row.kind;
  }
}

// Somebody else's pod stands where ours should: it is never touched, the job says what is in
// its way, and goes on by itself when the place is free.
TEST(Kubeflow, S49_SomebodyElsesPodIsNeverTouched) {
  Yard yard;
  yard.submit("{apiVersion: v1, kind: ConfigMap, metadata: {name: x}}");
  std::string owner(kube::uid_of(**yard.store.get(kube::kConfigMaps, "ns", "x")));
  yard.submit(R"(
apiVersion: v1
kind: Pod
metadata:
  name: j-worker-1
  ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: x, controller: true, uid: )" +
              owner + R"(}]
spec: {containers: [{name: tensorflow, image: tf}]}
)");
  store::Object before = *yard.store.get(kube::kPods, "ns", "j-worker-1");
  yard.submit(tfjob("Worker 2"));
  EXPECT_EQ(**yard.store.get(kube::kPods, "ns", "j-worker-1"), *before);
  EXPECT_NE(yard.events("Warning FailedCreatePod: Error creating: "), "");
  EXPECT_EQ(yard.conditions(), "Created=True");
  yard.let("worker-1 gone").after(600);
  EXPECT_EQ(yard.pods(), "worker-0 Pending, worker-1 Pending");
  EXPECT_EQ(kube::controller_uid_of(yard.pod("worker-1")), kube::uid_of(yard.job()));
}

// Pods and services that lost their owner and stand where ours should are taken over, running
// as they are (0018-tfjob-differences.md; theirs does so for services only).
TEST(Kubeflow, S49_OrphansAreTakenOver) {
  Yard yard;
  yard.submit(tfjob("Worker 2")).let("* Running");
  kube::DeleteOptions orphaning;
  orphaning.propagation = kube::Propagation::kOrphan;
  ASSERT_TRUE(yard.store.remove(kube::kTfJobs, "ns", "j", orphaning, yard.now).ok());
  yard.settle();
  EXPECT_FALSE(yard.has_job());
  EXPECT_EQ(yard.pods(), "worker-0 Running, worker-1 Running");
  std::string uid(kube::uid_of(yard.pod("worker-0")));
  yard.submit(tfjob("Worker 2")).after(60);
  EXPECT_EQ(yard.pods(), "worker-0 Running, worker-1 Running");
  EXPECT_EQ(kube::uid_of(yard.pod("worker-0")), uid);
  EXPECT_EQ(kube::controller_uid_of(yard.pod("worker-0")), kube::uid_of(yard.job()));
  EXPECT_EQ(kube::controller_uid_of(yard.service("worker-1")), kube::uid_of(yard.job()));
  EXPECT_EQ(yard.conditions(), "Created=True Running=True");
}

// Differs: a pod whose labels somebody took away is let go by theirs, which can then not make another
// of its name; ours gives it its labels back (0018-tfjob-differences.md).
TEST(Kubeflow, S49_LabelsThatWereTakenAwayAreGivenBack) {
  Yard yard;
  yard.submit(tfjob("Worker 2")).let("* Running");
  json::object pod = yard.pod("worker-1");
  const json::object labels = *kube::object_at(pod, {"metadata", "labels"});
  const std::string uid(kube::uid_of(pod));
  kube::ensure_object(pod, {"metadata"}).erase("labels");
  ASSERT_TRUE(yard.store.update(kube::kPods, "ns", pod, yard.now).ok());
  yard.settle().after(60);
  EXPECT_EQ(yard.pods(), "worker-0 Running, worker-1 Running");
  EXPECT_EQ(kube::uid_of(yard.pod("worker-1")), uid);
  EXPECT_EQ(*kube::object_at(yard.pod("worker-1"), {"metadata", "labels"}), labels);
  EXPECT_EQ(kube::controller_uid_of(yard.pod("worker-1")), kube::uid_of(yard.job()));
  EXPECT_EQ(yard.conditions(), "Created=True Running=True");
}

// A job that is being deleted makes nothing any more.
TEST(Kubeflow, S49_ADeletedJobAdoptsNothing) {
  Yard yard;
  yard.submit(tfjob("Worker 2")).let("* Running");
  yard.slow_nodes();
  yard.delete_job();
  EXPECT_FALSE(yard.has_job());
  EXPECT_EQ(yard.pods(), "worker-0 Running leaving, worker-1 Running leaving");
  yard.let("* gone");
  EXPECT_EQ(yard.pods(), "");
  EXPECT_EQ(yard.services(), "");
}

// A cluster that comes over from another operator has jobs that ended long ago.
TEST(KubeflowCommon, AJobThatAnotherOperatorFinishedCostsNoWrite) {
  Yard yard;
  json::object job = parse(tfjob("Chief 1, Worker 2"));
  ASSERT_TRUE(yard.store.create(kube::kTfJobs, "ns", job, yard.now).ok());
  job = **yard.store.get(kube::kTfJobs, "ns", "j");
  job["status"] = parse(R"(
    {startTime: "2024-01-01T00:00:00Z", completionTime: "2024-01-01T00:01:00Z", conditions: [
      {type: Created, status: "True", reason: TFJobCreated, message: made, lastUpdateTime: "2024-01-01T00:00:00Z", lastTransitionTime: "2024-01-01T00:00:00Z"},
      {type: Succeeded, status: "True", reason: TFJobSucceeded, message: ended, lastUpdateTime: "2024-01-01T00:01:00Z", lastTransitionTime: "2024-01-01T00:01:00Z"}],
     replicaStatuses: {Chief: {succeeded: 1}, Worker: {}}})");
  ASSERT_TRUE(yard.store.update_status(kube::kTfJobs, "ns", job, yard.now).ok());
  EXPECT_EQ(yard.cost_of([&] { yard.restart_operator().settle(); }), 0);
}

}  // namespace
}  // namespace trainyard::scenarios
