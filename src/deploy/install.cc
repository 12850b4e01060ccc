#include "deploy/install.h"

#include <fmt/format.h>

#include "deploy/crds.h"
#include "deploy/permissions.h"
#include "deploy/workloads.h"
#include "kube/access.h"
#include "kube/meta.h"
#include "kube/yaml.h"

namespace trainyard::deploy {
namespace {

using Objects = std::vector<json::object>;

void append(Objects& to, Objects more) {
  for (json::object& each : more) to.push_back(std::move(each));
}

json::array subject_of(const Workload& workload, const InstallOptions& options) {
  return {
      json::object{{"kind", "ServiceAccount"}, {"name", workload.name}, {"namespace", options.name_space}}};
}

// A role with these rules and who has it. In `name_space`, or cluster-wide when that is "".
Objects granted(const std::string& name, const std::string& name_space, json::array rules,
                const Workload& workload, const InstallOptions& options) {
  if (rules.empty()) return {};
  constexpr const char* kApi = "rbac.authorization.k8s.io/v1";
  bool everywhere = name_space.empty();
  const char* kind = everywhere ? "ClusterRole" : "Role";
  json::object role = object_head(kApi, kind, name, name_space);
  role["rules"] = std::move(rules);
  json::object binding =
      object_head(kApi, everywhere ? "ClusterRoleBinding" : "RoleBinding", name, name_space);
  binding["roleRef"] =
      json::object{{"apiGroup", "rbac.authorization.k8s.io"}, {"kind", kind}, {"name", name}};
  binding["subjects"] = subject_of(workload, options);
  return {std::move(role), std::move(binding)};
}

Objects rights_of(const Workload& workload, Program program, const InstallOptions& options) {
  std::vector<Permission> all = permissions(options.volcano_crds);
  Objects objects;
  std::string jobs_in = options.namespaced ? options.name_space : "";
  append(objects, granted(workload.name, jobs_in, rules_for(all, program, Reach::kJobs), workload, options));
  append(objects, granted(workload.name, "", rules_for(all, program, Reach::kCluster), workload, options));
  append(objects, granted(workload.name + "-lease", options.name_space,
                          rules_for(all, program, Reach::kOwnNamespace), workload, options));
  return objects;
}

// What people may do who may edit or view a namespace already: by the roles that every cluster has, and by
// those that Kubeflow gives the members of a profile.
Objects user_roles() {
  Objects roles;
  for (bool edit : {false, true}) {
    json::object role = object_head("rbac.authorization.k8s.io/v1", "ClusterRole",
                                    edit ? "trainyard-edit" : "trainyard-view", "");
    json::object& labels = role["metadata"].as_object()["labels"].as_object();
    for (std::string_view to : {"admin", "edit", "view"}) {
      if (edit && to == "view") continue;
      labels[fmt::format("rbac.authorization.k8s.io/aggregate-to-{}", to)] = "true";
      labels[fmt::format("rbac.authorization.kubeflow.org/aggregate-to-kubeflow-{}", to)] = "true";
    }
    role["rules"] = rules_for_people(edit);
    roles.push_back(std::move(role));
  }
  return roles;
}

Objects account_and_rights(const Workload& workload, Program program, const InstallOptions& options) {
  Objects objects{object_head("v1", "ServiceAccount", workload.name, options.name_space)};
  append(objects, rights_of(workload, program, options));
  return objects;
}

Objects program_objects(const Workload& workload, Program program, const InstallOptions& options) {
  Objects objects = account_and_rights(workload, program, options);
  objects.push_back(metrics_service_of(workload, options));
  objects.push_back(deployment_of(workload, options));
  objects.push_back(disruption_budget_of(workload, options));
  objects.push_back(network_policy_of(workload, options));
  return objects;
}

bool wants_scheduler(const InstallOptions& options) {
  return options.scheduler || options.gang == Gang::kTrainyard;
}

bool wants_volcano_crds(const InstallOptions& options) {
  return options.volcano_crds || options.gang == Gang::kTrainyard;
}

bool wants_kube_batch_crds(const InstallOptions& options) {
  return options.gang == Gang::kKubeBatch || options.gang == Gang::kTrainyard;
}

std::string documents(const Objects& objects) {
  std::vector<json::value> values(objects.begin(), objects.end());
  return kube::to_yaml_documents(values);
}

void add_crd_files(std::map<std::string, std::string>& files, const std::string& folder,
                   const Objects& crds) {
  json::array resources;
  for (const json::object& crd : crds) {
    std::string file = fmt::format("{}_{}.yaml", kube::text_at(crd, {"spec", "group"}),
                                   kube::text_at(crd, {"spec", "names", "plural"}));
    files[fmt::format("{}/{}", folder, file)] = kube::to_yaml(crd);
    resources.emplace_back(file);
  }
  files[folder + "/kustomization.yaml"] =
      kube::to_yaml(json::object{{"apiVersion", "kustomize.config.k8s.io/v1beta1"},
                                 {"kind", "Kustomization"},
                                 {"resources", std::move(resources)}});
}

// The parts of the Helm chart that have no settings in them but the namespace.
void add_chart_files(std::map<std::string, std::string>& files) {
  for (const json::object& crd : own_crds()) {
    files[fmt::format("helm/trainyard/crds/{}.yaml", kube::name_of(crd))] = kube::to_yaml(crd);
  }
  const std::string folder = "helm/trainyard/rights/";
  for (bool namespaced : {false, true}) {
    for (bool volcano : {false, true}) {
      InstallOptions options{.namespaced = namespaced, .volcano_crds = volcano};
      std::string name = std::string("operator") + (namespaced ? "-namespaced" : "") +
                         (volcano ? "-volcano-jobs" : "") + ".yaml";
      files[folder + name] =
          documents(account_and_rights(operator_workload(options), Program::kOperator, options));
    }
  }
  files[folder + "scheduler.yaml"] =
      documents(account_and_rights(scheduler_workload({}), Program::kScheduler, {}));
  files[folder + "users.yaml"] = documents(user_roles());
}

}  // namespace

std::vector<json::object> install_objects(const InstallOptions& options) {
  Objects objects = own_crds();
  if (wants_volcano_crds(options)) append(objects, volcano_crds());
  if (wants_kube_batch_crds(options)) append(objects, kube_batch_crds());
  if (options.crds_only) return objects;
  objects.insert(objects.begin(), object_head("v1", "Namespace", options.name_space, ""));
  append(objects, user_roles());
  append(objects, program_objects(operator_workload(options), Program::kOperator, options));
  if (wants_scheduler(options)) {
    append(objects, program_objects(scheduler_workload(options), Program::kScheduler, options));
  }
  return objects;
}

std::map<std::string, std::string> deploy_files() {
  std::map<std::string, std::string> files;
  add_crd_files(files, "crds", own_crds());
  add_crd_files(files, "volcano-crds", volcano_crds());
  add_crd_files(files, "kube-batch-crds", kube_batch_crds());
  add_chart_files(files);
  InstallOptions options;
  files["base/namespace.yaml"] = kube::to_yaml(object_head("v1", "Namespace", options.name_space, ""));
  files["base/user-roles.yaml"] = documents(user_roles());
  // A kustomization takes no files from other folders.
  files["overlays/namespaced/namespace.yaml"] = files["base/namespace.yaml"];
  files["overlays/namespaced/user-roles.yaml"] = files["base/user-roles.yaml"];
  files["base/operator.yaml"] =
      documents(program_objects(operator_workload(options), Program::kOperator, options));
  files["scheduler/scheduler.yaml"] =
      documents(program_objects(scheduler_workload(options), Program::kScheduler, options));
  options.volcano_crds = true;
  files["overlays/volcano-jobs/rights.yaml"] =
      documents(rights_of(operator_workload(options), Program::kOperator, options));
  options.volcano_crds = false;
  options.namespaced = true;
  files["overlays/namespaced/operator.yaml"] =
      documents(program_objects(operator_workload(options), Program::kOperator, options));
  return files;
}

}  // namespace trainyard::deploy
