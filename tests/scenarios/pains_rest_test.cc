// What users of Kubeflow's operator complain about, pains 21-43: TensorFlow's side, gangs,
// and life with many jobs. Parts that nothing can show yet are listed in NOT-YET.md.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "dialect/tfjob/tfjob.h"
#include "kube/access.h"
#include "words.h"
#include "yard.h"

namespace trainyard::scenarios {
namespace {

using model::WaitKind;

const dialect::Settings kVolcanoGangs{.gang_scheduler = "volcano"};

std::string named(const std::string& yaml, int number) {
  return with(yaml, "name: j", fmt::format("name: j{}", number));
}

// trainer 972, 1139, 1213, tensorflow 46169: out of the cluster by default, with a switch.
TEST(Pain, P21_WhetherTheEvaluatorIsInTheClusterIsASwitch) {
  Yard yard;
  yard.submit(tfjob("Chief 1, Evaluator 1"));
  EXPECT_EQ(yard.tf_config("chief-0"),
            R"({"cluster":{"chief":["j-chief-0.ns.svc:2222"]},"task":{"type":"chief","index":0},)"
            R"("environment":"cloud"})");
  EXPECT_EQ(yard.tf_config("evaluator-0"),
            R"({"cluster":{"chief":["j-chief-0.ns.svc:2222"]},"task":{"type":"evaluator","index":0},)"
            R"("environment":"cloud"})");
  Yard listed(dialect::Settings{.evaluator_in_cluster = true});
  listed.submit(tfjob("Chief 1, Evaluator 1"));
  EXPECT_EQ(listed.tf_config("chief-0"),
            R"({"cluster":{"chief":["j-chief-0.ns.svc:2222"],"evaluator":["j-evaluator-0.ns.svc:2222"]},)"
            R"("task":{"type":"chief","index":0},"environment":"cloud"})");
}

// trainer 1452, 1795; 1763 and 1764: theirs tells a chief of nobody, not even itself (decision 0107).
TEST(Pain, P22_DynamicWorkersComeAndGo) {
  Yard yard;
  yard.submit(tfjob("Chief 1, Worker 2, PS 1", "", "enableDynamicWorker: true")).let("* Running");
  EXPECT_EQ(yard.tf_config("worker-1"),
            R"({"cluster":{"worker":{"1":"j-worker-1.ns.svc:2222"},"ps":["j-ps-0.ns.svc:2222"]},)"
            R"("task":{"type":"worker","index":1}})");
  EXPECT_EQ(yard.tf_config("chief-0"),
            R"({"cluster":{"chief":["j-chief-0.ns.svc:2222"],"worker":{},"ps":["j-ps-0.ns.svc:2222"]},)"
            R"("task":{"type":"chief","index":0}})");
  yard.let("worker-0 leaves").let("worker-0 gone").let("worker-0 Running");
  EXPECT_EQ(yard.conditions(), "Created=True Running=True");
  yard.let("worker-1 Failed 1");
  EXPECT_EQ(yard.condition("Failed"), "");
  yard.edit("spec: {tfReplicaSpecs: {Worker: {replicas: 1}}}");
  yard.let("chief-0 Succeeded");
  EXPECT_EQ(yard.conditions(), "Created=True Running=False Succeeded=True");
}

// trainer 1170, 1188, 1175: what there is, is honoured; a policy that is not understood is
// refused instead of being taken for the default.
TEST(Pain, P23_APolicyIsHonouredOrRefused) {
  Yard yard;
  yard.submit(tfjob("Chief 1, Worker 4", "", "enableDynamicWorker: true")).let("* Running");
  yard.let("worker-0 Failed 1; worker-1 Failed 1; worker-2 Failed 1");
  EXPECT_EQ(yard.conditions(), "Created=True Running=True");
  EXPECT_EQ(yard.replicas(),
            "Chief active=1, Worker active=1 failed=3 selector=\"training.kubeflow.org/job-name=j,"
            "training.kubeflow.org/operator-name=tfjob-controller,"
            "training.kubeflow.org/replica-type=worker\"");
  EXPECT_EQ(problems(dialect::tfjob(), tfjob("Worker 4", "", "successPolicy: HalfOfTheWorkers")),
            "spec.successPolicy: Unsupported value: \"HalfOfTheWorkers\": supported values: \"\", "
            "\"AllWorkers\"");
}

// trainer 1220: any role can be scaled by its replicas, up and down, and the job goes on.
TEST(Pain, P24_ScalingDoesNotFailTheJob) {
  Yard yard;
  yard.submit(tfjob("Worker 2 OnFailure, PS 1")).let("* Running");
  yard.edit("spec: {tfReplicaSpecs: {Worker: {replicas: 4}}}").let("* Running");
  EXPECT_EQ(yard.replicas(), "PS active=1, Worker active=4");
  yard.slow_nodes();
  yard.edit("spec: {tfReplicaSpecs: {Worker: {replicas: 1}}}");
  EXPECT_EQ(yard.pods(),
            "ps-0 Running, worker-0 Running, worker-1 Running leaving, worker-2 Running leaving, worker-3 "
            "Running leaving");
  EXPECT_EQ(yard.conditions(), "Created=True Running=True");
  yard.let("worker-1 gone; worker-2 gone; worker-3 gone");
  EXPECT_EQ(yard.conditions(), "Created=True Running=True");
  EXPECT_EQ(yard.services(), "ps-0, worker-0");
}

// trainer 1241, 1627
TEST(Pain, P25_FieldsAtSpecLevelAreHonoured) {
  Yard yard;
  yard.submit(tfjob("Worker 2", "", "cleanPodPolicy: None\n  ttlSecondsAfterFinished: 10"));
  yard.let("* Running").let("worker-0 Succeeded");
  EXPECT_EQ(yard.pods(), "worker-0 Succeeded, worker-1 Running");
  yard.after(10);
  EXPECT_FALSE(yard.has_job());

  model::JobSpec spec = lowered(
      dialect::tfjob(), tfjob("Worker 1 OnFailure", "", "backoffLimit: 7\n  activeDeadlineSeconds: 60"));
  EXPECT_EQ(spec.budget.restarts_max, 7);
  EXPECT_EQ(spec.active_deadline, seconds(60));
  EXPECT_EQ(problems(dialect::tfjob(), tfjob("Worker 1", "backoffLimit: 1", "backoffLimit: 2")),
            "spec.backoffLimit: Invalid value: 2: differs from spec.runPolicy.backoffLimit: write it in one "
            "place");
}

// trainer 1101, 1745, kubeflow 1870: refused with the place and the reason, before any pod.
TEST(Pain, P26_NamesThatCannotWorkAreRefused) {
  std::string long_name(57, 'a');
  EXPECT_EQ(problems(dialect::tfjob(), with(tfjob("Worker 1"), "name: j", "name: " + long_name)),
            "spec.tfReplicaSpecs[Worker]: Too long: its last replica would be named " + long_name +
                "-worker-0, which has 66 characters: the name of a Service must be no more than 63");
  EXPECT_EQ(
      problems(dialect::tfjob(), with(tfjob("Worker 1"), "name: j", "name: a.b")),
      "metadata.name: Invalid value: \"a.b\": should match: a DNS-1035 label must consist of lower case "
      "alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric "
      "character");
  Yard yard;
  yard.submit(with(tfjob("Worker 1"), "name: j", "name: " + long_name));
  EXPECT_EQ(yard.pods(), "");
  EXPECT_EQ(yard.services(), "");
  EXPECT_EQ(yard.events("TFJobFailedValidation"),
            "Warning TFJobFailedValidation: TFJob failed validation because spec.tfReplicaSpecs[Worker]: Too "
            "long: its last replica would be named " +
                long_name +
                "-worker-0, which has 66 characters: the name of a Service must be no more than 63");
}

// website 443: the whole table, code by code.
TEST(Pain, P27_TheExitCodeTableIsWhatTheDocumentsSay) {
  model::JobSpec spec = lowered(dialect::tfjob(), tfjob("Worker 1 ExitCode"));
  auto retried = [&](int code) {
    for (const model::Rule& rule : spec.roles[0].rules) {
      for (const model::ExitRange& range : rule.exits) {
        if (range.first <= code && code <= range.last) return rule.action.kind == model::ActionKind::kRestart;
      }
    }
    return false;
  };
  for (int code = 1; code <= 255; ++code) {
    bool expected = code == 42 || (code >= 129 && code != 139);
    EXPECT_EQ(retried(code), expected) << code;
  }
}

// trainer 1797: said when the job is made, not found out when pods cannot be placed.
TEST(Pain, P28_HostNetworkIsWarnedAbout) {
  std::string on_host = with(tfjob("Worker 2"), "{spec: {", "{spec: {hostNetwork: true, ");
  Yard yard;
  yard.submit(on_host);
  EXPECT_EQ(yard.events("HostNetworkPorts"),
            "Warning HostNetworkPorts: 2 replicas use the node's own network: two of them with the same port "
            "cannot run on one node");
  Yard alone;
  alone.submit(with(on_host, "replicas: 2", "replicas: 1"));
  EXPECT_EQ(alone.events("HostNetworkPorts"), "");
}

// trainer 1458: every name is there before the first pod that may ask for it.
TEST(Pain, P29_ServicesAreThereBeforePods) {
  Yard yard;
  yard.submit(tfjob("Chief 1, Worker 2, PS 1"));
  size_t last_service = 0;
  size_t first_pod = yard.tap.writes.size();
  for (size_t i = 0; i < yard.tap.writes.size(); ++i) {
    if (yard.tap.writes[i].starts_with("create services")) last_service = i;
    if (yard.tap.writes[i].starts_with("create pods")) first_pod = std::min(first_pod, i);
  }
  EXPECT_EQ(yard.services(), "chief-0, ps-0, worker-0, worker-1");
  EXPECT_LT(last_service, first_pod);
}

// trainer 1183, kubeflow 3935, website 2011: what the template says about sidecars reaches
// every pod, also those that are made again.
TEST(Pain, P30_SidecarAnnotationsReachEveryPod) {
  Yard yard;
  yard.submit(with(tfjob("Worker 1 ExitCode"), "template: {spec",
                   "template: {metadata: {annotations: {sidecar.istio.io/inject: \"false\"}}, spec"));
  EXPECT_EQ(kube::annotation_of(yard.pod("worker-0"), "sidecar.istio.io/inject"), "false");
  yard.let("worker-0 Failed 137");
  EXPECT_EQ(yard.pods(), "worker-0 Pending@1");
  EXPECT_EQ(kube::annotation_of(yard.pod("worker-0"), "sidecar.istio.io/inject"), "false");
}

std::string with_requests(const std::string& yaml) {
  return with(yaml, "image: tf", "image: tf, resources: {requests: {cpu: 2, memory: 1Gi}}");
}

// trainer 1264, 1245, volcano 1387, common 112
TEST(Pain, P31_NoPodBeforeTheGangIsLetIn) {
  Yard yard(kVolcanoGangs);
  yard.submit(with_requests(tfjob("Worker 4")));
  EXPECT_EQ(yard.pods(), "");
  EXPECT_EQ(json::serialize(*kube::object_at(yard.pod_group(), {"spec"})),
            R"({"minMember":4,"minResources":{"cpu":"8","memory":"4Gi"},"queue":"default"})");
  EXPECT_EQ(yard.waits(WaitKind::kGangPending), "waiting for the scheduler to let in the gang j of 4 pods");
  yard.gang_is("Pending");
  EXPECT_EQ(yard.pods(), "");
  EXPECT_EQ(yard.conditions(), "Created=True");
  EXPECT_EQ(yard.status({"startTime"}), "");
}

// trainer 1630
TEST(Pain, P32_TheJobNoticesThatItsGangWasLetIn) {
  Yard yard(kVolcanoGangs);
  yard.submit(tfjob("Worker 2")).gang_is("Pending").gang_is("Inqueue");
  EXPECT_EQ(yard.pods(), "worker-0 Pending, worker-1 Pending");
  EXPECT_EQ(kube::annotation_of(yard.pod("worker-0"), "scheduling.k8s.io/group-name"), "j");
}

// trainer 1825
TEST(Pain, P33_AMissingPodGroupKindIsToldAbout) {
  Yard yard(kVolcanoGangs);
  yard.tap.refuse = [](const kube::Request& request) -> std::optional<Error> {
    if (request.resource.plural != "podgroups") return std::nullopt;
    return Error{ErrorKind::kNotFound, "the server could not find the requested resource"};
  };
  yard.submit(tfjob("Worker 2"));
  EXPECT_EQ(yard.pods(), "");
  EXPECT_EQ(
      yard.events("PodGroup"),
      "Warning FailedCreatePodGroup: Error creating: this cluster has no PodGroups of scheduling.volcano.sh: "
      "install the CRDs of the scheduler that is to place the gang, or choose another scheduler");
  yard.tap.refuse = nullptr;
  yard.after(600).gang_is("Inqueue");
  EXPECT_EQ(yard.pods(), "worker-0 Pending, worker-1 Pending");
}

// trainer 2079
TEST(Pain, P34_AQueueSetByAdmissionStays) {
  Yard yard(kVolcanoGangs);
  yard.submit(tfjob("Worker 2"));
  json::object group = yard.pod_group();
  kube::ensure_object(group, {"spec"})["queue"] = "research";
  ASSERT_TRUE(yard.store.update(kube::kVolcanoPodGroups, "ns", group, yard.now).ok());
  yard.settle().gang_is("Inqueue").let("* Running");
  yard.edit("spec: {tfReplicaSpecs: {Worker: {replicas: 3}}}");
  EXPECT_EQ(kube::text_at(yard.pod_group(), {"spec", "queue"}), "research");
  EXPECT_EQ(kube::int_at(yard.pod_group(), {"spec", "minMember"}), 3);
  EXPECT_EQ(yard.cost_of([&] { yard.restart_operator(); }), 0);
}

// trainer 965, common 68
TEST(Pain, P35_FinishedJobsCostNothing) {
  Yard yard;
  for (int i = 0; i < 60; ++i) {
    yard.submit(named(tfjob("Worker 1", "cleanPodPolicy: All"), i)).let("worker-0 Succeeded");
  }
  int64_t passes = yard.passes();
  int requests = yard.tap.requests;
  yard.after(86'400);
  EXPECT_EQ(yard.passes(), passes);
  EXPECT_EQ(yard.tap.requests, requests);
  // A new operator looks at each once, and writes nothing.
  EXPECT_EQ(yard.cost_of([&] { yard.restart_operator(); }), 0);
  EXPECT_LE(yard.passes(), 60);
}

// trainer 1407: a job's first pass does not wait for passes of the jobs that were there before.
TEST(Pain, P36_ANewJobHasItsPodsAtOnce) {
  Yard yard;
  for (int i = 0; i < 100; ++i) yard.submit(named(tfjob("Worker 2"), i)).let("* Running");
  int64_t passes = yard.passes();
  Time asked = yard.now;
  yard.submit(tfjob("Worker 2"));
  EXPECT_EQ(kube::text_at(yard.pod("worker-1"), {"status", "phase"}), "Pending");
  EXPECT_EQ(yard.now, asked);
  EXPECT_LE(yard.passes() - passes, 4);
}

int creating_passes(int replicas) {
  Yard yard;
  yard.submit(tfjob(fmt::format("Worker {}", replicas)));
  return static_cast<int>(yard.passes());
}

// trainer 2361: a job of a hundred replicas takes no more passes than one of two.
TEST(Pain, P37_AllReplicasAreMadeInOnePass) { EXPECT_EQ(creating_passes(100), creating_passes(2)); }

// PR 1063, 2411: there is nothing to tune so that one large job does not drown the others:
// a pass has a bound, and another job's turn comes between two of them.
TEST(Pain, P38_OnePassIsBounded) {
  Yard yard;
  yard.tap.refuse = [](const kube::Request& request) -> std::optional<Error> {
    if (!std::holds_alternative<kube::Create>(request.verb)) return std::nullopt;
    return Error{ErrorKind::kUnavailable, "not now"};
  };
  yard.submit(tfjob("Worker 1000"));
  model::Plan plan = yard.plan();
  EXPECT_EQ(plan.steps.size(), static_cast<size_t>(model::kStepsPerPlanMax));
  EXPECT_EQ(plan.wake, yard.now);
  EXPECT_EQ(yard.waits(WaitKind::kMoreSteps), "a large job: the rest follows");
}

// trainer 829, 830: the cost of a job is one write per object and a handful for its status,
// whatever its size and however many there are.
TEST(Pain, P39_TheCostOfManyAndOfLargeJobs) {
  auto cost = [](int jobs, int replicas) {
    Yard yard;
    for (int i = 0; i < jobs; ++i) {
      yard.submit(named(tfjob(fmt::format("Worker {}", replicas), "cleanPodPolicy: None"), i));
      yard.let("* Running").let("worker-0 Succeeded");
      EXPECT_EQ(yard.conditions(), "Created=True Running=False Succeeded=True");
    }
    return static_cast<int>(yard.tap.writes.size());
  };
  EXPECT_LE(cost(1, 300), 2 * 300 + 8);
  EXPECT_LE(cost(100, 2), 100 * (2 * 2 + 8));
}

// trainer 1661, 1693, 1717, 1841: no discovery, no polling, no resync: a steady world sends
// nothing at all, and a start costs one list per kind.
TEST(Pain, P40_ASteadyWorldSendsNothing) {
  Yard yard;
  for (int i = 0; i < 20; ++i) yard.submit(named(tfjob("Worker 2"), i)).let("* Running");
  int requests = yard.tap.requests;
  yard.after(7 * 86'400);
  EXPECT_EQ(yard.tap.requests, requests);
  yard.restart_operator();
  EXPECT_EQ(yard.tap.requests - requests, yard.streams());
}

// trainer 2143, 2080: there is no webhook that could stand in the way (that none is installed:
// Install.NothingStandsInTheWayOfCreations). A job that is invalid gets in, is told so, and harms nobody.
TEST(Pain, P41_NoWebhookStandsInTheWay) {
  Yard yard;
  yard.submit(with(tfjob("Worker 1"), "name: tensorflow", "name: other"));
  EXPECT_EQ(yard.pods(), "");
  EXPECT_EQ(yard.events(),
            "Warning TFJobFailedValidation: TFJob failed validation because "
            "spec.tfReplicaSpecs[Worker].template.spec.containers: Required value: must have at least one "
            "container with name tensorflow");
  yard.submit(named(tfjob("Worker 1"), 2)).let("* Running").let("worker-0 Succeeded");
  EXPECT_EQ(yard.conditions(), "Created=True Running=False Succeeded=True");
  for (const auto& [resource, object] : yard.store.everything()) {
    EXPECT_EQ(resource.group.find("admission"), std::string_view::npos) << resource.kind;
  }
}

// trainer 2408, 2553: counted from what was written, each thing once, whichever way it came.
TEST(Pain, P42_WhatIsCountedIsWhatHappened) {
  Yard yard;
  yard.submit(named(tfjob("Worker 1"), 1)).let("* Running").let("worker-0 Succeeded");
  yard.submit(named(tfjob("Worker 1"), 2)).let("* Running").let("worker-0 Failed 1");
  yard.submit(named(tfjob("Worker 1 ExitCode", "backoffLimit: 1"), 3)).let("* Running");
  yard.let("worker-0 Failed 137").let("worker-0 Running").let("worker-0 Failed 137");
  yard.submit(named(tfjob("Worker 1", "activeDeadlineSeconds: 5"), 4)).let("* Running").after(5);
  yard.submit(named(tfjob("Worker 1 OnFailure"), 5)).let("* Running").let("worker-0 Evicted");
  yard.after(3600);
  const control::Transition& counted = yard.counts().transitions;
  EXPECT_EQ(counted.created, 5);
  EXPECT_EQ(counted.succeeded, 1);
  EXPECT_EQ(counted.failed, 3);
  EXPECT_EQ(counted.restarted, 1);
  EXPECT_EQ(counted.disrupted, 1);
}

// kubeflow 1039
TEST(Pain, P43_PodsThatEndedStayToBeLookedAt) {
  Yard yard;
  yard.submit(tfjob("Worker 2, PS 1")).let("* Running").let("worker-1 Failed 1").after(86'400);
  EXPECT_EQ(yard.pods(), "worker-1 Failed(1)");
}

}  // namespace
}  // namespace trainyard::scenarios
