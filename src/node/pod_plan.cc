#include "node/pod_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "kube/access.h"
#include "kube/meta.h"
#include "kube/pod_requests.h"
#include "kube/texts.h"

namespace trainyard::node {

using kube::text_at;

namespace {

constexpr std::string_view kGpuResource = "nvidia.com/gpu";

std::optional<kube::Quantity> amount_of(const json::object& container, std::string_view kind,
                                        std::string_view resource) {
  const json::value* value = kube::find(container, {"resources", kind, resource});
  if (value == nullptr) return std::nullopt;
  Result<kube::Quantity> amount = kube::Quantity::from_json(*value);
  if (!amount.ok()) return std::nullopt;
  return *amount;
}

// A request that is not written is the limit.
std::optional<kube::Quantity> request_of(const json::object& container, std::string_view resource) {
  std::optional<kube::Quantity> amount = amount_of(container, "requests", resource);
  return amount ? amount : amount_of(container, "limits", resource);
}

// The container's own setting, else the pod's.
std::optional<int64_t> security_int(const json::object& pod, const json::object& container,
                                    std::string_view key) {
  std::optional<int64_t> own = kube::int_at(container, {"securityContext", key});
  return own ? own : kube::int_at(pod, {"spec", "securityContext", key});
}

// Groups of every process of the pod.
std::vector<int64_t> more_groups_of(const json::object& pod) {
  std::vector<int64_t> groups;
  const json::array* listed = kube::array_at(pod, {"spec", "securityContext", "supplementalGroups"});
  for (size_t i = 0; listed != nullptr && i < listed->size(); ++i) {
    if (std::optional<int64_t> group = kube::as_whole((*listed)[i])) groups.push_back(*group);
  }
  if (std::optional<int64_t> group = fs_group_of(pod)) groups.push_back(*group);
  return groups;
}

Result<Done> take_security(const json::object& pod, const json::object& container, ContainerPlan& plan) {
  plan.run_as_user = security_int(pod, container, "runAsUser");
  plan.run_as_group = security_int(pod, container, "runAsGroup");
  plan.more_groups = more_groups_of(pod);
  plan.read_only_root =
      kube::bool_at(container, {"securityContext", "readOnlyRootFilesystem"}).value_or(false);
  plan.privileged = kube::bool_at(container, {"securityContext", "privileged"}).value_or(false);
  std::optional<bool> non_root = kube::bool_at(container, {"securityContext", "runAsNonRoot"});
  if (!non_root) non_root = kube::bool_at(pod, {"spec", "securityContext", "runAsNonRoot"});
  plan.non_root = non_root.value_or(false);
  if (plan.non_root && plan.run_as_user == 0) {
    return Error{ErrorKind::kInvalid, "container's runAsUser breaks non-root policy"};
  }
  plan.no_new_privileges =
      !kube::bool_at(container, {"securityContext", "allowPrivilegeEscalation"}).value_or(true);
  plan.capabilities = {kube::texts_at(container, {"securityContext", "capabilities", "add"}),
                       kube::texts_at(container, {"securityContext", "capabilities", "drop"})};
  if (std::string unknown = unknown_capability(plan.capabilities); !unknown.empty()) {
    return Error{ErrorKind::kInvalid, fmt::format("there is no capability {}", kube::shown(unknown))};
  }
  return Done{};
}

void add_reference(const json::object* ref, std::string_view key, std::set<std::string>& to) {
  if (ref == nullptr) return;
  std::string_view name = text_at(*ref, {key});
  if (!name.empty()) to.emplace(name);
}

void add_source(const json::object& source, References& references) {
  add_reference(kube::object_at(source, {"configMap"}), "name", references.config_maps);
  const json::object* secret = kube::object_at(source, {"secret"});
  add_reference(secret, "secretName", references.secrets);
  add_reference(secret, "name", references.secrets);
}

void add_env_references(const json::object& container, References& references) {
  for (std::string_view list : {"envFrom", "env"}) {
    const json::array* entries = kube::array_at(container, {list});
    if (entries == nullptr) continue;
    for (const json::value& entry : *entries) {
      if (!entry.is_object()) continue;
      const json::object& each = entry.get_object();
      add_reference(kube::object_at(each, {"configMapRef"}), "name", references.config_maps);
      add_reference(kube::object_at(each, {"secretRef"}), "name", references.secrets);
      add_reference(kube::object_at(each, {"valueFrom", "configMapKeyRef"}), "name", references.config_maps);
      add_reference(kube::object_at(each, {"valueFrom", "secretKeyRef"}), "name", references.secrets);
    }
  }
}

}  // namespace

namespace {

std::vector<const json::object*> containers_in(const json::object& pod, std::string_view list_name) {
  std::vector<const json::object*> out;
  const json::array* list = kube::array_at(pod, {"spec", list_name});
  if (list == nullptr) return out;
  for (const json::value& entry : *list) {
    if (entry.is_object()) out.push_back(&entry.get_object());
  }
  return out;
}

}  // namespace

std::vector<const json::object*> containers_of(const json::object& pod, bool init) {
  return containers_in(pod, init ? "initContainers" : "containers");
}

std::vector<const json::object*> debug_containers_of(const json::object& pod) {
  return containers_in(pod, "ephemeralContainers");
}

const json::object* find_container(const json::object& pod, std::string_view name) {
  for (std::string_view list : {"containers", "initContainers", "ephemeralContainers"}) {
    for (const json::object* container : containers_in(pod, list)) {
      if (text_at(*container, {"name"}) == name) return container;
    }
  }
  return nullptr;
}

bool is_folder_name(std::string_view name) {
  constexpr size_t kNameMax = 253;
  if (name.empty() || name.size() > kNameMax || name == "." || name == "..") return false;
  return std::none_of(name.begin(), name.end(), [](char c) {
    return c == '/' || static_cast<unsigned char>(c) < ' ' || static_cast<unsigned char>(c) == 127;
  });
}

std::string unfit_name(const json::object& pod) {
  std::vector<std::string_view> names{kube::name_of(pod), kube::namespace_of(pod), kube::uid_of(pod)};
  for (bool init : {false, true}) {
    for (const json::object* container : containers_of(pod, init))
      names.push_back(text_at(*container, {"name"}));
  }
  const json::array* volumes = kube::array_at(pod, {"spec", "volumes"});
  for (size_t i = 0; volumes != nullptr && i < volumes->size(); ++i) {
    const json::object* volume = (*volumes)[i].if_object();
    if (volume == nullptr) continue;
    names.push_back(text_at(*volume, {"name"}));
    if (const json::object* claim = kube::object_at(*volume, {"persistentVolumeClaim"})) {
      names.push_back(text_at(*claim, {"claimName"}));
    }
  }
  for (std::string_view name : names) {
    if (!is_folder_name(name)) return name.empty() ? "(empty)" : std::string(name);
  }
  return "";
}

References references_of(const json::object& pod) {
  References references;
  for (bool init : {false, true}) {
    for (const json::object* container : containers_of(pod, init)) add_env_references(*container, references);
  }
  for (const json::object* container : debug_containers_of(pod)) add_env_references(*container, references);
  const json::array* volumes = kube::array_at(pod, {"spec", "volumes"});
  if (volumes == nullptr) return references;
  for (const json::value& entry : *volumes) {
    if (!entry.is_object()) continue;
    add_source(entry.get_object(), references);
    const json::array* sources = kube::array_at(entry.get_object(), {"projected", "sources"});
    if (sources == nullptr) continue;
    for (const json::value& source : *sources) {
      if (source.is_object()) add_source(source.get_object(), references);
    }
  }
  return references;
}

namespace {

std::string hostname_of(const json::object& pod) {
  constexpr size_t kHostnameMax = 63;
  std::string_view hostname = text_at(pod, {"spec", "hostname"});
  return std::string(hostname.empty() ? kube::name_of(pod).substr(0, kHostnameMax) : hostname);
}

}  // namespace

PodPlan plan_pod(const json::object& pod, std::string_view cluster_domain) {
  PodPlan plan;
  plan.uid = kube::uid_of(pod);
  plan.ns = kube::namespace_of(pod);
  plan.name = kube::name_of(pod);
  plan.hostname = hostname_of(pod);
  if (std::string_view subdomain = text_at(pod, {"spec", "subdomain"}); !subdomain.empty()) {
    plan.fqdn = fmt::format("{}.{}.{}.svc.{}", plan.hostname, subdomain, plan.ns, cluster_domain);
  }
  plan.host_network = kube::bool_at(pod, {"spec", "hostNetwork"}).value_or(false);
  if (const json::array* sysctls = kube::array_at(pod, {"spec", "securityContext", "sysctls"})) {
    for (const json::value& entry : *sysctls) {
      if (!entry.is_object()) continue;
      plan.sysctls[std::string(text_at(entry.get_object(), {"name"}))] =
          text_at(entry.get_object(), {"value"});
    }
  }
  return plan;
}

Result<ContainerWish> plan_container(const json::object& pod, const json::object& container,
                                     const Around& around) {
  ContainerWish wish;
  ContainerPlan& plan = wish.plan;
  plan.id = {std::string(kube::uid_of(pod)), std::string(text_at(container, {"name"})), 0};
  if (!is_folder_name(plan.id.container)) return Error{ErrorKind::kInvalid, "a container has no fit name"};
  plan.image = text_at(container, {"image"});
  plan.target = text_at(container, {"targetContainerName"});
  Result<Env> env = plan_env(pod, container, around, &wish.left_out);
  if (!env.ok()) return env.error();
  std::map<std::string, std::string> values(env->begin(), env->end());
  if (!values.contains("HOSTNAME")) plan.env.emplace_back("HOSTNAME", hostname_of(pod));
  plan.env.insert(plan.env.end(), env->begin(), env->end());
  std::vector<std::string> command = kube::texts_at(container, {"command"});
  plan.argv_is_args_only = command.empty();
  for (const std::string& word : command) plan.argv.push_back(expand(word, values));
  for (const std::string& word : kube::texts_at(container, {"args"}))
    plan.argv.push_back(expand(word, values));
  plan.working_dir = text_at(container, {"workingDir"});
  Result<Done> secure = take_security(pod, container, plan);
  if (!secure.ok()) return secure.error();
  if (const json::object* resources = kube::object_at(container, {"resources"}))
    plan.limits = limits_of(*resources);
  plan.tty = kube::bool_at(container, {"tty"}).value_or(false);
  plan.stdin_open = kube::bool_at(container, {"stdin"}).value_or(false);
  wish.gpus = static_cast<int>(request_of(container, kGpuResource).value_or(kube::Quantity()).value());
  wish.termination_path = text_at(container, {"terminationMessagePath"});
  if (wish.termination_path.empty()) wish.termination_path = "/dev/termination-log";
  Result<std::vector<MountWish>> mounts = plan_mounts(container, *env);
  if (!mounts.ok()) return mounts.error();
  wish.mounts = *mounts;
  return wish;
}

Limits limits_of(const json::object& resources) {
  Limits out;
  const json::object holder{{"resources", resources}};
  if (auto cpu = amount_of(holder, "limits", "cpu")) out.cpu_millis = cpu->value_milli();
  if (auto memory = amount_of(holder, "limits", "memory")) out.memory_bytes = memory->value();
  out.cpu_request_millis = request_of(holder, "cpu").value_or(kube::Quantity()).value_milli();
  return out;
}

std::optional<int64_t> fs_group_of(const json::object& pod) {
  return kube::int_at(pod, {"spec", "securityContext", "fsGroup"});
}

Requests requests_of(const json::object& pod) {
  kube::Requests wanted = kube::requests_of_spec(pod);
  return {wanted["cpu"], wanted["memory"], wanted[std::string(kGpuResource)]};
}

std::string lacking(const Requests& wanted, const Requests& used, const Requests& capacity) {
  if (wanted.cpu_millis > 0 && used.cpu_millis + wanted.cpu_millis > capacity.cpu_millis) return "cpu";
  if (wanted.memory_bytes > 0 && used.memory_bytes + wanted.memory_bytes > capacity.memory_bytes) {
    return "memory";
  }
  if (wanted.gpus > 0 && used.gpus + wanted.gpus > capacity.gpus) return std::string(kGpuResource);
  return "";
}

}  // namespace trainyard::node
