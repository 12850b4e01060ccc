#include <cstring>

#include "base/hash.h"
#include "sched/schedule.h"

namespace trainyard::sched {
namespace {

// Feeds values into one number; the length of every list goes in before it.
class Mixer {
 public:
  void put(int64_t value) {
    uint64_t z = hash_ ^ static_cast<uint64_t>(value);
    z = (z ^ (z >> 32)) * 0x9E3779B97F4A7C15u;
    hash_ = z ^ (z >> 29);
  }
  // Eight characters at a time: all of a cluster's texts go through here with every pass.
  void put(const std::string& text) {
    put(static_cast<int64_t>(text.size()));
    int64_t word = 0;
    if (text.size() < sizeof(word)) {
      std::memcpy(&word, text.data(), text.size());
      return put(word);
    }
    const char* last = text.data() + text.size() - sizeof(word);
    for (const char* at = text.data(); at < last; at += sizeof(word)) {
      std::memcpy(&word, at, sizeof(word));
      put(word);
    }
    std::memcpy(&word, last, sizeof(word));  // what it shares with the one before does no harm
    put(word);
  }
  template <typename T>
  void put_all(const std::vector<T>& list) {
    put(static_cast<int64_t>(list.size()));
    for (const T& item : list) put(item);
  }
  void put(const std::optional<std::vector<std::string>>& list) {
    put(list.has_value());
    if (list) put_all(*list);
  }
  void put(const Labels& labels) {
    put(static_cast<int64_t>(labels.size()));
    for (const auto& [key, value] : labels) {
      put(key);
      put(value);
    }
  }
  void put(const kube::Requirement& one) {
    put(one.key);
    put(static_cast<int64_t>(one.op));
    put_all(one.values);
  }
  void put(const NodeTerm& term) {
    put_all(term.labels);
    put_all(term.fields);
  }
  void put(const PreferredNodes& wish) {
    put(wish.weight);
    put(wish.term);
  }
  void put(const Toleration& one) {
    put(one.key);
    put(one.exists);
    put(one.value);
    put(one.effect ? static_cast<int64_t>(*one.effect) : -1);
  }
  void put(const Taint& taint) {
    put(taint.key);
    put(taint.value);
    put(static_cast<int64_t>(taint.effect));
  }
  void put(const Node& node) {
    put(node.name);
    put(node.labels);
    put_all(node.taints);
    put(node.cordoned * 2 + node.ready);
    put_all(node.allocatable);
  }
  void put(const NodeRule& rule) {
    put(rule.selector);
    put_all(rule.required);
    put_all(rule.preferred);
    put_all(rule.tolerations);
    put(rule.allowed);
  }
  void put(const PodTerm& term) {
    put_all(term.selector);
    put(term.namespaces);
    put(term.topology_key);
  }
  void put(const PreferredPods& wish) {
    put(wish.weight);
    put(wish.term);
  }
  void put(const HostPort& port) {
    put(port.ip);
    put(port.protocol);
    put(port.port);
  }
  void put(const PodClass& pod) {
    put_all(pod.requests);
    put(pod.node_rule);
    put(pod.ns);
    put(pod.labels);
    put_all(pod.ports);
    put_all(pod.near);
    put_all(pod.apart);
    put_all(pod.preferred);
    put_all(pod.claims);
  }
  void put(const VolumeSource& source) {
    put(source.volume);
    put(source.nodes.has_value());
    if (source.nodes) put_all(*source.nodes);
    put(source.room);
  }
  void put(const Claim& claim) {
    put(claim.key);
    put(claim.storage_class);
    put(claim.size);
    put_all(claim.sources);
  }
  void put(const OtherPod& pod) {
    put(pod.node);
    put(pod.pod_class);
    put(pod.leaving);
  }
  void put(const Queue& queue) {
    put(queue.name);
    put(queue.weight);
    put(queue.priority);
    put_all(queue.capacity);
    put_all(queue.guarantee);
    put_all(queue.deserved);
    put(queue.closed * 2 + queue.preemptible);
    put(queue.namespaces);
    put_all(queue.node_selector);
  }
  void put(const Role& role) {
    put(role.name);
    put(role.min);
    put(static_cast<int64_t>(role.arrangement));
  }
  void put(const Member& member) {
    put(member.uid);
    put((int64_t{member.role} << 40) ^ (int64_t{member.pod_class} << 8) ^
        (static_cast<int64_t>(member.state) * 2 + member.evicted));
    put(member.node);
  }
  void put(const Gang& gang) {
    for (const std::string* text :
         {&gang.id, &gang.ns, &gang.name, &gang.queue, &gang.domain_key, &gang.lacks_claim}) {
      put(*text);
    }
    put(gang.min_member);
    put_all(gang.roles);
    put_all(gang.members);
    put_all(gang.min_resources);
    put(gang.class_priority);
    put(gang.job_priority);
    int64_t flags = 0;
    for (bool flag : {gang.may_preempt, gang.preemptible, gang.domain_required, gang.asks_admission,
                      gang.whole_once, gang.group_exists}) {
      flags = flags * 2 + flag;
    }
    put(flags);
    put(gang.queued_at.ms);
    put(gang.schedule_timeout ? gang.schedule_timeout->count() : -1);
    put(gang.runs_at_most ? gang.runs_at_most->count() : -1);
    put(gang.ends_at ? gang.ends_at->ms : -1);
    put(gang.broken_since ? gang.broken_since->ms : -1);
  }
  uint64_t value() const { return hash_; }

 private:
  uint64_t hash_ = kFnvOffset;
};

}  // namespace

uint64_t fingerprint(const Cluster& cluster, std::span<const Gang> gangs, const Policy& policy) {
  Mixer mixer;
  mixer.put_all(cluster.resources);
  mixer.put_all(cluster.node_rules);
  mixer.put_all(cluster.pod_terms);
  mixer.put_all(cluster.classes);
  mixer.put_all(cluster.nodes);
  mixer.put_all(cluster.others);
  mixer.put_all(cluster.queues);
  mixer.put_all(cluster.sources);
  mixer.put_all(cluster.claims);
  mixer.put(static_cast<int64_t>(gangs.size()));
  for (const Gang& gang : gangs) mixer.put(gang);
  for (int64_t value : {int64_t{policy.preempt}, int64_t{policy.reclaim}, int64_t{policy.backfill},
                        policy.aging_step.count(), policy.overdue_after.count(), policy.reserve_after.count(),
                        policy.hold_place.count(), int64_t{policy.search_steps_max},
                        int64_t{policy.search_steps_pass_max}, int64_t{policy.preempt_tries_max}}) {
    mixer.put(value);
  }
  return mixer.value();
}

}  // namespace trainyard::sched
