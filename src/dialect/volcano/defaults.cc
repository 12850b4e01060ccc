#include "dialect/volcano/defaults.h"

#include <fmt/format.h>

#include <algorithm>

#include "dialect/volcano/keys.h"
#include "kube/access.h"
#include "model/job_spec.h"

namespace trainyard::dialect::vc {
namespace {

bool is_absent(const json::object& in, std::string_view key) {
  const json::value* found = in.if_contains(kube::jview(key));
  return found == nullptr || found->is_null();
}

bool is_empty_text(const json::object& in, std::string_view key) {
  const json::value* found = in.if_contains(kube::jview(key));
  return is_absent(in, key) || (found->is_string() && found->get_string().empty());
}

bool is_zero(const json::object& in, std::string_view key) {
  return is_absent(in, key) || kube::int_at(in, {key}) == 0;
}

// A count that is surely small enough to be added up; what is not is reported by decode.
int64_t count_at(const json::object& in, std::initializer_list<std::string_view> path) {
  return std::clamp<int64_t>(kube::int_at(in, path).value_or(0), 0, model::kReplicasMax);
}

void default_task(json::object& task, size_t index) {
  if (is_empty_text(task, "name")) task["name"] = fmt::format("default{}", index);
  if (is_absent(task, "replicas")) task["replicas"] = 0;
  if (is_absent(task, "minAvailable")) {
    int64_t of_partitions = count_at(task, {"partitionPolicy", "minPartitions"}) *
                            count_at(task, {"partitionPolicy", "partitionSize"});
    task["minAvailable"] = of_partitions > 0 ? of_partitions : count_at(task, {"replicas"});
  }
  if (is_zero(task, "maxRetry")) task["maxRetry"] = kDefaultMaxRetry;
  const json::object* pod = kube::object_at(task, {"template", "spec"});
  if (pod != nullptr && kube::bool_at(*pod, {"hostNetwork"}) == true && is_empty_text(*pod, "dnsPolicy")) {
    kube::ensure_object(task, {"template", "spec"})["dnsPolicy"] = "ClusterFirstWithHostNet";
  }
}

}  // namespace

json::object with_defaults(const json::object& job) {
  json::object result = job;
  json::value* found = result.if_contains("spec");
  json::object* spec = found == nullptr ? nullptr : found->if_object();
  if (spec == nullptr) return result;

  if (is_empty_text(*spec, "queue")) (*spec)["queue"] = kube::jview(kDefaultQueue);
  if (is_empty_text(*spec, "schedulerName")) (*spec)["schedulerName"] = kube::jview(kDefaultScheduler);
  if (is_zero(*spec, "maxRetry")) (*spec)["maxRetry"] = kDefaultMaxRetry;

  int64_t least = 0;
  if (json::value* tasks = spec->if_contains("tasks"); tasks != nullptr && tasks->is_array()) {
    json::array& list = tasks->get_array();
    for (size_t i = 0; i < list.size(); ++i) {
      json::object* task = list[i].if_object();
      if (task == nullptr) continue;
      default_task(*task, i);
      least += count_at(*task, {"minAvailable"});
    }
  }
  if (is_zero(*spec, "minAvailable")) (*spec)["minAvailable"] = least;
  if (json::value* plugins = spec->if_contains("plugins"); plugins != nullptr && plugins->is_object()) {
    json::object& by_name = plugins->get_object();
    if (by_name.contains("tensorflow") && !by_name.contains("svc")) by_name["svc"] = json::array();
  }
  return result;
}

}  // namespace trainyard::dialect::vc
