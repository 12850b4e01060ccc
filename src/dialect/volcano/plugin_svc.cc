#include "dialect/volcano/plugin_svc.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/hash.h"
#include "dialect/volcano/containers.h"
#include "dialect/volcano/hosts.h"
#include "dialect/volcano/keys.h"
#include "kube/access.h"
#include "kube/meta.h"
#include "kube/objects.h"

namespace trainyard::dialect::vc {
namespace {

using model::CompanionKind;

constexpr std::string_view kMountPath = "/etc/volcano";

std::string hosts_name(const Spec& spec) { return spec.name + "-svc"; }

std::string file_stem(const Task& task) {
  std::string stem = task.name;
  std::replace(stem.begin(), stem.end(), '-', '_');
  return stem;
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  return text;
}

std::string hosts_key(const Task& task) { return fmt::format("VC_{}_HOSTS", upper(file_stem(task))); }
std::string number_key(const Task& task) { return fmt::format("VC_{}_NUM", upper(file_stem(task))); }

kube::NewMeta meta_of(const Spec& spec, std::string name, const json::object& owner) {
  kube::NewMeta meta{.name = std::move(name), .ns = spec.name_space};
  if (!owner.empty()) meta.owner = owner;
  return meta;
}

kube::Pairs job_labels(const Spec& spec) {
  return {{std::string(kJobName), spec.name}, {std::string(kJobNamespace), namespace_label(spec)}};
}

model::Companion companion(CompanionKind kind, std::string name, const json::object& body) {
  return {.kind = kind, .name = std::move(name), .digest = fnv1a(json::serialize(body))};
}

}  // namespace

void apply(const SvcPlugin& plugin, const Spec& spec, json::object& pod) {
  json::object& pod_spec = kube::ensure_object(pod, {"spec"});
  if (kube::text_at(pod_spec, {"hostname"}).empty()) pod_spec["hostname"] = kube::jview(kube::name_of(pod));
  if (kube::text_at(pod_spec, {"subdomain"}).empty()) pod_spec["subdomain"] = spec.name;
  std::string name = hosts_name(spec);
  if (plugin.hosts_in_env) {
    for (const Task& task : spec.tasks) {
      for (const std::string& key : {hosts_key(task), number_key(task)}) {
        json::object source;
        source["configMapKeyRef"] = {{"name", name}, {"key", key}};
        add_env(pod, {{"name", key}, {"valueFrom", std::move(source)}}, Containers::kAll);
      }
    }
  }
  json::object volume;
  volume["name"] = name;
  volume["configMap"] = {{"name", name}};
  add_volume(pod, std::move(volume));
  add_mount(pod, {{"name", name}, {"mountPath", kube::jview(kMountPath)}}, Containers::kAll);
}

std::vector<model::Companion> svc_companions(const SvcPlugin& plugin, const Spec& spec) {
  std::vector<model::Companion> all;
  all.push_back(companion(CompanionKind::kService, spec.name, render_job_service(plugin, spec, {})));
  all.push_back(companion(CompanionKind::kConfigMap, hosts_name(spec), render_hosts(spec, {})));
  if (plugin.network_policy) {
    all.push_back(companion(CompanionKind::kNetworkPolicy, spec.name, render_job_network_policy(spec, {})));
  }
  return all;
}

json::object render_hosts(const Spec& spec, const json::object& owner) {
  kube::Pairs data;
  for (const Task& task : spec.tasks) {
    std::vector<std::string> hosts = hosts_of(spec, task);
    data.emplace_back(file_stem(task) + ".host", fmt::format("{}", fmt::join(hosts, "\n")));
    data.emplace_back(hosts_key(task), fmt::format("{}", fmt::join(hosts, ",")));
    data.emplace_back(number_key(task), fmt::to_string(hosts.size()));
  }
  return kube::config_map(meta_of(spec, hosts_name(spec), owner), data);
}

json::object render_job_service(const SvcPlugin& plugin, const Spec& spec, const json::object& owner) {
  return kube::headless_service(meta_of(spec, spec.name, owner), job_labels(spec), {},
                                plugin.publish_not_ready);
}

json::object render_job_network_policy(const Spec& spec, const json::object& owner) {
  return kube::same_labels_network_policy(meta_of(spec, spec.name, owner), job_labels(spec));
}

}  // namespace trainyard::dialect::vc
