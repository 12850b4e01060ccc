// What the node's thread does with its pods.
#include "base/hash.h"
#include "base/match.h"
#include "kube/access.h"
#include "kube/meta.h"
#include "node/files.h"
#include "node/hosts.h"
#include "node/node_agent.h"
#include "node/pod_parts.h"

namespace trainyard::node {

using kube::text_at;

namespace {

constexpr Duration kWriteRetry{1'000};
constexpr int kRoundsMax = 8;
constexpr size_t kLastWordsMax = 4096;
constexpr size_t kFallbackBytesMax = 2048;
constexpr int kFallbackLinesMax = 80;
// More than anybody writes by hand. One thread looks after all pods, and each start looks through the
// containers of its pod: with tens of thousands of them no other pod would get a turn for minutes.
constexpr size_t kContainersMax = 1'000;

uint64_t digest_of(const std::map<std::string, std::string>& hosts, uint64_t digest) {
  for (const auto& [name, ip] : hosts) digest = fnv1a(ip, fnv1a(" ", fnv1a(name, digest)));
  return digest;
}

size_t count_containers(const json::object& pod) {
  return containers_of(pod, true).size() + containers_of(pod, false).size();
}

bool any_runs(const std::vector<ContainerStatus>& containers) {
  return std::any_of(containers.begin(), containers.end(), [](const ContainerStatus& container) {
    return container.phase != ContainerPhase::kExited;
  });
}

}  // namespace

void Node::Agent::step_pods(Time now) {
  runtime_.drain_changes();
  std::map<std::string, std::vector<ContainerStatus>> seen;
  for (const ContainerStatus& status : runtime_.list()) seen[status.id.pod_uid].push_back(status);
  for (CheckResult& result : checks_.poll(now)) {
    auto found = entries_.find(result.id.pod_uid);
    if (found == entries_.end()) continue;
    found->second.machine.on_check(result.id.container, result.id.attempt, result.kind, result.ok,
                                   result.words);
    found->second.dirty = true;
  }
  auto differ = [](const std::vector<ContainerStatus>& a, const std::vector<ContainerStatus>& b) {
    return !std::equal(a.begin(), a.end(), b.begin(), b.end(),
                       [](const ContainerStatus& x, const ContainerStatus& y) {
                         return x.id == y.id && x.phase == y.phase && x.started == y.started;
                       });
  };
  for (auto& [uid, entry] : entries_) {
    if (differ(seen_[uid], seen[uid])) entry.dirty = true;
  }
  seen_ = std::move(seen);
  for (const std::string& uid : std::exchange(gone_, {})) drop(uid, now);
  // All before any: what one wants to become must fit beside every other.
  for (auto& [uid, entry] : entries_) admit(entry, now);
  for (auto& [uid, entry] : entries_) {
    bool due = entry.wake && *entry.wake <= now;
    if (entry.busy || gone_.contains(uid) || (!entry.dirty && !due)) continue;
    entry.dirty = false;
    entry.wake.reset();
    step(uid, entry, now);
  }
  tell_hosts();
}

std::vector<ContainerStatus> Node::Agent::containers_of_pod(const std::string& uid) const {
  auto found = seen_.find(uid);
  return found == seen_.end() ? std::vector<ContainerStatus>{} : found->second;
}

void Node::Agent::read_last_words(Entry& entry, const ContainerStatus& status) {
  if (entry.last_words.contains(status.id)) return;
  const json::object* container = find_container(*entry.pod, status.id.container);
  std::filesystem::path file = options_.data_dir / "pods" / status.id.pod_uid / "termination" /
                               fmt::format("{}.{}", status.id.container, status.id.attempt);
  Result<std::string> words = read_whole(file);
  std::string text = words.ok() ? words->substr(0, kLastWordsMax) : "";
  bool fall_back =
      container != nullptr && text_at(*container, {"terminationMessagePolicy"}) == "FallbackToLogsOnError";
  if (text.empty() && fall_back && status.exit_code != 0) {
    text = last_lines(logs_.file(kube::namespace_of(*entry.pod), kube::name_of(*entry.pod), status.id.pod_uid,
                                 status.id.container, status.id.attempt),
                      kFallbackLinesMax, kFallbackBytesMax);
  }
  entry.last_words[status.id] = std::move(text);
}

PodView Node::Agent::view_of(Entry& entry, const std::vector<ContainerStatus>& containers, Time now) {
  for (const ContainerStatus& status : containers) {
    if (status.phase == ContainerPhase::kExited) read_last_words(entry, status);
  }
  return PodView{*entry.pod,
                 containers,
                 entry.last_words,
                 entry.ip,
                 options_.host_ip,
                 std::string(runtime_.name()),
                 now,
                 entry.allocated,
                 entry.resize,
                 runtime_.enforced()};
}

// Whether there is room for it; a pod that does not fit is failed, as a kubelet does.
void Node::Agent::admit(Entry& entry, Time now) {
  if (entry.admitted || is_terminal_phase(text_at(*entry.pod, {"status", "phase"}))) return;
  if (std::string name = unfit_name(*entry.pod); !name.empty()) {
    entry.admitted = true;
    entry.machine.evict("InvalidName",
                        fmt::format("Pod was rejected: \"{}\" is not a name", kube::shown(name)));
    return;
  }
  if (size_t count = count_containers(*entry.pod); count > kContainersMax) {
    entry.admitted = true;
    entry.machine.evict("TooManyContainers",
                        fmt::format("Pod was rejected: it has {} containers, a pod of this node may have {}",
                                    count, kContainersMax));
    return;
  }
  const Held others = held_beside(entry);
  entry.allocated = allocated_of(*entry.pod);
  Requests wanted = requests_of(*allocated_pod(entry));
  entry.requests = wanted;
  Requests capacity = options_.capacity;
  capacity.gpus = static_cast<int64_t>(options_.gpus.size());
  if (!options_.enforce_requests) wanted.cpu_millis = wanted.memory_bytes = 0;
  // What runs already was let in by an earlier life of the node.
  bool runs = !containers_of_pod(std::string(kube::uid_of(*entry.pod))).empty();
  std::string lack = runs ? "" : lacking(wanted, others.requests, capacity);
  if (lack.empty() && !runs && others.pods >= options_.pods_max) lack = "pods";
  entry.admitted = true;
  if (lack.empty()) return;
  entry.requests = {};
  std::string words = fmt::format("Node didn't have enough resource: {}", lack);
  entry.machine.evict("OutOf" + lack, "Pod was rejected: " + words);
  tell(entry, {true, "OutOf" + lack, words}, now);
}

void Node::Agent::step(const std::string& uid, Entry& entry, Time now) {
  consider_resize(entry, now);
  bool finish_it = false;
  bool delete_it = false;
  json::object status;
  std::vector<PodEvent> events;
  // What follows at once is done at once; the status is written when it has come to rest.
  for (int round = 0; round < kRoundsMax && (round == 0 || entry.dirty); ++round) {
    if (round > 0) seen_[uid] = runtime_.list(uid);
    entry.dirty = false;
    Decision decision = entry.machine.step(view_of(entry, containers_of_pod(uid), now));
    entry.wake = decision.wake;
    for (const Action& action : decision.actions) {
      finish_it = finish_it || std::holds_alternative<FinishPod>(action);
      delete_it = delete_it || std::holds_alternative<DeletePod>(action);
      carry_out(entry, action, now);
    }
    status = std::move(decision.status);
    events.insert(events.end(), decision.events.begin(), decision.events.end());
  }
  for (const PodEvent& event : events) tell(entry, event, now);
  // What it has come to is written when that is known.
  if (entry.busy) return;
  if (is_terminal_phase(text_at(status, {"phase"})) && !any_runs(containers_of_pod(uid)))
    give_back(uid, entry);
  if (!write_status(entry, std::move(status))) return;
  if (finish_it && !entry.finished) finish(uid, entry);
  if (delete_it && entry.finished && !entry.removing) {
    entry.removing = true;
    remove_object(entry);
  }
}

// Before anybody can learn that the pod is over and send another in its place.
void Node::Agent::give_back(const std::string& uid, Entry& entry) {
  if (std::exchange(entry.over, true)) return;
  wake_deferred();
  DeviceLedger before = devices_;
  devices_.release(uid);
  if (!(devices_ == before)) (void)write_whole(options_.data_dir / "gpus.json", devices_.to_text()).ok();
}

void Node::Agent::remove_object(const Entry& entry) {
  kube::DeleteOptions options;
  options.uid = kube::uid_of(*entry.pod);
  options.grace_seconds = 0;
  auto work = [this, options, ns = std::string(kube::namespace_of(*entry.pod)),
               name = std::string(kube::name_of(*entry.pod))] {
    Result<Done> removed = client::remove(client_, kube::kPods, ns, name, options);
    bool done = removed.ok() || removed.error().kind == ErrorKind::kNotFound ||
                removed.error().kind == ErrorKind::kConflict;
    if (done) return;
    (void)post([this, uid = options.uid] {
      auto found = entries_.find(uid);
      if (found == entries_.end()) return;
      found->second.removing = false;
      found->second.wake = options_.clock() + kWriteRetry;
    });
  };
  CHECK(writes_->submit(std::move(work)));
}

// True when the server has this status. Otherwise it is on its way, and the pod is looked
// at again when it has arrived.
bool Node::Agent::write_status(Entry& entry, json::object status) {
  const json::object* before = kube::object_at(*entry.pod, {"status"});
  if (before != nullptr && *before == status) return true;
  if (entry.writing) return false;
  entry.writing = true;
  json::object body = *entry.pod;
  body["status"] = std::move(status);
  auto work = [this, body = std::move(body)]() mutable {
    std::string uid(kube::uid_of(body));
    std::string ns(kube::namespace_of(body));
    std::string name(kube::name_of(body));
    Result<client::Object> written = client::update_status(client_, kube::kPods, ns, std::move(body));
    // Somebody else wrote in between: the next look is at what they wrote.
    if (!written.ok() && written.error().kind == ErrorKind::kConflict) {
      written = client::get(client_, kube::kPods, ns, name);
    }
    (void)post([this, uid, written] { on_written(uid, written); });
  };
  CHECK(writes_->submit(std::move(work)));
  return false;
}

void Node::Agent::on_written(const std::string& uid, const Result<client::Object>& written) {
  auto found = entries_.find(uid);
  if (found == entries_.end()) return;
  Entry& entry = found->second;
  entry.writing = false;
  bool is_gone = written.ok() ? kube::uid_of(**written) != uid : written.error().kind == ErrorKind::kNotFound;
  if (is_gone) {
    gone_.insert(uid);
  } else if (written.ok()) {
    refresh_pod(entry, *written);
    entry.dirty = true;
  } else {
    entry.wake = options_.clock() + kWriteRetry;
  }
}

void Node::Agent::carry_out(Entry& entry, const Action& action, Time now) {
  std::string uid(kube::uid_of(*entry.pod));
  std::visit(Match{
                 [&](const PreparePod&) { prepare(entry); },
                 [&](const StartContainer& what) { start_container(entry, what, now); },
                 [&](const SignalContainer& what) {
                   (void)runtime_.signal({uid, what.name, what.attempt}, what.signal).ok();
                 },
                 [&](const RunCheck& check) {
                   const json::object* container = find_container(*entry.pod, check.name);
                   if (container == nullptr) return;
                   checks_.begin({uid, check.name, check.attempt}, check, *container, runtime_, now);
                 },
                 [&](const ResizeContainer& what) {
                   entry.dirty = true;
                   entry.machine.on_resized(
                       what, runtime_.resize({uid, what.name, what.attempt}, limits_of(what.resources)), now);
                 },
                 [&](const RemoveContainer& what) {
                   (void)runtime_.remove({uid, what.name, what.attempt}).ok();
                 },
                 [](const FinishPod&) {},
                 [](const DeletePod&) {},
             },
             action);
}

bool Node::Agent::awaits_restart(const std::string& pod_uid, const std::string& container, int attempt) {
  auto found = entries_.find(pod_uid);
  return found != entries_.end() && found->second.machine.attempt_of(container) > attempt;
}

void Node::Agent::tell_hosts() {
  if (!std::exchange(hosts_dirty_, false)) return;
  std::vector<NamedPod> pods;
  for (const auto& [uid, entry] : entries_) {
    if (!entry.finished) pods.push_back({entry.pod, entry.ip});
  }
  std::sort(pods.begin(), pods.end(), [](const NamedPod& a, const NamedPod& b) {
    return kube::name_of(*a.pod) < kube::name_of(*b.pod);
  });
  std::vector<Object> services;
  for (const auto& [key, service] : streams_[1].cache.all()) services.push_back(service.object());
  struct Names {
    std::map<std::string, std::string> hosts;
    uint64_t digest = 0;
  };
  std::map<std::string, Names> by_namespace;
  for (auto& [uid, entry] : entries_) {
    if (entry.finished || entry.ip.empty()) continue;
    std::string ns(kube::namespace_of(*entry.pod));
    auto found = by_namespace.find(ns);
    if (found == by_namespace.end()) {
      Names names{hosts_for(ns, pods, services, options_.cluster_domain), 0};
      names.digest = digest_of(names.hosts, kFnvOffset);
      found = by_namespace.emplace(ns, std::move(names)).first;
    }
    std::map<std::string, std::string> aliases = host_aliases_of(*entry.pod);
    uint64_t digest = digest_of(aliases, found->second.digest);
    if (entry.hosts == digest) continue;
    aliases.insert(found->second.hosts.begin(), found->second.hosts.end());
    if (runtime_.set_hosts(uid, aliases).ok()) entry.hosts = digest;
  }
}

void Node::Agent::tell(const Entry& entry, const PodEvent& event, Time now) {
  // Best effort: with too many waiting it is dropped.
  (void)events_->submit([this, pod = entry.pod, event, now] { recorder_.tell(client_, *pod, event, now); });
}

}  // namespace trainyard::node
