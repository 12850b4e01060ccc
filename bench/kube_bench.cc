// How long reading takes: a Pod of the usual 6 KB both ways, a job's YAML, a quantity.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "kube/pod.h"
#include "kube/quantity.h"
#include "kube/yaml.h"

namespace trainyard::kube {
namespace {

json::array environment() {
  json::array env;
  for (int i = 0; i < 12; ++i) {
    env.push_back(
        {{"name", fmt::format("TRAINING_OPTION_{}", i)}, {"value", fmt::format("/data/run/{}", i)}});
  }
  env.push_back(
      {{"name", "TF_CONFIG"},
       {"value",
        R"({"cluster":{"ps":["mnist-ps-0.default.svc:2222"],"worker":["mnist-worker-0.default.svc:2222",)"
        R"("mnist-worker-1.default.svc:2222"]},"task":{"type":"worker","index":0}})"}});
  return env;
}

json::array managed_fields() {
  json::value fields =
      parse_json(R"({"f:metadata":{"f:labels":{".":{},"f:job-name":{}}},"f:spec":{"f:containers":{)"
                 R"("k:{\"name\":\"tensorflow\"}":{"f:image":{},"f:env":{},"f:resources":{}}}},)"
                 R"("f:status":{"f:conditions":{},"f:phase":{},"f:podIP":{}}})")
          .value();
  json::array managed;
  for (int i = 0; i < 4; ++i) {
    managed.push_back({{"manager", "kube-controller-manager"},
                       {"operation", "Update"},
                       {"apiVersion", "v1"},
                       {"time", "2026-11-15T10:00:00Z"},
                       {"fieldsType", "FieldsV1"},
                       {"fieldsV1", fields}});
  }
  return managed;
}

json::object metadata() {
  return parse_json(
             R"({"name":"mnist-worker-0","namespace":"default",)"
             R"("uid":"0f3b1c2d-8f1e-4b57-9a52-6f1f6f0a9d11","resourceVersion":"123456789",)"
             R"("creationTimestamp":"2026-11-15T10:00:00Z",)"
             R"("labels":{"training.kubeflow.org/job-name":"mnist",)"
             R"("training.kubeflow.org/operator-name":"tfjob-controller",)"
             R"("training.kubeflow.org/replica-index":"0","training.kubeflow.org/replica-type":"worker"},)"
             R"("annotations":{"scheduling.k8s.io/group-name":"mnist","trainyard.dev/attempt":"1"},)"
             R"("ownerReferences":[{"apiVersion":"kubeflow.org/v1","kind":"TFJob","name":"mnist",)"
             R"("uid":"5b8d2a52-0000-4f2e-8f0f-0d8c2ad81f5e","controller":true,"blockOwnerDeletion":true}]})")
      .value()
      .get_object();
}

json::object spec() {
  json::array mounts, volumes;
  for (int i = 0; i < 8; ++i) {
    mounts.push_back(
        {{"name", fmt::format("volume-{}", i)}, {"mountPath", fmt::format("/mnt/volume-{}", i)}});
    volumes.push_back({{"name", fmt::format("volume-{}", i)},
                       {"persistentVolumeClaim", {{"claimName", fmt::format("training-data-{}", i)}}}});
  }
  json::object amounts{{"cpu", "8"}, {"memory", "32Gi"}, {"nvidia.com/gpu", "1"}};
  json::object container{
      {"name", "tensorflow"},
      {"image", "docker.io/tensorflow/tensorflow:2.14.0-gpu"},
      {"command", json::array{"python", "/opt/training/train.py", "--batch_size=256", "--epochs=90"}},
      {"ports", json::array{{{"name", "tfjob-port"}, {"containerPort", 2222}, {"protocol", "TCP"}}}},
      {"env", environment()},
      {"resources", {{"limits", amounts}, {"requests", amounts}}},
      {"volumeMounts", std::move(mounts)},
      {"terminationMessagePath", "/dev/termination-log"},
      {"imagePullPolicy", "IfNotPresent"}};
  return {{"containers", json::array{std::move(container)}},
          {"volumes", std::move(volumes)},
          {"nodeName", "gpu-node-17"},
          {"restartPolicy", "Never"},
          {"schedulerName", "volcano"},
          {"terminationGracePeriodSeconds", 30}};
}

json::object status() {
  json::array conditions;
  for (const char* type :
       {"PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"}) {
    conditions.push_back({{"type", type},
                          {"status", "True"},
                          {"lastProbeTime", nullptr},
                          {"lastTransitionTime", "2026-11-15T10:00:05Z"}});
  }
  std::string digest(64, 'a');
  json::object container{{"name", "tensorflow"},
                         {"ready", true},
                         {"started", true},
                         {"restartCount", 1},
                         {"image", "docker.io/tensorflow/tensorflow:2.14.0-gpu"},
                         {"imageID", "docker.io/tensorflow/tensorflow@sha256:" + digest},
                         {"containerID", "containerd://" + digest},
                         {"state", {{"running", {{"startedAt", "2026-11-15T10:00:04Z"}}}}},
                         {"lastState", {{"terminated", {{"exitCode", 137}, {"reason", "OOMKilled"}}}}}};
  return {{"phase", "Running"},
          {"conditions", std::move(conditions)},
          {"hostIP", "10.1.2.3"},
          {"podIP", "10.244.3.17"},
          {"startTime", "2026-11-15T10:00:01Z"},
          {"containerStatuses", json::array{std::move(container)}},
          {"qosClass", "Guaranteed"}};
}

// A pod as a cluster gives it back: volumes, environment, managed fields, statuses.
std::string realistic_pod() {
  json::object pod{{"apiVersion", "v1"},
                   {"kind", "Pod"},
                   {"metadata", metadata()},
                   {"spec", spec()},
                   {"status", status()}};
  pod["metadata"].get_object()["managedFields"] = managed_fields();
  return json::serialize(pod);
}

void pod_from_text(benchmark::State& state) {
  const std::string text = realistic_pod();
  PodDecoder decoder;
  for (auto _ : state) benchmark::DoNotOptimize(decoder.decode(text));
  state.SetLabel(fmt::format("{} bytes", text.size()));
}
BENCHMARK(pod_from_text)->Unit(benchmark::kMicrosecond);

void pod_from_document(benchmark::State& state) {
  const json::value document = parse_json(realistic_pod()).value();
  for (auto _ : state) benchmark::DoNotOptimize(decode_pod(document.get_object()));
}
BENCHMARK(pod_from_document)->Unit(benchmark::kMicrosecond);

void pod_text_to_document(benchmark::State& state) {
  const std::string text = realistic_pod();
  for (auto _ : state) benchmark::DoNotOptimize(parse_json(text));
}
BENCHMARK(pod_text_to_document)->Unit(benchmark::kMicrosecond);

constexpr std::string_view kJob = R"(apiVersion: kubeflow.org/v1
kind: TFJob
metadata:
  name: dist-mnist
  namespace: default
spec:
  runPolicy:
    cleanPodPolicy: None
    backoffLimit: 3
  tfReplicaSpecs:
    PS:
      replicas: 2
      restartPolicy: Never
      template:
        spec:
          containers:
          - name: tensorflow
            image: tensorflow/tensorflow:2.14.0
            command: [python, /opt/training/train.py]
    Worker:
      replicas: 4
      restartPolicy: ExitCode
      template:
        metadata:
          annotations:
            sidecar.istio.io/inject: "false"
        spec:
          containers:
          - name: tensorflow
            image: tensorflow/tensorflow:2.14.0
            args:
            - --train_steps=20000
            - --batch_size=64
            resources:
              limits:
                nvidia.com/gpu: 1
                memory: 8Gi
)";

void job_from_yaml(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(parse_yaml(kJob));
  state.SetLabel(fmt::format("{} bytes", kJob.size()));
}
BENCHMARK(job_from_yaml)->Unit(benchmark::kMicrosecond);

void largest_yaml(benchmark::State& state) {
  std::string text;
  while (text.size() + 100 < YamlLimits{}.bytes_max) {
    text += "- name: worker\n  image: tensorflow/tensorflow:2.14.0\n  command: [python, train.py]\n";
  }
  for (auto _ : state) benchmark::DoNotOptimize(parse_yaml(text).ok());
}
BENCHMARK(largest_yaml)->Unit(benchmark::kMillisecond);

void job_to_yaml(benchmark::State& state) {
  const json::value job = parse_yaml(kJob).value()[0].body;
  for (auto _ : state) benchmark::DoNotOptimize(to_yaml(job));
}
BENCHMARK(job_to_yaml)->Unit(benchmark::kMicrosecond);

void quantity(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(Quantity::parse("1536Mi"));
}
BENCHMARK(quantity);

}  // namespace
}  // namespace trainyard::kube
