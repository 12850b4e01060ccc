#include "dialect/volcano/render.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dialect/shared/pod_template.h"
#include "dialect/volcano/testing.h"
#include "kube/meta.h"
#include "kube/objects.h"

namespace trainyard::dialect::vc {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using testing::from_yaml;
using testing::job;
using testing::lowered;
using testing::task;
using testing::usual_job;

json::object pod_of(const model::JobSpec& spec, int role, int index, int attempt = 0,
                    const model::JobState& state = {}) {
  return render_pod(spec, {}, {.id = {role, index}, .attempt = attempt, .state = &state});
}

std::vector<std::string> env_names(const json::object& pod, std::string_view list = "containers") {
  std::vector<std::string> names;
  const json::array& containers = *kube::array_at(pod, {"spec", list});
  const json::array* env = kube::array_at(containers[0].get_object(), {"env"});
  if (env == nullptr) return names;
  for (const json::value& entry : *env) names.emplace_back(kube::text_at(entry.get_object(), {"name"}));
  return names;
}

std::string env_value(const json::object& pod, std::string_view name) {
  const json::array& containers = *kube::array_at(pod, {"spec", "containers"});
  const json::array* env = kube::array_at(containers[0].get_object(), {"env"});
  if (env == nullptr) return "";
  for (const json::value& entry : *env) {
    if (kube::text_at(entry.get_object(), {"name"}) == name) {
      return std::string(kube::text_at(entry.get_object(), {"value"}));
    }
  }
  return "";
}

json::object companion(const model::JobSpec& spec, model::CompanionKind kind, const KeyPair* keys = nullptr) {
  for (const model::Companion& each : spec.companions) {
    if (each.kind == kind) return render_companion(spec, each, keys);
  }
  ADD_FAILURE() << "no such companion";
  return {};
}

constexpr std::string_view kOwner =
    "{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, name: tj, uid: u1, controller: true, "
    "blockOwnerDeletion: true}";

TEST(RenderPod, LabelsAnnotationsAndOwner) {  // recorded: 01, 04
  json::object pod = pod_of(lowered(usual_job()), 1, 1);
  EXPECT_EQ(kube::name_of(pod), "tj-worker-1");
  EXPECT_EQ(
      *kube::object_at(pod, {"metadata", "labels"}),
      from_yaml("{volcano.sh/job-name: tj, volcano.sh/job-namespace: ns, volcano.sh/queue-name: default, "
                "volcano.sh/task-index: '1', volcano.sh/task-spec: worker}"));
  EXPECT_EQ(
      *kube::object_at(pod, {"metadata", "annotations"}),
      from_yaml(
          "{scheduling.k8s.io/group-name: tj-u1, volcano.sh/job-name: tj, volcano.sh/job-retry-count: '0', "
          "volcano.sh/job-version: '0', volcano.sh/queue-name: default, volcano.sh/task-index: '1', "
          "volcano.sh/task-spec: worker, volcano.sh/template-uid: tj-worker}"));
  EXPECT_EQ((*kube::array_at(pod, {"metadata", "ownerReferences"}))[0].get_object(), from_yaml(kOwner));
  EXPECT_EQ(kube::text_at(pod, {"spec", "schedulerName"}), "volcano");
  EXPECT_EQ(kube::text_at(pod, {"spec", "restartPolicy"}), "Never");
  EXPECT_EQ(kube::find(pod, {"spec", "hostname"}), nullptr);
  EXPECT_EQ(kube::find(pod, {"spec", "volumes"}), nullptr);
}

TEST(RenderPod, ALaterRun) {
  model::JobState state;
  state.kills = 2;
  state.restarts = 1;
  state.budget_refused = true;
  json::object pod = pod_of(lowered(usual_job()), 0, 0, 3, state);
  EXPECT_EQ(kube::annotation_of(pod, "volcano.sh/job-version"), "2");
  EXPECT_EQ(kube::annotation_of(pod, "volcano.sh/job-retry-count"), "2");
  EXPECT_EQ(kube::annotation_of(pod, "trainyard.dev/attempt"), "3");
}

TEST(RenderPod, WhatTheJobPassesOn) {
  model::JobSpec spec = lowered(job(
      task("w", 4, "    topologyPolicy: none\n    partitionPolicy: {totalPartitions: 2, partitionSize: 2}\n"),
      "  priorityClassName: high\n  schedulerName: other\n",
      "name: tj, labels: {volcano.sh/preemptable: 'true', mine: a}, annotations: {volcano.sh/cooldown-time: "
      "10s, "
      "volcano.sh/revocable-zone: z, volcano.sh/jdb-min-available: '2', volcano.sh/jdb-max-unavailable: '1', "
      "other: b}"));
  json::object pod = pod_of(spec, 0, 3);
  EXPECT_EQ(kube::label_of(pod, "volcano.sh/partition-id"), "1");
  EXPECT_EQ(kube::label_of(pod, "volcano.sh/preemptable"), "true");
  EXPECT_EQ(kube::label_of(pod, "mine"), "");
  EXPECT_EQ(kube::annotation_of(pod, "volcano.sh/cooldown-time"), "10s");
  EXPECT_EQ(kube::annotation_of(pod, "volcano.sh/revocable-zone"), "z");
  EXPECT_EQ(kube::annotation_of(pod, "volcano.sh/numa-topology-policy"), "none");
  EXPECT_EQ(kube::annotation_of(pod, "volcano.sh/jdb-min-available"), "2");
  EXPECT_EQ(kube::annotation_of(pod, "volcano.sh/jdb-max-unavailable"), "");
  EXPECT_EQ(kube::annotation_of(pod, "other"), "");
  EXPECT_EQ(kube::text_at(pod, {"spec", "priorityClassName"}), "high");
  EXPECT_EQ(kube::text_at(pod, {"spec", "schedulerName"}), "other");
  EXPECT_EQ(kube::label_of(pod, "volcano.sh/job-namespace"), "default");
}

TEST(RenderPod, TheTemplateComesFirst) {
  model::JobSpec spec =
      lowered(job(task("w", 1, "", "        schedulerName: mine\n        priorityClassName: low\n"),
                  "  priorityClassName: high\n"));
  json::object pod = pod_of(spec, 0, 0);
  EXPECT_EQ(kube::text_at(pod, {"spec", "schedulerName"}), "mine");
  EXPECT_EQ(kube::text_at(pod, {"spec", "priorityClassName"}), "low");
}

TEST(Plugins, EnvAndSvc) {  // recorded: 01
  model::JobSpec spec =
      lowered(job(task("ps", 1) + task("my-worker", 2, "", "        initContainers: [{name: i, image: i}]\n"),
                  "  plugins: {env: [], svc: []}\n"));
  json::object pod = pod_of(spec, 1, 1);
  EXPECT_EQ(kube::text_at(pod, {"spec", "hostname"}), "tj-my-worker-1");
  EXPECT_EQ(kube::text_at(pod, {"spec", "subdomain"}), "tj");
  std::vector<std::string> names = {"VK_TASK_INDEX", "VC_TASK_INDEX",      "VC_PS_HOSTS",
                                    "VC_PS_NUM",     "VC_MY_WORKER_HOSTS", "VC_MY_WORKER_NUM"};
  EXPECT_THAT(env_names(pod), ElementsAreArray(names));
  EXPECT_THAT(env_names(pod, "initContainers"), ElementsAreArray(names));
  EXPECT_EQ(env_value(pod, "VK_TASK_INDEX"), "1");
  const json::object& main = *main_container(pod, "");
  EXPECT_EQ((*kube::array_at(main, {"env"}))[2],
            json::value(from_yaml(
                "{name: VC_PS_HOSTS, valueFrom: {configMapKeyRef: {name: tj-svc, key: VC_PS_HOSTS}}}")));
  EXPECT_EQ(json::serialize(*kube::array_at(main, {"volumeMounts"})),
            R"([{"name":"tj-svc","mountPath":"/etc/volcano"}])");
  EXPECT_EQ(json::serialize(*kube::array_at(pod, {"spec", "volumes"})),
            R"([{"name":"tj-svc","configMap":{"name":"tj-svc"}}])");
}

TEST(Plugins, SvcObjects) {  // recorded: 01
  model::JobSpec spec = lowered(usual_job("  plugins: {svc: []}\n"));
  json::object hosts = companion(spec, model::CompanionKind::kConfigMap);
  EXPECT_EQ(kube::name_of(hosts), "tj-svc");
  EXPECT_EQ(
      *kube::object_at(hosts, {"data"}),
      from_yaml(
          "{VC_PS_HOSTS: tj-ps-0.tj, VC_PS_NUM: '1', VC_WORKER_HOSTS: 'tj-worker-0.tj,tj-worker-1.tj', "
          "VC_WORKER_NUM: '2', ps.host: tj-ps-0.tj, worker.host: \"tj-worker-0.tj\\ntj-worker-1.tj\"}"));
  EXPECT_EQ((*kube::array_at(hosts, {"metadata", "ownerReferences"}))[0].get_object(), from_yaml(kOwner));

  json::object service = companion(spec, model::CompanionKind::kService);
  EXPECT_EQ(kube::name_of(service), "tj");
  EXPECT_EQ(*kube::object_at(service, {"spec", "selector"}),
            from_yaml("{volcano.sh/job-name: tj, volcano.sh/job-namespace: ns}"));
  EXPECT_EQ(kube::text_at(service, {"spec", "clusterIP"}), "None");
  EXPECT_EQ(kube::find(service, {"spec", "ports"}), nullptr);

  json::object policy = companion(spec, model::CompanionKind::kNetworkPolicy);
  EXPECT_EQ(
      *kube::object_at(policy, {"spec"}),
      from_yaml("podSelector: {matchLabels: {volcano.sh/job-name: tj, volcano.sh/job-namespace: ns}}\n"
                "ingress:\n"
                "- from:\n"
                "  - podSelector: {matchLabels: {volcano.sh/job-name: tj, volcano.sh/job-namespace: ns}}\n"
                "policyTypes: [Ingress]\n"));
}

TEST(Plugins, SvcSwitches) {
  model::JobSpec spec =
      lowered(usual_job("  plugins: {svc: [--publish-not-ready-addresses, --disable-network-policy=true, "
                        "--inject-hosts-env=false]}\n"));
  EXPECT_EQ(spec.companions.size(), 2u);
  EXPECT_EQ(
      kube::bool_at(companion(spec, model::CompanionKind::kService), {"spec", "publishNotReadyAddresses"}),
      true);
  EXPECT_THAT(env_names(pod_of(spec, 0, 0)), ElementsAre());
}

TEST(Plugins, AFixedHostnameIsOneHost) {
  model::JobSpec spec = lowered(job(task("w", 3, "", "        hostname: h\n        subdomain: s\n"),
                                    "  plugins: {svc: [], tensorflow: []}\n"));
  EXPECT_EQ(kube::text_at(companion(spec, model::CompanionKind::kConfigMap), {"data", "VC_W_HOSTS"}), "h.s");
  EXPECT_EQ(kube::text_at(companion(spec, model::CompanionKind::kConfigMap), {"data", "VC_W_NUM"}), "1");
  json::object pod = pod_of(spec, 0, 2);
  EXPECT_EQ(kube::text_at(pod, {"spec", "hostname"}), "h");
  EXPECT_EQ(kube::text_at(pod, {"spec", "subdomain"}), "s");
}

TEST(Plugins, TensorFlow) {  // recorded: 20a
  model::JobSpec spec =
      lowered(job(task("ps", 2) + task("worker", 2) + task("chief", 1) + task("evaluator", 1),
                  "  plugins: {tensorflow: []}\n"));
  const std::string cluster =
      R"({"cluster":{"ps":["tj-ps-0.tj:2222","tj-ps-1.tj:2222"],"worker":["tj-worker-0.tj:2222","tj-worker-1.tj:2222"],)"
      R"("chief":["tj-chief-0.tj:2222"],"evaluator":["tj-evaluator-0.tj:2222"]},"task":)";
  struct Case {
    int role;
    int index;
    std::string_view task;
  };
  for (const Case& c : std::initializer_list<Case>{{0, 1, R"({"type":"ps","index":1}})"},
                                                   {1, 0, R"({"type":"worker","index":0}})"},
                                                   {2, 0, R"({"type":"chief","index":0}})"},
                                                   {3, 0, R"({"type":"evaluator","index":0}})"}}) {
    EXPECT_EQ(env_value(pod_of(spec, c.role, c.index), "TF_CONFIG"), cluster + std::string(c.task));
  }
  EXPECT_EQ(kube::text_at(pod_of(spec, 0, 0), {"spec", "subdomain"}), "tj");  // svc comes with it
}

TEST(Plugins, TensorFlowAlone) {  // recorded: 20c
  model::JobSpec spec = lowered(job(task("worker", 1), "  plugins: {tensorflow: []}\n"));
  EXPECT_EQ(env_value(pod_of(spec, 0, 0), "TF_CONFIG"), "");
}

TEST(Plugins, TensorFlowNamesAndOtherTasks) {
  model::JobSpec spec =
      lowered(job(task("server", 1) + task("trainer", 1) + task("board", 1) + task("none", 0),
                  "  plugins: {tensorflow: [--ps=server, --worker, trainer, -port=3333]}\n"));
  EXPECT_EQ(env_value(pod_of(spec, 2, 0), "TF_CONFIG"),
            R"({"cluster":{"ps":["tj-server-0.tj:3333"],"worker":["tj-trainer-0.tj:3333"]},)"
            R"("task":{"type":"board","index":0}})");
}

TEST(Plugins, Ssh) {  // recorded: 21
  model::JobSpec spec = lowered(usual_job("  plugins: {ssh: [], svc: []}\n"));
  json::object pod = pod_of(spec, 0, 0);
  EXPECT_EQ((*kube::array_at(pod, {"spec", "volumes"}))[0].get_object(),
            from_yaml("name: tj-ssh\n"
                      "secret:\n"
                      "  secretName: tj-ssh\n"
                      "  items:\n"
                      "  - {key: id_rsa, path: .ssh/id_rsa}\n"
                      "  - {key: id_rsa.pub, path: .ssh/id_rsa.pub}\n"
                      "  - {key: authorized_keys, path: .ssh/authorized_keys}\n"
                      "  - {key: config, path: .ssh/config}\n"
                      "  defaultMode: 384\n"));
  EXPECT_EQ((*kube::array_at(*main_container(pod, ""), {"volumeMounts"}))[0].get_object(),
            from_yaml("{name: tj-ssh, mountPath: /root/.ssh, subPath: .ssh}"));

  KeyPair keys{"PRIVATE", "ssh-rsa AAAA"};
  json::object secret = companion(spec, model::CompanionKind::kSecret, &keys);
  auto data = [&](std::string_view key) {
    return kube::decode_base64(kube::text_at(secret, {"data", key})).value_or("?");
  };
  EXPECT_EQ(kube::text_at(secret, {"type"}), "Opaque");
  EXPECT_EQ(data("id_rsa"), "PRIVATE");
  EXPECT_EQ(data("id_rsa.pub"), "ssh-rsa AAAA\n");
  EXPECT_EQ(data("authorized_keys"), "ssh-rsa AAAA\n");
  EXPECT_EQ(data("config"),
            "StrictHostKeyChecking no\nUserKnownHostsFile /dev/null\n"
            "Host tj-ps-0\n  HostName tj-ps-0.tj\n  Port 22\n"
            "Host tj-worker-0\n  HostName tj-worker-0.tj\n  Port 22\n"
            "Host tj-worker-1\n  HostName tj-worker-1.tj\n  Port 22\n");
}

TEST(Plugins, SshOfOnesOwn) {
  model::JobSpec spec =
      lowered(usual_job("  plugins: {ssh: [--ssh-key-file-path=/home/u/.ssh, --ssh-private-key=A, "
                        "--ssh-public-key=B, --ssh-port=2200]}\n"));
  json::object pod = pod_of(spec, 0, 0);
  const json::object& volume = (*kube::array_at(pod, {"spec", "volumes"}))[0].get_object();
  EXPECT_EQ(kube::int_at(volume, {"secret", "defaultMode"}), 0644);
  json::object secret = companion(spec, model::CompanionKind::kSecret);
  EXPECT_EQ(kube::decode_base64(kube::text_at(secret, {"data", "id_rsa"})), "A");
  EXPECT_EQ(kube::decode_base64(kube::text_at(secret, {"data", "authorized_keys"})), "B");
}

TEST(Volumes, MountedInEveryMainContainer) {  // recorded: 22a
  model::JobSpec spec =
      lowered(job(task("w", 1, "", "        initContainers: [{name: i, image: i}]\n"),
                  "  volumes: [{mountPath: /data, volumeClaimName: data}, {mountPath: /more, "
                  "volumeClaimName: data}]\n"));
  json::object pod = pod_of(spec, 0, 0);
  const json::array& volumes = *kube::array_at(pod, {"spec", "volumes"});
  ASSERT_EQ(volumes.size(), 1u);
  std::string name(kube::text_at(volumes[0].get_object(), {"name"}));
  EXPECT_EQ(name.size(), std::string("tj-").size() + 12);
  EXPECT_EQ(kube::text_at(volumes[0].get_object(), {"persistentVolumeClaim", "claimName"}), "data");
  EXPECT_EQ(
      json::serialize(*kube::array_at(*main_container(pod, ""), {"volumeMounts"})),
      R"([{"name":")" + name + R"(","mountPath":"/data"},{"name":")" + name + R"(","mountPath":"/more"}])");
  const json::array& init = *kube::array_at(pod, {"spec", "initContainers"});
  EXPECT_EQ(kube::find(init[0], {"volumeMounts"}), nullptr);
  EXPECT_EQ(json::serialize(pod_of(spec, 0, 0)), json::serialize(pod)) << "the names follow from the job";
}

TEST(Volumes, AClaimOfOurs) {  // recorded: 22c
  model::JobSpec spec =
      lowered(usual_job("  volumes: [{mountPath: /data, volumeClaim: {accessModes: [ReadWriteMany], "
                        "resources: {requests: {storage: "
                        "1Gi}}}}]\n"));
  json::object claim = companion(spec, model::CompanionKind::kPersistentVolumeClaim);
  EXPECT_EQ(kube::text_at(claim, {"kind"}), "PersistentVolumeClaim");
  EXPECT_EQ(kube::text_at(claim, {"spec", "resources", "requests", "storage"}), "1Gi");
  EXPECT_EQ((*kube::array_at(claim, {"metadata", "ownerReferences"}))[0].get_object(), from_yaml(kOwner));
  json::object pod = pod_of(spec, 0, 0);
  const json::array& volumes = *kube::array_at(pod, {"spec", "volumes"});
  EXPECT_EQ(kube::text_at(volumes[0].get_object(), {"persistentVolumeClaim", "claimName"}),
            kube::name_of(claim));
}

TEST(RenderGang, PodGroup) {  // recorded: 01, 26a
  model::JobSpec spec =
      lowered(job(task("ps", 1) + task("worker", 2), "  queue: q1\n  priorityClassName: high\n",
                  "name: tj, namespace: ns, uid: u1, labels: {a: b}, annotations: {c: d, "
                  "kubectl.kubernetes.io/last-applied-configuration: '{}'}"));
  EXPECT_EQ(
      render_gang(spec),
      from_yaml("apiVersion: scheduling.volcano.sh/v1beta1\n"
                "kind: PodGroup\n"
                "metadata:\n"
                "  name: tj-u1\n"
                "  namespace: ns\n"
                "  labels: {a: b}\n"
                "  annotations: {c: d}\n"
                "  ownerReferences: [" +
                std::string(kOwner) +
                "]\n"
                "spec:\n"
                "  minMember: 3\n"
                "  minResources: {count/pods: '3', cpu: 300m, memory: 192Mi, pods: '3', requests.cpu: 300m, "
                "requests.memory: 192Mi}\n"
                "  minTaskMember: {ps: 1, worker: 2}\n"
                "  priorityClassName: high\n"
                "  queue: q1\n"));
}

TEST(RenderGang, SaysWhoPlacesItWhereThatIsNotVolcano) {
  json::object group = render_gang(lowered(job(task("w", 1), "  schedulerName: trainyard\n")));
  EXPECT_EQ(kube::annotation_of(group, "trainyard.dev/gang-scheduler"), "trainyard");
}

TEST(RenderGang, TopologyAndPartitions) {
  model::JobSpec spec = lowered(job(task("w", 4,
                                         "    partitionPolicy: {totalPartitions: 2, partitionSize: 2, "
                                         "minPartitions: 1, networkTopology: {mode: soft}}\n"),
                                    "  networkTopology: {highestTierAllowed: 2}\n"));
  json::object group = render_gang(spec);
  EXPECT_EQ(*kube::object_at(group, {"spec", "networkTopology"}),
            from_yaml("{mode: hard, highestTierAllowed: 2}"));
  EXPECT_EQ(
      (*kube::array_at(group, {"spec", "subGroupPolicy"}))[0].get_object(),
      from_yaml(
          "{name: w, subGroupSize: 2, minSubGroups: 1, labelSelector: {matchLabels: {volcano.sh/task-spec: "
          "w}}, matchLabelKeys: [volcano.sh/partition-id], networkTopology: {mode: soft}}"));
}

TEST(Identify, FromLabelsOrAnnotations) {
  json::object pod = pod_of(lowered(usual_job()), 1, 1);
  std::optional<PodIdentity> who = identify(pod);
  ASSERT_TRUE(who.has_value());
  EXPECT_EQ(who->role, "worker");
  EXPECT_EQ(who->index, 1);
  EXPECT_EQ(job_name_of(pod), "tj");
  EXPECT_FALSE(
      identify(from_yaml("{metadata: {labels: {volcano.sh/task-spec: w, volcano.sh/task-index: x}}}")));
  EXPECT_FALSE(identify(from_yaml("{metadata: {name: a}}")));
  EXPECT_TRUE(identify(
      from_yaml("{metadata: {annotations: {volcano.sh/task-spec: w, volcano.sh/task-index: '0'}}}")));
}

}  // namespace
}  // namespace trainyard::dialect::vc
