#include "sim/blueprint.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/check.h"
#include "kube/access.h"

namespace trainyard::sim {

namespace {

constexpr std::string_view kRestartScope = "trainyard.dev/restart-scope";
constexpr std::string_view kHoldDeletion = "trainyard.dev/hold-deletion";
constexpr std::string_view kGangScheduler = "trainyard.dev/gang-scheduler";

int number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  CHECK(error == std::errc{});
  CHECK(end == text.data() + text.size());
  return value;
}

std::string_view title_of(std::string_view role) {
  if (role == "chief") return "Chief";
  if (role == "ps") return "PS";
  if (role == "evaluator") return "Evaluator";
  CHECK(role == "worker");
  return "Worker";
}

// One of its own for each job: only replicas of one job are in one another's way.
int host_port_of(const Blueprint& b) { return 7'000 + b.name.back(); }

json::object pod_template(const Blueprint& b, const BlueprintRole& role, std::string_view restart) {
  json::object container{{"name", "tensorflow"}, {"image", "trainer:1"}};
  if (b.cpu > 0) {
    container["resources"] = json::object{{"requests", json::object{{"cpu", std::to_string(b.cpu)}}}};
  }
  if (b.host_ports && role.name == "worker") {
    const int port = host_port_of(b);
    container["ports"] =
        json::array{json::object{{"name", "peers"}, {"containerPort", port}, {"hostPort", port}}};
  }
  json::object spec{{"containers", json::array{std::move(container)}}};
  if (!restart.empty()) spec["restartPolicy"] = kube::jview(restart);
  return {{"spec", std::move(spec)}};
}

int shown_replicas(const Blueprint& blueprint, const BlueprintRole& role) {
  return blueprint.invalid && &role == &blueprint.roles.front() ? -1 : role.replicas;
}

json::object tfjob_spec(const Blueprint& b) {
  json::object replicas;
  for (const BlueprintRole& role : b.roles) {
    json::object one{{"replicas", shown_replicas(b, role)}, {"template", pod_template(b, role, "")}};
    if (!b.restart.empty()) one["restartPolicy"] = b.restart;
    replicas[kube::jview(title_of(role.name))] = std::move(one);
  }
  json::object policy;
  if (b.backoff) policy["backoffLimit"] = *b.backoff;
  if (!b.clean.empty()) policy["cleanPodPolicy"] = b.clean;
  if (b.ttl) policy["ttlSecondsAfterFinished"] = *b.ttl;
  if (b.deadline) policy["activeDeadlineSeconds"] = *b.deadline;
  policy["suspend"] = b.suspended;
  if (b.gang && !(b.queue.empty() && b.priority.empty() && !b.min_available)) {
    json::object scheduling;
    if (b.min_available) scheduling["minAvailable"] = *b.min_available;
    if (!b.queue.empty()) scheduling["queue"] = b.queue;
    if (!b.priority.empty()) scheduling["priorityClass"] = b.priority;
    policy["schedulingPolicy"] = std::move(scheduling);
  }
  json::object spec{{"runPolicy", std::move(policy)}, {"tfReplicaSpecs", std::move(replicas)}};
  if (b.all_workers) spec["successPolicy"] = "AllWorkers";
  if (b.dynamic) spec["enableDynamicWorker"] = true;
  return spec;
}

json::object t9k_spec(const Blueprint& b) {
  json::array replicas;
  for (const BlueprintRole& role : b.roles) {
    json::object one{
        {"type", role.name}, {"replicas", shown_replicas(b, role)}, {"template", pod_template(b, role, "")}};
    if (!b.restart.empty()) one["restartPolicy"] = b.restart;
    replicas.push_back(std::move(one));
  }
  json::object policy;
  if (b.backoff) policy["backoffLimit"] = *b.backoff;
  if (!b.clean.empty()) policy["cleanUpPolicy"] = b.clean;
  if (b.deadline) policy["activeDeadlineSeconds"] = *b.deadline;
  json::object spec{{"replicaSpecs", std::move(replicas)}, {"runPolicy", std::move(policy)}};
  spec["runMode"] = json::object{{"pause", json::object{{"enabled", b.suspended}}}};
  if (b.gang) {
    spec["scheduler"] = json::object{{"t9kScheduler", json::object{{"queue", "default"}, {"priority", 10}}}};
  }
  if (b.board) {
    spec["tensorboardSpec"] = json::object{{"image", "tensorboard:1"},
                                           {"trainingLogFilesets", json::array{"t9k://pvc/logs/train"}}};
  }
  return spec;
}

json::object volcano_policy(const BlueprintPolicy& policy) {
  json::object one{{"action", policy.action}};
  if (policy.on.find_first_not_of("0123456789") == std::string::npos) {
    one["exitCode"] = number(policy.on);
  } else {
    one["event"] = policy.on;
  }
  return one;
}

json::object volcano_spec(const Blueprint& b) {
  json::array tasks;
  for (const BlueprintRole& role : b.roles) {
    tasks.push_back(
        json::object{{"name", role.name},
                     {"replicas", shown_replicas(b, role)},
                     {"template", pod_template(b, role, b.restart.empty() ? "Never" : b.restart)}});
  }
  json::object spec{{"schedulerName", "volcano"},
                    {"queue", b.queue.empty() ? "default" : b.queue},
                    {"tasks", std::move(tasks)}};
  if (!b.priority.empty()) spec["priorityClassName"] = b.priority;
  json::array policies;
  for (const BlueprintPolicy& policy : b.policies) policies.push_back(volcano_policy(policy));
  if (!policies.empty()) spec["policies"] = std::move(policies);
  if (b.backoff) spec["maxRetry"] = *b.backoff;
  if (b.ttl) spec["ttlSecondsAfterFinished"] = *b.ttl;
  if (b.min_available) spec["minAvailable"] = *b.min_available;
  if (b.min_success) spec["minSuccess"] = *b.min_success;
  json::object plugins{{"env", json::array{}}, {"svc", json::array{}}, {"tensorflow", json::array{}}};
  if (b.keys) plugins["ssh"] = json::array{};
  spec["plugins"] = std::move(plugins);
  return spec;
}

void read_policies(Blueprint& b, std::string_view list) {
  while (!list.empty()) {
    const size_t end = std::min(list.find(','), list.size());
    const std::string_view one = list.substr(0, end);
    list.remove_prefix(std::min(end + 1, list.size()));
    const size_t colon = one.find(':');
    CHECK(colon != std::string_view::npos);
    b.policies.push_back({std::string(one.substr(0, colon)), std::string(one.substr(colon + 1))});
  }
}

void read_word(Blueprint& b, std::string_view word) {
  const size_t equals = word.find('=');
  const std::string_view key = word.substr(0, equals);
  const std::string_view value = equals == std::string_view::npos ? "" : word.substr(equals + 1);
  if (key == "restart") {
    b.restart = value;
  } else if (key == "backoff") {
    b.backoff = number(value);
  } else if (key == "clean") {
    b.clean = value;
  } else if (key == "ttl") {
    b.ttl = number(value);
  } else if (key == "deadline") {
    b.deadline = number(value);
  } else if (key == "scope") {
    b.scope = value;
  } else if (key == "policies") {
    read_policies(b, value);
  } else if (key == "min-available") {
    b.min_available = number(value);
  } else if (key == "min-success") {
    b.min_success = number(value);
  } else if (key == "cpu") {
    b.cpu = number(value);
  } else if (key == "queue") {
    b.queue = value;
  } else if (key == "priority") {
    b.priority = value;
  } else if (key == "suspended") {
    b.suspended = true;
  } else if (key == "all-workers") {
    b.all_workers = true;
  } else if (key == "dynamic") {
    b.dynamic = true;
  } else if (key == "host-ports") {
    b.host_ports = true;
  } else if (key == "gang") {
    b.gang = true;
  } else if (key == "hold") {
    b.hold = true;
  } else if (key == "board") {
    b.board = true;
  } else if (key == "keys") {
    b.keys = true;
  } else if (key == "invalid") {
    b.invalid = true;
  } else {
    CHECK(key == "chief" || key == "ps" || key == "worker" || key == "evaluator");
    b.roles.push_back({std::string(key), number(value)});
  }
}

}  // namespace

const kube::Resource& resource_of(Kind kind) {
  switch (kind) {
    case Kind::kTfJob:
      return kube::kTfJobs;
    case Kind::kT9k:
      return kube::kT9kJobs;
    case Kind::kVolcano:
      return kube::kVolcanoJobs;
  }
  CHECK(false);
}

int Blueprint::total_replicas() const {
  int total = 0;
  for (const BlueprintRole& role : roles) total += role.replicas;
  return total;
}

const BlueprintRole* Blueprint::role(std::string_view role_name) const {
  for (const BlueprintRole& role : roles) {
    if (role.name == role_name) return &role;
  }
  return nullptr;
}

Blueprint parse_blueprint(std::string_view text) {
  Blueprint b;
  int place = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word.empty()) continue;
    if (place == 0) {
      CHECK(word == "tfjob" || word == "t9k" || word == "volcano");
      b.kind = word == "tfjob" ? Kind::kTfJob : word == "t9k" ? Kind::kT9k : Kind::kVolcano;
    } else if (place == 1) {
      b.name = word;
    } else {
      read_word(b, word);
    }
    ++place;
  }
  CHECK(!b.roles.empty());
  return b;
}

std::string to_string(const Blueprint& b) {
  std::string text = b.kind == Kind::kTfJob ? "tfjob " : b.kind == Kind::kT9k ? "t9k " : "volcano ";
  text += b.name;
  for (const BlueprintRole& role : b.roles) text += fmt::format(" {}={}", role.name, role.replicas);
  if (!b.restart.empty()) text += " restart=" + b.restart;
  if (b.backoff) text += fmt::format(" backoff={}", *b.backoff);
  if (!b.clean.empty()) text += " clean=" + b.clean;
  if (b.ttl) text += fmt::format(" ttl={}", *b.ttl);
  if (b.deadline) text += fmt::format(" deadline={}", *b.deadline);
  if (!b.scope.empty()) text += " scope=" + b.scope;
  if (!b.policies.empty()) {
    const char* before = " policies=";
    for (const BlueprintPolicy& policy : b.policies) {
      text += fmt::format("{}{}:{}", before, policy.on, policy.action);
      before = ",";
    }
  }
  if (b.min_available) text += fmt::format(" min-available={}", *b.min_available);
  if (b.min_success) text += fmt::format(" min-success={}", *b.min_success);
  if (b.cpu > 0) text += fmt::format(" cpu={}", b.cpu);
  if (!b.queue.empty()) text += " queue=" + b.queue;
  if (!b.priority.empty()) text += " priority=" + b.priority;
  if (b.suspended) text += " suspended";
  if (b.all_workers) text += " all-workers";
  if (b.dynamic) text += " dynamic";
  if (b.host_ports) text += " host-ports";
  if (b.gang) text += " gang";
  if (b.hold) text += " hold";
  if (b.board) text += " board";
  if (b.keys) text += " keys";
  if (b.invalid) text += " invalid";
  return text;
}

json::object manifest_of(const Blueprint& b) {
  const kube::Resource& resource = resource_of(b.kind);
  json::object metadata{{"name", b.name}, {"namespace", "default"}};
  json::object annotations;
  if (!b.scope.empty()) annotations[kube::jview(kRestartScope)] = b.scope;
  if (b.hold) annotations[kube::jview(kHoldDeletion)] = "true";
  if (b.gang && b.kind == Kind::kTfJob) annotations[kube::jview(kGangScheduler)] = "volcano";
  if (!annotations.empty()) metadata["annotations"] = std::move(annotations);
  json::object object{{"apiVersion", resource.api_version()}, {"kind", kube::jview(resource.kind)}};
  object["metadata"] = std::move(metadata);
  switch (b.kind) {
    case Kind::kTfJob:
      object["spec"] = tfjob_spec(b);
      break;
    case Kind::kT9k:
      object["spec"] = t9k_spec(b);
      break;
    case Kind::kVolcano:
      object["spec"] = volcano_spec(b);
      break;
  }
  return object;
}

namespace {

template <size_t N>
std::string pick(Rng& rng, const char* const (&choices)[N]) {
  return choices[rng.below(N)];
}

void random_roles(Rng& rng, Blueprint& b, int replicas_max) {
  const auto some = [&] { return static_cast<int>(rng.between(1, replicas_max)); };
  if (rng.chance(35)) b.roles.push_back({"chief", 1});
  if (rng.chance(35)) b.roles.push_back({"ps", rng.chance(70) ? 1 : some()});
  if (b.roles.empty() || b.role("chief") == nullptr || rng.chance(80)) b.roles.push_back({"worker", some()});
  if (b.kind != Kind::kVolcano && rng.chance(10)) b.roles.push_back({"evaluator", 1});
}

void random_volcano(Rng& rng, Blueprint& b) {
  if (rng.chance(70))
    b.policies.push_back(
        {"PodFailed", pick(rng, {"RestartJob", "RestartTask", "RestartPod", "AbortJob", "TerminateJob"})});
  if (rng.chance(50))
    b.policies.push_back({"PodEvicted", pick(rng, {"RestartJob", "RestartTask", "RestartPod"})});
  if (rng.chance(30)) b.policies.push_back({"TaskCompleted", "CompleteJob"});
  if (rng.chance(15))
    b.policies.insert(b.policies.begin(), {"137", pick(rng, {"RestartJob", "RestartTask"})});
  if (rng.chance(15)) b.min_success = 1;
  if (rng.chance(25)) b.min_available = static_cast<int>(rng.between(1, b.total_replicas()));
  if (rng.chance(15)) b.restart = "OnFailure";
}

}  // namespace

Blueprint random_blueprint(Rng& rng, Kind kind, std::string name, int replicas_max) {
  Blueprint b;
  b.kind = kind;
  b.name = std::move(name);
  random_roles(rng, b, replicas_max);
  if (rng.chance(50)) b.backoff = static_cast<int>(rng.between(kind == Kind::kVolcano ? 1 : 0, 4));
  if (rng.chance(15)) b.scope = pick(rng, {"role", "job", "pod"});
  if (rng.chance(15)) b.hold = true;
  if (rng.chance(20)) b.deadline = static_cast<int>(rng.between(20, 200));
  if (rng.chance(20) && kind != Kind::kT9k) b.ttl = static_cast<int>(rng.between(0, 100));
  if (rng.chance(10)) b.suspended = true;
  switch (kind) {
    case Kind::kTfJob:
      if (rng.chance(80)) b.restart = pick(rng, {"Never", "OnFailure", "Always", "ExitCode", "ExitCode"});
      if (rng.chance(60)) b.clean = pick(rng, {"All", "Running", "None"});
      if (rng.chance(20)) b.all_workers = true;
      if (rng.chance(10) && b.role("worker") != nullptr) b.dynamic = true;
      if (rng.chance(15)) b.gang = true;
      break;
    case Kind::kT9k:
      if (rng.chance(80)) b.restart = pick(rng, {"Never", "OnFailure", "OnFailure", "ExitCode", "Always"});
      if (rng.chance(60)) b.clean = pick(rng, {"All", "Unfinished", "None"});
      if (rng.chance(30)) b.gang = true;
      break;
    case Kind::kVolcano:
      b.deadline.reset();
      b.suspended = false;
      random_volcano(rng, b);
      break;
  }
  b.board = kind == Kind::kT9k && rng.chance(15);
  b.keys = kind == Kind::kVolcano && rng.chance(20);
  return b;
}

void crowd(Rng& rng, Blueprint& b) {
  b.cpu = static_cast<int>(rng.between(1, 2));
  b.gang = b.gang || rng.chance(80);
  if (b.kind != Kind::kT9k) {
    if (rng.chance(60)) b.queue = pick(rng, {"q0", "q1"});
    if (rng.chance(30)) b.priority = "high";
  }
  b.host_ports = rng.chance(20);
}

}  // namespace trainyard::sim
