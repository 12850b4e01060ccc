#include "cli/queue_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/testing.h"

namespace trainyard::cli {
namespace {

using ::testing::HasSubstr;

client::Object shared(std::string_view yaml) { return std::make_shared<const json::object>(parsed(yaml)); }

// A T9k group that was scheduled once, which its status goes on to say.
client::Object scheduled_group() {
  return shared(R"(
apiVersion: scheduler.tensorstack.dev/v1beta1
kind: PodGroup
metadata: {name: train, namespace: lab}
spec: {minMember: 2, queue: default}
status:
  conditions:
  - {type: SufficientGroupMember, status: "True", message: PodGroup has sufficient member pods}
  - {type: GroupScheduled, status: "True", message: Resources have been allocated to PodGroup}
)");
}

client::Object queued_pod(int index, std::string_view node, std::string_view status,
                          std::string_view meta = "") {
  return shared(fmt::format(R"(
apiVersion: v1
kind: Pod
metadata:
  name: train-{}
  namespace: lab
  labels: {{scheduler.tensorstack.dev/group-name: train}}
  {}
spec: {{nodeName: "{}", containers: [{{name: c, image: i}}]}}
status: {}
)",
                            index, meta, node, status));
}

struct Row {
  std::string what;
  std::vector<client::Object> pods;
  std::string state;
  std::string reason;
};

TEST(QueueView, AGangIsWhatItsPodsDoNow) {
  const std::string leaving = "deletionTimestamp: \"2026-01-01T00:00:00Z\"";
  const std::string told =
      "{phase: Pending, conditions: [{type: PodScheduled, status: \"False\", message: needs 2 x gpu}]}";
  for (const Row& row : {
           Row{"runs",
               {queued_pod(0, "n", "{phase: Running}"), queued_pod(1, "n", "{phase: Running}")},
               "Running",
               ""},
           Row{"one has ended",
               {queued_pod(0, "n", "{phase: Succeeded}"), queued_pod(1, "n", "{phase: Running}")},
               "Running",
               ""},
           Row{"all have ended",
               {queued_pod(0, "n", "{phase: Succeeded}"), queued_pod(1, "n", "{phase: Failed}")},
               "Done",
               ""},
           Row{"preempted, going",
               {queued_pod(0, "n", "{phase: Running}", leaving)},
               "Waiting",
               "its former pods are still stopping"},
           Row{"preempted, gone", {}, "Waiting", "its pods are not there yet"},
           Row{"preempted, made again",
               {queued_pod(0, "", told), queued_pod(1, "", "{}")},
               "Waiting",
               "needs 2 x gpu"},
       }) {
    QueueDocuments documents;
    documents.groups = {scheduled_group()};
    documents.pods = row.pods;
    std::vector<QueueLine> lines = queue_lines(documents);
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_EQ(lines[0].gangs.at(0).state, row.state) << row.what;
    EXPECT_EQ(lines[0].gangs.at(0).reason, row.reason) << row.what;
    EXPECT_EQ(lines[0].running, row.state == "Running") << row.what;
    EXPECT_EQ(lines[0].waiting, row.state == "Waiting") << row.what;
  }
}

// A group of the user's stays when its job is over, and the pods that were no longer needed do not come back.
TEST(QueueView, AGroupWhoseJobIsOverWaitsForNothing) {
  QueueDocuments documents;
  documents.groups = {shared(R"(
apiVersion: scheduling.incubator.k8s.io/v1alpha1
kind: PodGroup
metadata: {name: train, namespace: lab}
spec: {minMember: 2}
status:
  phase: Pending
  conditions: [{type: Unschedulable, status: "True", reason: NotEnoughTasks, message: 1 is not there yet}]
)")};
  documents.pods = {
      shared("{metadata: {name: p, namespace: lab, annotations: {scheduling.k8s.io/group-name: train}}, "
             "spec: {nodeName: n}, status: {phase: Succeeded}}")};
  EXPECT_EQ(queue_lines(documents)[0].gangs.at(0).state, "Done");
  EXPECT_EQ(queue_lines(documents)[0].waiting, 0);
}

// Nobody made it, so there is no status to read.
TEST(QueueView, TheDefaultQueueHoldsWhatItsGangsDo) {
  auto asks = [](int index, std::string_view node, std::string_view phase) {
    json::object pod = *queued_pod(index, node, fmt::format("{{phase: {}}}", phase));
    pod["spec"].as_object()["containers"] =
        json::parse(R"([{"name": "c", "resources": {"requests": {"cpu": "500m", "nvidia.com/gpu": 1}}}])");
    return std::make_shared<const json::object>(std::move(pod));
  };
  QueueDocuments documents;
  documents.groups = {scheduled_group()};
  documents.pods = {asks(0, "n", "Running"), asks(1, "n", "Running"), asks(2, "n", "Succeeded"),
                    asks(3, "", "Pending")};
  documents.nodes = {shared("{metadata: {name: n}, status: {allocatable: {cpu: '8', nvidia.com/gpu: '4'}}}")};
  EXPECT_EQ(
      queue_table(queue_lines(documents)),
      "NAME     KIND     STATE  WEIGHT  PRIORITY  SHARE  RUNNING  WAITING  ALLOCATED\n"
      "default  volcano  Open   1       0         50%    1        0        cpu=1,nvidia.com/gpu=2,pods=2\n");
}

TEST(QueueView, PodsOfAnotherNamespaceOrKindOfGroupAreOthers) {
  QueueDocuments documents;
  documents.groups = {scheduled_group()};
  json::object other = *queued_pod(0, "n", "{phase: Running}");
  other["metadata"].as_object()["namespace"] = "elsewhere";
  documents.pods = {
      std::make_shared<const json::object>(other),
      shared("{metadata: {name: p, namespace: lab, annotations: {scheduling.k8s.io/group-name: train}}, "
             "spec: {nodeName: n}, status: {phase: Running}}")};
  EXPECT_EQ(queue_lines(documents)[0].gangs.at(0).state, "Waiting");
  EXPECT_THAT(queue_description(queue_lines(documents)[0], Time{0}),
              HasSubstr("lab        train  Waiting  2"));
}

}  // namespace
}  // namespace trainyard::cli
