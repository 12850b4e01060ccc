#include "sched/gangs_from.h"

#include <gtest/gtest.h>

#include <set>

#include "kube/access.h"
#include "sched/schedule.h"
#include "sched/testing.h"

namespace trainyard::sched {
namespace {

using testing::kNow;
using testing::object;

// Documents that live as long as the test.
struct Yard {
  std::vector<json::object> pods, nodes, groups, queues, classes, namespaces;
  Documents extra;  // assumed
  VolumesFound volumes;
  FrontOptions options;
  Shapes shapes;

  Snapshot snapshot() {
    seen.clear();
    nodes_seen.clear();
    groups_seen.clear();
    for (const json::object& pod : pods) seen.push_back(see_pod(pod, shapes));
    Documents documents = extra;
    documents.volumes = &volumes;
    for (const PodSeen& pod : seen) documents.pods.push_back(&pod);
    auto refer = [](const std::vector<json::object>& from, std::vector<const json::object*>& to) {
      for (const json::object& one : from) to.push_back(&one);
    };
    for (const json::object& node : nodes) nodes_seen.push_back(see_node(node));
    for (const json::object& group : groups) groups_seen.push_back(see_group(group));
    for (const NodeSeen& node : nodes_seen) documents.nodes.push_back(&node);
    for (const GroupSeen& group : groups_seen) documents.groups.push_back(&group);
    queues_seen.clear();
    for (const json::object& queue : queues) queues_seen.push_back(kube::decode_queue(queue));
    for (const kube::Queue& queue : queues_seen) documents.queues.push_back(&queue);
    refer(classes, documents.priority_classes);
    refer(namespaces, documents.namespaces);
    return assemble(documents, shapes, options);
  }
  std::vector<PodSeen> seen;
  std::vector<NodeSeen> nodes_seen;
  std::vector<GroupSeen> groups_seen;
  std::vector<kube::Queue> queues_seen;
};

json::object pod(std::string_view name, std::string_view meta, std::string_view spec,
                 std::string_view status = "{}") {
  json::object out = object(fmt::format(R"({{"metadata": {{"name": "{}", "namespace": "ns", "uid": "uid-{}",
    "creationTimestamp": "2023-11-14T22:00:00Z" {} }}, "spec": {}, "status": {} }})",
                                        name, name, meta, spec, status));
  return out;
}

constexpr std::string_view kOneCpu = R"({"containers": [{"resources": {"requests": {"cpu": "1"}}}]})";

TEST(Requests, SumsContainersAndTakesTheLargestStart) {
  json::object one = object(R"({"spec": {"overhead": {"cpu": "50m"},
    "containers": [{"resources": {"requests": {"cpu": "500m", "memory": "1Gi"}, "limits": {"nvidia.com/gpu": 2}}},
                   {"resources": {"limits": {"cpu": "1"}}}],
    "initContainers": [{"resources": {"requests": {"cpu": "3"}}},
                       {"restartPolicy": "Always", "resources": {"requests": {"cpu": "200m"}}}]}})");
  std::map<std::string, int64_t> wanted = {
      {"cpu", 3050}, {"memory", 1 << 30}, {"nvidia.com/gpu", 2}, {"pods", 1}};
  EXPECT_EQ(requests_of(one), wanted);
}

TEST(Shapes, EqualSpecsAreOne) {
  Shapes shapes;
  json::object a =
      pod("a", R"(, "labels": {"app": "x", "training.kubeflow.org/replica-index": "0"})", kOneCpu);
  json::object b =
      pod("b", R"(, "labels": {"app": "x", "training.kubeflow.org/replica-index": "1"})", kOneCpu);
  json::object c = pod("c", R"(, "labels": {"app": "y"})", kOneCpu);
  EXPECT_EQ(shapes.number(a), shapes.number(b));
  EXPECT_EQ(shapes.number(a), shapes.number(c)) << "labels are kept apart";
  EXPECT_EQ(shapes.size(), 1);
  EXPECT_EQ(shapes.labels().number(a), shapes.labels().number(b));
  EXPECT_NE(shapes.labels().number(a), shapes.labels().number(c));
  EXPECT_EQ(shapes.labels().at(shapes.labels().number(a)), (Labels{{"app", "x"}}));
}

TEST(Shapes, WhatLooksAlikeWrittenDownIsNotTheSame) {
  Shapes shapes;
  const std::vector<json::object> pods = {
      pod("a", R"(, "labels": {"a": "b", "c": "d"})", kOneCpu),
      pod("a", R"(, "labels": {"a": "b1:c\"1:d"})", kOneCpu),
      pod("a", R"(, "labels": {"a": "b"})", kOneCpu),
      pod("a", "", R"({"hostNetwork": true, "containers": [{}]})"),
      pod("a", "", R"({"hostNetwork": "true", "containers": [{}]})"),
      pod("a", "", R"({"containers": [{}, {}]})"),
      pod("a", "", R"({"containers": [{}], "initContainers": [{}]})"),
  };
  std::set<std::pair<int, int>> numbers;
  for (const json::object& one : pods) numbers.emplace(shapes.number(one), shapes.labels().number(one));
  EXPECT_EQ(numbers.size(), pods.size());
}

TEST(Shapes, APodThatIsBeingResizedIsCountedAnew) {
  Shapes shapes;
  json::object a = pod("a", "", kOneCpu);
  json::object b = a;
  b["status"] = json::parse(R"({"containerStatuses":[{"name":"","resources":{"requests":{"cpu":"3"}}}]})");
  EXPECT_NE(shapes.number(a), shapes.number(b));
  EXPECT_EQ(shapes.at(shapes.number(b)).requests.at("cpu"), 3000);
}

TEST(Shapes, ReadsWhereAPodMayBe) {
  Shape shape = shape_of(pod("a", "", R"({
    "nodeSelector": {"zone": "a"},
    "tolerations": [{"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}],
    "affinity": {
      "nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
          {"matchExpressions": [{"key": "gpu", "operator": "In", "values": ["h100", "a100"]}]}]},
        "preferredDuringSchedulingIgnoredDuringExecution": [
          {"weight": 5, "preference": {"matchExpressions": [{"key": "ssd", "operator": "Exists"}]}}]},
      "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
          {"labelSelector": {"matchLabels": {"app": "x"}}, "topologyKey": "kubernetes.io/hostname"}]}},
    "topologySpreadConstraints": [{"topologyKey": "kubernetes.io/hostname", "maxSkew": 1}],
    "volumes": [{"persistentVolumeClaim": {"claimName": "data"}}],
    "containers": [{"ports": [{"containerPort": 80, "hostPort": 8080}, {"containerPort": 81}]}]})"));
  EXPECT_EQ(shape.rule.selector, (Labels{{"zone", "a"}}));
  ASSERT_EQ(shape.rule.required.size(), 1u);
  EXPECT_EQ(requirements_text(shape.rule.required[0].labels), "gpu in (a100,h100)");
  ASSERT_EQ(shape.rule.preferred.size(), 1u);
  EXPECT_EQ(shape.rule.preferred[0].weight, 5);
  EXPECT_EQ(shape.rule.tolerations, (std::vector<Toleration>{{"gpu", true, "", TaintEffect::kNoSchedule}}));
  ASSERT_EQ(shape.apart.size(), 1u);
  EXPECT_EQ(shape.apart[0].namespaces, std::vector<std::string>{"ns"});
  EXPECT_EQ(shape.ports, (std::vector<HostPort>{{"", "TCP", 8080}}));
  EXPECT_EQ(shape.claims, std::vector<std::string>{"data"});
  EXPECT_TRUE(shape.spread);
}

struct GroupCase {
  const char* what;
  const char* group;
  const char* meta;  // of its two pods
  const char* id;
};

TEST(GangsFrom, GroupsOfTheFourGroups) {
  const GroupCase cases[] = {
      {"volcano", R"({"apiVersion": "scheduling.volcano.sh/v1beta1", "spec": {"minMember": 2}})",
       R"(, "annotations": {"scheduling.k8s.io/group-name": "train"})", "scheduling.volcano.sh/ns/train"},
      {"kube-batch", R"({"apiVersion": "scheduling.incubator.k8s.io/v1alpha1", "spec": {"minMember": 2}})",
       R"(, "annotations": {"scheduling.k8s.io/group-name": "train"})",
       "scheduling.incubator.k8s.io/ns/train"},
      {"coscheduling", R"({"apiVersion": "scheduling.x-k8s.io/v1alpha1", "spec": {"minMember": 2}})",
       R"(, "labels": {"scheduling.x-k8s.io/pod-group": "train"})", "scheduling.x-k8s.io/ns/train"},
      {"t9k", R"({"apiVersion": "scheduler.tensorstack.dev/v1beta1", "spec": {"minMember": 2}})",
       R"(, "labels": {"scheduler.tensorstack.dev/group-name": "train"})",
       "scheduler.tensorstack.dev/ns/train"},
  };
  for (const GroupCase& one : cases) {
    Yard yard;
    json::object group = object(one.group);
    group["metadata"] = object(R"({"name": "train", "namespace": "ns"})");
    group["kind"] = "PodGroup";
    yard.groups = {group};
    yard.pods = {pod("w-1", one.meta, kOneCpu), pod("w-0", one.meta, kOneCpu)};
    Snapshot snapshot = yard.snapshot();
    ASSERT_EQ(snapshot.gangs.size(), 1u) << one.what;
    EXPECT_EQ(snapshot.gangs[0].id, one.id);
    EXPECT_EQ(snapshot.gangs[0].min_member, 2) << one.what;
    EXPECT_EQ(snapshot.gangs[0].queue, "default") << one.what;
    ASSERT_EQ(snapshot.gangs[0].members.size(), 2u) << one.what;
    EXPECT_EQ(snapshot.gangs[0].members[0].name, "w-0") << "by number";
    EXPECT_EQ(snapshot.gangs[0].members[0].pod_class, snapshot.gangs[0].members[1].pod_class);
    EXPECT_EQ(snapshot.group_of.size(), 1U) << one.what;
    EXPECT_NE(snapshot.group_of.front(), nullptr) << one.what;

    yard.groups.clear();
    snapshot = yard.snapshot();
    ASSERT_EQ(snapshot.gangs.size(), 1u) << "pods wait for a group that is not there: " << one.what;
    EXPECT_FALSE(snapshot.gangs[0].group_exists);
    yard.nodes = {object(R"({"metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "8"}}})")};
    snapshot = yard.snapshot();
    Decisions decisions = schedule(snapshot.cluster, snapshot.gangs, {}, kNow);
    EXPECT_TRUE(decisions.bindings.empty());
    EXPECT_EQ(decisions.waiting.at(0).text, "its pods name PodGroup train, which does not exist");
  }
}

TEST(GangsFrom, APodWaitsForItsClaims) {
  Yard yard;
  yard.nodes = {object(R"({"metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "8"}}})")};
  yard.pods = {pod("w-0", "", R"({"containers": [], "volumes": [
    {"name": "a", "persistentVolumeClaim": {"claimName": "data"}},
    {"name": "b", "persistentVolumeClaim": {"claimName": "logs"}}]})")};
  auto outcome = [&] {
    Snapshot snapshot = yard.snapshot();
    Decisions decisions = schedule(snapshot.cluster, snapshot.gangs, {}, kNow);
    return decisions.waiting.empty() ? std::string("placed") : decisions.waiting[0].text;
  };
  EXPECT_EQ(outcome(), "placed") << "where claims are not looked after";
  yard.volumes.troubles = {{"ns/data", ""}, {"other/logs", ""}};
  EXPECT_EQ(outcome(), "claim logs does not exist");
  yard.volumes.troubles = {{"ns/data", ""}, {"ns/logs", "claim logs has no volume yet"}};
  EXPECT_EQ(outcome(), "claim logs has no volume yet");
  yard.volumes.troubles = {{"ns/data", ""}, {"ns/logs", ""}};
  EXPECT_EQ(outcome(), "placed");
  yard.volumes.nodes = {{"ns/data", {"n"}}, {"ns/logs", {"m"}}};
  EXPECT_NE(outcome(), "placed") << "no node reaches both";
}

// One that is not needed to begin does not keep the others waiting.
TEST(GangsFrom, AMemberWithoutItsClaimIsHeldBackAlone) {
  Yard yard;
  yard.nodes = {object(R"({"metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "8"}}})")};
  std::string_view named = R"(, "annotations": {"scheduling.k8s.io/group-name": "train"})";
  std::string_view mounts =
      R"({"containers": [], "volumes": [{"persistentVolumeClaim": {"claimName": "data"}}]})";
  yard.pods = {pod("w-0", named, kOneCpu), pod("w-1", named, kOneCpu), pod("w-2", named, mounts)};
  yard.volumes.troubles.emplace();
  auto outcome = [&](int least) {
    yard.groups = {object(fmt::format(R"({{"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup",
      "metadata": {{"name": "train", "namespace": "ns"}}, "spec": {{"minMember": {} }} }})",
                                      least))};
    Snapshot snapshot = yard.snapshot();
    Decisions decisions = schedule(snapshot.cluster, snapshot.gangs, {}, kNow);
    return fmt::format("{} bound, {}", decisions.bindings.size(), decisions.waiting.at(0).text);
  };
  EXPECT_EQ(outcome(2), "2 bound, claim data does not exist");
  EXPECT_EQ(outcome(3), "0 bound, claim data does not exist");
}

TEST(GangsFrom, ClaimsThatLiveAsLongAsTheirPod) {
  Shapes shapes;
  json::object one = pod("w-0", "", R"({"containers": [], "volumes": [
    {"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}},
    {"name": "data", "persistentVolumeClaim": {"claimName": "data"}},
    {"name": "again", "persistentVolumeClaim": {"claimName": "data"}}]})");
  EXPECT_EQ(shapes.at(shapes.number(one)).claims, (std::vector<std::string>{"w-0-scratch", "data"}));
}

TEST(GangsFrom, OpenClaimsBecomePartOfTheCluster) {
  Yard yard;
  yard.nodes = {object(R"({"metadata": {"name": "n"}})"), object(R"({"metadata": {"name": "m"}})")};
  yard.pods = {
      pod("p", "", R"({"containers": [], "volumes": [{"persistentVolumeClaim": {"claimName": "data"}}]})")};
  yard.volumes.troubles.emplace()["ns/data"] = "";
  yard.volumes.sources = {{"unused", std::nullopt, 1}, {"pv", std::vector<std::string>{"gone", "m"}, 10}};
  yard.volumes.open = {{"ns/data", {"local", 10, {1}}}};
  Snapshot snapshot = yard.snapshot();
  EXPECT_EQ(snapshot.cluster.nodes.at(0).name, "m") << "by name";
  EXPECT_EQ(snapshot.cluster.sources, (std::vector<VolumeSource>{{"pv", std::vector<int>{0}, 10}}));
  EXPECT_EQ(snapshot.cluster.claims, (std::vector<Claim>{{"ns/data", "local", 10, {0}}}));
  Decisions decisions = schedule(snapshot.cluster, snapshot.gangs, {}, kNow);
  EXPECT_EQ(decisions.bindings.at(0).node, "m");
  EXPECT_EQ(decisions.volumes, (std::vector<VolumeBinding>{{"/ns/p", "ns/data", "pv"}}));
}

// A group without conditions: what was there before is read from the pods.
TEST(GangsFrom, ACoschedulingGangThatLostAMemberKeepsItsPlace) {
  Yard yard;
  yard.groups = {object(R"({"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "PodGroup",
    "metadata": {"name": "train", "namespace": "ns"}, "spec": {"minMember": 2}, "status": {"phase": "Scheduling"}})")};
  std::string_view named = R"(, "labels": {"scheduling.x-k8s.io/pod-group": "train"})";
  std::string_view placed = R"({"containers": [], "nodeName": "n"})";
  auto gang = [&](std::string_view started) {
    yard.pods = {
        pod("w-0", named, placed, fmt::format(R"({{"phase": "Running", "startTime": "{}"}})", started)),
        pod("w-1", named, kOneCpu)};
    return yard.snapshot().gangs.at(0);
  };
  EXPECT_TRUE(gang("2023-11-14T21:59:59Z").whole_once) << "the one that waits was made when the other ran";
  EXPECT_EQ(gang("2023-11-14T21:59:59Z").broken_since, parse_rfc3339("2023-11-14T22:00:00Z"));
  EXPECT_FALSE(gang("2023-11-14T22:00:01Z").whole_once) << "both were there: bound in part";
  yard.pods.pop_back();
  EXPECT_TRUE(yard.snapshot().gangs.at(0).whole_once) << "nobody waits";
}

TEST(GangsFrom, ShapesThatNobodyHasAreForgotten) {
  Shapes shapes;
  json::object a = pod("a", R"(, "labels": {"app": "x"})", kOneCpu);
  json::object b = pod("b", R"(, "labels": {"app": "y"})", R"({"containers": [{}]})");
  EXPECT_EQ(shapes.number(a), 0);
  EXPECT_EQ(shapes.number(b), 1);
  EXPECT_EQ(shapes.keep({false, true}), (std::vector<int>{-1, 0}));
  EXPECT_EQ(shapes.size(), 1);
  EXPECT_EQ(shapes.number(b), 0);
  EXPECT_FALSE(shapes.at(0).requests.contains("cpu"));
  EXPECT_EQ(shapes.number(a), 1);
  LabelSets& labels = shapes.labels();
  EXPECT_EQ(labels.number(a), 0);
  EXPECT_EQ(labels.number(b), 1);
  EXPECT_EQ(labels.keep({false, true}), (std::vector<int>{-1, 0}));
  EXPECT_EQ(labels.at(labels.number(b)).at("app"), "y");
  EXPECT_EQ(labels.number(a), 1);
}

TEST(GangsFrom, OneDomainForAll) {
  struct Case {
    std::string_view annotations, topology;
    std::string_view key;
    bool required;
  };
  for (const Case& one : std::vector<Case>{
           {"{}", "{}", "", false},
           {R"({"trainyard.dev/same-topology": "rack"})", "{}", "rack", true},
           {R"({"trainyard.dev/prefer-same-topology": "rack"})", "{}", "rack", false},
           {"{}", R"({"mode": "hard", "highestTierName": "rack"})", "rack", true},
           {"{}", R"({"highestTierName": "rack"})", "rack", true},
           {"{}", R"({"mode": "soft", "highestTierName": "rack"})", "rack", false},
           {"{}", R"({"mode": "hard", "highestTierAllowed": 1})", "", false},
           {R"({"trainyard.dev/same-topology": "zone"})", R"({"mode": "soft", "highestTierName": "rack"})",
            "zone", true},
           {R"({"trainyard.dev/prefer-same-topology": "zone"})", R"({"highestTierName": "rack"})", "zone",
            false},
       }) {
    GroupSeen seen =
        see_group(object(fmt::format(R"({{"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup",
          "metadata": {{"name": "train", "namespace": "ns", "annotations": {}}},
          "spec": {{"minMember": 3, "networkTopology": {}}}}})",
                                     one.annotations, one.topology)));
    EXPECT_EQ(seen.domain_key, one.key) << one.annotations << one.topology;
    EXPECT_EQ(seen.domain_required, one.required) << one.annotations << one.topology;
  }
}

TEST(GangsFrom, WhatAGroupSays) {
  Yard yard;
  yard.groups = {object(R"({"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup",
    "metadata": {"name": "train", "namespace": "ns", "creationTimestamp": "2023-11-14T22:13:20Z",
                 "annotations": {"trainyard.dev/same-topology": "zone"}},
    "spec": {"minMember": 3, "minTaskMember": {"ps": 1, "worker": 2}, "queue": "q", "priorityClassName": "high",
             "minResources": {"cpu": "3", "count/pods": "3", "requests.cpu": "3", "limits.cpu": "3"}},
    "status": {"phase": "Pending"}})")};
  yard.classes = {object(R"({"metadata": {"name": "high"}, "value": 1000, "preemptionPolicy": "Never"})")};
  Snapshot snapshot = yard.snapshot();
  const Gang& gang = snapshot.gangs.at(0);
  EXPECT_EQ(gang.queue, "q");
  EXPECT_EQ(gang.class_priority, 1000);
  EXPECT_FALSE(gang.may_preempt);
  EXPECT_EQ(gang.queued_at, Time{1'700'000'000'000});
  EXPECT_EQ(gang.roles, (std::vector<Role>{{"ps", 1}, {"worker", 2}}));
  EXPECT_EQ(gang.domain_key, "zone");
  EXPECT_TRUE(gang.domain_required);
  EXPECT_TRUE(gang.asks_admission) << "Pending and without pods";
  EXPECT_EQ(gang.min_resources, (Amounts{3000, 0, 0}));

  yard.groups = {object(R"({"apiVersion": "scheduler.tensorstack.dev/v1beta1", "kind": "PodGroup",
    "metadata": {"name": "train", "namespace": "ns"},
    "spec": {"minMember": 3, "roles": [{"name": "worker", "minMember": 2}], "priority": 70}})")};
  const Gang t9k = yard.snapshot().gangs.at(0);
  EXPECT_EQ(t9k.job_priority, 70);
  EXPECT_EQ(t9k.roles, (std::vector<Role>{{"worker", 2}}));
  EXPECT_FALSE(t9k.asks_admission);
}

TEST(GangsFrom, AGangIsWorthWhatItsPodsAreAlsoBelowNothing) {
  Yard yard;
  yard.classes = {object(R"({"metadata": {"name": "cheap"}, "value": -100})"),
                  object(R"({"metadata": {"name": "cheaper"}, "value": -200})")};
  auto with = [&](std::initializer_list<const char*> named) {
    yard.groups = {object(R"({"apiVersion": "scheduler.tensorstack.dev/v1beta1", "kind": "PodGroup",
      "metadata": {"name": "train", "namespace": "ns"}, "spec": {"minMember": 1}})")};
    yard.pods.clear();
    for (const char* name : named) {
      yard.pods.push_back(pod(fmt::format("p{}", yard.pods.size()),
                              R"(, "labels": {"scheduler.tensorstack.dev/group-name": "train"})", kOneCpu));
      kube::ensure_object(yard.pods.back(), {"spec"})["priorityClassName"] = name;
    }
    return yard.snapshot().gangs.at(0).class_priority;
  };
  EXPECT_EQ(with({"cheap", "cheap"}), -100);
  EXPECT_EQ(with({"cheaper", "cheap"}), -100) << "the highest of them";
  EXPECT_EQ(with({"cheap", ""}), 0) << "a pod without a class";
  EXPECT_EQ(with({}), 0);
}

TEST(GangsFrom, AVolcanoGangThatNeedsFewerThanItsRolesTakesAnyOfItsPods) {
  Yard yard;
  yard.groups = {object(R"({"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup",
    "metadata": {"name": "train", "namespace": "ns"},
    "spec": {"minMember": 2, "minTaskMember": {"ps": 1, "worker": 2}}})")};
  const Gang gang = yard.snapshot().gangs.at(0);
  EXPECT_EQ(gang.min_member, 2);
  for (const Role& role : gang.roles) EXPECT_EQ(role.min, 0) << role.name;
}

TEST(GangsFrom, PodsAndTheirStates) {
  Yard yard;
  yard.nodes = {
      object(R"({"metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "8", "pods": "9"}}})")};
  yard.options.schedulers = {"trainyard"};
  auto one = [&](std::string_view name, std::string_view more, std::string_view meta = "",
                 std::string_view status = "{}") {
    return pod(name, meta, fmt::format(R"({{"containers": [], {} }})", more), status);
  };
  yard.pods = {
      one("waits", R"("schedulerName": "trainyard")"),
      one("placed", R"("schedulerName": "trainyard", "nodeName": "n")"),
      one("assumed", R"("schedulerName": "trainyard")"),
      one("gated", R"("schedulerName": "trainyard", "schedulingGates": [{"name": "g"}])"),
      one("leaving", R"("schedulerName": "trainyard", "nodeName": "n")",
          R"(, "deletionTimestamp": "2023-11-14T22:13:20Z")",
          R"({"conditions": [{"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}]})"),
      one("ended", R"("schedulerName": "trainyard", "nodeName": "n")", "", R"({"phase": "Succeeded"})"),
      one("foreign", R"("schedulerName": "other", "nodeName": "n")"),
      one("foreign-waits", R"("schedulerName": "other")"),
  };
  yard.extra.assumed = {{"uid-assumed", "n"}};
  Snapshot snapshot = yard.snapshot();
  std::map<std::string, MemberState> states;
  for (const Gang& gang : snapshot.gangs) states[gang.name] = gang.members.at(0).state;
  std::map<std::string, MemberState> wanted = {{"waits", MemberState::kWaiting},
                                               {"placed", MemberState::kPlaced},
                                               {"assumed", MemberState::kPlaced},
                                               {"gated", MemberState::kGated},
                                               {"leaving", MemberState::kLeaving}};
  EXPECT_EQ(states, wanted);
  EXPECT_EQ(snapshot.cluster.others.size(), 1u);
  for (const Gang& gang : snapshot.gangs) EXPECT_EQ(gang.members[0].evicted, gang.name == "leaving");
}

TEST(GangsFrom, QueuesOfBothGroups) {
  Yard yard;
  yard.queues = {
      object(R"({"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "q"},
        "spec": {"weight": 3, "capability": {"cpu": "4"}, "guarantee": {"resource": {"cpu": "1"}}, "reclaimable": false},
        "status": {"state": "Closed"}})"),
      object(R"({"apiVersion": "scheduler.tensorstack.dev/v1beta1", "kind": "Queue",
        "metadata": {"name": "q", "namespace": "t9k-system"},
        "spec": {"priority": 5, "quota": {"requests": {"nvidia.com/gpu": 8}}, "preemptible": true,
                 "nodeSelector": {"matchLabels": {"zone": "a"}}, "namespaceSelector": {"matchLabels": {"team": "x"}}}})")};
  yard.namespaces = {object(R"({"metadata": {"name": "mine", "labels": {"team": "x"}}})"),
                     object(R"({"metadata": {"name": "other"}})")};
  yard.groups = {object(R"({"apiVersion": "scheduler.tensorstack.dev/v1beta1", "kind": "PodGroup",
    "metadata": {"name": "train", "namespace": "ns"}, "spec": {"minMember": 1, "queue": "q"}})")};
  Snapshot snapshot = yard.snapshot();
  const std::vector<Queue>& queues = snapshot.cluster.queues;
  ASSERT_EQ(queues.size(), 3u) << "and the default one";
  EXPECT_EQ(queues[0].weight, 3);
  EXPECT_TRUE(queues[0].closed);
  EXPECT_FALSE(queues[0].preemptible);
  EXPECT_EQ(queues[0].capacity[kCpu], 4000);
  EXPECT_EQ(queues[0].guarantee[kCpu], 1000);
  EXPECT_EQ(queues[1].name, "scheduler.tensorstack.dev/q");
  EXPECT_EQ(queues[1].priority, 5);
  EXPECT_EQ(queues[1].capacity.back(), 8);
  EXPECT_EQ(requirements_text(queues[1].node_selector), "zone=a");
  EXPECT_EQ(queues[1].namespaces, std::vector<std::string>{"mine"});
  EXPECT_EQ(queues[2].name, "default");
  EXPECT_EQ(snapshot.gangs.at(0).queue, "scheduler.tensorstack.dev/q");
}

TEST(GangsFrom, AQuotaOfNothingIsAQuota) {
  Yard yard;
  yard.queues = {
      object(
          R"({"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "theirs"},
        "spec": {"capability": {"cpu": "0", "memory": 0, "nvidia.com/gpu": "0"}}})"),
      object(R"({"apiVersion": "scheduler.tensorstack.dev/v1beta1", "kind": "Queue",
        "metadata": {"name": "t9k", "namespace": "t9k-system"},
        "spec": {"quota": {"requests": {"cpu": "0", "nvidia.com/gpu": 0}}}})")};
  Snapshot snapshot = yard.snapshot();
  const std::vector<Queue>& queues = snapshot.cluster.queues;
  const int gpus = static_cast<int>(snapshot.cluster.resources.size()) - 1;
  EXPECT_EQ(most_of(queues.at(0), kCpu), std::nullopt) << "Volcano reads it so";
  EXPECT_EQ(most_of(queues[0], kMemory), std::nullopt);
  EXPECT_EQ(most_of(queues[0], gpus), 0);
  EXPECT_EQ(most_of(queues.at(1), kCpu), 0);
  EXPECT_EQ(most_of(queues[1], kMemory), std::nullopt) << "nothing is said of it";
  EXPECT_EQ(most_of(queues[1], gpus), 0);
}

TEST(GangsFrom, NodesAndVolumes) {
  NodeSeen seen = see_node(object(R"({"metadata": {"name": "n", "labels": {"zone": "a"}},
    "spec": {"unschedulable": true, "taints": [{"key": "k", "value": "v", "effect": "NoExecute"}]},
    "status": {"allocatable": {"cpu": "1500m", "memory": "1Ki", "pods": "7"},
               "conditions": [{"type": "Ready", "status": "Unknown"}]}})"));
  EXPECT_EQ(seen.offered, (std::map<std::string, int64_t>{{"cpu", 1500}, {"memory", 1024}, {"pods", 7}}));
  EXPECT_EQ(seen.node.taints, (std::vector<Taint>{{"k", "v", TaintEffect::kNoExecute}}));
  EXPECT_TRUE(seen.node.cordoned);
  EXPECT_FALSE(seen.node.ready);

  Yard yard;
  yard.pods = {
      pod("p", "", R"({"containers": [], "volumes": [{"persistentVolumeClaim": {"claimName": "data"}}]})")};
  yard.volumes.nodes = {{"ns/data", {"n2"}}};
  yard.nodes = {object(R"({"metadata": {"name": "n1"}})"), object(R"({"metadata": {"name": "n2"}})")};
  Snapshot snapshot = yard.snapshot();
  Decisions decisions = schedule(snapshot.cluster, snapshot.gangs, {}, kNow);
  ASSERT_EQ(decisions.bindings.size(), 1u);
  EXPECT_EQ(decisions.bindings[0].node, "n2");
}

// Beside another scheduler: its groups are left alone, and so are those that nobody's pods name.
TEST(GangsFrom, GroupsOfOtherSchedulersAreLeftAlone) {
  Yard yard;
  yard.groups = {object(R"({"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup",
    "metadata": {"name": "train", "namespace": "ns"}, "spec": {"minMember": 1}})")};
  EXPECT_EQ(yard.snapshot().gangs.size(), 1u) << "everything is ours";
  yard.options.schedulers = {"trainyard"};
  yard.options.groups = {"scheduling.x-k8s.io"};
  EXPECT_EQ(yard.snapshot().gangs.size(), 0u);
  yard.options.groups = {"scheduling.volcano.sh"};
  EXPECT_EQ(yard.snapshot().gangs.size(), 1u);
  std::string_view named = R"(, "annotations": {"scheduling.k8s.io/group-name": "train"})";
  yard.pods = {pod("w", named, R"({"schedulerName": "volcano", "containers": []})")};
  EXPECT_EQ(yard.snapshot().gangs.size(), 0u) << "its pods are of another";
  yard.pods = {pod("w", named, R"({"schedulerName": "trainyard", "containers": []})")};
  yard.options.groups = {"scheduling.x-k8s.io"};
  EXPECT_EQ(yard.snapshot().gangs.size(), 1u);
}

// One of Volcano's kind for our scheduler, on a cluster where nobody serves Volcano's name: who else would
// let it in?
TEST(GangsFrom, AGroupWithoutPodsMaySayWhoPlacesIt) {
  Yard yard;
  yard.groups = {object(R"({"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup", "metadata":
    {"name": "train", "namespace": "ns", "annotations": {"trainyard.dev/gang-scheduler": "trainyard"}},
    "spec": {"minMember": 1}})")};
  yard.options.schedulers = {"trainyard"};
  yard.options.groups = {""};
  ASSERT_EQ(yard.snapshot().gangs.size(), 1u);
  EXPECT_TRUE(yard.snapshot().gangs[0].asks_admission);
  yard.options.schedulers = {"volcano"};
  yard.options.groups = {"scheduling.volcano.sh"};
  EXPECT_EQ(yard.snapshot().gangs.size(), 0u) << "it is for another, whatever its kind";
  yard.options = {};
  EXPECT_EQ(yard.snapshot().gangs.size(), 1u) << "everything is ours";
}

}  // namespace
}  // namespace trainyard::sched
