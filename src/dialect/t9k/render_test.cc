#include "dialect/t9k/render.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dialect/shared/gang.h"
#include "dialect/shared/pod_template.h"
#include "dialect/t9k/name.h"
#include "dialect/t9k/testing.h"
#include "kube/access.h"
#include "kube/meta.h"

namespace trainyard::t9k {
namespace {

using testing::from_yaml;
using ::testing::HasSubstr;
using testing::job;
using testing::kPrefix;
using testing::lowered;
using testing::replica_spec;

json::object pod_of(const model::JobSpec& spec, model::ReplicaId id, int attempt = 0, int resumes = 0,
                    const dialect::Settings& settings = {}) {
  model::JobState state;
  state.resumes = resumes;
  return render_pod(spec, settings, {.id = id, .attempt = attempt, .state = &state});
}

std::string env_of(const json::object& pod, std::string_view name) {
  const json::object* container = dialect::main_container(pod, "tensorflow");
  const json::array* env = kube::array_at(*container, {"env"});
  std::string value = "(none)";
  if (env == nullptr) return value;
  for (const json::value& entry : *env) {
    if (kube::text_at(entry.as_object(), {"name"}) == name)
      value = kube::text_at(entry.as_object(), {"value"});
  }
  return value;
}

TEST(T9kRender, APodIsTheTemplateWithNamesLabelsAndTfConfig) {
  model::JobSpec spec = lowered(job(replica_spec("worker", 2)));
  std::string config = R"({"cluster":{"worker":[")" + kPrefix + R"(-worker-0.demo.svc:2222",")" + kPrefix +
                       R"(-worker-1.demo.svc:2222"]},"task":{"type":"worker","index":1}})";
  json::object expected = from_yaml(
      "apiVersion: v1\n"
      "kind: Pod\n"
      "metadata:\n"
      "  name: " +
      kPrefix +
      "-worker-1\n"
      "  namespace: demo\n"
      "  labels:\n"
      "    tensorstack.dev/component: tensorflowtrainingjob\n"
      "    tensorstack.dev/component-type: user\n"
      "    tensorstack.dev/owner-kind: TensorFlowTrainingJob\n"
      "    tensorstack.dev/owner-name: train\n"
      "    replica-type: worker\n"
      "    replica-index: '1'\n"
      "  ownerReferences:\n"
      "  - {apiVersion: batch.tensorstack.dev/v1beta1, kind: TensorFlowTrainingJob, name: train, uid: 3f1c,\n"
      "     controller: true, blockOwnerDeletion: true}\n"
      "spec:\n"
      "  restartPolicy: Never\n"
      "  containers:\n"
      "  - name: tensorflow\n"
      "    image: tensorflow/tensorflow:2.11.0\n"
      "    command: [python, train.py]\n"
      "    args: [--epochs, '10']\n"
      "    env:\n"
      "    - {name: TF_CONFIG, value: '" +
      config + "'}\n");
  EXPECT_EQ(json::value(pod_of(spec, {0, 1})), json::value(expected));
}

TEST(T9kRender, TheMainReplicaIsLabelledMaster) {
  model::JobSpec with_chief = lowered(job(replica_spec("worker", 2) + replica_spec("chief", 1)));
  EXPECT_EQ(kube::label_of(pod_of(with_chief, {1, 0}), "job-role"), "master");
  EXPECT_EQ(kube::label_of(pod_of(with_chief, {0, 0}), "job-role"), "");
  model::JobSpec without = lowered(job(replica_spec("worker", 2)));
  EXPECT_EQ(kube::label_of(pod_of(without, {0, 0}), "job-role"), "master");
  EXPECT_EQ(kube::label_of(pod_of(without, {0, 1}), "job-role"), "");
}

TEST(T9kRender, AttemptsAreMarkedFromTheSecondOn) {
  model::JobSpec spec = lowered(job(replica_spec("worker", 1, "OnFailure")));
  EXPECT_EQ(kube::annotation_of(pod_of(spec, {0, 0}), dialect::kAttemptAnnotation), "");
  EXPECT_EQ(kube::annotation_of(pod_of(spec, {0, 0}, 3), dialect::kAttemptAnnotation), "3");
}

TEST(T9kRender, TheKubeletNeverRestartsAContainer) {
  for (const char* policy : {"Never", "OnFailure", "Always", "ExitCode"}) {
    model::JobSpec spec = lowered(job(replica_spec("worker", 1, policy)));
    EXPECT_EQ(kube::text_at(pod_of(spec, {0, 0}), {"spec", "restartPolicy"}), "Never") << policy;
  }
}

TEST(T9kRender, WithoutNamespaceOrUidThePodsAreThoseOfAnUnstoredManifest) {
  json::object object = job(replica_spec("worker", 1));
  object["metadata"].as_object().erase("namespace");
  object["metadata"].as_object().erase("uid");
  json::object pod = pod_of(lowered(object), {0, 0});
  EXPECT_EQ(kube::name_of(pod), child_prefix("train", "") + "-worker-0");
  EXPECT_FALSE(pod["metadata"].as_object().contains("namespace"));
  EXPECT_FALSE(pod["metadata"].as_object().contains("ownerReferences"));
  EXPECT_THAT(env_of(pod, "TF_CONFIG"), HasSubstr("-worker-0.default.svc:2222"));
}

TEST(T9kRender, RunModeChangesTheCommand) {
  const std::string resume =
      "  runMode: {pause: {resumeSpecs: [{type: worker, command: [/usr/bin/sshd]}]}}\n";
  model::JobSpec spec = lowered(job(replica_spec("worker", 1), resume));
  auto command = [](const json::object& pod) {
    return dialect::main_container(pod, "tensorflow")->at("command").as_array()[0].as_string();
  };
  EXPECT_EQ(command(pod_of(spec, {0, 0})), "python");
  EXPECT_EQ(command(pod_of(spec, {0, 0}, 1, 1)), "/usr/bin/sshd");
  model::JobSpec debug = lowered(job(replica_spec("worker", 1), "  runMode: {debug: {enabled: true}}\n"));
  json::object pod = pod_of(debug, {0, 0});
  EXPECT_EQ(command(pod), "sleep");
  EXPECT_THAT(env_of(pod, "TF_CONFIG"), HasSubstr("cluster")) << "all else stays as configured";
}

TEST(T9kRender, AServicePerReplica) {
  model::JobSpec spec = lowered(job(replica_spec("worker", 2)));
  json::object expected = from_yaml(
      "apiVersion: v1\n"
      "kind: Service\n"
      "metadata:\n"
      "  name: " +
      kPrefix +
      "-worker-0\n"
      "  namespace: demo\n"
      "  labels:\n"
      "    tensorstack.dev/component: tensorflowtrainingjob\n"
      "    tensorstack.dev/component-type: user\n"
      "    tensorstack.dev/owner-kind: TensorFlowTrainingJob\n"
      "    tensorstack.dev/owner-name: train\n"
      "    replica-type: worker\n"
      "    replica-index: '0'\n"
      "    job-role: master\n"
      "  ownerReferences:\n"
      "  - {apiVersion: batch.tensorstack.dev/v1beta1, kind: TensorFlowTrainingJob, name: train, uid: 3f1c,\n"
      "     controller: true, blockOwnerDeletion: true}\n"
      "spec:\n"
      "  clusterIP: None\n"
      "  publishNotReadyAddresses: true\n"
      "  selector:\n"
      "    tensorstack.dev/component: tensorflowtrainingjob\n"
      "    tensorstack.dev/owner-name: train\n"
      "    replica-type: worker\n"
      "    replica-index: '0'\n"
      "  ports:\n"
      "  - {name: tfjob-port, port: 2222}\n");
  EXPECT_EQ(json::value(render_service(spec, {0, 0})), json::value(expected));
}

TEST(T9kRender, TheGangAndItsMembers) {
  model::JobSpec spec = lowered(job(replica_spec("worker", 2) + replica_spec("ps", 1),
                                    "  scheduler: {t9kScheduler: {queue: gpu, priority: 50}}\n"));
  json::object group = render_gang(spec);
  EXPECT_EQ(kube::text_at(group, {"apiVersion"}), "scheduler.tensorstack.dev/v1beta1");
  EXPECT_EQ(kube::name_of(group), kPrefix);
  EXPECT_EQ(kube::controller_uid_of(group), "3f1c");
  EXPECT_EQ(group["spec"], json::value(from_yaml("{minMember: 3, queue: gpu, priority: 50}")));
  EXPECT_EQ(dialect::decode_gang(model::GangScheduler::kT9k, group).spec, *spec.gang);

  json::object pod = pod_of(spec, {1, 0});
  EXPECT_EQ(kube::text_at(pod, {"spec", "schedulerName"}), "t9k-scheduler");
  EXPECT_EQ(kube::label_of(pod, "scheduler.tensorstack.dev/group-name"), kPrefix);
  EXPECT_EQ(kube::label_of(pod, "scheduler.tensorstack.dev/queue"), "gpu");
  EXPECT_EQ(kube::label_of(pod, "scheduler.tensorstack.dev/role"), "ps");
}

TEST(T9kRender, WhereTheJobSaysItGoesIsSaidOnItsGroup) {
  json::object manifest =
      job(replica_spec("worker", 2), "  scheduler: {t9kScheduler: {queue: gpu, priority: 50}}\n");
  EXPECT_EQ(kube::object_at(render_gang(lowered(manifest)), {"metadata", "annotations"}), nullptr);
  kube::ensure_object(manifest, {"metadata"})["annotations"] =
      from_yaml("{trainyard.dev/same-topology: rack, trainyard.dev/restart-scope: job, note: mine}");
  EXPECT_EQ(*kube::object_at(render_gang(lowered(manifest)), {"metadata", "annotations"}),
            from_yaml("{trainyard.dev/same-topology: rack}"));
}

TEST(T9kRender, ATensorBoardWithoutLogsShowsTheJobsClaims) {
  json::object object = job(replica_spec("worker", 1), "  tensorboardSpec: {image: tb}\n");
  json::object bare = render_tensorboard(lowered(object));
  EXPECT_FALSE(bare["spec"].as_object().contains("logDir")) << "there is none to show";
  json::object& pod = object["spec"].at("replicaSpecs").at(0).at("template").at("spec").as_object();
  pod["volumes"] =
      json::array{json::object{{"name", "a"}, {"persistentVolumeClaim", json::object{{"claimName", "data"}}}},
                  json::object{{"name", "b"}, {"persistentVolumeClaim", json::object{{"claimName", "data"}}}},
                  json::object{{"name", "c"}, {"emptyDir", json::object{}}}};
  json::object rendered = render_tensorboard(lowered(object));
  EXPECT_EQ(json::serialize(rendered["spec"].at("logDir")), R"({"pvc":[{"name":"data"}]})");
}

TEST(T9kRender, TheTensorBoardIsPassedThrough) {
  const std::string board =
      "  tensorboardSpec:\n"
      "    image: t9kpublic/tensorboard:2.11.0\n"
      "    trainingLogFilesets: ['t9k://pvc/tensorflow-tensorboard-pvc/log']\n"
      "    resources: {limits: {cpu: 1}}\n";
  json::object object = job(replica_spec("worker", 1), board);
  json::object rendered = render_tensorboard(lowered(object));
  EXPECT_EQ(kube::text_at(rendered, {"apiVersion"}), "tensorstack.dev/v1beta1");
  EXPECT_EQ(kube::text_at(rendered, {"kind"}), "TensorBoard");
  EXPECT_EQ(kube::name_of(rendered), kPrefix);
  EXPECT_EQ(kube::controller_uid_of(rendered), "3f1c");
  EXPECT_EQ(rendered["spec"], object["spec"].at("tensorboardSpec"));
}

TEST(T9kRender, APodTellsWhichReplicaItIs) {
  model::JobSpec spec = lowered(job(replica_spec("worker", 12) + replica_spec("ps", 1)));
  json::object pod = pod_of(spec, {0, 11});
  std::optional<dialect::PodIdentity> who = identify(pod);
  ASSERT_TRUE(who);
  EXPECT_EQ(who->role, "worker");
  EXPECT_EQ(who->index, 11);
  EXPECT_EQ(job_name_of(pod), "train");
  EXPECT_EQ(identify(render_service(spec, {1, 0}))->role, "ps");
  for (const char* labels : {"{}", "{replica-type: worker}", "{replica-type: worker, replica-index: x}",
                             "{replica-type: worker, replica-index: '-1'}",
                             "{replica-type: worker, replica-index: 1a}", "{replica-index: '1'}"}) {
    EXPECT_FALSE(identify(from_yaml(std::string("{metadata: {labels: ") + labels + "}}"))) << labels;
  }
}

}  // namespace
}  // namespace trainyard::t9k
