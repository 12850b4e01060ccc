#include "dialect/tfjob/tf_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "dialect/shared/pod_template.h"
#include "dialect/tfjob/decode.h"
#include "kube/access.h"

namespace trainyard::dialect::tf {
namespace {

int64_t port_of(const model::JobSpec& spec, int role) {
  const json::object* pod_template = template_in(*spec.source, spec.roles[role].title);
  const json::object* container = pod_template ? main_container(*pod_template, kTfContainer) : nullptr;
  const json::array* ports = container ? kube::array_at(*container, {"ports"}) : nullptr;
  if (ports == nullptr) return kTfPort;
  for (const json::value& entry : *ports) {
    const json::object* port = entry.if_object();
    if (port == nullptr || kube::text_at(*port, {"name"}) != kTfPortName) continue;
    return kube::int_at(*port, {"containerPort"}).value_or(kTfPort);
  }
  return kTfPort;
}

// Writes addresses of one role's replicas, each in quotes.
class Addresses {
 public:
  Addresses(const model::JobSpec& spec, const Settings& settings, int role) : spec_(spec), role_(role) {
    std::string service = spec.service_per_replica ? "" : fmt::format(".{}", spec.name);
    tail_ =
        fmt::format("{}.{}.svc{}{}:{}\"", service, spec.name_space,
                    settings.cluster_domain.empty() ? "" : ".", settings.cluster_domain, port_of(spec, role));
  }

  std::string one(int index) const { return fmt::format("\"{}{}", spec_.pod_name({role_, index}), tail_); }

  std::string list() const {
    std::string all = "[";
    for (int index = 0; index < spec_.roles[role_].replicas; ++index) {
      if (index > 0) all += ',';
      all += one(index);
    }
    return all + "]";
  }

 private:
  const model::JobSpec& spec_;
  int role_;
  std::string tail_;
};

std::string task_of(const model::JobSpec& spec, model::ReplicaId id) {
  return fmt::format(R"("task":{{"type":"{}","index":{}}})", spec.roles[id.role].name, id.index);
}

std::string full_config(const model::JobSpec& spec, const Settings& settings, model::ReplicaId id) {
  std::vector<std::pair<std::string, int>> by_name;
  for (size_t role = 0; role < spec.roles.size(); ++role) {
    if (spec.roles[role].name == "evaluator" && !settings.evaluator_in_cluster) continue;
    by_name.emplace_back(spec.roles[role].name, static_cast<int>(role));
  }
  std::sort(by_name.begin(), by_name.end());
  std::string cluster;
  for (const auto& [name, role] : by_name) {
    fmt::format_to(std::back_inserter(cluster), "{}\"{}\":{}", cluster.empty() ? "" : ",", name,
                   Addresses(spec, settings, role).list());
  }
  return fmt::format(R"({{"cluster":{{{}}},{},"environment":"cloud"}})", cluster, task_of(spec, id));
}

// A parameter server sees itself alone, everybody else itself and the parameter servers: workers that
// are listed could not be taken back when they come and go.
std::string sparse_config(const model::JobSpec& spec, const Settings& settings, model::ReplicaId id) {
  const std::string& name = spec.roles[id.role].name;
  int ps = spec.role_named("ps");
  std::string self = Addresses(spec, settings, id.role).one(id.index);
  std::string own_role;
  std::string workers = "{}";
  std::string servers = ps >= 0 ? Addresses(spec, settings, ps).list() : "[]";
  if (name == "worker") {
    workers = fmt::format("{{\"{}\":{}}}", id.index, self);
  } else if (name == "ps") {
    servers = fmt::format("[{}]", self);
  } else if (name != "evaluator" || settings.evaluator_in_cluster) {
    own_role = fmt::format("\"{}\":[{}],", name, self);
  }
  return fmt::format(R"({{"cluster":{{{}"worker":{},"ps":{}}},{}}})", own_role, workers, servers,
                     task_of(spec, id));
}

}  // namespace

std::string tf_config(const model::JobSpec& spec, const Settings& settings, model::ReplicaId id) {
  if (spec.total_replicas() == 1) return "";
  bool dynamic = kube::bool_at(*spec.source, {"spec", "enableDynamicWorker"}) == true;
  return dynamic ? sparse_config(spec, settings, id) : full_config(spec, settings, id);
}

}  // namespace trainyard::dialect::tf
