#include "node/node.h"

#include <poll.h>

#include <algorithm>

#include "kube/access.h"
#include "kube/meta.h"
#include "node/files.h"
#include "node/node_agent.h"
#include "node/shim_plan.h"

namespace trainyard::node {

namespace {

const Error kNotRunning{ErrorKind::kUnavailable, "the node does not run"};
constexpr Duration kExecPatience{10'000};

// Until the command has begun or never will, so that nobody takes a runtime's words for it.
void await_begin(ExecProcess& process) {
  for (int waited = 0; waited < kExecPatience.count(); waited += 5) {
    Result<bool> begun = process.begun();
    if (!begun.ok() || *begun) return;
    pollfd wait{process.exited.get(), POLLIN, 0};
    ::poll(&wait, 1, 5);
  }
}

}  // namespace

LogKnowledge Node::Agent::log_knowledge(const PodRef& pod) {
  LogKnowledge known;
  for (const ContainerStatus& status : runtime_.list()) {
    if (status.id.pod_uid != pod.uid || status.id.container != pod.container) continue;
    known.attempt = std::max(known.attempt.value_or(0), status.id.attempt);
  }
  Object object = streams_[0].cache.find(pod.ns, pod.name);
  if (object == nullptr) {
    // Elsewhere, or nowhere yet: the server knows.
    Result<client::Object> asked = client::get(client_, kube::kPods, pod.ns, pod.name);
    if (asked.ok()) object = *asked;
  }
  bool here = object != nullptr && (pod.uid.empty() || kube::uid_of(*object) == pod.uid) &&
              find_container(*object, pod.container) != nullptr;
  if (!here) return known;
  std::string_view on = kube::text_at(*object, {"spec", "nodeName"});
  if (!on.empty() && on != options_.name) {
    known.elsewhere = on;
    return known;
  }
  known.waits_for = "ContainerCreating";
  for (std::string_view list : {"initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses"}) {
    const json::array* statuses = kube::array_at(*object, {"status", list});
    for (const json::value& entry : kube::or_empty(statuses)) {
      if (!entry.is_object() || kube::text_at(entry.get_object(), {"name"}) != pod.container) continue;
      std::string_view reason = kube::text_at(entry.get_object(), {"state", "waiting", "reason"});
      if (!reason.empty()) known.waits_for = reason;
    }
  }
  return known;
}

Result<ContainerId> Node::Agent::running_container(const PodRef& pod) {
  for (const ContainerStatus& status : runtime_.list()) {
    if (status.id.pod_uid != pod.uid || status.phase != ContainerPhase::kRunning) continue;
    if (pod.container.empty() || status.id.container == pod.container) return status.id;
  }
  return Error{ErrorKind::kNotFound,
               fmt::format("container {} of pod {}/{} does not run", pod.container, pod.ns, pod.name)};
}

std::map<std::string, UsageRate> Node::Agent::usage(const std::string& pod_uid) {
  std::map<std::string, UsageRate> out;
  Time now = options_.clock();
  for (const ContainerStatus& status : runtime_.list()) {
    if (status.id.pod_uid != pod_uid || status.phase != ContainerPhase::kRunning) continue;
    std::optional<Usage> usage = runtime_.usage(status.id);
    if (!usage) continue;
    auto [found, is_new] = samples_.try_emplace(status.id, Sample{status.started, 0, 0});
    Sample& sample = found->second;
    // Two askers at once share an answer: the time between them says nothing.
    constexpr Duration kSampleMin{500};
    Duration passed = now - sample.at;
    if (is_new || passed >= kSampleMin) {
      int64_t nanos = std::max<int64_t>(0, usage->cpu_nanos_total - sample.cpu_nanos);
      sample.rate = nanos * 1000 / std::max<int64_t>(1, passed.count());
      sample.at = now;
      sample.cpu_nanos = usage->cpu_nanos_total;
    }
    out[status.id.container] = {sample.rate, usage->memory_bytes};
  }
  return out;
}

UsageRate Node::Agent::machine_usage() {
  UsageRate out;
  Result<std::string> stat = read_whole("/proc/stat");
  if (stat.ok()) {
    int64_t all = 0, idle = 0;
    const char* text = stat->c_str() + 4;
    for (int field = 0; field < 8; ++field) {
      char* end = nullptr;
      int64_t ticks = std::strtoll(text, &end, 10);
      all += ticks;
      if (field == 3 || field == 4) idle += ticks;
      text = end;
    }
    int64_t busy_now = all - idle - machine_ticks_.first;
    int64_t all_now = all - machine_ticks_.second;
    machine_ticks_ = {all - idle, all};
    unsigned cores = std::max(1u, std::thread::hardware_concurrency());
    if (all_now > 0) out.cpu_nanocores = busy_now * 1'000'000'000 / all_now * cores;
  }
  Result<std::string> memory = read_whole("/proc/meminfo");
  if (memory.ok()) {
    auto kib = [&](std::string_view key) -> int64_t {
      size_t at = memory->find(key);
      return at == std::string::npos ? 0 : std::strtoll(memory->c_str() + at + key.size(), nullptr, 10);
    };
    out.memory_bytes = (kib("MemTotal:") - kib("MemAvailable:")) * 1024;
  }
  return out;
}

Node::Node(NodeOptions options, client::Client& client, client::WatchSource& watches, Runtime& runtime)
    : agent_(std::make_unique<Agent>(std::move(options), client, watches, runtime)) {}

Node::~Node() = default;

void Node::start() { agent_->start(); }
void Node::stop(bool keep_pods) { agent_->stop(keep_pods); }
void Node::poke() {
  (void)agent_->post([] {});
}

std::vector<std::string> Node::cannot_honour(const json::object& pod) {
  return agent_->ask<std::vector<std::string>>([this, &pod] { return agent_->cannot_honour(pod); }, {});
}

Result<std::unique_ptr<LogReader>> Node::logs(const PodRef& pod, const LogQuery& query) {
  LogFolder folder(agent_->options().data_dir / "logs");
  for (std::string_view name : {pod.ns, pod.name, pod.uid, pod.container}) {
    if (!name.empty() && !is_folder_name(name)) return Error{ErrorKind::kInvalid, "not a name"};
  }
  PodRef which = pod;
  std::vector<KeptLog> kept;
  if (which.uid.empty() || which.container.empty()) kept = folder.kept(pod.ns, pod.name);
  for (const KeptLog& log : kept) {
    if (!pod.container.empty() && log.container != pod.container) continue;
    if (pod.uid.empty()) which.uid = log.pod_uid;
    if (log.pod_uid == which.uid) which.container = log.container;
  }
  std::vector<int> attempts = folder.attempts(which.ns, which.name, which.uid, which.container);
  LogKnowledge known = agent_->ask<LogKnowledge>([this, which] { return agent_->log_knowledge(which); }, {});
  // It has been started and its log is not begun: an empty one.
  if (known.attempt && (attempts.empty() || attempts.back() < *known.attempt)) {
    attempts.push_back(*known.attempt);
  }
  if (query.attempt) {
    std::erase_if(attempts, [&](int attempt) { return attempt != *query.attempt; });
  } else if (query.previous && !attempts.empty()) {
    // While a container waits for its restart, the one that ended last is the previous one.
    bool waits = agent_->ask<bool>(
        [this, which, last = attempts.back()] {
          return agent_->awaits_restart(which.uid, which.container, last);
        },
        false);
    if (!waits) attempts.pop_back();
  }
  if (attempts.empty() && !known.elsewhere.empty()) {
    return Error{ErrorKind::kInvalid, fmt::format("pod \"{}\" is on the simulated node \"{}\", where nothing "
                                                  "runs: it has no log",
                                                  pod.name, known.elsewhere)};
  }
  if (attempts.empty() && !query.previous && !known.waits_for.empty()) {
    return Error{ErrorKind::kInvalid, fmt::format("container \"{}\" in pod \"{}\" is waiting to start: {}",
                                                  pod.container, pod.name, known.waits_for)};
  }
  if (attempts.empty()) {
    std::string what = query.previous ? "previous terminated container" : "container";
    return Error{query.previous ? ErrorKind::kInvalid : ErrorKind::kNotFound,
                 fmt::format("{} \"{}\" in pod \"{}\" not found", what, pod.container, pod.name)};
  }
  int attempt = attempts.back();
  std::filesystem::path life = agent_->options().data_dir / "pods" / which.uid / "containers" /
                               which.container / std::to_string(attempt);
  auto runs = [life] {
    std::error_code error;
    return std::filesystem::exists(life / kShimLifeFifo, error) &&
           !std::filesystem::exists(life / kShimExitFile, error);
  };
  return std::make_unique<LogReader>(folder.file(which.ns, which.name, which.uid, which.container, attempt),
                                     query, runs);
}

Result<std::unique_ptr<ExecProcess>> Node::exec(const PodRef& pod, const ExecPlan& plan) {
  using Answer = Result<std::unique_ptr<ExecProcess>>;
  Answer process = agent_->ask<Answer>(
      [this, pod, plan]() -> Answer {
        Result<ContainerId> id = agent_->running_container(pod);
        if (!id.ok()) return id.error();
        return agent_->runtime().exec(*id, plan);
      },
      kNotRunning);
  // Not on the node's thread: it has more to do.
  if (process.ok()) await_begin(*process.value());
  return process;
}

Result<Fd> Node::connect(const PodRef& pod, int port) {
  return agent_->ask<Result<Fd>>([this, pod, port] { return agent_->runtime().connect(pod.uid, port); },
                                 kNotRunning);
}

std::map<std::string, UsageRate> Node::usage(const std::string& pod_uid) {
  return agent_->ask<std::map<std::string, UsageRate>>([this, pod_uid] { return agent_->usage(pod_uid); },
                                                       {});
}

UsageRate Node::node_usage() {
  return agent_->ask<UsageRate>([this] { return agent_->machine_usage(); }, {});
}

}  // namespace trainyard::node
