#include "sched/gangs_from.h"

#include <algorithm>
#include <charconv>
#include <tuple>

#include "base/hash.h"
#include "kube/access.h"
#include "kube/meta.h"
#include "kube/scheduling.h"
#include "sched/assembly.h"

namespace trainyard::sched {
namespace {

// Volcano's controller puts the names that quotas use beside those of nodes.
bool is_quota_name(std::string_view name) {
  return name.starts_with("count/") || name.starts_with("requests.") || name.starts_with("limits.");
}

// The number at the end of a pod's name, for an order that people expect.
int64_t trailing_number(const std::string& name) {
  size_t at = name.find_last_not_of("0123456789");
  size_t begin = at == std::string::npos ? 0 : at + 1;
  int64_t out = 0;
  std::from_chars(name.data() + begin, name.data() + name.size(), out);
  return out;
}

std::optional<Member> member_of(const PodSeen& pod, const Documents& documents, Assembly& assembly) {
  Member out;
  out.uid = pod.uid;
  out.name = pod.name;
  out.pod_class = assembly.class_of(pod);
  std::string node = pod.node;
  if (auto assumed = documents.assumed.find(pod.uid); node.empty() && assumed != documents.assumed.end()) {
    node = assumed->second;
  }
  out.node = node.empty() ? -1 : assembly.node_index(node);
  if (pod.ended) {
    out.node = -1;
    out.state = pod.succeeded ? MemberState::kSucceeded : MemberState::kFailed;
  } else if (pod.leaving) {
    if (node.empty()) return std::nullopt;  // will never have one
    out.state = MemberState::kLeaving;
    out.evicted = pod.evicted;
  } else if (!node.empty()) {
    out.state = MemberState::kPlaced;
  } else {
    out.state = pod.gated ? MemberState::kGated : MemberState::kWaiting;
  }
  return out;
}

// What is wrong with a claim that the pod mounts, "" when nothing is.
std::string claim_trouble(const PodSeen& pod, const Documents& documents, const Assembly& assembly) {
  if (documents.volumes == nullptr || !documents.volumes->troubles) return "";
  const std::map<std::string, std::string>& troubles = *documents.volumes->troubles;
  for (const std::string& claim : assembly.shapes().at(pod.shape).claims) {
    auto found = troubles.find(fmt::format("{}/{}", pod.ns, claim));
    if (found == troubles.end()) return fmt::format("claim {} does not exist", claim);
    if (!found->second.empty()) return found->second;
  }
  return "";
}

int role_index(Gang& gang, const std::string& name) {
  for (size_t i = 0; i < gang.roles.size(); ++i) {
    if (gang.roles[i].name == name) return static_cast<int>(i);
  }
  gang.roles.push_back({name});
  return static_cast<int>(gang.roles.size()) - 1;
}

void add_members(Gang& gang, std::vector<const PodSeen*> pods, const Documents& documents,
                 Assembly& assembly) {
  auto order = [](const PodSeen& pod) {
    return std::tuple(std::string_view(pod.role), trailing_number(pod.name), std::string_view(pod.name),
                      std::string_view(pod.uid));
  };
  std::sort(pods.begin(), pods.end(),
            [&](const PodSeen* a, const PodSeen* b) { return order(*a) < order(*b); });
  gang.members.reserve(pods.size());
  for (const PodSeen* pod : pods) {
    std::optional<Member> member = member_of(*pod, documents, assembly);
    if (!member) continue;
    member->role = role_index(gang, pod->role);
    if (member->state == MemberState::kWaiting) {
      std::string trouble = claim_trouble(*pod, documents, assembly);
      if (!trouble.empty()) member->state = MemberState::kHeldBack;
      if (gang.lacks_claim.empty()) gang.lacks_claim = std::move(trouble);
    }
    if (assembly.shapes().at(pod->shape).spread) {
      gang.roles[static_cast<size_t>(member->role)].arrangement = Arrangement::kSpread;
    }
    gang.members.push_back(std::move(*member));
  }
  if (gang.roles.empty()) gang.roles.push_back({""});
}

// Deadlines of the pods are the gang's when each has one.
void read_times(Gang& gang, const std::vector<const PodSeen*>& pods) {
  bool all = !pods.empty();
  bool running = false;
  Duration longest{0};
  Time last{0};
  for (const PodSeen* pod : pods) {
    if (pod->ended) continue;
    all = all && pod->deadline.has_value();
    if (!pod->deadline) continue;
    longest = std::max(longest, *pod->deadline);
    if (!pod->started_at) continue;
    running = true;
    last = std::max(last, *pod->started_at + *pod->deadline);
  }
  if (all) gang.runs_at_most = longest;
  if (all && running) gang.ends_at = last;
}

void read_priority(Gang& gang, const std::string& named, const std::vector<const PodSeen*>& pods,
                   const Assembly& assembly) {
  const PriorityClass* chosen = assembly.priority_class(named);
  std::optional<int64_t> highest;  // of the pods: it may be below 0, which is what no class is worth
  bool never = chosen != nullptr && chosen->never_preempts;
  for (const PodSeen* pod : pods) {
    const PriorityClass* of_pod = assembly.priority_class(pod->priority_class);
    int64_t value = pod->priority == 0 && of_pod != nullptr ? of_pod->value : pod->priority;
    highest = std::max(highest.value_or(value), value);
    never = never || pod->never_preempts || (of_pod != nullptr && of_pod->never_preempts);
    bool critical = pod->priority_class.starts_with("system-") || pod->ns == "kube-system";
    if (critical || !pod->preemptable.value_or(true)) gang.preemptible = false;
  }
  gang.class_priority = chosen != nullptr ? chosen->value : highest.value_or(0);
  if (chosen == nullptr && gang.class_priority == 0) {
    if (const PriorityClass* usual = assembly.default_priority_class()) gang.class_priority = usual->value;
  }
  gang.may_preempt = !never;
}

void read_history(Gang& gang, const kube::PodGroup& group) {
  gang.whole_once = group.phase == "Running" || group.phase == "Completed" || group.phase == "Unknown" ||
                    group.phase == "Finished";
  for (const kube::Condition& condition : group.conditions) {
    bool was = (condition.type == "Scheduled" || condition.type == "GroupScheduled") && condition.is_true();
    bool broken = (condition.type == "Unschedulable" && condition.is_true()) ||
                  (condition.type == "SufficientGroupMember" && condition.status == "False");
    gang.whole_once = gang.whole_once || was;
    if (broken && condition.changed_at) {
      gang.broken_since = std::max(gang.broken_since.value_or(Time{0}), *condition.changed_at);
    }
  }
}

// A pod that waits and was made when others had started takes the place of one that was lost. Where a
// group has no conditions (coscheduling) that is all there is to know of its past: its phase follows the
// pods, and nobody is bound before all are there.
void read_history_of_pods(Gang& gang, const kube::PodGroup& group, const std::vector<const PodSeen*>& pods) {
  std::optional<Time> started;
  std::optional<Time> made_anew;
  for (const PodSeen* pod : pods) {
    if (pod->ended || pod->leaving) continue;
    if (pod->node.empty()) made_anew = std::max(made_anew, pod->created_at);
    if (pod->node.empty() || !pod->started_at) continue;
    started = started ? std::min(*started, *pod->started_at) : *pod->started_at;
  }
  bool replaces = started && made_anew && *started < *made_anew;
  if (group.group == kube::kCoschedulingPodGroups.group) {
    gang.whole_once = gang.whole_once || !made_anew || replaces;
    if (replaces) gang.broken_since = made_anew;
  } else if (gang.broken_since && made_anew && (replaces || !gang.whole_once)) {
    gang.broken_since = std::max(*gang.broken_since, *made_anew);
  }
}

// What each role needs. Volcano asks for none of it when the gang as a whole needs fewer than its
// roles together: then any of the pods will do.
std::vector<Role> roles_of(const kube::PodGroup& group) {
  int64_t together = 0;
  std::vector<Role> out;
  for (const auto& [role, least] : group.min_task_member) {
    together += least;
    out.push_back({role, least});
  }
  const bool volcano = group.group == kube::kVolcanoPodGroups.group;
  return volcano && group.min_member < together ? std::vector<Role>{} : out;
}

Gang gang_of_group(const GroupSeen& seen, const std::vector<const PodSeen*>& pods, const Documents& documents,
                   const FrontOptions& options, Assembly& assembly) {
  const kube::PodGroup& group = seen.group;
  Gang gang;
  gang.id = seen.id;
  gang.ns = group.ns;
  gang.name = group.name;
  gang.queue = assembly.queue_name(group.group, group.queue.empty() ? options.default_queue : group.queue);
  gang.min_member = group.min_member;
  gang.roles = roles_of(group);
  add_members(gang, pods, documents, assembly);
  gang.min_resources = assembly.amounts(group.min_resources);
  gang.job_priority = std::clamp(group.priority, 0, 100);
  read_priority(gang, group.priority_class, pods, assembly);
  gang.queued_at = group.created_at.value_or(Time{});
  if (group.schedule_timeout_seconds) gang.schedule_timeout = seconds(*group.schedule_timeout_seconds);
  read_times(gang, pods);
  gang.domain_key = seen.domain_key;
  gang.domain_required = seen.domain_required;
  bool volcano = group.group == kube::kVolcanoPodGroups.group;
  bool not_let_in = group.phase.empty() || group.phase == "Pending";
  gang.asks_admission = volcano && not_let_in && pods.empty() && !group.deleting;
  read_history(gang, group);
  read_history_of_pods(gang, group, pods);
  return gang;
}

bool wants_node(const Gang& gang) {
  return std::any_of(gang.members.begin(), gang.members.end(), [](const Member& member) {
    return member.state == MemberState::kWaiting || member.state == MemberState::kHeldBack;
  });
}

Gang gang_of_pod(const PodSeen& pod, const Documents& documents, const FrontOptions& options,
                 Assembly& assembly) {
  Gang gang;
  gang.id = gang_id("", pod.ns, pod.name);
  gang.ns = pod.ns;
  gang.name = pod.name;
  gang.queue = assembly.queue_name("", pod.queue.empty() ? options.default_queue : pod.queue);
  add_members(gang, {&pod}, documents, assembly);
  gang.min_member = wants_node(gang) ? 1 : 0;
  read_priority(gang, "", {&pod}, assembly);
  gang.queued_at = pod.created_at.value_or(Time{});
  read_times(gang, {&pod});
  return gang;
}

// Pods that name a group that is not there wait for it: alone they would start in part.
Gang gang_of_missing_group(const std::vector<const PodSeen*>& pods, const Documents& documents,
                           const FrontOptions& options, Assembly& assembly) {
  Gang gang;
  gang.ns = pods.front()->ns;
  gang.name = pods.front()->group;
  gang.id = gang_id("missing", gang.ns, gang.name);
  gang.queue = assembly.queue_name("", options.default_queue);
  add_members(gang, pods, documents, assembly);
  gang.min_member = wants_node(gang) ? static_cast<int>(gang.members.size()) : 0;
  gang.group_exists = false;
  gang.queued_at = pods.front()->created_at.value_or(Time{});
  return gang;
}

Tally tally_of(const std::vector<const PodSeen*>& pods, const Documents& documents) {
  Tally out;
  for (const PodSeen* pod : pods) {
    ++out.pods;
    bool on_node = !pod->node.empty() || documents.assumed.contains(pod->uid);
    out.on_nodes += on_node && !pod->ended;
    if (pod->ended) {
      ++(pod->succeeded ? out.succeeded : out.failed);
    } else if (pod->running || pod->unknown) {
      ++(pod->running ? out.running : out.unknown);
    } else {
      ++out.pending;
    }
  }
  return out;
}

// One domain for all members: by our annotations, else by Volcano's networkTopology. The name of a tier
// is read as a node label; the number of one means nothing without Volcano's HyperNodes.
void read_domain(const json::object& object, GroupSeen& out) {
  out.domain_key = kube::annotation_of(object, kube::kSameTopologyAnnotation);
  out.domain_required = !out.domain_key.empty();
  if (out.domain_required) return;
  out.domain_key = kube::annotation_of(object, kube::kPreferSameTopologyAnnotation);
  const json::object* topology = kube::object_at(object, {"spec", "networkTopology"});
  if (!out.domain_key.empty() || topology == nullptr) return;
  out.domain_key = kube::text_at(*topology, {"highestTierName"});
  out.domain_required = !out.domain_key.empty() && kube::text_at(*topology, {"mode"}) != "soft";
}

// Whether a group is ours to let in while it has no pods that would tell.
bool serves(const GroupSeen& seen, const FrontOptions& options) {
  if (!seen.placed_by.empty() && !options.schedulers.empty()) {
    return options.schedulers.contains(seen.placed_by);
  }
  return options.groups.empty() || options.groups.contains(seen.group.group);
}

// Which group a pod means, by how it names it: index into the groups, -1 when none is there.
class GroupIndex {
 public:
  explicit GroupIndex(const std::vector<const GroupSeen*>& groups) {
    for (size_t i = 0; i < groups.size(); ++i) by_id_.emplace(groups[i]->id, static_cast<int>(i));
  }
  int find(const PodSeen& pod) const {
    switch (pod.naming) {
      case GroupNaming::kNone:
        return -1;
      case GroupNaming::kAnnotation: {
        int volcano = at(kube::kVolcanoPodGroups, pod);
        return volcano >= 0 ? volcano : at(kube::kKubeBatchPodGroups, pod);
      }
      case GroupNaming::kCoscheduling:
        return at(kube::kCoschedulingPodGroups, pod);
      case GroupNaming::kT9k:
        return at(kube::kT9kPodGroups, pod);
    }
    return -1;
  }

 private:
  int at(const kube::Resource& resource, const PodSeen& pod) const {
    auto found = by_id_.find(gang_id(resource.group, pod.ns, pod.group));
    return found == by_id_.end() ? -1 : found->second;
  }
  std::map<std::string, int> by_id_;
};

}  // namespace

bool is_ours(const PodSeen& pod, const FrontOptions& options) {
  return options.schedulers.empty() || options.schedulers.contains(pod.scheduler);
}

uint64_t family_of(std::string_view ns, std::string_view name) { return fnv1a(name, fnv1a("/", fnv1a(ns))); }

std::string gang_id(std::string_view group, std::string_view ns, std::string_view name) {
  std::string id;
  id.reserve(group.size() + ns.size() + name.size() + 2);
  return id.append(group).append(1, '/').append(ns).append(1, '/').append(name);
}

GroupSeen see_group(const json::object& object) {
  GroupSeen out;
  out.group = kube::decode_pod_group(object);
  out.id = gang_id(out.group.group, out.group.ns, out.group.name);
  out.family = family_of(out.group.ns, out.group.name);
  std::erase_if(out.group.min_resources, [](const auto& entry) { return is_quota_name(entry.first); });
  read_domain(object, out);
  out.placed_by = kube::annotation_of(object, kube::kPlacedByAnnotation);
  return out;
}

void add_gangs(const Documents& documents, const FrontOptions& options, Assembly& assembly, Snapshot& out) {
  GroupIndex index(documents.groups);
  std::vector<std::vector<const PodSeen*>> members(documents.groups.size());
  std::vector<bool> others(documents.groups.size());  // has pods of another scheduler
  std::map<std::pair<std::string, std::string>, std::vector<const PodSeen*>> missing;
  out.gangs.reserve(documents.groups.size());
  auto put = [&](Gang&& gang, const GroupSeen* group, const std::vector<const PodSeen*>& pods) {
    out.gangs.push_back(std::move(gang));
    out.group_of.push_back(group);
    out.tallies.push_back(tally_of(pods, documents));
  };
  for (const PodSeen* pod : documents.pods) {
    int group = index.find(*pod);
    if (!is_ours(*pod, options)) {
      if (group >= 0) others[static_cast<size_t>(group)] = true;
    } else if (group >= 0) {
      members[static_cast<size_t>(group)].push_back(pod);
    } else if (pod->naming != GroupNaming::kNone) {
      missing[{pod->ns, pod->group}].push_back(pod);
    } else if (!pod->ended) {
      put(gang_of_pod(*pod, documents, options, assembly), nullptr, {pod});
    }
  }
  for (size_t g = 0; g < documents.groups.size(); ++g) {
    bool left_alone = others[g] || !serves(*documents.groups[g], options);
    if (members[g].empty() && left_alone) continue;
    put(gang_of_group(*documents.groups[g], members[g], documents, options, assembly), documents.groups[g],
        members[g]);
  }
  for (const auto& [_, pods] : missing) {
    put(gang_of_missing_group(pods, documents, options, assembly), nullptr, pods);
  }
}

Snapshot assemble(const Documents& documents, const Shapes& shapes, const FrontOptions& options) {
  Snapshot out;
  Assembly assembly(out.cluster, documents, documents.volumes, shapes, options);
  for (const PodSeen* pod : documents.pods) assembly.add_other(*pod);
  add_gangs(documents, options, assembly, out);
  return out;
}

}  // namespace trainyard::sched
