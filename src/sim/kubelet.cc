#include "sim/kubelet.h"

#include <fmt/format.h>

#include <algorithm>

#include "kube/access.h"

namespace trainyard::sim {

namespace {

constexpr Author kKubeletHand{Hand::kKubelet, -1};
constexpr int kExitCodes[] = {1, 2, 42, 127, 130, 137, 139, 143};
constexpr int kTerminated = 143;

json::object condition(std::string_view type, bool is_true) {
  return {{"type", kube::jview(type)}, {"status", is_true ? "True" : "False"}};
}

}  // namespace

Kubelet::Kubelet(Cluster& cluster, const Options& options, bool scripted)
    : cluster_(cluster),
      options_(options),
      scripted_(scripted),
      rng_(stream(options.seed, Stream::kKubelet)) {}

Duration Kubelet::some(int64_t low_ms, int64_t high_ms) {
  return Duration{scripted_ ? low_ms : rng_.between(low_ms, high_ms)};
}

bool Kubelet::strikes(Fault fault) {
  return trouble_ && !scripted_ && options_.faults.has(fault) && rng_.chance(options_.fault_percent);
}

Kubelet::Body* Kubelet::find(const std::string& uid) {
  auto found = bodies_.find(uid);
  return found == bodies_.end() ? nullptr : &found->second;
}

Kubelet::Body* Kubelet::find_by_end(std::string_view name_end) {
  for (auto& [uid, body] : bodies_) {
    if (std::string_view(body.name).ends_with(name_end)) return &body;
  }
  return nullptr;
}

void Kubelet::on_change(const Change& change) {
  if (change.resource != &kube::kPods) return;
  const json::object& pod = change.after ? *change.after : *change.before;
  const std::string uid(kube::uid_of(pod));
  if (!change.after) {
    bodies_.erase(uid);
    return;
  }
  if (!change.before) admit(pod);
  Body* body = find(uid);
  if (body == nullptr) return;
  const std::string_view node = kube::text_at(pod, {"spec", "nodeName"});
  if (body->node.empty() && !node.empty()) bind(*body, node);
  // Its scheduler says that it goes for another's sake, or not after all: what is written later says so too.
  if (change.author.hand == Hand::kScheduler) body->preempted = read_pod(pod).marked;
  if (!body->deleting && kube::is_deleting(pod)) {
    body->deleting = true;
    if (strikes(Fault::kStuckDeletion)) body->stuck = true;
    if (!body->stuck && !is_lost(body->node))
      cluster_.agenda().in(some(500, 5'000), [this, uid] { stop(uid); });
  }
}

void Kubelet::admit(const json::object& pod) {
  Body body;
  const PodFacts facts = read_pod(pod);
  body.name = facts.name;
  body.uid = facts.uid;
  body.job_uid = facts.job_uid;
  body.role = facts.role;
  body.restart_policy = kube::text_at(pod, {"spec", "restartPolicy"});
  if (body.restart_policy.empty()) body.restart_policy = "Always";
  body.container = "main";
  if (const json::array* containers = kube::array_at(pod, {"spec", "containers"})) {
    if (!containers->empty() && containers->front().is_object()) {
      body.container = kube::text_at(containers->front().get_object(), {"name"});
    }
  }
  bodies_.emplace(body.uid, std::move(body));
}

void Kubelet::bind(Body& body, std::string_view node) {
  body.node = node;
  const std::string uid = body.uid;
  // Nobody there to start it: the cluster takes such pods away after a while.
  if (options_.crowded && is_lost(body.node)) {
    cluster_.agenda().in(some(5'000, 40'000), [this, uid] { collect_unreachable(uid); });
    return;
  }
  if (strikes(Fault::kRefusal)) {
    cluster_.agenda().in(some(100, 1'000), [this, uid] { refuse(uid); });
    return;
  }
  cluster_.agenda().in(some(300, 3'000), [this, uid] { start(uid); });
}

void Kubelet::refuse(const std::string& uid) {
  Body* body = find(uid);
  if (body == nullptr || body->deleting) return;
  body->stage = Stage::kEnded;
  body->phase = PodPhase::kFailed;
  body->reason = "OutOfcpu";
  write(*body);
}

bool Kubelet::is_lost(const std::string& node) const {
  return std::find(lost_nodes_.begin(), lost_nodes_.end(), node) != lost_nodes_.end();
}

void Kubelet::collect_unreachable(const std::string& uid) {
  Body* body = find(uid);
  if (body == nullptr || body->stage != Stage::kCreated) return;
  if (!is_lost(body->node)) return start(uid);
  body->disrupted = true;
  write(*body);
  cluster_.remove({Hand::kCollector, -1}, kube::kPods, std::string(body->name),
                  {.uid = uid, .grace_seconds = 0});
}

void Kubelet::start(const std::string& uid) {
  Body* body = find(uid);
  if (body == nullptr || body->deleting || body->stage == Stage::kRunning || body->stage == Stage::kEnded)
    return;
  if (strikes(Fault::kImagePull)) {
    body->stage = Stage::kPulling;
    body->waiting = "ErrImagePull";
    cluster_.agenda().in(some(5'000, 40'000), [this, uid] { start(uid); });
    write(*body);
    return;
  }
  body->stage = Stage::kRunning;
  body->phase = PodPhase::kRunning;
  body->waiting.clear();
  body->started_at = cluster_.now();
  plan_end(*body);
  trouble_for(*body);
  write(*body);
}

bool Kubelet::runs_for_ever(const Body& body) const {
  if (body.role == "ps" || body.role == "evaluator") return true;
  if (body.restart_policy == "Always") return true;
  for (const kube::Resource* resource : {&kube::kT9kJobs, &kube::kTfJobs}) {
    auto jobs = cluster_.store().list(*resource, "");
    if (!jobs.ok()) continue;
    for (const store::Object& job : jobs.value().items) {
      if (kube::uid_of(*job) != body.job_uid) continue;
      return read_wish(resource == &kube::kT9kJobs ? Kind::kT9k : Kind::kTfJob, *job).restart == "Always";
    }
  }
  return false;
}

int Kubelet::pick_exit_code() {
  if (!trouble_ || !options_.faults.has(Fault::kPodFails) || rng_.chance(50)) return 0;
  return kExitCodes[rng_.below(std::size(kExitCodes))];
}

void Kubelet::plan_end(const Body& body) {
  if (scripted_) return;
  const bool serves = body.role == "ps" || body.role == "evaluator";
  if (serves && !(trouble_ && options_.faults.has(Fault::kPodFails) && rng_.chance(30))) return;
  if (!trouble_ && runs_for_ever(body)) return;
  const int code = pick_exit_code();
  if (serves && code == 0) return;
  const std::string uid = body.uid;
  const int run = body.run;
  cluster_.agenda().in(some(1'000, 60'000), [this, uid, run, code] { end_run(uid, run, code); });
}

void Kubelet::trouble_for(const Body& body) {
  const std::string uid = body.uid;
  if (strikes(Fault::kEviction)) {
    cluster_.agenda().in(some(100, 20'000), [this, uid] {
      if (Body* later = find(uid); later != nullptr && trouble_) evict(*later);
    });
  }
  if (strikes(Fault::kNodeLoss)) {
    const std::string node = body.node;
    cluster_.agenda().in(some(100, 20'000), [this, node] {
      if (trouble_) lose_node(node);
    });
  }
  if (strikes(Fault::kPhaseFlap)) {
    cluster_.agenda().in(some(100, 10'000), [this, uid] {
      Body* later = find(uid);
      if (later == nullptr || later->stage != Stage::kRunning) return;
      later->phase = rng_.chance(50) ? PodPhase::kPending : PodPhase::kUnknown;
      write(*later);
      cluster_.agenda().in(some(100, 5'000), [this, uid] {
        Body* back = find(uid);
        if (back == nullptr || back->stage != Stage::kRunning) return;
        back->phase = PodPhase::kRunning;
        write(*back);
      });
    });
  }
}

void Kubelet::end_run(const std::string& uid, int run, int exit_code) {
  Body* body = find(uid);
  if (body == nullptr || body->run != run || body->stage != Stage::kRunning) return;
  if (is_lost(body->node)) return;
  if (!trouble_ && !scripted_ && runs_for_ever(*body)) return;
  body->exit_code = exit_code;
  body->finished_at = cluster_.now();
  const bool again = !body->deleting && (body->restart_policy == "Always" ||
                                         (body->restart_policy == "OnFailure" && exit_code != 0));
  if (again) {
    body->stage = Stage::kCrashed;
    body->waiting = "CrashLoopBackOff";
    cluster_.agenda().in(some(500, 10'000), [this, uid, run] { restart(uid, run); });
    write(*body);
    return;
  }
  body->stage = Stage::kEnded;
  body->phase = exit_code == 0 ? PodPhase::kSucceeded : PodPhase::kFailed;
  const bool collected = strikes(Fault::kPodCollected);
  write(*body);
  if (!collected) return;
  cluster_.agenda().in(some(0, 2'000), [this, uid] {
    if (Body* later = find(uid)) {
      cluster_.remove({Hand::kCollector, -1}, kube::kPods, std::string(later->name),
                      {.uid = uid, .grace_seconds = 0});
    }
  });
}

void Kubelet::restart(const std::string& uid, int run) {
  Body* body = find(uid);
  if (body == nullptr || body->run != run || body->stage != Stage::kCrashed || body->deleting) return;
  body->run = run + 1;
  body->restarts += 1;
  start(uid);
}

void Kubelet::evict(Body& body) {
  if (body.stage == Stage::kEnded || body.deleting) return;
  body.disrupted = true;
  if (!scripted_ && rng_.chance(50)) {
    // Through the API: marked, then deleted like by anybody else.
    write(body);
    cluster_.remove(kKubeletHand, kube::kPods, std::string(body.name), {.uid = body.uid});
    return;
  }
  body.stage = Stage::kEnded;
  body.phase = PodPhase::kFailed;
  body.reason = "Evicted";
  body.finished_at = cluster_.now();
  write(body);
}

void Kubelet::lose_node(const std::string& node) {
  if (is_lost(node)) return;
  lost_nodes_.push_back(node);
  if (node_news_.lost) node_news_.lost(node);
  std::vector<std::string> uids;
  for (const auto& [uid, body] : bodies_) {
    if (body.node == node) uids.push_back(uid);
  }
  for (const std::string& uid : uids) {
    Body* body = find(uid);
    if (body == nullptr || body->stage == Stage::kEnded) continue;
    body->disrupted = true;
    body->stuck = true;
    if (rng_.chance(30)) body->phase = PodPhase::kUnknown;
    write(*body);
    body = find(uid);
    if (body != nullptr) cluster_.remove(kKubeletHand, kube::kPods, std::string(body->name), {.uid = uid});
  }
  if (!scripted_) {
    cluster_.agenda().in(some(5'000, 90'000), [this, node] {
      std::erase(lost_nodes_, node);
      if (node_news_.back) node_news_.back(node);
      std::vector<std::string> back;
      for (auto& [uid, body] : bodies_) {
        if (body.node == node && body.deleting) back.push_back(uid);
      }
      for (const std::string& uid : back) stop(uid);
    });
  }
}

void Kubelet::stop(const std::string& uid) {
  Body* body = find(uid);
  if (body == nullptr || !body->deleting) return;
  const bool tells_end = !scripted_ && rng_.chance(50);
  if (tells_end && body->stage == Stage::kRunning) {
    body->stage = Stage::kEnded;
    body->exit_code = rng_.chance(20) ? 0 : kTerminated;
    body->phase = body->exit_code == 0 ? PodPhase::kSucceeded : PodPhase::kFailed;
    body->finished_at = cluster_.now();
    write(*body);
    body = find(uid);
    if (body == nullptr) return;
  }
  cluster_.remove(kKubeletHand, kube::kPods, std::string(body->name), {.uid = uid, .grace_seconds = 0});
}

void Kubelet::settle() {
  trouble_ = false;
  lost_nodes_.clear();
  std::vector<std::string> uids;
  for (const auto& [uid, body] : bodies_) uids.push_back(uid);
  for (const std::string& uid : uids) {
    Body* body = find(uid);
    if (body->deleting) {
      cluster_.agenda().in(some(500, 5'000), [this, uid] { stop(uid); });
    } else if (body->stage == Stage::kRunning) {
      if (body->phase != PodPhase::kRunning) {
        body->phase = PodPhase::kRunning;
        write(*body);
      }
      if (!scripted_ && !runs_for_ever(*body)) {
        const int run = body->run;
        cluster_.agenda().in(some(1'000, 60'000), [this, uid, run] { end_run(uid, run, 0); });
      }
    }
  }
}

void Kubelet::end_pod(std::string_view name_end, int exit_code) {
  Body* body = find_by_end(name_end);
  if (body != nullptr) end_run(std::string(body->uid), body->run, exit_code);
}

void Kubelet::evict_pod(std::string_view name_end) {
  if (Body* body = find_by_end(name_end)) evict(*body);
}

void Kubelet::hang_pod(std::string_view name_end) {
  if (Body* body = find_by_end(name_end)) body->stuck = true;
}

void Kubelet::lose_node_of(std::string_view name_end) {
  Body* body = find_by_end(name_end);
  if (body != nullptr && !body->node.empty()) lose_node(std::string(body->node));
}

void Kubelet::empty_node(const std::string& node) {
  std::vector<std::string> uids;
  for (const auto& [uid, body] : bodies_) {
    if (body.node == node && !body.deleting && body.stage != Stage::kEnded) uids.push_back(uid);
  }
  for (const std::string& uid : uids) {
    Body* body = find(uid);
    if (body == nullptr) continue;
    body->disrupted = true;
    write(*body);
    if ((body = find(uid)) == nullptr) continue;
    cluster_.remove(kKubeletHand, kube::kPods, std::string(body->name), {.uid = uid});
  }
}

void Kubelet::write(const Body& body) {
  json::object state;
  const Time finished = body.finished_at.value_or(cluster_.now());
  if (body.stage == Stage::kEnded && body.reason.empty()) {
    state["terminated"] = json::object{{"exitCode", body.exit_code},
                                       {"reason", body.exit_code == 0 ? "Completed" : "Error"},
                                       {"finishedAt", format_rfc3339(finished)}};
  } else if (body.stage == Stage::kRunning) {
    state["running"] = json::object{{"startedAt", format_rfc3339(body.started_at.value_or(cluster_.now()))}};
  } else {
    state["waiting"] = json::object{{"reason", body.waiting.empty() ? "ContainerCreating" : body.waiting}};
  }
  const bool runs = body.stage == Stage::kRunning && body.phase == PodPhase::kRunning;
  json::object container{{"name", body.container},
                         {"ready", runs},
                         {"restartCount", body.restarts},
                         {"state", std::move(state)}};
  json::array conditions{condition("PodScheduled", !body.node.empty()), condition("Ready", runs)};
  if (body.disrupted || body.preempted) {
    conditions.push_back(condition("DisruptionTarget", true));
    if (body.preempted) conditions.back().as_object()["reason"] = "PreemptionByScheduler";
  }
  json::object status{{"phase", kube::jview(to_string(body.phase))},
                      {"conditions", std::move(conditions)},
                      {"containerStatuses", json::array{std::move(container)}}};
  if (!body.reason.empty()) status["reason"] = body.reason;
  if (body.started_at) status["startTime"] = format_rfc3339(*body.started_at);
  // By value: the write may end this body.
  const std::string name = body.name;
  cluster_.write_status(kKubeletHand, kube::kPods, name, std::move(status));
}

}  // namespace trainyard::sim
