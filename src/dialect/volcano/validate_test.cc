#include "dialect/volcano/validate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dialect/volcano/testing.h"

namespace trainyard::dialect::vc {
namespace {

using ::testing::ElementsAreArray;
using testing::from_yaml;
using testing::job;
using testing::problems_of;
using testing::task;
using testing::usual_job;

std::vector<std::string> told(const json::object& object) {
  std::vector<std::string> all;
  for (const Problem& problem : problems_of(object)) all.push_back(to_string(problem));
  return all;
}

constexpr std::string_view kEvents =
    "supported values: \"*\", \"PodFailed\", \"PodEvicted\", \"PodPending\", \"Unknown\", \"TaskCompleted\", "
    "\"TaskFailed\", \"JobUpdated\"";
constexpr std::string_view kActions =
    "supported values: \"AbortJob\", \"RestartJob\", \"RestartTask\", \"RestartPod\", \"RestartPartition\", "
    "\"TerminateJob\", \"CompleteJob\", \"ResumeJob\"";

struct Case {
  std::string_view about;
  json::object manifest;
  std::vector<std::string> problems;
};

void check(const std::vector<Case>& cases) {
  for (const Case& c : cases) EXPECT_THAT(told(c.manifest), ElementsAreArray(c.problems)) << c.about;
}

TEST(Validate, Shape) {
  check({
      {"nothing but a kind",
       from_yaml("{kind: Job}"),
       {"spec: Required value: must be specified",
        "metadata.name: Required value: name or generateName is required"}},
      {"spec is no object",
       from_yaml("{metadata: {name: a}, spec: 3}"),
       {"spec: Invalid type: 3: must be an object, not a number"}},
      {"no tasks",
       from_yaml("{metadata: {name: a}, spec: {}}"),
       {"spec.tasks: Required value: no task specified: a job needs at least one"}},
      {"empty tasks",
       from_yaml("{metadata: {name: a}, spec: {tasks: []}}"),
       {"spec.tasks: Required value: no task specified: a job needs at least one"}},
      {"a task that is none",
       from_yaml("{metadata: {name: a}, spec: {tasks: [1]}}"),
       {"spec.tasks[0]: Invalid type: 1: must be an object, not a number"}},
      {"no template",
       from_yaml("{metadata: {name: a}, spec: {tasks: [{name: w, replicas: 1}]}}"),
       {"spec.tasks[0].template.spec.containers: Required value: must be specified"}},
      {"types",
       usual_job("  queue: 3\n  maxRetry: x\n  minSuccess: 0\n  ttlSecondsAfterFinished: -1\n"),
       {"spec.queue: Invalid type: 3: must be a string, not a number",
        "spec.maxRetry: Invalid type: \"x\": must be a whole number, not a string",
        "spec.minSuccess: Invalid value: 0: must be greater than or equal to 1",
        "spec.ttlSecondsAfterFinished: Invalid value: -1: must be greater than or equal to 0"}},
  });
}

TEST(Validate, Names) {
  std::string long_name(58, 'a');
  check({
      {"the name of a Service",
       job(task("w", 1), "  plugins: {svc: []}\n", "name: 1a"),
       {"metadata.name: Invalid value: \"1a\": should match: a DNS-1035 label must consist of lower case "
        "alphanumeric "
        "characters or '-', start with an alphabetic character, and end with an alphanumeric character"}},
      {"no Service, no letter needed", job(task("w", 1), "", "name: 1a"), {}},
      {"too long for the last replica",
       job(task("w", 101), "", "name: " + long_name),
       {"spec.tasks[0].name: Too long: its last replica would be named " + long_name +
        "-w-100, which has 64 characters: the name of a Service must be no more than 63"}},
      {"long enough for few replicas", job(task("w", 100), "", "name: " + long_name), {}},
      {"too long for a volume",
       job(task("w", 0), "  plugins: {svc: []}\n", "name: a" + long_name + "b"),
       {
           "metadata.name: Too long: \"a" + long_name +
               "b\": must be no more than 59 characters, because volumes of the pods are named after it",
       }},
      {"task names",
       job(task("W", 1) + task("w", 1) + task("w", 1)),
       {"spec.tasks[0].name: Invalid value: \"W\": a lowercase RFC 1123 label must consist of lower case "
        "alphanumeric "
        "characters or '-', and must start and end with an alphanumeric character",
        "spec.tasks[2].name: Duplicate value: \"w\": another task has this name"}},
      {"queues",
       usual_job("  queue: root\n"),
       {"spec.queue: Invalid value: \"root\": jobs cannot be submitted to the root queue"}},
  });
}

TEST(Validate, Numbers) {
  check({
      {"negative replicas",
       job(task("w", -1)),
       {"spec.tasks[0].replicas: Invalid value: -1: must be greater than or equal to 0"}},
      {"task minimum",
       job(task("w", 2, "    minAvailable: 3\n")),
       {"spec.tasks[0].minAvailable: Invalid value: 3: must not be greater than replicas, which is 2",
        "spec.minAvailable: Invalid value: 3: must not be greater than the replicas of all tasks together, "
        "which are "
        "2"}},
      {"job minimum",
       usual_job("  minAvailable: 4\n  minSuccess: 5\n"),
       {"spec.minAvailable: Invalid value: 4: must not be greater than the replicas of all tasks together, "
        "which are 3",
        "spec.minSuccess: Invalid value: 5: must not be greater than the replicas of all tasks together, "
        "which are "
        "3"}},
      {"partitions",
       job(task("w", 5,
                "    partitionPolicy: {totalPartitions: 3, partitionSize: 2, minPartitions: 2}\n"
                "    minAvailable: 3\n")),
       {"spec.tasks[0].replicas: Invalid value: 5: must equal totalPartitions x partitionSize, which is 6",
        "spec.tasks[0].minAvailable: Invalid value: 3: must equal minPartitions x partitionSize, which is "
        "4"}},
      {"partitions without a size",
       job(task("w", 1, "    partitionPolicy: {}\n")),
       {"spec.tasks[0].partitionPolicy.totalPartitions: Required value: must be specified",
        "spec.tasks[0].partitionPolicy.partitionSize: Required value: must be specified"}},
      {"tiers",
       usual_job("  networkTopology: {mode: firm, highestTierAllowed: 2, highestTierName: rack}\n"),
       {"spec.networkTopology.mode: Unsupported value: \"firm\": supported values: \"\", \"hard\", \"soft\"",
        "spec.networkTopology: Forbidden: must not specify highestTierAllowed and highestTierName "
        "simultaneously"}},
      {"cores of a NUMA node",
       job(task("w", 1, "    topologyPolicy: restricted\n")),
       {"spec.tasks[0].template.spec.containers[0].resources.requests.cpu: Invalid value: \"100m\": must be "
        "a whole "
        "number of cores, because topologyPolicy is restricted"}},
  });
}

TEST(Validate, Policies) {
  auto with = [](std::string_view policies) {
    return usual_job("  policies: " + std::string(policies) + "\n");
  };
  check({
      {"nothing named",
       with("[{action: AbortJob}]"),
       {"spec.policies[0]: Required value: either event (or events) or exitCode must be specified"}},
      {"empty list of events",
       with("[{action: AbortJob, events: []}]"),
       {"spec.policies[0]: Required value: either event (or events) or exitCode must be specified"}},
      {"both",
       with("[{event: PodFailed, exitCode: 1, action: AbortJob}]"),
       {"spec.policies[0]: Forbidden: must not specify event and exitCode simultaneously"}},
      {"unknown words",
       with("[{event: PodLost, action: Retry}]"),
       {"spec.policies[0].action: Unsupported value: \"Retry\": " + std::string(kActions),
        "spec.policies[0].event: Unsupported value: \"PodLost\": " + std::string(kEvents)}},
      {"internal words",
       with("[{event: OutOfSync, action: SyncJob}]"),
       {"spec.policies[0].action: Unsupported value: \"SyncJob\": " + std::string(kActions),
        "spec.policies[0].event: Unsupported value: \"OutOfSync\": " + std::string(kEvents)}},
      {"an exit code with a wrong action, which Volcano lets pass",
       with("[{exitCode: 3, action: Retry}]"),
       {"spec.policies[0].action: Unsupported value: \"Retry\": " + std::string(kActions)}},
      {"no action",
       with("[{exitCode: 3}]"),
       {"spec.policies[0].action: Required value: " + std::string(kActions)}},
      {"exit codes",
       with("[{exitCode: 0, action: AbortJob}, {exitCode: 3, action: AbortJob}, {exitCode: 3, action: "
            "RestartJob}]"),
       {"spec.policies[0].exitCode: Invalid value: 0: 0 is not a valid error code",
        "spec.policies[2].exitCode: Duplicate value: 3: this exit code is answered by an earlier policy of "
        "this list "
        "already"}},
      {"the same event twice",
       with("[{event: PodFailed, action: AbortJob}, {events: [PodEvicted, PodFailed], action: "
            "RestartJob}]"),
       {"spec.policies[1].events: Duplicate value: [\"PodEvicted\",\"PodFailed\"]: PodFailed is answered by "
        "an earlier "
        "policy of this list already"}},
      {"any event and another",
       with("[{event: '*', action: AbortJob}, {event: PodFailed, action: AbortJob}]"),
       {"spec.policies: Invalid value: "
        "[{\"event\":\"*\",\"action\":\"AbortJob\"},{\"event\":\"PodFailed\",\"action\":"
        "\"AbortJob\"}]: a policy for any event (*) must be the only one for events"}},
      {"timeout",
       with("[{event: PodFailed, action: AbortJob, timeout: soon}]"),
       {"spec.policies[0].timeout: Invalid value: \"soon\": must be a duration such as \"30s\", \"5m\" or "
        "\"1h30m\""}},
      {"partitions that are not there",
       with("[{event: PodFailed, action: RestartPartition}]"),
       {"spec.policies[0].action: Invalid value: \"RestartPartition\": there is nothing to restart: no task "
        "here has a "
        "partitionPolicy"}},
      {"of a task",
       job(task("w", 1, "    policies: [{event: Nothing, action: AbortJob}]\n")),
       {"spec.tasks[0].policies[0].event: Unsupported value: \"Nothing\": " + std::string(kEvents)}},
      {"an exit code beside any event is fine",
       with("[{event: '*', action: AbortJob}, {exitCode: 3, action: "
            "RestartJob}]"),
       {}},
      {"an event named twice in one policy is fine",
       with("[{event: PodFailed, events: [PodFailed], action: "
            "AbortJob}]"),
       {}},
  });
}

TEST(Validate, Dependencies) {
  auto depends = [](std::string_view on) { return "    dependsOn: {name: [" + std::string(on) + "]}\n"; };
  check({
      {"nobody of that name",
       job(task("a", 1, depends("b, c")) + task("b", 1)),
       {"spec.tasks[0].dependsOn.name[1]: Invalid value: \"c\": must be the name of another task of this "
        "job"}},
      {"itself",
       job(task("a", 1, depends("a"))),
       {"spec.tasks[0].dependsOn.name[0]: Invalid value: \"a\": tasks wait for one another in a circle: a -> "
        "a"}},
      {"a circle",
       job(task("a", 1, depends("b")) + task("b", 1, depends("c")) + task("c", 1, depends("b"))),
       {"spec.tasks[2].dependsOn.name[0]: Invalid value: \"b\": tasks wait for one another in a circle: b -> "
        "c -> b"}},
      {"a circle is told once, however often a task is named",
       job(task("a", 1, depends("a, a, a"))),
       {"spec.tasks[0].dependsOn.name[0]: Invalid value: \"a\": tasks wait for one another in a circle: a -> "
        "a"}},
      {"a diamond is none",
       job(task("a", 1) + task("b", 1, depends("a")) + task("c", 1, depends("a")) +
           task("d", 1, depends("b, c"))),
       {}},
      {"iteration",
       job(task("a", 1) + task("b", 1, "    dependsOn: {name: [a], iteration: some}\n")),
       {"spec.tasks[1].dependsOn.iteration: Unsupported value: \"some\": supported values: \"any\", "
        "\"all\""}},
  });
}

TEST(Validate, Plugins) {
  check({
      {"those of Volcano that we do not have",
       usual_job("  plugins: {pytorch: [], mpi: [], env: []}\n"),
       {"spec.plugins.pytorch: Unsupported value: \"pytorch\": Trainyard runs TensorFlow jobs and does not "
        "have "
        "Volcano's pytorch plugin; supported plugins: \"env\", \"ssh\", \"svc\", \"tensorflow\"",
        "spec.plugins.mpi: Unsupported value: \"mpi\": Trainyard runs TensorFlow jobs and does not have "
        "Volcano's mpi "
        "plugin; supported plugins: \"env\", \"ssh\", \"svc\", \"tensorflow\""}},
      {"unknown",
       usual_job("  plugins: {magic: []}\n"),
       {"spec.plugins.magic: Unsupported value: \"magic\": supported plugins: \"env\", \"ssh\", \"svc\", "
        "\"tensorflow\""}},
      {"arguments",
       usual_job("  plugins: {tensorflow: [--port=0, --master=m], svc: [x], ssh: [--ssh-private-key=k]}\n"),
       {"spec.plugins.tensorflow: Invalid value: [\"--port=0\",\"--master=m\"]: --port=0 must be a whole "
        "number from 1 "
        "to 65535",
        "spec.plugins.tensorflow: Invalid value: [\"--port=0\",\"--master=m\"]: --master is not known: this "
        "plugin "
        "takes --chief, --evaluator, --port, --ps, --worker",
        "spec.plugins.svc: Invalid value: [\"x\"]: x is not a flag: flags are written --name=value",
        "spec.plugins.ssh: Invalid value: [\"--ssh-private-key=k\"]: --ssh-private-key and --ssh-public-key "
        "belong "
        "together: give both, or neither and a pair is made"}},
      {"no list",
       usual_job("  plugins: {env: yes}\n"),
       {"spec.plugins.env: Invalid type: true: must be an array, not a boolean"}},
      {"null is an empty list", usual_job("  plugins: {env: null}\n"), {}},
  });
}

TEST(Validate, Volumes) {
  auto with = [](std::string_view volumes) { return usual_job("  volumes: " + std::string(volumes) + "\n"); };
  check({
      {"no path, no claim",
       with("[{}]"),
       {"spec.volumes[0].mountPath: Required value: must be specified",
        "spec.volumes[0]: Required value: either volumeClaim or volumeClaimName must be specified"}},
      {"the same path",
       with("[{mountPath: /a, volumeClaimName: b}, {mountPath: /a, volumeClaimName: c}]"),
       {"spec.volumes[1].mountPath: Duplicate value: \"/a\": another volume is mounted there"}},
      {"a colon",
       with("[{mountPath: 'a:b', volumeClaimName: x}]"),
       {"spec.volumes[0].mountPath: Invalid value: \"a:b\": must not contain ':'"}},
      {"both",
       with("[{mountPath: /a, volumeClaimName: x, volumeClaim: {}}]"),
       {"spec.volumes[0].volumeClaimName: Forbidden: give volumeClaimName alone to use a claim that is "
        "there, or "
        "volumeClaim alone to have one made"}},
      {"a claim that no server makes",
       with("[{mountPath: /a, volumeClaim: {}}, {mountPath: /b, volumeClaim: {accessModes: [Sometimes], "
            "resources: {requests: {storage: big}}}}]"),
       {"spec.volumes[0].volumeClaim.accessModes: Required value: at least 1 access mode is required",
        "spec.volumes[0].volumeClaim.resources.requests.storage: Required value: must be specified",
        "spec.volumes[1].volumeClaim.accessModes[0]: Unsupported value: \"Sometimes\": supported values: "
        "\"ReadWriteOnce\", \"ReadOnlyMany\", \"ReadWriteMany\", \"ReadWriteOncePod\"",
        "spec.volumes[1].volumeClaim.resources.requests.storage: Invalid value: \"big\": must be a quantity "
        "above 0, as 10Gi"}},
      {"both, because Volcano wrote the name",
       with("[{mountPath: /a, volumeClaimName: tj-pvc-0123456789ab, "
            "volumeClaim: {}}]"),
       {}},
      {"a name that is none",
       with("[{mountPath: /a, volumeClaimName: X}]"),
       {"spec.volumes[0].volumeClaimName: Invalid value: \"X\": a lowercase RFC 1123 subdomain must consist "
        "of lower "
        "case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character"}},
  });
}

TEST(Validate, AnnotationsOfOurs) {
  check(
      {{"scope and hold",
        job(task("w", 1), "",
            "name: tj, annotations: {trainyard.dev/restart-scope: all, trainyard.dev/hold-deletion: "
            "'maybe'}"),
        {"metadata.annotations.trainyard.dev/restart-scope: Unsupported value: \"all\": supported values: "
         "\"pod\", "
         "\"role\", \"job\"",
         "metadata.annotations.trainyard.dev/hold-deletion: Unsupported value: \"maybe\": supported values: "
         "\"true\", \"false\""}}});
}

TEST(Validate, EveryProblemAtOnce) {
  json::object manifest =
      job(task("w", 1, "    minAvailable: 2\n    dependsOn: {name: [x]}\n"),
          "  policies: [{exitCode: 0, action: AbortJob}]\n  plugins: {ray: []}\n", "name: tj");
  EXPECT_EQ(told(manifest).size(), 5u);
}

TEST(Validate, TooManyTasks) {
  std::string tasks;
  for (int i = 0; i < 65; ++i) tasks += task("w" + std::to_string(i), 1);
  EXPECT_THAT(
      told(job(tasks)),
      ElementsAreArray(std::vector<std::string>{"spec.tasks: Too many: 65: must have at most 64 items"}));
}

}  // namespace
}  // namespace trainyard::dialect::vc
