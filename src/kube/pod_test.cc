#include "kube/pod.h"

#include <gtest/gtest.h>

#include "kube/access.h"

namespace trainyard::kube {
namespace {

// Both decoders on the same text; they must agree, so one answer is enough.
Pod decode(std::string_view text) {
  Pod from_document = decode_pod(json::parse(jview(text)).as_object());
  Result<Pod> from_text = decode_pod_text(text);
  EXPECT_TRUE(from_text.ok()) << text;
  EXPECT_TRUE(!from_text.ok() || from_text.value() == from_document) << text;
  return from_document;
}

constexpr std::string_view kFailed = R"({
  "apiVersion": "v1", "kind": "Pod",
  "metadata": {
    "name": "mnist-worker-0", "namespace": "default", "uid": "u-1", "resourceVersion": "1234",
    "creationTimestamp": "2026-11-15T10:00:00Z", "deletionTimestamp": "2026-11-15T10:05:00Z",
    "labels": {"training.kubeflow.org/replica-type": "worker", "training.kubeflow.org/replica-index": "0"},
    "annotations": {"trainyard.dev/attempt": "2", "kubectl.kubernetes.io/last-applied-configuration": "{}",
                    "scheduling.k8s.io/group-name": "g"},
    "finalizers": ["trainyard.dev/seen"],
    "ownerReferences": [{"uid": "other"}, {"uid": "job-1", "controller": true}]},
  "spec": {"nodeName": "n1", "schedulerName": "volcano", "restartPolicy": "Never",
    "schedulingGates": [{"name": "trainyard.dev/gang"}],
    "containers": [{"name": "tensorflow", "image": "tf"}, {"name": "side"}]},
  "status": {"phase": "Failed", "reason": "Evicted", "message": "The node was low on memory", "podIP": "10.0.0.9",
    "hostIP": "10.0.0.1", "startTime": "2026-11-15T10:00:01Z",
    "conditions": [
      {"type": "Ready", "status": "False", "reason": "PodFailed", "lastTransitionTime": "2026-11-15T10:04:00Z"},
      {"type": "PodScheduled", "status": "True"},
      {"type": "DisruptionTarget", "status": "True", "reason": "TerminationByKubelet", "message": "low memory"}],
    "initContainerStatuses": [{"name": "init", "ready": true, "restartCount": 1,
      "state": {"terminated": {"exitCode": 0, "reason": "Completed"}}}],
    "containerStatuses": [
      {"name": "tensorflow", "ready": false, "restartCount": 3,
       "state": {"terminated": {"exitCode": 137, "signal": 9, "reason": "OOMKilled", "message": "m",
         "startedAt": "2026-11-15T10:01:00Z", "finishedAt": "2026-11-15T10:04:00Z"}},
       "lastState": {"terminated": {"exitCode": 1, "reason": "Error"}}},
      {"name": "side", "state": {"waiting": {"reason": "ImagePullBackOff", "message": "no image"}}}]}})";

TEST(Pod, ReadsEverythingWeUse) {
  Pod pod = decode(kFailed);
  EXPECT_EQ(pod.name, "mnist-worker-0");
  EXPECT_EQ(pod.ns, "default");
  EXPECT_EQ(pod.uid, "u-1");
  EXPECT_EQ(pod.version, 1234);
  EXPECT_EQ(pod.label("training.kubeflow.org/replica-type"), "worker");
  EXPECT_EQ(pod.label("nothing"), "");
  EXPECT_EQ(pod.annotation("trainyard.dev/attempt"), "2");
  EXPECT_EQ(pod.annotations.size(), 2u);
  EXPECT_EQ(pod.controller_uid, "job-1");
  EXPECT_EQ(pod.created_at, parse_rfc3339("2026-11-15T10:00:00Z"));
  EXPECT_TRUE(pod.is_deleting());
  EXPECT_EQ(pod.finalizers, std::vector<std::string>{"trainyard.dev/seen"});
  EXPECT_EQ(pod.node_name, "n1");
  EXPECT_EQ(pod.scheduler_name, "volcano");
  EXPECT_EQ(pod.restart_policy, "Never");
  EXPECT_EQ(pod.scheduling_gates, std::vector<std::string>{"trainyard.dev/gang"});
  EXPECT_EQ(pod.container_names, (std::vector<std::string>{"tensorflow", "side"}));
  EXPECT_EQ(pod.phase, PodPhase::kFailed);
  EXPECT_TRUE(pod.is_terminal());
  EXPECT_EQ(pod.reason, "Evicted");
  EXPECT_EQ(pod.message, "The node was low on memory");
  EXPECT_EQ(pod.pod_ip, "10.0.0.9");
  EXPECT_EQ(pod.started_at, parse_rfc3339("2026-11-15T10:00:01Z"));
  EXPECT_EQ(pod.ready.status, ConditionStatus::kFalse);
  EXPECT_EQ(pod.ready.reason, "PodFailed");
  EXPECT_TRUE(pod.scheduled.is_true());
  EXPECT_EQ(pod.disruption_target.reason, "TerminationByKubelet");
  ASSERT_EQ(pod.init_containers.size(), 1u);
  EXPECT_TRUE(pod.init_containers[0].ready);
  EXPECT_EQ(pod.init_containers[0].restart_count, 1);
  const ContainerStatus* main = pod.container("tensorflow");
  ASSERT_NE(main, nullptr);
  EXPECT_EQ(main->state, ContainerStateKind::kTerminated);
  EXPECT_EQ(main->restart_count, 3);
  ASSERT_TRUE(main->terminated);
  EXPECT_EQ(main->terminated->exit_code, 137);
  EXPECT_EQ(main->terminated->signal, 9);
  EXPECT_EQ(main->reason, "OOMKilled");
  EXPECT_EQ(main->terminated->finished_at, parse_rfc3339("2026-11-15T10:04:00Z"));
  ASSERT_TRUE(main->last_ended);
  EXPECT_EQ(main->last_ended->exit_code, 1);
  const ContainerStatus* side = pod.container("side");
  ASSERT_NE(side, nullptr);
  EXPECT_EQ(side->state, ContainerStateKind::kWaiting);
  EXPECT_EQ(side->reason, "ImagePullBackOff");
  EXPECT_EQ(pod.container("nothing"), nullptr);
}

TEST(Pod, BothDecodersAgreeOnOddPods) {
  for (
      std::string_view text : {
          "{}",
          R"({"metadata":null,"spec":[],"status":3})",
          R"({"metadata":{"name":5,"resourceVersion":7,"labels":["a"],"annotations":{"volcano.sh/a":1}}})",
          R"({"metadata":{"resourceVersion":"x","creationTimestamp":"yesterday","labels":{"a":"b","c":null}}})",
          R"({"metadata":{"ownerReferences":[1,null,{"controller":"yes","uid":"a"},{"controller":true}]}})",
          R"({"spec":{"containers":[1,{"name":2},{}],"schedulingGates":{}}})",
          R"({"status":{"phase":"Weird","conditions":[{},1,{"type":"Ready"},{"type":"Ready","status":"Maybe"}]}})",
          R"({"status":{"phase":"","containerStatuses":[{"state":{"running":{"startedAt":"2026-01-01T00:00:00Z"}}}]}})",
          R"({"status":{"containerStatuses":[{"restartCount":2.0,"state":{"terminated":null}},{"restartCount":1e99}]}})",
          R"({"status":{"containerStatuses":[{"restartCount":99999999999999999999,"name":"big"}]}})",
          R"({"status":{"containerStatuses":[{"restartCount":18446744073709551615},{"restartCount":-3}]}})",
          R"({"status":{"containerStatuses":[{"state":{"terminated":{"exitCode":4294967296,"message":"\u00e9\ud83d\ude00"}}}]}})",
      }) {
    decode(text);
  }
  EXPECT_EQ(decode("{}").phase, PodPhase::kPending);
  EXPECT_EQ(decode(R"({"status":{"phase":"Weird"}})").phase, PodPhase::kUnknown);
}

TEST(Pod, TextThatIsNoPodIsRefused) {
  PodDecoder decoder;
  for (std::string_view text :
       {"", "[]", "3", "{", "nul", "{} {}", "\xFF", "{\"a\":[}", "{\"a\":\"\xFF\"}", "{\"metadata\":}",
        "{\"status\":{\"phase\":\"a}}", "{\"status\":{\"phase\":tru}}"}) {
    EXPECT_FALSE(decoder.decode(text).ok()) << text;
  }
  std::string deep = "{\"a\":" + std::string(1'000'000, '[');
  EXPECT_FALSE(decoder.decode(deep).ok());
  EXPECT_EQ(decoder.decode(kFailed).value().name, "mnist-worker-0");
  EXPECT_EQ(decoder.decode("{}").value(), Pod());
}

TEST(Pod, DisruptionIsNoFaultOfThePod) {
  struct Row {
    std::string_view status;
    bool expected;
  };
  const Row rows[] = {
      {R"({"phase":"Failed","reason":"Evicted"})", true},
      {R"({"phase":"Failed","reason":"Preempting"})", true},
      {R"({"phase":"Failed","reason":"Preempted"})", true},
      {R"({"phase":"Failed","reason":"NodeLost"})", true},
      {R"({"phase":"Failed","reason":"NodeShutdown"})", true},
      {R"({"phase":"Failed","reason":"Shutdown"})", true},
      {R"({"phase":"Failed","reason":"Terminated"})", true},
      {R"({"phase":"Failed","reason":"NodeAffinity"})", true},
      {R"({"phase":"Failed","reason":"OutOfcpu"})", true},
      {R"({"phase":"Failed","reason":"OutOfmemory"})", true},
      {R"({"phase":"Failed","reason":"OutOfpods"})", true},
      {R"({"phase":"Failed","reason":"UnexpectedAdmissionError"})", true},
      {R"({"phase":"Running","conditions":[{"type":"DisruptionTarget","status":"True"}]})", true},
      {R"({"phase":"Running","conditions":[{"type":"DisruptionTarget","status":"False"}]})", false},
      {R"({"phase":"Failed","conditions":[{"type":"DisruptionTarget","status":"True"}]})", true},
      {R"({"phase":"Failed","conditions":[{"type":"DisruptionTarget","status":"True","reason":"TerminationByKubelet"}]})",
       true},
      {R"({"phase":"Failed","conditions":[{"type":"DisruptionTarget","status":"True","reason":"DeletionByPodGC"}]})",
       true},
      {R"({"phase":"Running","reason":"NodeLost"})", false},
      {R"({"phase":"Failed","reason":"DeadlineExceeded"})", false},
      {R"({"phase":"Failed"})", false},
      {R"({"phase":"Succeeded","reason":"Evicted"})", false},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(is_disrupted(decode(fmt::format("{{\"status\":{}}}", row.status))), row.expected) << row.status;
  }
}

// Who marked it may have died before the deletion, or changed its mind.
TEST(Pod, AnAnnouncedDeletionCountsOnceItHasCome) {
  for (std::string_view reason : {"PreemptionByScheduler", "EvictionByEvictionAPI", "DeletionByTaintManager",
                                  "DeletionByDeviceTaintManager"}) {
    std::string status = fmt::format(
        R"("status":{{"phase":"Failed","conditions":[{{"type":"DisruptionTarget","status":"True","reason":"{}"}}]}})",
        reason);
    EXPECT_FALSE(is_disrupted(decode(fmt::format("{{{}}}", status)))) << reason;
    EXPECT_TRUE(is_disrupted(
        decode(fmt::format(R"({{"metadata":{{"deletionTimestamp":"2026-11-15T10:00:00Z"}},{}}})", status))))
        << reason;
  }
}

}  // namespace
}  // namespace trainyard::kube
