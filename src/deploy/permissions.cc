#include "deploy/permissions.h"

#include "kube/access.h"

namespace trainyard::deploy {
namespace {

using Words = std::vector<std::string_view>;

const Words kFollowed = {"list", "watch"};
const Words kKept = {"get", "list", "watch", "create", "update", "delete"};
const Words kPodGroupApis = {"scheduling.volcano.sh", "scheduling.incubator.k8s.io", "scheduling.x-k8s.io",
                             "scheduler.tensorstack.dev"};
// Volcano's have no status of their own.
const Words kPodGroupStatusApis = {"scheduling.incubator.k8s.io", "scheduling.x-k8s.io",
                                   "scheduler.tensorstack.dev"};
const Words kQueueApis = {"scheduling.volcano.sh", "scheduler.tensorstack.dev"};

std::vector<Permission> operator_permissions() {
  constexpr Program kProgram = Program::kOperator;
  return {
      {kProgram,
       Reach::kJobs,
       {"kubeflow.org"},
       {"tfjobs"},
       {"get", "list", "watch", "update", "delete"},
       "jobs are read, get their finalizer, and are deleted when their time to live is over"},
      {kProgram, Reach::kJobs, {"kubeflow.org"}, {"tfjobs/status"}, {"update"}, "what became of a job"},
      {kProgram,
       Reach::kJobs,
       {"kubeflow.org"},
       {"tfjobs/finalizers"},
       {"update"},
       "pods block the deletion of their job where the cluster asks for that right"},
      {kProgram,
       Reach::kJobs,
       {"batch.tensorstack.dev"},
       {"tensorflowtrainingjobs"},
       {"get", "list", "watch", "update"},
       "as for TFJobs, but that they have no time to live"},
      {kProgram,
       Reach::kJobs,
       {"batch.tensorstack.dev"},
       {"tensorflowtrainingjobs/status", "tensorflowtrainingjobs/finalizers"},
       {"update"},
       "as for TFJobs"},
      {kProgram,
       Reach::kJobs,
       {"tensorstack.dev"},
       {"tensorboards"},
       {"get", "list", "watch", "create", "update"},
       "a job may have a TensorBoard, which is looked after as well and goes with the job"},
      {kProgram,
       Reach::kJobs,
       {"tensorstack.dev"},
       {"tensorboards/status", "tensorboards/finalizers"},
       {"update"},
       "what became of a TensorBoard"},
      {kProgram, Reach::kJobs, {""}, {"pods", "services"}, kKept, "the replicas and their names"},
      {kProgram,
       Reach::kJobs,
       kPodGroupApis,
       {"podgroups"},
       kKept,
       "gangs, for the scheduler that places them"},
      {kProgram, Reach::kJobs, {""}, {"events"}, {"create", "patch"}, "what happened, for kubectl describe"},
      {kProgram,
       Reach::kOwnNamespace,
       {"coordination.k8s.io"},
       {"leases"},
       {"get", "create", "update"},
       "one of several copies leads"},
  };
}

std::vector<Permission> volcano_permissions() {
  constexpr Program kProgram = Program::kOperator;
  return {
      {kProgram,
       Reach::kJobs,
       {"batch.volcano.sh"},
       {"jobs"},
       {"get", "list", "watch", "update", "delete"},
       "Volcano's jobs, where Volcano itself is not"},
      {kProgram,
       Reach::kJobs,
       {"batch.volcano.sh"},
       {"jobs/status", "jobs/finalizers"},
       {"update"},
       "as for TFJobs"},
      {kProgram,
       Reach::kJobs,
       {"bus.volcano.sh"},
       {"commands"},
       {"get", "list", "watch", "delete"},
       "what vcctl asks of a job; a command is taken by deleting it"},
      {kProgram,
       Reach::kJobs,
       {""},
       {"configmaps", "secrets", "persistentvolumeclaims"},
       kKept,
       "the plugins svc and ssh, and claims of volumes"},
      {kProgram, Reach::kJobs, {"networking.k8s.io"}, {"networkpolicies"}, kKept, "the plugin svc"},
  };
}

std::vector<Permission> scheduler_permissions() {
  constexpr Program kProgram = Program::kScheduler;
  return {
      {kProgram,
       Reach::kCluster,
       {""},
       {"pods"},
       {"get", "list", "watch", "delete"},
       "what waits and what runs; lesser pods make room"},
      {kProgram, Reach::kCluster, {""}, {"bindings"}, {"create"}, "a pod gets its node"},
      {kProgram, Reach::kCluster, {""}, {"pods/status"}, {"patch"}, "why a pod waits"},
      {kProgram,
       Reach::kCluster,
       {""},
       {"nodes", "namespaces", "persistentvolumeclaims", "persistentvolumes"},
       kFollowed,
       "where there is room, and for whom"},
      {kProgram,
       Reach::kCluster,
       {""},
       {"persistentvolumeclaims", "persistentvolumes"},
       {"patch"},
       "a volume that is made for its first pod is told the node, one that was made before its claim"},
      {kProgram,
       Reach::kCluster,
       {"storage.k8s.io"},
       {"storageclasses", "csidrivers", "csistoragecapacities"},
       kFollowed,
       "which volumes are made, when, and where there is room for them"},
      {kProgram, Reach::kCluster, {"scheduling.k8s.io"}, {"priorityclasses"}, kFollowed, "who goes first"},
      {kProgram, Reach::kCluster, kPodGroupApis, {"podgroups"}, kFollowed, "gangs"},
      {kProgram, Reach::kCluster, {"scheduling.volcano.sh"}, {"podgroups"}, {"patch"}, "how they are doing"},
      {kProgram, Reach::kCluster, kPodGroupStatusApis, {"podgroups/status"}, {"patch"}, "how they are doing"},
      {kProgram, Reach::kCluster, kQueueApis, {"queues"}, kFollowed, "the lines that gangs wait in"},
      {kProgram, Reach::kCluster, kQueueApis, {"queues/status"}, {"patch"}, "how long they are"},
      {kProgram,
       Reach::kCluster,
       {""},
       {"events"},
       {"create", "patch"},
       "what happened, for kubectl describe"},
      {kProgram,
       Reach::kOwnNamespace,
       {"coordination.k8s.io"},
       {"leases"},
       {"get", "create", "update"},
       "one of several copies leads"},
  };
}

json::array texts_of(const Words& words) {
  json::array out;
  for (std::string_view word : words) out.emplace_back(kube::jview(word));
  return out;
}

}  // namespace

std::vector<Permission> permissions(bool own_volcano_jobs) {
  std::vector<Permission> all = operator_permissions();
  auto add = [&all](std::vector<Permission> more) { all.insert(all.end(), more.begin(), more.end()); };
  if (own_volcano_jobs) add(volcano_permissions());
  add(scheduler_permissions());
  return all;
}

json::array rules_for(const std::vector<Permission>& permissions, Program program, Reach reach) {
  json::array rules;
  for (const Permission& each : permissions) {
    if (each.program != program || each.reach != reach) continue;
    rules.push_back(json::object{{"apiGroups", texts_of(each.groups)},
                                 {"resources", texts_of(each.resources)},
                                 {"verbs", texts_of(each.verbs)}});
  }
  return rules;
}

json::array rules_for_people(bool edit) {
  const Words verbs =
      edit ? Words{"create", "delete", "deletecollection", "patch", "update"} : Words{"get", "list", "watch"};
  json::array rules;
  auto add = [&](const Words& groups, const Words& resources) {
    rules.push_back(json::object{
        {"apiGroups", texts_of(groups)}, {"resources", texts_of(resources)}, {"verbs", texts_of(verbs)}});
  };
  add({"kubeflow.org"},
      edit ? Words{"tfjobs", "tfjobs/scale"} : Words{"tfjobs", "tfjobs/scale", "tfjobs/status"});
  add({"batch.tensorstack.dev"}, {"tensorflowtrainingjobs"});
  add({"tensorstack.dev"}, {"tensorboards"});
  add(kPodGroupApis, {"podgroups"});
  if (!edit) add(kQueueApis, {"queues"});
  return rules;
}

}  // namespace trainyard::deploy
