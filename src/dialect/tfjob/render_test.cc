#include <gmock/gmock.h>

#include "dialect/tfjob/render.h"
#include "dialect/tfjob/testing.h"
#include "dialect/tfjob/tf_config.h"

namespace trainyard::dialect::tf {
namespace {

std::string config_of(const json::object& pod) {
  const json::array& containers = pod.at("spec").at("containers").as_array();
  for (const json::value& container : containers) {
    if (container.at("name").as_string() != "tensorflow" || !container.as_object().contains("env")) continue;
    const json::value& last = container.at("env").as_array().back();
    if (last.at("name").as_string() == "TF_CONFIG") return std::string(last.at("value").as_string());
  }
  return "";
}

TEST(Pod, IsWhatKubeflowWouldHaveMade) {
  model::JobSpec spec = lowered("{tfReplicaSpecs: {PS: {}, Worker: {replicas: 2, restartPolicy: ExitCode}}}");
  EXPECT_EQ(pod_of(spec, 1, 0),
            from_json(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"train-worker-0",
      "namespace":"ns","ownerReferences":[{"apiVersion":"kubeflow.org/v1","kind":"TFJob","name":"train","uid":"u1",
      "controller":true,"blockOwnerDeletion":true}],"labels":{"training.kubeflow.org/job-name":"train",
      "training.kubeflow.org/operator-name":"tfjob-controller","training.kubeflow.org/replica-index":"0",
      "training.kubeflow.org/replica-type":"worker","training.kubeflow.org/job-role":"master"}},
      "spec":{"containers":[{"name":"tensorflow","image":"i","ports":[{"name":"tfjob-port","containerPort":2222}],
      "env":[{"name":"TF_CONFIG","value":"{\"cluster\":{\"ps\":[\"train-ps-0.ns.svc:2222\"],\"worker\":[\"train-worker-0.ns.svc:2222\",\"train-worker-1.ns.svc:2222\"]},\"task\":{\"type\":\"worker\",\"index\":0},\"environment\":\"cloud\"}"}]}],
      "restartPolicy":"Never"}})"));
}

TEST(Pod, WhatTheUserWroteStays) {
  model::JobSpec spec = lowered(R"({tfReplicaSpecs: {PS: {}, Worker: {replicas: 2, template: {
      metadata: {name: x, namespace: y, labels: {team: a, training.kubeflow.org/job-role: mine}, annotations: {note: 'n'}},
      spec: {schedulerName: mine, containers: [
        {name: sidecar, image: s, ports: [{name: m, containerPort: 9090}]},
        {name: tensorflow, image: i, env: [{name: TF_CONFIG, value: '{}'}], ports: [{name: http, containerPort: 8080}]}]}}}}})");
  json::object pod = pod_of(spec, 1, 1, {}, 4);
  const json::object& meta = pod["metadata"].as_object();
  EXPECT_EQ(meta.at("name").as_string(), "train-worker-1");
  EXPECT_EQ(meta.at("namespace").as_string(), "ns");
  EXPECT_EQ(meta.at("labels").at("team").as_string(), "a");
  EXPECT_EQ(meta.at("labels").at("training.kubeflow.org/job-role").as_string(), "mine");
  EXPECT_EQ(meta.at("annotations"), json::value(from_json(R"({"note":"n","trainyard.dev/attempt":"4"})")));
  EXPECT_EQ(pod["spec"].at("schedulerName").as_string(), "mine");
  const json::object& main = pod["spec"].at("containers").at(1).as_object();
  EXPECT_EQ(main.at("env").as_array().size(), 2u);
  EXPECT_EQ(main.at("env").at(0), json::value(from_json(R"({"name":"TF_CONFIG","value":"{}"})")));
  EXPECT_EQ(
      main.at("ports"),
      json::parse(R"([{"name":"http","containerPort":8080},{"name":"tfjob-port","containerPort":2222}])"));
  EXPECT_FALSE(pod["spec"].at("containers").at(0).as_object().contains("env"));
  EXPECT_EQ(pod_of(spec, 1, 0)["metadata"].at("labels").at("training.kubeflow.org/job-role").as_string(),
            "master");
}

TEST(Pod, AManifestThatWasNeverStoredOwnsNothing) {
  model::JobSpec spec = lowered(manifest("{tfReplicaSpecs: {Worker: {}}}", "{generateName: tfjob}"));
  json::object pod = pod_of(spec, 0, 0);
  EXPECT_EQ(pod["metadata"].at("name").as_string(), "tfjobxxxxx-worker-0");
  EXPECT_FALSE(pod["metadata"].as_object().contains("ownerReferences"));
  EXPECT_FALSE(tfjob().render_service(spec, {0, 0})["metadata"].as_object().contains("ownerReferences"));
}

TEST(Pod, TheLeaderIsLabelled) {
  struct {
    std::string_view spec;
    int role, index;
    bool leads;
  } cases[] = {{"{tfReplicaSpecs: {Chief: {}, Worker: {}}}", 0, 0, true},
               {"{tfReplicaSpecs: {Chief: {}, Worker: {}}}", 1, 0, false},
               {"{tfReplicaSpecs: {Master: {}, Worker: {}}}", 0, 0, true},
               {"{tfReplicaSpecs: {PS: {}, Worker: {replicas: 2}}}", 0, 0, false},
               {"{tfReplicaSpecs: {PS: {}, Worker: {replicas: 2}}}", 1, 0, true},
               {"{tfReplicaSpecs: {PS: {}, Worker: {replicas: 2}}}", 1, 1, false}};
  for (const auto& one : cases) {
    json::object pod = pod_of(lowered(one.spec), one.role, one.index);
    EXPECT_EQ(pod["metadata"].at("labels").as_object().contains("training.kubeflow.org/job-role"), one.leads)
        << one.spec << one.role << one.index;
  }
}

TEST(Pod, IsRecognisedAgain) {
  model::JobSpec spec = lowered("{tfReplicaSpecs: {PS: {}, Worker: {replicas: 12}}}");
  json::object pod = pod_of(spec, 1, 11);
  std::optional<PodIdentity> identity = tfjob().identify(pod);
  ASSERT_TRUE(identity);
  EXPECT_EQ(identity->role, "worker");
  EXPECT_EQ(identity->index, 11);
  EXPECT_EQ(tfjob().job_name_of(pod), "train");
  EXPECT_FALSE(tfjob().identify(from_json(R"({"metadata":{"labels":{}}})")));
  for (std::string_view index : {"-1", "x", "1x", "99999999999"}) {
    pod["metadata"].as_object()["labels"].as_object()["training.kubeflow.org/replica-index"] =
        json::string_view(index.data(), index.size());
    EXPECT_FALSE(tfjob().identify(pod)) << index;
  }
}

struct ConfigCase {
  std::string_view spec;
  Settings settings;
  int role, index;
  std::string_view expected;
};

void expect_configs(std::initializer_list<ConfigCase> cases) {
  for (const ConfigCase& one : cases) {
    EXPECT_EQ(config_of(pod_of(lowered(one.spec), one.role, one.index, one.settings)), one.expected)
        << one.spec;
  }
}

TEST(TfConfig, ByteForByte) {
  expect_configs({
      {"{tfReplicaSpecs: {Worker: {}}}", {}, 0, 0, ""},
      {"{tfReplicaSpecs: {Worker: {}}}", {.cluster_domain = "tf.training.org"}, 0, 0, ""},
      {"{tfReplicaSpecs: {Worker: {}, PS: {}}}",
       {.cluster_domain = "tf.training.org"},
       1,
       0,
       R"({"cluster":{"ps":["train-ps-0.ns.svc.tf.training.org:2222"],"worker":["train-worker-0.ns.svc.tf.training.org:2222"]},"task":{"type":"worker","index":0},"environment":"cloud"})"},
      {"{tfReplicaSpecs: {Worker: {}, PS: {}, Evaluator: {}}}",
       {.evaluator_in_cluster = true},
       1,
       0,
       R"({"cluster":{"evaluator":["train-evaluator-0.ns.svc:2222"],"ps":["train-ps-0.ns.svc:2222"],"worker":["train-worker-0.ns.svc:2222"]},"task":{"type":"worker","index":0},"environment":"cloud"})"},
      {"{tfReplicaSpecs: {Worker: {}, PS: {}, Evaluator: {}}}",
       {},
       1,
       0,
       R"({"cluster":{"ps":["train-ps-0.ns.svc:2222"],"worker":["train-worker-0.ns.svc:2222"]},"task":{"type":"worker","index":0},"environment":"cloud"})"},
      {"{tfReplicaSpecs: {Worker: {}, PS: {}, Evaluator: {}}}",
       {},
       2,
       0,
       R"({"cluster":{"ps":["train-ps-0.ns.svc:2222"],"worker":["train-worker-0.ns.svc:2222"]},"task":{"type":"evaluator","index":0},"environment":"cloud"})"},
      {"{tfReplicaSpecs: {Worker: {replicas: 2}, PS: {}, Chief: {}}}",
       {},
       0,
       0,
       R"({"cluster":{"chief":["train-chief-0.ns.svc:2222"],"ps":["train-ps-0.ns.svc:2222"],"worker":["train-worker-0.ns.svc:2222","train-worker-1.ns.svc:2222"]},"task":{"type":"chief","index":0},"environment":"cloud"})"},
      {"{tfReplicaSpecs: {MASTER: {}, Worker: {}}}",
       {},
       1,
       0,
       R"({"cluster":{"master":["train-master-0.ns.svc:2222"],"worker":["train-worker-0.ns.svc:2222"]},"task":{"type":"worker","index":0},"environment":"cloud"})"},
      {"{tfReplicaSpecs: {Worker: {replicas: 2, template: {spec: {containers: [{name: tensorflow, image: i, "
       "ports: "
       "[{name: tfjob-port, containerPort: 3333}]}]}}}}}",
       {},
       0,
       1,
       R"({"cluster":{"worker":["train-worker-0.ns.svc:3333","train-worker-1.ns.svc:3333"]},"task":{"type":"worker","index":1},"environment":"cloud"})"},
  });
}

TEST(TfConfig, ByteForByteWithDynamicWorkers) {
  expect_configs({
      {"{enableDynamicWorker: true, tfReplicaSpecs: {PS: {replicas: 2}, Worker: {replicas: 2}}}",
       {},
       1,
       1,
       R"({"cluster":{"worker":{"1":"train-worker-1.ns.svc:2222"},"ps":["train-ps-0.ns.svc:2222","train-ps-1.ns.svc:2222"]},"task":{"type":"worker","index":1}})"},
      {"{enableDynamicWorker: true, tfReplicaSpecs: {PS: {replicas: 2}, Worker: {replicas: 2}}}",
       {},
       0,
       1,
       R"({"cluster":{"worker":{},"ps":["train-ps-1.ns.svc:2222"]},"task":{"type":"ps","index":1}})"},
      {"{enableDynamicWorker: true, tfReplicaSpecs: {Chief: {}, PS: {}, Worker: {}}}",
       {},
       0,
       0,
       R"({"cluster":{"chief":["train-chief-0.ns.svc:2222"],"worker":{},"ps":["train-ps-0.ns.svc:2222"]},"task":{"type":"chief","index":0}})"},
      {"{enableDynamicWorker: true, tfReplicaSpecs: {Evaluator: {}, PS: {}, Worker: {}}}",
       {},
       2,
       0,
       R"({"cluster":{"worker":{},"ps":["train-ps-0.ns.svc:2222"]},"task":{"type":"evaluator","index":0}})"},
      {"{enableDynamicWorker: true, tfReplicaSpecs: {Worker: {replicas: 2}}}",
       {},
       0,
       0,
       R"({"cluster":{"worker":{"0":"train-worker-0.ns.svc:2222"},"ps":[]},"task":{"type":"worker","index":0}})"},
  });
}

TEST(Service, IsHeadlessAndHasThePortsOfTheContainer) {
  model::JobSpec spec = lowered(R"({tfReplicaSpecs: {Worker: {template: {spec: {containers: [
      {name: side, image: s, ports: [{containerPort: 1}]},
      {name: tensorflow, image: i, ports: [{name: http, containerPort: 8080, protocol: TCP}]}]}}}}})");
  EXPECT_EQ(tfjob().render_service(spec, {0, 0}), from_json(R"({"apiVersion":"v1","kind":"Service","metadata":
      {"name":"train-worker-0","namespace":"ns","labels":{"training.kubeflow.org/job-name":"train",
      "training.kubeflow.org/operator-name":"tfjob-controller","training.kubeflow.org/replica-index":"0",
      "training.kubeflow.org/replica-type":"worker"},"ownerReferences":[{"apiVersion":"kubeflow.org/v1","kind":"TFJob",
      "name":"train","uid":"u1","controller":true,"blockOwnerDeletion":true}]},"spec":{"clusterIP":"None",
      "selector":{"training.kubeflow.org/job-name":"train","training.kubeflow.org/operator-name":"tfjob-controller",
      "training.kubeflow.org/replica-index":"0","training.kubeflow.org/replica-type":"worker"},
      "ports":[{"name":"http","port":8080},{"name":"tfjob-port","port":2222}]}})"));
}

TEST(Service, NeverHasAPortTwice) {
  model::JobSpec spec = lowered(R"({tfReplicaSpecs: {Worker: {template: {spec: {containers: [
      {name: tensorflow, image: i, ports: [{name: grpc, containerPort: 2222}, {containerPort: 9000},
       {name: stats, containerPort: 9000, protocol: UDP}]}]}}}}})");
  EXPECT_EQ(tfjob().render_service(spec, {0, 0})["spec"].at("ports"),
            json::parse(R"([{"name":"grpc","port":2222},{"name":"port-9000","port":9000},
                            {"name":"stats","port":9000,"protocol":"UDP"}])"));
}

TEST(Gang, VolcanoGatesAndIsNamedAfterTheJob) {
  model::JobSpec spec = lowered(R"({tfReplicaSpecs: {
      PS: {template: {spec: {containers: [{name: tensorflow, image: i, resources: {requests: {cpu: 500m, memory: 1Gi}, limits: {cpu: 1, memory: 1Gi}}}]}}},
      Worker: {replicas: 2, template: {spec: {containers: [{name: tensorflow, image: i, resources: {limits: {cpu: 1500m, nvidia.com/gpu: 1}}}]}}}}})",
                                {.gang_scheduler = "Volcano"});
  ASSERT_TRUE(spec.gang);
  EXPECT_TRUE(spec.gang->gates_pods);
  EXPECT_TRUE(spec.gang->owned);
  EXPECT_EQ(tfjob().render_gang(spec),
            from_json(R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup",
      "metadata":{"name":"train","namespace":"ns","ownerReferences":[{"apiVersion":"kubeflow.org/v1","kind":"TFJob",
      "name":"train","uid":"u1","controller":true,"blockOwnerDeletion":true}]},"spec":{"minMember":3,
      "minResources":{"cpu":"3500m","memory":"1Gi","nvidia.com/gpu":"2"},"queue":"default"}})"));
  json::object pod = pod_of(spec, 1, 0, {.gang_scheduler = "Volcano"});
  EXPECT_EQ(pod["spec"].at("schedulerName").as_string(), "volcano");
  EXPECT_EQ(
      pod["metadata"].at("annotations"),
      json::value(from_json(R"({"scheduling.k8s.io/group-name":"train","volcano.sh/task-spec":"worker"})")));
}

TEST(Gang, ThePolicyOfTheManifestCounts) {
  constexpr std::string_view kSpec =
      "{runPolicy: {schedulingPolicy: {minAvailable: 2, queue: q1, priorityClass: high, minResources: {cpu: "
      "'3', memory: "
      "1024Mi}, scheduleTimeoutSeconds: 30}}, tfReplicaSpecs: {PS: {}, Worker: {replicas: 2}}}";
  EXPECT_EQ(tfjob().render_gang(lowered(kSpec, {.gang_scheduler = "volcano"}))["spec"],
            json::value(from_json(R"({"minMember":2,"minResources":{"cpu":"3","memory":"1Gi"},"queue":"q1",
                                      "priorityClassName":"high"})")));
  EXPECT_EQ(tfjob().render_gang(lowered(kSpec, {.gang_scheduler = "kube-batch"}))["spec"],
            json::value(from_json(R"({"minMember":2,"queue":"q1","priorityClassName":"high"})")));
  model::JobSpec other = lowered(kSpec, {.gang_scheduler = "coscheduler"});
  EXPECT_FALSE(other.gang->gates_pods);
  EXPECT_EQ(tfjob().render_gang(other)["spec"],
            json::value(from_json(
                R"({"minMember":2,"minResources":{"cpu":"3","memory":"1Gi"},"scheduleTimeoutSeconds":30})")));
  json::object pod = pod_of(other, 0, 0, {.gang_scheduler = "coscheduler"});
  EXPECT_EQ(pod["spec"].at("schedulerName").as_string(), "coscheduler");
  EXPECT_EQ(pod["metadata"].at("labels").at("scheduling.x-k8s.io/pod-group").as_string(), "train");
}

TEST(Gang, AJobMayChooseForItself) {
  json::object job = manifest("{tfReplicaSpecs: {Worker: {}}}",
                              "{name: t, annotations: {trainyard.dev/gang-scheduler: kube-batch, team: a}}");
  model::JobSpec spec = lowered(job);
  ASSERT_TRUE(spec.gang);
  EXPECT_EQ(spec.gang->scheduler, model::GangScheduler::kKubeBatch);
  EXPECT_EQ(pod_of(spec, 0, 0)["spec"].at("schedulerName").as_string(), "kube-batch");
  EXPECT_EQ(tfjob().render_gang(spec)["metadata"].at("annotations"),
            json::value(from_json(R"({"team":"a"})")));
  json::object off = manifest("{tfReplicaSpecs: {Worker: {}}}",
                              "{name: t, annotations: {trainyard.dev/gang-scheduler: none}}");
  EXPECT_FALSE(lowered(off, {.gang_scheduler = "volcano"}).gang);
}

// As a profile of scheduler-plugins, which it is not, its PodGroup had no field for the queue.
TEST(Gang, OurSchedulerByNameKeepsTheQueue) {
  json::object job = manifest(
      "{tfReplicaSpecs: {Worker: {}}, runPolicy: {schedulingPolicy: {queue: research, priorityClass: high}}}",
      "{name: t, annotations: {trainyard.dev/gang-scheduler: Trainyard}}");
  model::JobSpec spec = lowered(job);
  ASSERT_TRUE(spec.gang);
  EXPECT_TRUE(spec.gang->gates_pods);
  EXPECT_EQ(pod_of(spec, 0, 0)["spec"].at("schedulerName").as_string(), "trainyard");
  json::object group = tfjob().render_gang(spec);
  EXPECT_EQ(group["apiVersion"].as_string(), "scheduling.volcano.sh/v1beta1");
  EXPECT_EQ(group["spec"].at("queue").as_string(), "research");
  EXPECT_EQ(group["spec"].at("priorityClassName").as_string(), "high");
  EXPECT_EQ(kube::annotation_of(group, "trainyard.dev/gang-scheduler"), "trainyard")
      << "without pods its kind alone would say that it is Volcano's";
}

TEST(Gang, T9ksSchedulerByNameHasAGroupOfItsOwnKind) {
  json::object job =
      manifest("{tfReplicaSpecs: {Worker: {}}, runPolicy: {schedulingPolicy: {queue: research}}}",
               "{name: t, annotations: {trainyard.dev/gang-scheduler: T9k-Scheduler}}");
  model::JobSpec spec = lowered(job);
  ASSERT_TRUE(spec.gang);
  EXPECT_FALSE(spec.gang->gates_pods);
  json::object pod = pod_of(spec, 0, 0);
  EXPECT_EQ(pod["spec"].at("schedulerName").as_string(), "t9k-scheduler");
  EXPECT_EQ(pod["metadata"].at("labels").at("scheduler.tensorstack.dev/group-name").as_string(), "t");
  json::object group = tfjob().render_gang(spec);
  EXPECT_EQ(group["apiVersion"].as_string(), "scheduler.tensorstack.dev/v1beta1");
  EXPECT_EQ(group["spec"].at("queue").as_string(), "research");
}

TEST(Gang, WhereTheJobSaysItGoesIsSaidOnItsGroup) {
  for (std::string_view scheduler : {"volcano", "kube-batch", "coscheduler"}) {
    json::object job = manifest(
        "{tfReplicaSpecs: {Worker: {}}}",
        "{name: t, annotations: {trainyard.dev/same-topology: rack, trainyard.dev/restart-scope: job}}");
    model::JobSpec spec = lowered(job, {.gang_scheduler = std::string(scheduler)});
    ASSERT_TRUE(spec.gang) << scheduler;
    EXPECT_EQ(tfjob().render_gang(spec)["metadata"].at("annotations"),
              json::value(from_json(R"({"trainyard.dev/same-topology":"rack"})")))
        << scheduler;
  }
}

TEST(Gang, WhereItIsForThoseWhoAskAPolicyAsks) {
  json::object asks = manifest(
      "{tfReplicaSpecs: {Worker: {}}, runPolicy: {schedulingPolicy: {minAvailable: 1}}}", "{name: t}");
  ASSERT_TRUE(lowered(asks, {.gang_scheduler = "asked"}).gang);
  EXPECT_EQ(lowered(asks, {.gang_scheduler = "asked"}).gang->scheduler, model::GangScheduler::kVolcano);
  json::object says_where = manifest("{tfReplicaSpecs: {Worker: {}}}",
                                     "{name: t, annotations: {trainyard.dev/prefer-same-topology: rack}}");
  EXPECT_TRUE(lowered(says_where, {.gang_scheduler = "asked"}).gang) << "one rack for all is a gang";
  json::object does_not = manifest("{tfReplicaSpecs: {Worker: {}}}", "{name: t}");
  EXPECT_FALSE(lowered(does_not, {.gang_scheduler = "asked"}).gang);
}

TEST(Gang, AGroupOfTheUsersIsUsedAsItIs) {
  constexpr std::string_view kTemplate =
      "{metadata: {annotations: {scheduling.k8s.io/group-name: tfjob-group}}, spec: {schedulerName: "
      "kube-batch, "
      "containers: [{name: tensorflow, image: i}]}}";
  model::JobSpec spec =
      lowered(fmt::format("{{tfReplicaSpecs: {{PS: {{replicas: 2, template: {0}}}, Worker: {{replicas: "
                          "4, template: {0}}}}}}}",
                          kTemplate),
              {.gang_scheduler = "kube-batch"});
  ASSERT_TRUE(spec.gang);
  EXPECT_FALSE(spec.gang->owned);
  EXPECT_EQ(spec.gang->name, "tfjob-group");
  EXPECT_FALSE(spec.gang->gates_pods);
  EXPECT_EQ(pod_of(spec, 1, 0, {.gang_scheduler = "kube-batch"})["metadata"].at("annotations"),
            json::value(from_json(R"({"scheduling.k8s.io/group-name":"tfjob-group"})")));
}

}  // namespace
}  // namespace trainyard::dialect::tf
