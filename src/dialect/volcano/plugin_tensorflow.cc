#include "dialect/volcano/plugin_tensorflow.h"

#include <fmt/format.h>

#include "dialect/volcano/containers.h"
#include "dialect/volcano/hosts.h"

namespace trainyard::dialect::vc {
namespace {

// TensorFlow's name for what the task does, "" when it is none of its roles. A name
// given to several roles plays the first of them, in this order.
std::string_view role_of(const TensorFlowPlugin& plugin, const std::string& task) {
  if (task == plugin.ps) return "ps";
  if (task == plugin.worker) return "worker";
  if (task == plugin.chief) return "chief";
  if (task == plugin.evaluator) return "evaluator";
  return "";
}

}  // namespace

std::optional<std::string> tf_config(const TensorFlowPlugin& plugin, const Spec& spec, const Task& task,
                                     int index) {
  if (spec.tasks.size() == 1 && spec.tasks[0].replicas == 1) return std::nullopt;
  json::object cluster;
  for (std::string_view role : {"ps", "worker", "chief", "evaluator"}) {
    for (const Task& member : spec.tasks) {
      if (role_of(plugin, member.name) != role || member.replicas == 0) continue;
      json::array hosts;
      for (int i = 0; i < member.replicas; ++i) {
        hosts.push_back(json::value(fmt::format("{}:{}", host_of(spec, member, i), plugin.port)));
      }
      cluster[std::string(role)] = std::move(hosts);
    }
  }
  std::string_view role = role_of(plugin, task.name);
  json::object whole;
  whole["cluster"] = std::move(cluster);
  whole["task"] = {{"type", role.empty() ? task.name : std::string(role)}, {"index", index}};
  return json::serialize(whole);
}

void apply(const TensorFlowPlugin& plugin, const Spec& spec, const Task& task, int index, json::object& pod) {
  std::optional<std::string> config = tf_config(plugin, spec, task, index);
  if (config) add_env(pod, {{"name", "TF_CONFIG"}, {"value", *config}}, Containers::kMain);
}

}  // namespace trainyard::dialect::vc
