#include "dialect/t9k/cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "dialect/shared/pod_template.h"
#include "dialect/t9k/decode.h"
#include "kube/access.h"

namespace trainyard::t9k {
namespace {

constexpr int kPortDefault = 2222;
constexpr std::string_view kPortName = "tfjob-port";
const json::object kNothing;

struct DeclaredPort {
  std::string name;
  int number = 0;
  std::string protocol;
};

std::vector<DeclaredPort> declared_ports(const json::object& pod_template) {
  std::vector<DeclaredPort> all;
  const json::object* container = dialect::main_container(pod_template, kMainContainer);
  const json::array* list = container ? kube::array_at(*container, {"ports"}) : nullptr;
  if (list == nullptr) return all;
  for (const json::value& entry : *list) {
    const json::object* port = entry.if_object();
    if (port == nullptr) continue;
    int64_t number = kube::int_at(*port, {"containerPort"}).value_or(0);
    if (number < 1 || number > 65535) continue;
    all.push_back({std::string(kube::text_at(*port, {"name"})), static_cast<int>(number),
                   std::string(kube::text_at(*port, {"protocol"}))});
  }
  return all;
}

std::string host_of(const model::JobSpec& spec, const dialect::Settings& settings, model::ReplicaId id) {
  std::string_view name_space = spec.name_space.empty() ? "default" : std::string_view(spec.name_space);
  std::string host = fmt::format("{}.{}.svc", spec.pod_name(id), name_space);
  if (!settings.cluster_domain.empty()) host += "." + settings.cluster_domain;
  return host;
}

}  // namespace

const json::object& template_of(const model::JobSpec& spec, std::string_view type) {
  const json::array* list = spec.source ? kube::array_at(*spec.source, {"spec", "replicaSpecs"}) : nullptr;
  if (list == nullptr) return kNothing;
  for (const json::value& entry : *list) {
    const json::object* replicas = entry.if_object();
    if (replicas == nullptr || kube::text_at(*replicas, {"type"}) != type) continue;
    const json::object* found = kube::object_at(*replicas, {"template"});
    return found ? *found : kNothing;
  }
  return kNothing;
}

int port_of(const json::object& pod_template) {
  for (const DeclaredPort& port : declared_ports(pod_template)) {
    if (port.name == kPortName) return port.number;
  }
  return kPortDefault;
}

std::vector<kube::ServicePort> ports_of(const json::object& pod_template) {
  int main_port = port_of(pod_template);
  std::vector<kube::ServicePort> ports{{.name = std::string(kPortName), .port = main_port}};
  std::set<std::pair<int, std::string>> taken{{main_port, "TCP"}};
  for (const DeclaredPort& port : declared_ports(pod_template)) {
    std::string protocol = port.protocol.empty() ? "TCP" : port.protocol;
    if (!taken.insert({port.number, protocol}).second) continue;
    std::string name = port.name.empty() ? fmt::format("port-{}", port.number) : port.name;
    ports.push_back({.name = name, .port = port.number, .protocol = port.protocol});
  }
  return ports;
}

std::string tf_config(const model::JobSpec& spec, const dialect::Settings& settings, model::ReplicaId id) {
  json::object cluster;
  for (size_t r = 0; r < spec.roles.size(); ++r) {
    const model::Role& role = spec.roles[r];
    if (role.replicas == 0 || (role.name == "evaluator" && !settings.evaluator_in_cluster)) continue;
    int port = port_of(template_of(spec, role.name));
    json::array hosts;
    for (int i = 0; i < role.replicas; ++i) {
      hosts.emplace_back(fmt::format("{}:{}", host_of(spec, settings, {static_cast<int>(r), i}), port));
    }
    cluster[role.name] = std::move(hosts);
  }
  json::object task{{"type", spec.roles[static_cast<size_t>(id.role)].name}, {"index", id.index}};
  return json::serialize(json::object{{"cluster", std::move(cluster)}, {"task", std::move(task)}});
}

}  // namespace trainyard::t9k
