// What is served without any CRD, as one table.
#include <algorithm>

#include "base/check.h"
#include "server/registry.h"

namespace trainyard::server {
namespace {

struct Row {
  std::string_view group;
  std::string_view version;
  std::string_view kind;
  std::string_view plural;
  bool namespaced;
  std::string_view short_names = "";
  std::string_view categories = "";
  std::string_view subresources = "";
};

constexpr bool kNs = true;
constexpr bool kCluster = false;

constexpr Row kBuiltIn[] = {
    {"", "v1", "Pod", "pods", kNs, "po", "all",
     "attach binding ephemeralcontainers eviction exec log portforward proxy resize status"},
    {"", "v1", "Service", "services", kNs, "svc", "all", "proxy status"},
    {"", "v1", "Namespace", "namespaces", kCluster, "ns", "", "finalize status"},
    {"", "v1", "Node", "nodes", kCluster, "no", "", "status"},
    {"", "v1", "ConfigMap", "configmaps", kNs, "cm"},
    {"", "v1", "Secret", "secrets", kNs},
    {"", "v1", "Event", "events", kNs, "ev"},
    {"", "v1", "Endpoints", "endpoints", kNs, "ep"},
    {"", "v1", "ServiceAccount", "serviceaccounts", kNs, "sa", "", "token"},
    {"", "v1", "ResourceQuota", "resourcequotas", kNs, "quota", "", "status"},
    {"", "v1", "LimitRange", "limitranges", kNs, "limits"},
    {"", "v1", "PersistentVolumeClaim", "persistentvolumeclaims", kNs, "pvc", "", "status"},
    {"", "v1", "PersistentVolume", "persistentvolumes", kCluster, "pv", "", "status"},
    {"events.k8s.io", "v1", "Event", "events", kNs, "ev"},
    {"apps", "v1", "Deployment", "deployments", kNs, "deploy", "all", "scale status"},
    {"apps", "v1", "ReplicaSet", "replicasets", kNs, "rs", "all", "scale status"},
    {"apps", "v1", "StatefulSet", "statefulsets", kNs, "sts", "all", "scale status"},
    {"apps", "v1", "DaemonSet", "daemonsets", kNs, "ds", "all", "status"},
    {"batch", "v1", "Job", "jobs", kNs, "", "all", "status"},
    {"batch", "v1", "CronJob", "cronjobs", kNs, "cj", "all", "status"},
    {"coordination.k8s.io", "v1", "Lease", "leases", kNs},
    {"apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions", kCluster,
     "crd crds", "api-extensions", "status"},
    {"scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses", kCluster, "pc"},
    {"discovery.k8s.io", "v1", "EndpointSlice", "endpointslices", kNs},
    {"policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets", kNs, "pdb", "", "status"},
    {"networking.k8s.io", "v1", "NetworkPolicy", "networkpolicies", kNs, "netpol"},
    {"rbac.authorization.k8s.io", "v1", "Role", "roles", kNs},
    {"rbac.authorization.k8s.io", "v1", "RoleBinding", "rolebindings", kNs},
    {"rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles", kCluster},
    {"rbac.authorization.k8s.io", "v1", "ClusterRoleBinding", "clusterrolebindings", kCluster},
};

constexpr Row kReviews[] = {
    {"authorization.k8s.io", "v1", "SelfSubjectAccessReview", "selfsubjectaccessreviews", kCluster},
    {"authorization.k8s.io", "v1", "SelfSubjectRulesReview", "selfsubjectrulesreviews", kCluster},
    {"authorization.k8s.io", "v1", "SubjectAccessReview", "subjectaccessreviews", kCluster},
    {"authorization.k8s.io", "v1", "LocalSubjectAccessReview", "localsubjectaccessreviews", kNs},
    {"authentication.k8s.io", "v1", "SelfSubjectReview", "selfsubjectreviews", kCluster},
    {"authentication.k8s.io", "v1", "TokenReview", "tokenreviews", kCluster},
    {"", "v1", "Binding", "bindings", kNs},  // names its pod; the same as POST pods/NAME/binding
};

constexpr Row kMetrics[] = {
    {"metrics.k8s.io", "v1", "NodeMetrics", "nodes", kCluster},
    {"metrics.k8s.io", "v1", "PodMetrics", "pods", kNs},
    {"metrics.k8s.io", "v1beta1", "NodeMetrics", "nodes", kCluster},
    {"metrics.k8s.io", "v1beta1", "PodMetrics", "pods", kNs},
};

constexpr Row kJobKinds[] = {
    {"kubeflow.org", "v1", "TFJob", "tfjobs", kNs, "", "all", "scale status"},
    {"batch.tensorstack.dev", "v1beta1", "TensorFlowTrainingJob", "tensorflowtrainingjobs", kNs, "tj", "all",
     "scale status"},
    {"batch.volcano.sh", "v1alpha1", "Job", "jobs", kNs, "vcjob vj", "all", "scale status"},
    {"bus.volcano.sh", "v1alpha1", "Command", "commands", kNs},
    {"scheduling.volcano.sh", "v1beta1", "PodGroup", "podgroups", kNs, "pg podgroup-v1beta1"},
    {"scheduling.volcano.sh", "v1beta1", "Queue", "queues", kCluster, "q queue-v1beta1", "", "status"},
    {"scheduling.incubator.k8s.io", "v1alpha1", "PodGroup", "podgroups", kNs, "", "", "status"},
    {"scheduling.x-k8s.io", "v1alpha1", "PodGroup", "podgroups", kNs, "pg pgs", "", "status"},
    {"scheduler.tensorstack.dev", "v1beta1", "PodGroup", "podgroups", kNs, "", "", "status"},
    {"scheduler.tensorstack.dev", "v1beta1", "Queue", "queues", kNs, "q", "", "status"},
    {"tensorstack.dev", "v1beta1", "TensorBoard", "tensorboards", kNs, "tb", "all", "status"},
};

// Older versions of TFJob, stored as v1: what was written for them reads the same there.
constexpr std::string_view kOldTfJobs[] = {"v1beta2", "v1beta1", "v1alpha2"};

struct ColumnRow {
  std::string_view group;
  std::string_view kind;
  std::string_view name;
  std::string_view type;
  std::string_view json_path;
  int priority = 0;
};

constexpr std::string_view kBorn = ".metadata.creationTimestamp";

constexpr ColumnRow kColumns[] = {
    {"kubeflow.org", "TFJob", "State", "string", ".status.conditions[-1:].type"},
    {"kubeflow.org", "TFJob", "Age", "date", kBorn},
    {"batch.tensorstack.dev", "TensorFlowTrainingJob", "Phase", "string", ".status.phase"},
    {"batch.tensorstack.dev", "TensorFlowTrainingJob", "Running", "integer", ".status.aggregate.running", 1},
    {"batch.tensorstack.dev", "TensorFlowTrainingJob", "Restarts", "integer", ".status.backoffCount", 1},
    {"batch.tensorstack.dev", "TensorFlowTrainingJob", "Age", "date", kBorn},
    {"batch.volcano.sh", "Job", "STATUS", "string", ".status.state.phase"},
    {"batch.volcano.sh", "Job", "minAvailable", "integer", ".status.minAvailable"},
    {"batch.volcano.sh", "Job", "RUNNINGS", "integer", ".status.running"},
    {"batch.volcano.sh", "Job", "AGE", "date", kBorn},
    {"batch.volcano.sh", "Job", "QUEUE", "string", ".spec.queue", 1},
    {"bus.volcano.sh", "Command", "Action", "string", ".action"},
    {"bus.volcano.sh", "Command", "Target", "string", ".target.name"},
    {"bus.volcano.sh", "Command", "Age", "date", kBorn},
    {"scheduling.volcano.sh", "PodGroup", "STATUS", "string", ".status.phase"},
    {"scheduling.volcano.sh", "PodGroup", "minMember", "integer", ".spec.minMember"},
    {"scheduling.volcano.sh", "PodGroup", "RUNNINGS", "integer", ".status.running"},
    {"scheduling.volcano.sh", "PodGroup", "AGE", "date", kBorn},
    {"scheduling.volcano.sh", "PodGroup", "QUEUE", "string", ".spec.queue", 1},
    {"scheduling.volcano.sh", "Queue", "STATE", "string", ".status.state"},
    {"scheduling.volcano.sh", "Queue", "WEIGHT", "integer", ".spec.weight"},
    {"scheduling.volcano.sh", "Queue", "AGE", "date", kBorn},
    {"scheduling.volcano.sh", "Queue", "PARENT", "string", ".spec.parent", 1},
    {"scheduling.incubator.k8s.io", "PodGroup", "Phase", "string", ".status.phase"},
    {"scheduling.incubator.k8s.io", "PodGroup", "MinMember", "integer", ".spec.minMember"},
    {"scheduling.incubator.k8s.io", "PodGroup", "Age", "date", kBorn},
    {"scheduling.x-k8s.io", "PodGroup", "Phase", "string", ".status.phase"},
    {"scheduling.x-k8s.io", "PodGroup", "MinMember", "integer", ".spec.minMember"},
    {"scheduling.x-k8s.io", "PodGroup", "Running", "integer", ".status.running"},
    {"scheduling.x-k8s.io", "PodGroup", "Succeeded", "integer", ".status.succeeded"},
    {"scheduling.x-k8s.io", "PodGroup", "Failed", "integer", ".status.failed"},
    {"scheduling.x-k8s.io", "PodGroup", "Age", "date", kBorn},
    {"scheduler.tensorstack.dev", "PodGroup", "MinMember", "integer", ".spec.minMember"},
    {"scheduler.tensorstack.dev", "PodGroup", "Running", "integer", ".status.running"},
    {"scheduler.tensorstack.dev", "PodGroup", "Age", "date", kBorn},
    {"scheduler.tensorstack.dev", "PodGroup", "Queue", "string", ".spec.queue", 1},
    {"scheduler.tensorstack.dev", "Queue", "Priority", "integer", ".spec.priority"},
    {"scheduler.tensorstack.dev", "Queue", "Age", "date", kBorn},
    {"tensorstack.dev", "TensorBoard", "Phase", "string", ".status.phase"},
    {"tensorstack.dev", "TensorBoard", "Age", "date", kBorn},
};

struct SubresourceRow {
  std::string_view name;
  std::string_view kind;  // "": its parent's
  std::string_view verbs;
  std::string_view group = "";
  std::string_view version = "";
};

constexpr SubresourceRow kSubresources[] = {
    {"status", "", "get patch update"},
    {"scale", "Scale", "get patch update", "autoscaling", "v1"},
    {"log", "", "get"},
    {"exec", "PodExecOptions", "create get"},
    {"attach", "PodAttachOptions", "create get"},
    {"portforward", "PodPortForwardOptions", "create get"},
    {"proxy", "", "create delete get patch update"},
    {"binding", "Binding", "create"},
    {"eviction", "Eviction", "create", "policy", "v1"},
    {"ephemeralcontainers", "", "get patch update"},
    {"resize", "", "get patch update"},
    {"finalize", "", "update"},
    {"token", "TokenRequest", "create", "authentication.k8s.io", "v1"},
};

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    size_t end = std::min(text.find(' '), text.size());
    if (end > 0) words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

std::unique_ptr<ApiResource> entry_of(const Row& row) {
  std::unique_ptr<ApiResource> entry =
      make_entry(row.group, row.version, row.kind, row.plural, row.namespaced);
  entry->short_names = words_of(row.short_names);
  entry->categories = words_of(row.categories);
  for (const std::string& name : words_of(row.subresources)) {
    entry->subresources.push_back(standard_subresource(name, row.kind));
  }
  entry->resource.has_status = entry->subresource("status") != nullptr;
  entry->storage.has_status = entry->resource.has_status;
  for (const ColumnRow& column : kColumns) {
    if (column.group != row.group || column.kind != row.kind) continue;
    entry->columns.push_back(PrinterColumn{std::string(column.name), std::string(column.type),
                                           std::string(column.json_path), column.priority, "", ""});
  }
  return entry;
}

}  // namespace

std::unique_ptr<ApiResource> make_entry(std::string_view group, std::string_view version,
                                        std::string_view kind, std::string_view plural, bool namespaced) {
  auto entry = std::make_unique<ApiResource>();
  std::string_view names[] = {group, version, kind, plural, version};
  for (size_t i = 0; i < std::size(names); ++i) entry->text[i] = names[i];
  entry->resource =
      kube::Resource{entry->text[0], entry->text[1], entry->text[2], entry->text[3], namespaced, false};
  entry->storage = entry->resource;
  entry->singular = kind;
  for (char& c : entry->singular) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  entry->list_kind = entry->text[2] + "List";
  entry->verbs = words_of("create delete deletecollection get list patch update watch");
  return entry;
}

Subresource standard_subresource(std::string_view name, std::string_view parent_kind) {
  for (const SubresourceRow& row : kSubresources) {
    if (row.name != name) continue;
    std::string kind(row.kind.empty() ? parent_kind : row.kind);
    if (name == "proxy") kind += "ProxyOptions";
    return Subresource{std::string(name), kind, words_of(row.verbs), std::string(row.group),
                       std::string(row.version)};
  }
  CHECK(!"a subresource that is not in the table");
  return {};
}

std::vector<std::unique_ptr<ApiResource>> built_in_resources() {
  std::vector<std::unique_ptr<ApiResource>> all;
  for (const Row& row : kBuiltIn) {
    all.push_back(entry_of(row));
    all.back()->built_in = true;
    // Both kinds of events are the same objects.
    if (row.kind == "Event") all.back()->storage = kube::kEvents;
  }
  for (const Row& row : kReviews) {
    all.push_back(entry_of(row));
    all.back()->built_in = true;
    all.back()->backing = Backing::kReview;
    all.back()->verbs = {"create"};
  }
  for (const Row& row : kMetrics) {
    all.push_back(entry_of(row));
    all.back()->singular = "";
    all.back()->backing = Backing::kMetrics;
    all.back()->verbs = {"get", "list"};
  }
  for (const Row& row : kJobKinds) all.push_back(entry_of(row));
  for (std::string_view version : kOldTfJobs) {
    Row row = kJobKinds[0];
    row.version = version;
    all.push_back(entry_of(row));
    all.back()->storage = kube::kTfJobs;
  }
  return all;
}

}  // namespace trainyard::server
