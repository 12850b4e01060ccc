#include "deploy/workloads.h"

#include <fmt/format.h>

#include "kube/access.h"
#include "kube/yaml.h"

namespace trainyard::deploy {
namespace {

using kube::jview;

constexpr int kUser = 65532;
// Where API servers listen behind their Service: managed ones, kubeadm and k3s, minikube, MicroK8s. A
// policy is about the port that is reached in the end, not about the Service's.
constexpr int kApiPorts[] = {443, 6443, 8443, 16443};
// Without it a tag of latest means Always, and an image that was loaded on the nodes is in no registry.
constexpr const char* kPullPolicy = "IfNotPresent";

json::object labels_of(const Workload& workload) {
  return {{"app.kubernetes.io/name", "trainyard"}, {"app.kubernetes.io/component", workload.command}};
}

json::object selector_of(const Workload& workload) { return {{"matchLabels", labels_of(workload)}}; }

json::object probe(std::string_view path) {
  return {{"httpGet", json::object{{"path", jview(path)}, {"port", "health"}}}, {"periodSeconds", 10}};
}

std::string_view gang_flag(Gang gang) {
  switch (gang) {
    case Gang::kNone:
    case Gang::kT9k:  // its jobs ask for it themselves
      return "";
    case Gang::kVolcano:
    case Gang::kTrainyard:
      return "volcano";
    case Gang::kKubeBatch:
      return "kube-batch";
    case Gang::kCoscheduling:
      return "scheduler-plugins-scheduler";
  }
  return "";
}

json::object container_of(const Workload& workload, const InstallOptions& options) {
  json::array args{jview(workload.command)};
  for (const std::string& flag : workload.flags) args.emplace_back(flag);
  json::object security{{"allowPrivilegeEscalation", false},
                        {"readOnlyRootFilesystem", true},
                        {"capabilities", json::object{{"drop", {"ALL"}}}}};
  json::object resources{{"requests", json::object{{"cpu", "100m"}, {"memory", "64Mi"}}},
                         {"limits", json::object{{"memory", "512Mi"}}}};
  auto own = [](std::string_view name, std::string_view path) {
    json::object field{{"fieldRef", json::object{{"fieldPath", jview(path)}}}};
    return json::object{{"name", jview(name)}, {"valueFrom", std::move(field)}};
  };
  json::array env{own("POD_NAMESPACE", "metadata.namespace"), own("TRAINYARD_POD", "metadata.name")};
  return {{"name", jview(workload.command)},
          {"image", options.image},
          {"imagePullPolicy", kPullPolicy},
          {"args", std::move(args)},
          {"env", std::move(env)},
          {"ports",
           {json::object{{"name", "metrics"}, {"containerPort", 8080}},
            json::object{{"name", "health"}, {"containerPort", 8081}}}},
          {"livenessProbe", probe("/healthz")},
          {"readinessProbe", probe("/readyz")},
          {"resources", std::move(resources)},
          {"securityContext", std::move(security)}};
}

}  // namespace

Workload operator_workload(const InstallOptions& options) {
  Workload workload{"trainyard-operator", "operator", {}};
  if (options.namespaced) workload.flags.push_back("--namespace=" + options.name_space);
  if (std::string_view name = gang_flag(options.gang); !name.empty()) {
    workload.flags.push_back(fmt::format("--gang-scheduler-name={}", name));
  }
  if (options.volcano_crds) workload.flags.push_back("--own-volcano-jobs");
  return workload;
}

Workload scheduler_workload(const InstallOptions& options) {
  Workload workload{"trainyard-scheduler", "scheduler", {}};
  // In place of the others, whose names the jobs' pods have.
  if (options.gang == Gang::kTrainyard) {
    workload.flags.push_back("--scheduler-name=trainyard,volcano,kube-batch,t9k-scheduler");
  }
  return workload;
}

json::object object_head(std::string_view api_version, std::string_view kind, std::string_view name,
                         std::string_view name_space) {
  json::object metadata{{"name", jview(name)}};
  if (!name_space.empty()) metadata["namespace"] = jview(name_space);
  metadata["labels"] = json::object{{"app.kubernetes.io/name", "trainyard"}};
  return {{"apiVersion", jview(api_version)}, {"kind", jview(kind)}, {"metadata", std::move(metadata)}};
}

json::object deployment_of(const Workload& workload, const InstallOptions& options) {
  json::object pod{
      {"serviceAccountName", workload.name},
      {"securityContext", json::object{{"runAsNonRoot", true},
                                       {"runAsUser", kUser},
                                       {"runAsGroup", kUser},
                                       {"seccompProfile", json::object{{"type", "RuntimeDefault"}}}}},
      {"terminationGracePeriodSeconds", 30},
      {"containers", json::array{container_of(workload, options)}},
      {"topologySpreadConstraints", json::array{json::object{{"maxSkew", 1},
                                                             {"topologyKey", "kubernetes.io/hostname"},
                                                             {"whenUnsatisfiable", "ScheduleAnyway"},
                                                             {"labelSelector", selector_of(workload)}}}}};
  json::object deployment = object_head("apps/v1", "Deployment", workload.name, options.name_space);
  deployment["spec"] = json::object{
      {"replicas", 2},  // one leads, the other waits to
      {"selector", selector_of(workload)},
      {"template",
       json::object{{"metadata", json::object{{"labels", labels_of(workload)}}}, {"spec", std::move(pod)}}}};
  return deployment;
}

json::object metrics_service_of(const Workload& workload, const InstallOptions& options) {
  json::object service = object_head("v1", "Service", workload.name, options.name_space);
  service["metadata"].as_object()["annotations"] =
      json::object{{"prometheus.io/scrape", "true"}, {"prometheus.io/port", "8080"}};
  service["spec"] = json::object{
      {"selector", labels_of(workload)},
      {"ports", json::array{json::object{{"name", "metrics"}, {"port", 8080}, {"targetPort", "metrics"}}}}};
  return service;
}

json::object disruption_budget_of(const Workload& workload, const InstallOptions& options) {
  json::object budget = object_head("policy/v1", "PodDisruptionBudget", workload.name, options.name_space);
  budget["spec"] = json::object{{"maxUnavailable", 1}, {"selector", selector_of(workload)}};
  return budget;
}

json::object network_policy_of(const Workload& workload, const InstallOptions& options) {
  json::object policy =
      object_head("networking.k8s.io/v1", "NetworkPolicy", workload.name, options.name_space);
  auto port = [](int number, const char* protocol) {
    return json::object{{"port", number}, {"protocol", protocol}};
  };
  // The API server and the names of the cluster, nothing else.
  json::array out;
  for (int number : kApiPorts) out.push_back(port(number, "TCP"));
  for (int number : options.api_ports) out.push_back(port(number, "TCP"));
  out.push_back(port(53, "TCP"));
  out.push_back(port(53, "UDP"));
  policy["spec"] =
      json::object{{"podSelector", selector_of(workload)},
                   {"policyTypes", {"Ingress", "Egress"}},
                   {"ingress", json::array{json::object{{"ports", {port(8080, "TCP"), port(8081, "TCP")}}}}},
                   {"egress", json::array{json::object{{"ports", std::move(out)}}}}};
  return policy;
}

}  // namespace trainyard::deploy
