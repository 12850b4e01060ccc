// Rows of the built-in workloads, and the small texts that several tables share.
#include <fmt/format.h>

#include <set>

#include "kube/access.h"
#include "kube/meta.h"
#include "server/table.h"
#include "server/table_rows.h"

namespace trainyard::server {
namespace {

using kube::int_at;
using kube::object_at;
using kube::text_at;

int64_t count_at(const json::object& object, std::initializer_list<std::string_view> path) {
  return int_at(object, path).value_or(0);
}

bool has_condition(const json::object& object, std::string_view type) {
  const json::array* conditions = kube::array_at(object, {"status", "conditions"});
  for (const json::value& each : kube::or_empty(conditions)) {
    const json::object* condition = each.if_object();
    if (condition && text_at(*condition, {"type"}) == type && text_at(*condition, {"status"}) == "True") {
      return true;
    }
  }
  return false;
}

std::string_view job_status(const json::object& job) {
  if (has_condition(job, "Complete")) return "Complete";
  if (has_condition(job, "Failed")) return "Failed";
  if (kube::is_deleting(job)) return "Terminating";
  if (has_condition(job, "Suspended")) return "Suspended";
  if (has_condition(job, "FailureTarget")) return "FailureTarget";
  if (has_condition(job, "SuccessCriteriaMet")) return "SuccessCriteriaMet";
  return "Running";
}

std::string job_duration(const json::object& job, Time now) {
  std::optional<Time> start = parse_rfc3339(text_at(job, {"status", "startTime"}));
  if (!start) return "";
  std::optional<Time> end = parse_rfc3339(text_at(job, {"status", "completionTime"}));
  return human_duration(end.value_or(now) - *start);
}

json::array job_cells(const json::object& job, Time now) {
  int64_t succeeded = count_at(job, {"status", "succeeded"});
  std::optional<int64_t> wanted = int_at(job, {"spec", "completions"});
  int64_t parallelism = int_at(job, {"spec", "parallelism"}).value_or(1);
  std::string completions = wanted            ? fmt::format("{}/{}", succeeded, *wanted)
                            : parallelism > 1 ? fmt::format("{}/1 of {}", succeeded, parallelism)
                                              : fmt::format("{}/1", succeeded);
  return {name_cell(job),
          kube::jview(job_status(job)),
          completions,
          job_duration(job, now),
          age_of(job, now),
          container_names(job, "name"),
          container_names(job, "image"),
          selector_text(object_at(job, {"spec", "selector"}))};
}

json::array cron_job_cells(const json::object& job, Time now) {
  const json::array* active = kube::array_at(job, {"status", "active"});
  std::string_view last = text_at(job, {"status", "lastScheduleTime"});
  return {name_cell(job),
          kube::jview(text_at(job, {"spec", "schedule"})),
          or_none(text_at(job, {"spec", "timeZone"})),
          kube::bool_at(job, {"spec", "suspend"}).value_or(false) ? "True" : "False",
          active ? active->size() : 0,
          last.empty() ? "<none>" : age_of(last, now),
          age_of(job, now)};
}

json::array deployment_cells(const json::object& deployment, Time now) {
  return {name_cell(deployment),
          fmt::format("{}/{}", count_at(deployment, {"status", "readyReplicas"}),
                      count_at(deployment, {"spec", "replicas"})),
          count_at(deployment, {"status", "updatedReplicas"}),
          count_at(deployment, {"status", "availableReplicas"}),
          age_of(deployment, now),
          container_names(deployment, "name"),
          container_names(deployment, "image"),
          selector_text(object_at(deployment, {"spec", "selector"}))};
}

json::array replica_set_cells(const json::object& set, Time now) {
  return {name_cell(set),
          count_at(set, {"spec", "replicas"}),
          count_at(set, {"status", "replicas"}),
          count_at(set, {"status", "readyReplicas"}),
          age_of(set, now),
          container_names(set, "name"),
          container_names(set, "image"),
          selector_text(object_at(set, {"spec", "selector"}))};
}

json::array stateful_set_cells(const json::object& set, Time now) {
  return {
      name_cell(set),
      fmt::format("{}/{}", count_at(set, {"status", "readyReplicas"}), count_at(set, {"spec", "replicas"})),
      age_of(set, now), container_names(set, "name"), container_names(set, "image")};
}

json::array daemon_set_cells(const json::object& set, Time now) {
  return {name_cell(set),
          count_at(set, {"status", "desiredNumberScheduled"}),
          count_at(set, {"status", "currentNumberScheduled"}),
          count_at(set, {"status", "numberReady"}),
          count_at(set, {"status", "updatedNumberScheduled"}),
          count_at(set, {"status", "numberAvailable"}),
          labels_text(object_at(set, {"spec", "template", "spec", "nodeSelector"})),
          age_of(set, now),
          container_names(set, "name"),
          container_names(set, "image"),
          selector_text(object_at(set, {"spec", "selector"}))};
}

std::string int_or_text(const json::object& from, std::initializer_list<std::string_view> path) {
  const json::value* value = kube::find(from, path);
  if (value == nullptr) return "N/A";
  return value->is_string() ? std::string(kube::view(value->get_string())) : json::serialize(*value);
}

json::array disruption_budget_cells(const json::object& budget, Time now) {
  return {name_cell(budget), int_or_text(budget, {"spec", "minAvailable"}),
          int_or_text(budget, {"spec", "maxUnavailable"}), count_at(budget, {"status", "disruptionsAllowed"}),
          age_of(budget, now)};
}

constexpr Column kJobColumns[] = {{"Name"},
                                  {"Status"},
                                  {"Completions"},
                                  {"Duration"},
                                  {"Age"},
                                  {"Containers", "string", 1},
                                  {"Images", "string", 1},
                                  {"Selector", "string", 1}};
constexpr Column kCronJobColumns[] = {
    {"Name"}, {"Schedule"}, {"Timezone"}, {"Suspend"}, {"Active", "integer"}, {"Last Schedule"}, {"Age"}};
constexpr Column kDeploymentColumns[] = {{"Name"},
                                         {"Ready"},
                                         {"Up-to-date", "integer"},
                                         {"Available", "integer"},
                                         {"Age"},
                                         {"Containers", "string", 1},
                                         {"Images", "string", 1},
                                         {"Selector", "string", 1}};
constexpr Column kReplicaSetColumns[] = {
    {"Name"}, {"Desired", "integer"},      {"Current", "integer"},  {"Ready", "integer"},
    {"Age"},  {"Containers", "string", 1}, {"Images", "string", 1}, {"Selector", "string", 1}};
constexpr Column kStatefulSetColumns[] = {
    {"Name"}, {"Ready"}, {"Age"}, {"Containers", "string", 1}, {"Images", "string", 1}};
constexpr Column kDaemonSetColumns[] = {{"Name"},
                                        {"Desired", "integer"},
                                        {"Current", "integer"},
                                        {"Ready", "integer"},
                                        {"Up-to-date", "integer"},
                                        {"Available", "integer"},
                                        {"Node Selector"},
                                        {"Age"},
                                        {"Containers", "string", 1},
                                        {"Images", "string", 1},
                                        {"Selector", "string", 1}};
constexpr Column kBudgetColumns[] = {
    {"Name"}, {"Min Available"}, {"Max Unavailable"}, {"Allowed Disruptions", "integer"}, {"Age"}};

constexpr KindTable kWorkloadTables[] = {
    {"batch", "Job", kJobColumns, job_cells},
    {"batch", "CronJob", kCronJobColumns, cron_job_cells},
    {"apps", "Deployment", kDeploymentColumns, deployment_cells},
    {"apps", "ReplicaSet", kReplicaSetColumns, replica_set_cells},
    {"apps", "StatefulSet", kStatefulSetColumns, stateful_set_cells},
    {"apps", "DaemonSet", kDaemonSetColumns, daemon_set_cells},
    {"policy", "PodDisruptionBudget", kBudgetColumns, disruption_budget_cells},
};

// "tier in (a,b)", "!old".
std::string expression_text(const json::object& expression) {
  std::string_view key = text_at(expression, {"key"});
  std::string_view op = text_at(expression, {"operator"});
  if (op == "Exists") return std::string(key);
  if (op == "DoesNotExist") return fmt::format("!{}", key);
  std::set<std::string> values;
  const json::array* list = kube::array_at(expression, {"values"});
  for (const json::value& each : kube::or_empty(list)) {
    if (each.is_string()) values.emplace(kube::view(each.get_string()));
  }
  return fmt::format("{} {} ({})", key, op == "NotIn" ? "notin" : "in", fmt::join(values, ","));
}

}  // namespace

std::span<const KindTable> workload_tables() { return kWorkloadTables; }

std::string age_of(std::string_view rfc3339, Time now) {
  std::optional<Time> since = parse_rfc3339(rfc3339);
  return since ? human_duration(now - *since) : "<unknown>";
}

std::string age_of(const json::object& object, Time now) {
  return age_of(text_at(object, {"metadata", "creationTimestamp"}), now);
}

std::string or_none(std::string_view text) { return std::string(text.empty() ? "<none>" : text); }

std::string labels_text(const json::object* labels) {
  std::string text;
  std::set<std::string> sorted;
  for (const json::key_value_pair& each : labels ? *labels : json::object()) {
    if (!each.value().is_string()) continue;
    sorted.insert(fmt::format("{}={}", kube::view(each.key()), kube::view(each.value().get_string())));
  }
  return or_none(fmt::format("{}", fmt::join(sorted, ",")));
}

std::string selector_text(const json::object* selector) {
  if (selector == nullptr) return "<none>";
  std::vector<std::string> parts;
  const json::object* labels = object_at(*selector, {"matchLabels"});
  if (labels && !labels->empty()) parts.push_back(labels_text(labels));
  const json::array* expressions = kube::array_at(*selector, {"matchExpressions"});
  for (const json::value& each : kube::or_empty(expressions)) {
    if (each.is_object()) parts.push_back(expression_text(each.get_object()));
  }
  return or_none(fmt::format("{}", fmt::join(parts, ",")));
}

std::string container_names(const json::object& object, std::string_view field) {
  std::vector<std::string> names;
  const json::array* containers = kube::array_at(object, {"spec", "template", "spec", "containers"});
  for (const json::value& each : kube::or_empty(containers)) {
    if (each.is_object()) names.emplace_back(text_at(each.get_object(), {field}));
  }
  return fmt::format("{}", fmt::join(names, ","));
}

}  // namespace trainyard::server
