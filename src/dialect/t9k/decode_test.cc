// Every way in which a TensorFlowTrainingJob can be wrong that this dialect looks for, with
// the exact words. What any pod template may have wrong is tested in dialect/shared.
#include "dialect/t9k/decode.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dialect/t9k/testing.h"

namespace trainyard::t9k {
namespace {

using ::testing::ElementsAre;
using testing::from_yaml;
using ::testing::IsEmpty;
using testing::job;
using testing::problems_of;
using testing::replica_spec;

struct BadCase {
  std::string replica_specs;
  std::string rest;
  std::vector<std::string> problems;
};

void expect_problems(const std::vector<BadCase>& cases) {
  for (const BadCase& c : cases)
    EXPECT_EQ(problems_of(job(c.replica_specs, c.rest)), c.problems) << c.replica_specs << c.rest;
}

TEST(T9kDecode, ReplicaSpecs) {
  const std::string worker = replica_spec("worker", 1);
  expect_problems({
      {replica_spec("Worker", 1),
       "",
       {"spec.replicaSpecs[0].type: Unsupported value: \"Worker\": types are written in lower case: did you "
        "mean "
        "\"worker\"?"}},
      {replica_spec("PS", 1),
       "",
       {"spec.replicaSpecs[0].type: Unsupported value: \"PS\": types are written in lower case: did you mean "
        "\"ps\"?"}},
      {replica_spec("master", 1),
       "",
       {"spec.replicaSpecs[0].type: Unsupported value: \"master\": supported values: \"chief\", \"worker\", "
        "\"ps\", "
        "\"evaluator\""}},
      {replica_spec("''", 1),
       "",
       {"spec.replicaSpecs[0].type: Required value: must be chief, worker, ps or evaluator"}},
      {replica_spec("null", 1),
       "",
       {"spec.replicaSpecs[0].type: Required value: must be chief, worker, ps or evaluator"}},
      {replica_spec("7", 1),
       "",
       {"spec.replicaSpecs[0].type: Invalid type: 7: must be a string, not a number"}},
      {worker + worker,
       "",
       {"spec.replicaSpecs[1].type: Duplicate value: \"worker\": a type may have only one entry"}},
      {replica_spec("chief", 2),
       "",
       {"spec.replicaSpecs[0].replicas: Invalid value: 2: a job has at most one chief"}},
      {replica_spec("worker", -1),
       "",
       {"spec.replicaSpecs[0].replicas: Invalid value: -1: must be greater than or equal to 0"}},
      {replica_spec("worker", 2000000000),
       "",
       {"spec.replicaSpecs[0].replicas: Invalid value: 2000000000: must be less than or equal to 100000"}},
      {replica_spec("worker", 60000) + replica_spec("ps", 60000),
       "",
       {"spec.replicaSpecs: Too many: 120000 replicas in all, at most 100000 are allowed"}},
      {replica_spec("worker", 1, "Sometimes"),
       "",
       {"spec.replicaSpecs[0].restartPolicy: Unsupported value: \"Sometimes\": supported values: \"Never\", "
        "\"OnFailure\", \"Always\", \"ExitCode\""}},
      {replica_spec("worker", 1, "onFailure"),
       "",
       {"spec.replicaSpecs[0].restartPolicy: Unsupported value: \"onFailure\": supported values: \"Never\", "
        "\"OnFailure\", \"Always\", \"ExitCode\""}},
      {replica_spec("ps", 1) + replica_spec("evaluator", 1),
       "",
       {"spec.replicaSpecs: Required value: must have a chief or a worker with at least one replica: its end "
        "decides "
        "the job's"}},
      {replica_spec("worker", 0),
       "",
       {"spec.replicaSpecs: Required value: must have a chief or a worker with at least one replica: its end "
        "decides "
        "the job's"}},
      {worker + "  - 5\n", "", {"spec.replicaSpecs[1]: Invalid type: 5: must be an object, not a number"}},
      {"  - {type: worker}\n",
       "",
       {"spec.replicaSpecs[0].template: Required value: must be a pod template with a container named "
        "tensorflow"}},
      {"  - {type: worker, template: [1]}\n",
       "",
       {"spec.replicaSpecs[0].template: Invalid type: [1]: must be an object, not an array"}},
  });
}

TEST(T9kDecode, RunPolicy) {
  const std::string worker = replica_spec("worker", 1);
  expect_problems({
      {worker,
       "  runPolicy: {cleanUpPolicy: unfinished}\n",
       {"spec.runPolicy.cleanUpPolicy: Unsupported value: \"unfinished\": supported values: \"None\", "
        "\"All\", "
        "\"Unfinished\""}},
      {worker,
       "  runPolicy: {cleanUpPolicy: Running}\n",
       {"spec.runPolicy.cleanUpPolicy: Unsupported value: \"Running\": supported values: \"None\", \"All\", "
        "\"Unfinished\""}},
      {worker,
       "  runPolicy: {backoffLimit: -1}\n",
       {"spec.runPolicy.backoffLimit: Invalid value: -1: must be greater than or equal to 0"}},
      {worker,
       "  runPolicy: {backoffLimit: '3'}\n",
       {"spec.runPolicy.backoffLimit: Invalid type: \"3\": must be a whole number, not a string"}},
      {worker,
       "  runPolicy: {activeDeadlineSeconds: 0}\n",
       {"spec.runPolicy.activeDeadlineSeconds: Invalid value: 0: must be greater than or equal to 1"}},
      {worker,
       "  runPolicy: {activeDeadlineSeconds: 1.5}\n",
       {"spec.runPolicy.activeDeadlineSeconds: Invalid value: 1.5: must be a whole number"}},
      {worker, "  runPolicy: [1]\n", {"spec.runPolicy: Invalid type: [1]: must be an object, not an array"}},
  });
}

TEST(T9kDecode, RunMode) {
  const std::string worker = replica_spec("worker", 1);
  expect_problems({
      {worker,
       "  runMode: {debug: {enabled: 'yes'}}\n",
       {"spec.runMode.debug.enabled: Invalid type: \"yes\": must be true or false, not a string"}},
      {worker,
       "  runMode: {debug: {replicaSpecs: [{type: ps}]}}\n",
       {"spec.runMode.debug.replicaSpecs[0].type: Unsupported value: \"ps\": the job has no replicas of this "
        "type; its "
        "types: \"worker\""}},
      {worker,
       "  runMode: {debug: {replicaSpecs: [{skipInitContainer: true}]}}\n",
       {"spec.runMode.debug.replicaSpecs[0].type: Required value: must name the replica type it applies to"}},
      {worker,
       "  runMode: {debug: {replicaSpecs: [{type: worker}, {type: worker}]}}\n",
       {"spec.runMode.debug.replicaSpecs[1].type: Duplicate value: \"worker\": a type may have only one "
        "entry"}},
      {worker,
       "  runMode: {pause: {resumeSpecs: [{type: chief, command: [1]}]}}\n",
       {"spec.runMode.pause.resumeSpecs[0].command[0]: Invalid type: 1: must be a string, not a number",
        "spec.runMode.pause.resumeSpecs[0].type: Unsupported value: \"chief\": the job has no replicas of "
        "this type; "
        "its types: \"worker\""}},
      {worker,
       "  runMode: {pause: {resumeSpecs: {type: worker}}}\n",
       {"spec.runMode.pause.resumeSpecs: Invalid type: {\"type\":\"worker\"}: must be an array, not an "
        "object"}},
      // A type that could not be read is told once, not again for everything that names it.
      {replica_spec("Worker", 1),
       "  runMode: {debug: {replicaSpecs: [{type: worker}]}}\n",
       {"spec.replicaSpecs[0].type: Unsupported value: \"Worker\": types are written in lower case: did you "
        "mean "
        "\"worker\"?"}},
  });
}

TEST(T9kDecode, SchedulerAndTensorBoard) {
  const std::string worker = replica_spec("worker", 1);
  expect_problems({
      {worker,
       "  scheduler: {t9kScheduler: {priority: 101}}\n",
       {"spec.scheduler.t9kScheduler.priority: Invalid value: 101: must be less than or equal to 100"}},
      {worker,
       "  scheduler: {t9kScheduler: {priority: -1}}\n",
       {"spec.scheduler.t9kScheduler.priority: Invalid value: -1: must be greater than or equal to 0"}},
      {worker,
       "  scheduler: {t9kScheduler: {queue: " + std::string(64, 'q') + "}}\n",
       {"spec.scheduler.t9kScheduler.queue: Too long: \"" + std::string(64, 'q') +
        "\": it becomes a label of the pods: at most 63 characters"}},
      {worker,
       "  scheduler: {t9kScheduler: default}\n",
       {"spec.scheduler.t9kScheduler: Invalid type: \"default\": must be an object, not a string"}},
      {worker,
       "  tensorboardSpec: {image: 3, trainingLogFilesets: t9k://pvc/a}\n",
       {"spec.tensorboardSpec.image: Invalid type: 3: must be a string, not a number",
        "spec.tensorboardSpec.trainingLogFilesets: Invalid type: \"t9k://pvc/a\": must be an array, not a "
        "string"}},
  });
}

TEST(T9kDecode, EveryProblemIsToldAtOnce) {
  EXPECT_THAT(
      problems_of(job(replica_spec("Chief", 1) + replica_spec("worker", -3, "Maybe"),
                      "  runPolicy: {backoffLimit: -1, cleanUpPolicy: all}\n"
                      "  scheduler: {t9kScheduler: {priority: 500}}\n")),
      ElementsAre("spec.replicaSpecs[0].type: Unsupported value: \"Chief\": types are written in lower case: "
                  "did you mean \"chief\"?",
                  "spec.replicaSpecs[1].replicas: Invalid value: -3: must be greater than or equal to 0",
                  "spec.replicaSpecs[1].restartPolicy: Unsupported value: \"Maybe\": supported values: "
                  "\"Never\", \"OnFailure\", \"Always\", \"ExitCode\"",
                  "spec.runPolicy.backoffLimit: Invalid value: -1: must be greater than or equal to 0",
                  "spec.runPolicy.cleanUpPolicy: Unsupported value: \"all\": supported values: \"None\", "
                  "\"All\", \"Unfinished\"",
                  "spec.scheduler.t9kScheduler.priority: Invalid value: 500: must be less than or equal to "
                  "100"));
}

TEST(T9kDecode, NoSpecAtAll) {
  const std::string head = "{metadata: {name: a}";
  EXPECT_THAT(problems_of(from_yaml(head + "}")), ElementsAre("spec: Required value: must describe the job"));
  EXPECT_THAT(problems_of(from_yaml(head + ", spec: 5}")),
              ElementsAre("spec: Invalid type: 5: must be an object, not a number"));
  for (const char* spec : {"{}", "{replicaSpecs: []}", "{replicaSpecs: null}"}) {
    EXPECT_THAT(problems_of(from_yaml(head + ", spec: " + spec + "}")),
                ElementsAre("spec.replicaSpecs: Required value: must have a chief or a worker"));
  }
}

TEST(T9kDecode, TheNameOfTheLastReplicaMustFit) {
  json::object object = job(replica_spec("ps", 1) + replica_spec("worker", 11));
  std::string name(47, 'a');  // 47 + "-h5h5h" + "-worker-10" is 63
  object["metadata"].as_object()["name"] = name;
  EXPECT_EQ(problems_of(object).size(), 0u);
  object["metadata"].as_object()["name"] = name + "a";
  std::vector<std::string> problems = problems_of(object);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_THAT(problems[0],
              ::testing::StartsWith("spec.replicaSpecs[1]: Too long: its last replica would be named "));
}

// Fragments of T9k's own pages: parts of manifests that leave out what does not matter there.
TEST(T9kDecode, FragmentsGetAPreciseError) {
  EXPECT_THAT(
      problems_of(job("  - type: worker\n"
                      "    replicas: 4\n"
                      "    template:\n"
                      "      spec:\n"
                      "        containers:\n"
                      "        - resources:\n"
                      "            limits: {cpu: 4, memory: 4Gi}\n"
                      "            requests: {cpu: 2, memory: 2Gi}\n")),
      ElementsAre("spec.replicaSpecs[0].template.spec.containers[0].name: Required value: must be specified",
                  "spec.replicaSpecs[0].template.spec.containers[0].image: Required value: must be required",
                  "spec.replicaSpecs[0].template.spec.containers: Required value: must have at least one "
                  "container with name tensorflow"));
  std::vector<std::string> shared_memory =
      problems_of(job("  - type: worker\n"
                      "    replicas: 4\n"
                      "    template:\n"
                      "      spec:\n"
                      "        containers:\n"
                      "        - ...\n"
                      "        volumes:\n"
                      "        - name: dshm\n"
                      "          emptyDir: {medium: Memory, sizeLimit: 1Gi}\n"));
  ASSERT_FALSE(shared_memory.empty());
  EXPECT_EQ(shared_memory[0],
            "spec.replicaSpecs[0].template.spec.containers[0]: Invalid type: \"...\": must be an object, not "
            "a string");
}

}  // namespace
}  // namespace trainyard::t9k
