#include "sim/gang_checks.h"

#include <fmt/format.h>

#include <algorithm>

#include "kube/access.h"
#include "kube/meta.h"

namespace trainyard::sim {
namespace {

// Longer than the scheduler, its watches and its retries may take to mend a gang.
constexpr Duration kPatience{120'000};

int64_t whole_cpus(std::string_view text) { return text.empty() ? 0 : std::stoll(std::string(text)); }

int64_t cpu_of_pod(const json::object& pod) {
  const json::array* containers = kube::array_at(pod, {"spec", "containers"});
  if (containers == nullptr || containers->empty()) return 0;
  return whole_cpus(kube::text_at(containers->at(0).as_object(), {"resources", "requests", "cpu"}));
}

}  // namespace

void GangChecks::say(int invariant, std::string text, Time now) {
  if (violations_.size() < 10) violations_.push_back({invariant, std::move(text), now});
}

std::map<std::string, GangChecks::Seen> GangChecks::pods() const {
  std::map<std::string, Seen> out;
  store::Page page = store_.list(kube::kPods, "ns").value();
  for (const store::Object& pod : page.items) {
    Seen seen;
    seen.gang = kube::label_of(*pod, "gang");
    seen.node = kube::text_at(*pod, {"spec", "nodeName"});
    seen.cpu = cpu_of_pod(*pod);
    std::string_view phase = kube::text_at(*pod, {"status", "phase"});
    seen.ended = phase == "Succeeded" || phase == "Failed";
    seen.leaving = kube::is_deleting(*pod);
    out.emplace(kube::uid_of(*pod), std::move(seen));
  }
  return out;
}

std::map<std::string, int64_t> GangChecks::room() const {
  std::map<std::string, int64_t> out;
  store::Page page = store_.list(kube::kNodes, "").value();
  for (const store::Object& node : page.items) {
    out[std::string(kube::name_of(*node))] =
        whole_cpus(kube::text_at(*node, {"status", "allocatable", "cpu"}));
  }
  return out;
}

void GangChecks::look(Time now, const std::string& evicts) {
  std::map<std::string, int64_t> left = room();
  for (const auto& [uid, pod] : pods()) {
    if (pod.node.empty()) continue;
    const std::string& first = node_of_.try_emplace(uid, pod.node).first->second;
    if (first != pod.node)
      say(7, fmt::format("a pod of {} moved from {} to {}", pod.gang, first, pod.node), now);
    if (pod.ended || !left.contains(pod.node)) continue;
    left[pod.node] -= pod.cpu;
    if (left[pod.node] < 0) say(7, fmt::format("{} holds more than it has", pod.node), now);
  }
  if (!evicts.empty()) check_eviction(evicts, now);
}

void GangChecks::check_eviction(const std::string& uid, Time now) {
  std::map<std::string, Seen> all = pods();
  auto victim = all.find(uid);
  if (victim == all.end()) return;
  auto gang = gangs_.find(victim->second.gang);
  if (gang == gangs_.end()) return;
  leaving_since_.try_emplace(gang->first, now);
  std::map<std::string, int> placed;
  for (const auto& [_, pod] : all) placed[pod.gang] += !pod.node.empty() || pod.ended;
  // A gang in part gives back what it holds; one that goes already goes whole.
  bool in_part = placed[gang->first] < gang->second.members;
  bool goes = std::any_of(all.begin(), all.end(), [&](const auto& entry) {
    return entry.second.gang == gang->first && entry.second.leaving && entry.first != uid;
  });
  if (in_part || goes) return;
  bool somebody = std::any_of(gangs_.begin(), gangs_.end(), [&](const auto& entry) {
    const GangFacts& other = entry.second;
    if (other.name == gang->first || placed[other.name] >= other.members) return false;
    bool by_queue = other.queue_priority > gang->second.queue_priority;
    bool by_class = other.queue == gang->second.queue && other.class_priority > gang->second.class_priority;
    return by_queue || by_class;
  });
  if (!somebody) say(9, fmt::format("{} is made to leave for nobody", gang->first), now);
}

void GangChecks::look_at_lasting(Time now) {
  std::map<std::string, int> placed;
  std::map<std::string, int> staying;
  for (const auto& [_, pod] : pods()) {
    placed[pod.gang] += (!pod.node.empty() && !pod.leaving) || pod.ended;
    staying[pod.gang] += !pod.node.empty() && !pod.leaving && !pod.ended;
  }
  for (const auto& [name, gang] : gangs_) {
    if (placed[name] >= gang.members) whole_once_.insert(name);
    bool partial = staying[name] > 0 && placed[name] < gang.members && !whole_once_.contains(name);
    if (!partial) {
      partial_since_.erase(name);
    } else {
      Time since = std::max(partial_since_.try_emplace(name, now).first->second, away_until_);
      if (now - since > kPatience) {
        say(8,
            fmt::format("{} holds {} of {} places and neither gets the rest nor gives them back", name,
                        placed[name], gang.members),
            now);
        partial_since_.erase(name);
      }
    }
    auto leaving = leaving_since_.find(name);
    if (leaving == leaving_since_.end()) continue;
    if (staying[name] == 0 || placed[name] == 0) {
      leaving_since_.erase(leaving);
      whole_once_.erase(name);
    } else if (now - std::max(leaving->second, away_until_) > kPatience) {
      // It may have been placed again since: then it is whole.
      if (placed[name] < gang.members) say(9, fmt::format("only part of {} was made to leave", name), now);
      leaving_since_.erase(leaving);
    }
  }
}

void GangChecks::look_at_rest(Time now) {
  std::map<std::string, int> done;
  for (const auto& [_, pod] : pods()) done[pod.gang] += pod.ended;
  std::map<std::string, int64_t> rooms = room();
  for (const auto& [name, gang] : gangs_) {
    int64_t places = 0;
    for (const auto& [node, cpus] : rooms) places += cpus / gang.cpu;
    if (places >= gang.members && done[name] < gang.members) {
      say(16, fmt::format("{} never ran: {} of {} ended", name, done[name], gang.members), now);
    }
  }
}

}  // namespace trainyard::sim
