// Whether the node has room for what its pods want to become.
#include "kube/access.h"
#include "kube/meta.h"
#include "node/node_agent.h"
#include "node/pod_parts.h"

namespace trainyard::node {

Node::Agent::Held Node::Agent::held_beside(const Entry& entry) const {
  Held held;
  for (const auto& [uid, other] : entries_) {
    if (&other == &entry || !other.admitted || other.over || other.finished) continue;
    ++held.pods;
    held.requests.cpu_millis += other.requests.cpu_millis;
    held.requests.memory_bytes += other.requests.memory_bytes;
    held.requests.gpus += other.requests.gpus;
  }
  return held;
}

// As the pod is planned: with what is set aside for it, whatever it asks for meanwhile.
Object Node::Agent::allocated_pod(const Entry& entry) const {
  if (are_same_resources(wanted_of(*entry.pod), entry.allocated)) return entry.pod;
  return std::make_shared<const json::object>(with_allocation(*entry.pod, entry.allocated));
}

void Node::Agent::consider_resize(Entry& entry, Time now) {
  if (entry.allocated.empty() || entry.over || entry.machine.finished() || kube::is_deleting(*entry.pod))
    return;
  Allocation wanted = wanted_of(*entry.pod);
  if (are_same_resources(wanted, entry.allocated)) {
    entry.resize = {};
    return;
  }
  ResizeQuestion question{.wanted = requests_of(*entry.pod),
                          .held = entry.requests,
                          .used = held_beside(entry).requests,
                          .capacity = options_.capacity,
                          .overcommits_cpu = options_.overcommits_cpu};
  ResizeVerdict verdict = judge_resize(question);
  if (verdict.state != ResizeState::kFits) {
    if (std::exchange(entry.resize, verdict) != verdict) {
      tell(entry, {true, fmt::format("Resize{}", name_of(verdict.state)), verdict.message}, now);
    }
    return;
  }
  tell_unenforced(entry, wanted, now);
  entry.resize = {};
  entry.allocated = std::move(wanted);
  entry.requests = question.wanted;
  wake_deferred();
}

// A resize of limits that nobody enforces changes what is counted and nothing else: that is said.
void Node::Agent::tell_unenforced(const Entry& entry, const Allocation& wanted, Time now) {
  const Enforced enforced = runtime_.enforced();
  for (const auto& [name, resources] : wanted) {
    auto before = entry.allocated.find(name);
    const Limits old = before == entry.allocated.end() ? Limits{} : limits_of(before->second);
    const Limits limits = limits_of(resources);
    auto say = [&, &name = name](std::string_view what) {
      tell(entry,
           {true, "NotHonoured", fmt::format("container {}: its new {} limit is not enforced", name, what)},
           now);
    };
    if (!enforced.cpu && limits.cpu_millis && limits.cpu_millis != old.cpu_millis) say("CPU");
    if (!enforced.memory && limits.memory_bytes && limits.memory_bytes != old.memory_bytes) say("memory");
  }
}

// What was given back may be what another pod waits for.
void Node::Agent::wake_deferred() {
  for (auto& [uid, entry] : entries_) {
    if (entry.resize.state == ResizeState::kDeferred) entry.dirty = true;
  }
}

}  // namespace trainyard::node
