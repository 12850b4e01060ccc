// The dialect as a whole: complete manifests of T9k's pages, and the laws of a dialect on
// random worlds.
#include "dialect/t9k/t9k.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/rng.h"
#include "dialect/t9k/name.h"
#include "dialect/t9k/testing.h"
#include "kube/access.h"

namespace trainyard::t9k {
namespace {

using dialect::Dialect;
using model::JobState;
using testing::from_yaml;
using testing::job;
using testing::lowered;
using testing::replica_spec;

TEST(T9k, RecognisesItsKindOnly) {
  const Dialect& t9k = dialect::t9k();
  EXPECT_TRUE(t9k.recognises("batch.tensorstack.dev/v1beta1", "TensorFlowTrainingJob"));
  EXPECT_FALSE(t9k.recognises("batch.tensorstack.dev/v1beta1", "PyTorchTrainingJob"));
  EXPECT_FALSE(t9k.recognises("batch.tensorstack.dev", "TensorFlowTrainingJob"));
  EXPECT_FALSE(t9k.recognises("kubeflow.org/v1", "TFJob"));
}

TEST(T9k, EveryFunctionIsThere) {
  const Dialect& t9k = dialect::t9k();
  EXPECT_EQ(t9k.name, "t9k");
  EXPECT_EQ(t9k.main_container, "tensorflow");
  EXPECT_TRUE(t9k.lower && t9k.validate_update && t9k.identify && t9k.job_name_of && t9k.render_pod &&
              t9k.render_service && t9k.render_companion && t9k.render_gang && t9k.render_tensorboard &&
              t9k.recall && t9k.project && t9k.announce && t9k.project_invalid);
}

// The complete manifest of the pages.
constexpr std::string_view kPageExample = R"(
apiVersion: batch.tensorstack.dev/v1beta1
kind: TensorFlowTrainingJob
metadata:
  name: tensorflow-example
spec:
  replicaSpecs:
  - replicas: 4
    restartPolicy: OnFailure
    template:
      spec:
        containers:
        - command:
          - python
          - dist_mnist.py
          image: tensorflow/tensorflow:2.11.0
          name: tensorflow
          resources:
            limits:
              cpu: 1
              memory: 2Gi
            requests:
              cpu: 500m
              memory: 1Gi
    type: worker
)";

TEST(T9k, ThePageExampleMakesFourWorkers) {
  const Dialect& t9k = dialect::t9k();
  json::object object = from_yaml(kPageExample);
  model::JobSpec spec = lowered(object);
  EXPECT_EQ(spec.total_replicas(), 4);
  JobState state;
  for (int i = 0; i < 4; ++i) {
    json::object pod = t9k.render_pod(spec, {}, {.id = {0, i}, .state = &state});
    EXPECT_EQ(kube::name_of(pod),
              fmt::format("tensorflow-example-{}-worker-{}", name_suffix("tensorflow-example", ""), i));
    const json::object& container = pod["spec"].at("containers").as_array()[0].as_object();
    EXPECT_EQ(container.at("resources"), object["spec"]
                                             .at("replicaSpecs")
                                             .as_array()[0]
                                             .at("template")
                                             .at("spec")
                                             .at("containers")
                                             .as_array()[0]
                                             .at("resources"));
  }
}

// The page's fragments about scheduler, TensorBoard, debug and pause, put on a whole job.
TEST(T9k, ThePagesFragmentsWorkOnAWholeJob) {
  for (const char* rest : {
           "  scheduler: {t9kScheduler: {queue: default, priority: 50}}\n",
           "  tensorboardSpec:\n    image: t9kpublic/tensorboard:2.11.0\n"
           "    trainingLogFilesets:\n    - t9k://pvc/tensorflow-tensorboard-pvc/log\n",
           "  runMode:\n    debug:\n      enabled: true\n      replicaSpecs:\n"
           "      - {type: worker, skipInitContainer: true, command: [/usr/bin/sshd]}\n",
           "  runMode:\n    debug:\n      enabled: true\n",
           "  runMode:\n    pause:\n      enabled: true\n      resumeSpecs:\n"
           "      - {type: worker, skipInitContainer: true, command: [/usr/bin/sshd]}\n",
           "  runMode:\n    pause:\n      enabled: true\n",
       }) {
    EXPECT_THAT(testing::problems_of(job(replica_spec("worker", 4), rest)), ::testing::IsEmpty()) << rest;
  }
}

// ---- laws on random worlds ----

model::Outcome any_outcome(Rng& rng) {
  return rng.chance(50) ? model::Outcome::kSucceeded : model::Outcome::kFailed;
}

JobState any_state(const model::JobSpec& spec, Rng& rng) {
  JobState state;
  state.roles.resize(spec.roles.size());
  state.phase = static_cast<model::Phase>(rng.below(static_cast<uint64_t>(model::Phase::kFinished)));
  if (state.phase == model::Phase::kCompleting || state.phase == model::Phase::kTerminating ||
      rng.chance(20)) {
    state.phase = model::Phase::kFinished;
    state.result = static_cast<model::ResultKind>(rng.below(3));
    state.finished_at = Time{1'700'000'500'000};
  }
  if (rng.chance(50)) {
    state.cause = {.kind = static_cast<model::CauseKind>(1 + rng.below(9)), .detail = "why"};
    if (rng.chance(70)) {
      state.cause.role = spec.roles[rng.below(spec.roles.size())].name;
      state.cause.index = static_cast<int>(rng.below(3));
      state.cause.exit_code = static_cast<int>(rng.below(140));
    }
  }
  state.initialized = rng.chance(60);
  state.restarts = static_cast<int>(rng.below(4));
  state.resumes = static_cast<int>(rng.below(3));
  state.attempt = static_cast<int>(rng.below(3));
  for (size_t role = 0; role < spec.roles.size(); ++role) {
    for (int i = 0; i < spec.roles[role].replicas; ++i) {
      if (!rng.chance(30)) continue;
      model::ReplicaRecord& record = state.record({static_cast<int>(role), i});
      record.outcome = any_outcome(rng);
      record.exit_code = record.outcome == model::Outcome::kFailed ? 1 : 0;
    }
  }
  return state;
}

model::Observation any_world(const model::JobSpec& spec, Rng& rng) {
  model::Observation seen;
  seen.spec = spec;
  for (int role = -1; role < static_cast<int>(spec.roles.size()); ++role) {
    for (int i = 0; i < 4; ++i) {
      if (!rng.chance(60)) continue;
      model::PodSeen pod{
          .id = {role, i}, .name = fmt::format("pod-{}-{}", role, i), .uid = fmt::format("u{}", i)};
      pod.phase = static_cast<model::PodPhase>(rng.below(5));
      pod.scheduled = rng.chance(50);
      pod.gone = rng.chance(10);
      if (rng.chance(50)) pod.containers = {{.name = "tensorflow", .phase = model::ContainerPhase::kRunning}};
      seen.pods.push_back(std::move(pod));
    }
  }
  if (rng.chance(30)) seen.tensorboard = model::TensorBoardSeen{"tb", "u", rng.chance(50)};
  if (rng.chance(30)) seen.gang = model::GangSeen{.message = "wait"};
  return seen;
}

bool is_terminal(const json::object& status) {
  std::string_view phase = kube::text_at(status, {"phase"});
  return phase == "Succeeded" || phase == "Failed";
}

TEST(T9k, Laws) {
  const Dialect& t9k = dialect::t9k();
  json::object object = job(replica_spec("worker", 3) + replica_spec("chief", 1) + replica_spec("ps", 2),
                            "  tensorboardSpec: {image: tb}\n  scheduler: {t9kScheduler: {}}\n");
  model::JobSpec spec = lowered(object);
  Rng rng(20260102);
  for (int story = 0; story < 300; ++story) {
    json::object status;
    Time now{1'700'000'000'000};
    for (int step = 0; step < 8; ++step) {
      now = now + seconds(7);
      model::Observation seen = any_world(spec, rng);
      JobState state = any_state(spec, rng);
      json::object next = t9k.project(seen, state, status, now);
      EXPECT_EQ(t9k.project(seen, state, next, now + seconds(60)), next)
          << "projecting twice is projecting once";
      if (is_terminal(status)) {
        EXPECT_EQ(next["phase"], status["phase"]) << "terminal is terminal";
        EXPECT_EQ(next["conditions"], status["conditions"]);
      }
      if (!is_terminal(status) || state.result) {
        object["status"] = next;
        EXPECT_EQ(t9k.recall(spec, object), state) << "what is remembered decodes back";
      }
      status = std::move(next);
    }
  }
}

}  // namespace
}  // namespace trainyard::t9k
