#include "sim/facts.h"

#include <algorithm>
#include <charconv>

#include "base/ascii.h"
#include "kube/access.h"

namespace trainyard::sim {

namespace {

constexpr std::string_view kAttempt = "trainyard.dev/attempt";

int number_or(std::string_view text, int fallback) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() ? value : fallback;
}

std::optional<int> small_int_at(const json::object& from, std::initializer_list<std::string_view> path) {
  const std::optional<int64_t> value = kube::int_at(from, path);
  if (!value) return std::nullopt;
  return static_cast<int>(*value);
}

PodPhase read_phase(std::string_view phase) {
  if (phase == "Running") return PodPhase::kRunning;
  if (phase == "Succeeded") return PodPhase::kSucceeded;
  if (phase == "Failed") return PodPhase::kFailed;
  if (phase == "Unknown") return PodPhase::kUnknown;
  return PodPhase::kPending;
}

void read_pod_status(const json::object& status, PodFacts& facts) {
  facts.phase = read_phase(kube::text_at(status, {"phase"}));
  // A node that has no room for a pod that it was given refuses it: OutOfcpu, OutOfmemory, ...
  const std::string_view reason = kube::text_at(status, {"reason"});
  facts.disrupted = reason == "Evicted" || reason.starts_with("OutOf");
  if (const json::array* conditions = kube::array_at(status, {"conditions"})) {
    for (const json::value& one : *conditions) {
      const json::object* condition = one.if_object();
      if (condition == nullptr || kube::text_at(*condition, {"type"}) != "DisruptionTarget") continue;
      if (kube::text_at(*condition, {"status"}) == "False") continue;
      facts.marked = kube::text_at(*condition, {"reason"}) == "PreemptionByScheduler";
      facts.disrupted = facts.disrupted || !facts.marked || facts.deleting;
    }
  }
  const json::array* containers = kube::array_at(status, {"containerStatuses"});
  if (containers == nullptr) return;
  for (const json::value& one : *containers) {
    const json::object* container = one.if_object();
    if (container == nullptr) continue;
    facts.restarts += small_int_at(*container, {"restartCount"}).value_or(0);
    if (const auto code = small_int_at(*container, {"state", "terminated", "exitCode"})) {
      facts.exit_code = *code;
    }
  }
}

}  // namespace

std::string_view gang_of(const json::object& pod) {
  for (std::string_view key : {"scheduling.k8s.io/group-name", "scheduling.volcano.sh/group-name"}) {
    if (const auto name = kube::annotation_of(pod, key); !name.empty()) return name;
  }
  return kube::label_of(pod, "scheduler.tensorstack.dev/group-name");
}

PodFacts read_pod(const json::object& pod) {
  PodFacts facts;
  facts.name = kube::name_of(pod);
  facts.uid = kube::uid_of(pod);
  facts.job_uid = kube::controller_uid_of(pod);
  facts.attempt = number_or(kube::annotation_of(pod, kAttempt), 0);
  facts.deleting = kube::is_deleting(pod);
  facts.bound = !kube::text_at(pod, {"spec", "nodeName"}).empty();
  facts.gang = gang_of(pod);
  const std::string_view name = facts.name;
  const size_t last = name.rfind('-');
  if (last != std::string_view::npos && last > 0) {
    facts.index = number_or(name.substr(last + 1), -1);
    const size_t before = name.rfind('-', last - 1);
    if (before != std::string_view::npos) facts.role = name.substr(before + 1, last - before - 1);
  }
  if (const json::object* status = kube::object_at(pod, {"status"})) read_pod_status(*status, facts);
  return facts;
}

namespace {

std::map<std::string, std::vector<std::string>> read_addresses(const json::value& cluster) {
  std::map<std::string, std::vector<std::string>> addresses;
  if (!cluster.is_object()) return addresses;
  for (const auto& [role, list] : cluster.get_object()) {
    if (!list.is_array()) continue;
    std::vector<std::string>& of_role = addresses[std::string(kube::view(role))];
    for (const json::value& one : list.get_array()) {
      of_role.emplace_back(one.is_string() ? kube::view(one.get_string()) : "");
    }
  }
  return addresses;
}

}  // namespace

std::optional<TfConfig> read_tf_config(const json::object& pod) {
  const json::array* containers = kube::array_at(pod, {"spec", "containers"});
  if (containers == nullptr) return std::nullopt;
  for (const json::value& container : *containers) {
    if (!container.is_object()) continue;
    const json::array* env = kube::array_at(container.get_object(), {"env"});
    if (env == nullptr) continue;
    for (const json::value& entry : *env) {
      if (!entry.is_object() || kube::text_at(entry.get_object(), {"name"}) != "TF_CONFIG") continue;
      boost::system::error_code error;
      const json::value parsed =
          json::parse(kube::jview(kube::text_at(entry.get_object(), {"value"})), error);
      if (error || !parsed.is_object()) return TfConfig{.cluster = "not JSON"};
      TfConfig config;
      if (const json::value* cluster = kube::find(parsed, {"cluster"})) {
        config.cluster = json::serialize(*cluster);
        config.addresses = read_addresses(*cluster);
      }
      config.task_type = kube::text_at(parsed.get_object(), {"task", "type"});
      config.task_index = small_int_at(parsed.get_object(), {"task", "index"}).value_or(-1);
      return config;
    }
  }
  return std::nullopt;
}

namespace {

void add_role(Wish& wish, std::string_view role, const json::object& spec) {
  const int replicas = small_int_at(spec, {"replicas"}).value_or(1);
  if (replicas < 0) wish.valid = false;
  wish.replicas[lower_case(role)] = replicas;
  if (const auto restart = kube::text_at(spec, {"restartPolicy"}); !restart.empty()) wish.restart = restart;
}

void read_tfjob_wish(const json::object& spec, Wish& wish) {
  if (const json::object* roles = kube::object_at(spec, {"tfReplicaSpecs"})) {
    for (const auto& [role, body] : *roles) {
      if (body.is_object()) add_role(wish, {role.data(), role.size()}, body.get_object());
    }
  }
  wish.suspended = kube::bool_at(spec, {"runPolicy", "suspend"}).value_or(false);
  wish.backoff = small_int_at(spec, {"runPolicy", "backoffLimit"});
  wish.ttl = small_int_at(spec, {"runPolicy", "ttlSecondsAfterFinished"});
  wish.deadline = small_int_at(spec, {"runPolicy", "activeDeadlineSeconds"});
  wish.dynamic = kube::bool_at(spec, {"enableDynamicWorker"}).value_or(false);
  wish.clean = kube::text_at(spec, {"runPolicy", "cleanPodPolicy"});
  if (wish.clean.empty()) wish.clean = "Running";
}

void read_t9k_wish(const json::object& spec, Wish& wish) {
  if (const json::array* roles = kube::array_at(spec, {"replicaSpecs"})) {
    for (const json::value& body : *roles) {
      if (body.is_object()) add_role(wish, kube::text_at(body.get_object(), {"type"}), body.get_object());
    }
  }
  wish.suspended = kube::bool_at(spec, {"runMode", "pause", "enabled"}).value_or(false);
  wish.backoff = small_int_at(spec, {"runPolicy", "backoffLimit"});
  wish.deadline = small_int_at(spec, {"runPolicy", "activeDeadlineSeconds"});
  wish.clean = kube::text_at(spec, {"runPolicy", "cleanUpPolicy"});
  wish.board = kube::object_at(spec, {"tensorboardSpec"}) != nullptr;
}

void read_volcano_wish(const json::object& spec, Wish& wish) {
  if (const json::array* tasks = kube::array_at(spec, {"tasks"})) {
    for (const json::value& body : *tasks) {
      if (body.is_object()) add_role(wish, kube::text_at(body.get_object(), {"name"}), body.get_object());
    }
  }
  wish.backoff = small_int_at(spec, {"maxRetry"});
  wish.ttl = small_int_at(spec, {"ttlSecondsAfterFinished"});
  wish.has_policies = kube::array_at(spec, {"policies"}) != nullptr;
  wish.keys = kube::find(spec, {"plugins", "ssh"}) != nullptr;
}

}  // namespace

Wish read_wish(Kind kind, const json::object& job) {
  Wish wish;
  wish.hold = kube::annotation_of(job, "trainyard.dev/hold-deletion") == "true";
  wish.scope = kube::annotation_of(job, "trainyard.dev/restart-scope");
  const json::object* spec = kube::object_at(job, {"spec"});
  if (spec == nullptr) return wish;
  switch (kind) {
    case Kind::kTfJob:
      read_tfjob_wish(*spec, wish);
      break;
    case Kind::kT9k:
      read_t9k_wish(*spec, wish);
      break;
    case Kind::kVolcano:
      read_volcano_wish(*spec, wish);
      break;
  }
  return wish;
}

namespace {

std::optional<Time> time_at(const json::object& from, std::initializer_list<std::string_view> path) {
  const std::string_view text = kube::text_at(from, path);
  return text.empty() ? std::nullopt : parse_rfc3339(text);
}

void read_conditions(const json::object& status, StatusFacts& facts) {
  const json::array* conditions = kube::array_at(status, {"conditions"});
  if (conditions == nullptr) return;
  for (const json::value& one : *conditions) {
    if (!one.is_object()) continue;
    const json::object& condition = one.get_object();
    facts.conditions.push_back({std::string(kube::text_at(condition, {"type"})),
                                kube::text_at(condition, {"status"}) == "True",
                                time_at(condition, {"lastTransitionTime"})});
  }
}

bool holds(const StatusFacts& facts, std::string_view type) {
  return std::any_of(facts.conditions.begin(), facts.conditions.end(),
                     [type](const ConditionFacts& c) { return c.type == type && c.is_true; });
}

void read_volcano_status(const json::object& status, StatusFacts& facts) {
  const std::string_view phase = kube::text_at(status, {"state", "phase"});
  facts.succeeded = phase == "Completed";
  facts.failed = phase == "Failed";
  facts.terminated = phase == "Terminated";
  facts.stopped = phase == "Aborted" || phase == "Aborting";
  facts.running = phase == "Running";
  facts.shown_restarts = small_int_at(status, {"retryCount"});
  if (facts.terminal()) facts.finished_at = time_at(status, {"state", "lastTransitionTime"});
  const std::string_view memory = kube::text_at(status, {"controlledResources", "trainyard.dev/state"});
  boost::system::error_code error;
  json::value parsed = json::parse(kube::jview(memory), error);
  if (!error && parsed.is_object()) facts.memory = std::move(parsed.get_object());
}

}  // namespace

StatusFacts read_status(Kind kind, const json::object& job) {
  StatusFacts facts;
  const json::object* status = kube::object_at(job, {"status"});
  if (status == nullptr) return facts;
  if (kind == Kind::kVolcano) {
    read_volcano_status(*status, facts);
    return facts;
  }
  read_conditions(*status, facts);
  if (const json::object* memory = kube::object_at(*status, {"trainyard"})) facts.memory = *memory;
  facts.started_at = time_at(*status, {"startTime"});
  facts.finished_at = time_at(*status, {"completionTime"});
  if (kind == Kind::kTfJob) {
    facts.succeeded = holds(facts, "Succeeded");
    facts.failed = holds(facts, "Failed");
    facts.stopped = holds(facts, "Suspended");
    facts.running = holds(facts, "Running");
    return facts;
  }
  const std::string_view phase = kube::text_at(*status, {"phase"});
  facts.succeeded = phase == "Succeeded";
  facts.failed = phase == "Failed";
  facts.stopped = phase == "Paused";
  facts.running = phase == "Running";
  facts.shown_restarts = small_int_at(*status, {"backoffCount"});
  return facts;
}

namespace {

// Ranges: "0-3,7".
bool in_ranges(std::string_view ranges, int index) {
  while (!ranges.empty()) {
    const size_t end = std::min(ranges.find(','), ranges.size());
    const std::string_view range = ranges.substr(0, end);
    ranges.remove_prefix(std::min(end + 1, ranges.size()));
    const size_t dash = std::min(range.find('-'), range.size());
    const int first = number_or(range.substr(0, dash), -1);
    const int last = dash == range.size() ? first : number_or(range.substr(dash + 1), -1);
    if (index >= first && index <= last) return true;
  }
  return false;
}

int64_t recorded_floor(const json::object& memory, std::string_view role) {
  return std::max(kube::int_at(memory, {"floor"}).value_or(0),
                  kube::int_at(memory, {"roles", role, "floor"}).value_or(0));
}

}  // namespace

int64_t recorded_attempt(const json::object& memory, std::string_view role, int index) {
  const std::string key = std::to_string(index);
  return std::max(recorded_floor(memory, role),
                  kube::int_at(memory, {"roles", role, "replicas", key, "attempt"}).value_or(0));
}

std::optional<bool> recorded_success(const json::object& memory, std::string_view role, int index) {
  if (in_ranges(kube::text_at(memory, {"roles", role, "succeeded"}), index)) return true;
  const json::object* record = kube::object_at(memory, {"roles", role, "replicas", std::to_string(index)});
  if (record == nullptr) return std::nullopt;
  if (kube::int_at(*record, {"attempt"}).value_or(0) < recorded_floor(memory, role)) return std::nullopt;
  const std::string_view outcome = kube::text_at(*record, {"outcome"});
  return outcome.empty() ? std::nullopt : std::optional<bool>(outcome == "Succeeded");
}

std::optional<Kind> kind_of(const json::object& object) {
  const std::string_view kind = kube::text_at(object, {"kind"});
  if (kind == "TFJob") return Kind::kTfJob;
  if (kind == "TensorFlowTrainingJob") return Kind::kT9k;
  if (kind == "Job" && kube::text_at(object, {"apiVersion"}) == "batch.volcano.sh/v1alpha1")
    return Kind::kVolcano;
  return std::nullopt;
}

std::string_view to_string(PodPhase phase) {
  switch (phase) {
    case PodPhase::kPending:
      return "Pending";
    case PodPhase::kRunning:
      return "Running";
    case PodPhase::kSucceeded:
      return "Succeeded";
    case PodPhase::kFailed:
      return "Failed";
    case PodPhase::kUnknown:
      return "Unknown";
  }
  return "";
}

}  // namespace trainyard::sim
