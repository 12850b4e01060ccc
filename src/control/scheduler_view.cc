#include "control/scheduler_view.h"

#include <algorithm>

#include "base/check.h"
#include "control/scheduler_writes.h"
#include "kube/access.h"
#include "kube/scheduling.h"

namespace trainyard::control {
namespace {

// Positions of the streams.
enum SchedulerStream {
  kPodsSeen,
  kNodesSeen,
  kFirstGroups,                     // four
  kFirstQueues = kFirstGroups + 4,  // two
  kPriorityClassesSeen = kFirstQueues + 2,
  kNamespacesSeen,
  kFirstClaims,  // as ClaimsSeen has them
};

constexpr int kShapesSpare = 256;  // that are kept though no pod has them

// Notes what came, went or, where it stays, may have become one of another family.
template <typename T>
void follow(std::multimap<uint64_t, const T*>& index, const T* before, const T* after) {
  if (before != nullptr) {
    const T* place = after != nullptr ? after : before;
    auto [from, to] = index.equal_range(before->seen.family);
    auto found = std::find_if(from, to, [&](const auto& entry) { return entry.second == place; });
    CHECK(found != to);
    index.erase(found);
  }
  if (after != nullptr) index.emplace(after->seen.family, after);
}

constexpr kube::Resource kGroupResources[] = {kube::kVolcanoPodGroups, kube::kKubeBatchPodGroups,
                                              kube::kCoschedulingPodGroups, kube::kT9kPodGroups};
constexpr kube::Resource kQueueResources[] = {kube::kVolcanoQueues, kube::kT9kQueues};

PodSight read_pod(const json::object& pod, sched::Shapes& shapes) {
  PodSight out;
  out.seen = sched::see_pod(pod, shapes);
  const json::array* conditions = kube::array_at(pod, {"status", "conditions"});
  if (conditions == nullptr) return out;
  for (const json::value& value : *conditions) {
    const json::object* condition = value.if_object();
    if (condition == nullptr) continue;
    std::string_view type = kube::text_at(*condition, {"type"});
    std::string_view status = kube::text_at(*condition, {"status"});
    bool tells = type == "PodScheduled" && status == "False";
    bool marks = type == "DisruptionTarget" && status == "True" && !out.seen.leaving && !out.seen.ended &&
                 kube::text_at(*condition, {"reason"}) == kPreemptionByScheduler;
    if (!tells && !marks) continue;
    std::optional<Time> since = parse_rfc3339(kube::text_at(*condition, {"lastTransitionTime"}));
    if (marks) {
      out.marked_at = since.value_or(Time{});
      continue;
    }
    out.told = kube::text_at(*condition, {"message"});
    out.told_at = since;
  }
  return out;
}

// Lists of groups may leave out what each object is.
client::Object with_kind(const client::Object& object, const kube::Resource& resource) {
  if (!kube::text_at(*object, {"apiVersion"}).empty()) return object;
  json::object named = *object;
  named["apiVersion"] = resource.api_version();
  named["kind"] = kube::jview(resource.kind);
  return std::make_shared<const json::object>(std::move(named));
}

// What its status is made of, and written to.
client::Object said_of(const json::object& group, const kube::Resource& resource) {
  json::object meta;
  for (std::string_view key : {"name", "namespace", "uid", "resourceVersion"}) {
    meta[kube::jview(key)] = kube::jview(kube::text_at(group, {"metadata", key}));
  }
  json::object out{{"apiVersion", resource.api_version()}, {"metadata", std::move(meta)}};
  if (const json::object* status = kube::object_at(group, {"status"})) out["status"] = *status;
  return std::make_shared<const json::object>(std::move(out));
}

GroupSight read_group(const client::Object& object, const kube::Resource& resource,
                      client::Patterns& patterns) {
  return {sched::see_group(*with_kind(object, resource)),
          {said_of(*object, resource), client::Form::kText, &patterns}};
}

QueueSight read_queue(const client::Object& object, const kube::Resource& resource) {
  QueueSight out;
  out.object = with_kind(object, resource);
  out.seen = kube::decode_queue(*out.object);
  return out;
}

// What a queue is to its gangs. Its status, which we write ourselves, does not count, but for being closed.
kube::Queue rules_of(kube::Queue queue) {
  queue.version = 0;
  queue.state.clear();
  queue.allocated.clear();
  queue.conditions.clear();
  return queue;
}

bool has_other_rules(const QueueSight* before, const QueueSight* after) {
  return before == nullptr || after == nullptr || rules_of(before->seen) != rules_of(after->seen);
}

// A namespace's name and labels: all that a selector asks for.
DocumentSight read_namespace(const json::object& object) {
  json::object meta{{"name", kube::jview(kube::name_of(object))}};
  if (const json::object* labels = kube::object_at(object, {"metadata", "labels"})) meta["labels"] = *labels;
  return {std::make_shared<const json::object>(json::object{{"metadata", std::move(meta)}})};
}

}  // namespace

kube::Resource group_resource(std::string_view api_group) {
  for (const kube::Resource& resource : kGroupResources) {
    if (resource.group == api_group) return resource;
  }
  CHECK(false);
  return {};
}

SchedulerView::SchedulerView(bool waits_for_claims)
    : pods_([this](const client::Object& pod) { return read_pod(*pod, shapes_); }),
      nodes_([](const client::Object& node) { return sched::see_node(*node); }),
      priority_classes_([](const client::Object& object) { return DocumentSight{object}; }),
      namespaces_([](const client::Object& object) { return read_namespace(*object); }),
      claims_(waits_for_claims) {
  streams_.push_back({kube::kPods, {}, ""});
  streams_.push_back({kube::kNodes, {}, ""});
  for (const kube::Resource& resource : kGroupResources) {
    streams_.push_back({resource, {}, ""});
    groups_.emplace_back(
        [resource, this](const client::Object& object) { return read_group(object, resource, patterns_); });
  }
  for (const kube::Resource& resource : kQueueResources) {
    streams_.push_back({resource, {}, ""});
    queues_.emplace_back([resource](const client::Object& object) { return read_queue(object, resource); });
  }
  for (const kube::Resource& resource : {kube::kPriorityClasses, kube::kNamespaces}) {
    streams_.push_back({resource, {}, ""});
  }
  CHECK(streams_.size() == kFirstClaims);
  for (const kube::Resource& resource : claims_.resources()) streams_.push_back({resource, {}, ""});
}

bool SchedulerView::synced() const {
  auto is_synced = [](const auto& sights) { return sights.synced(); };
  return pods_.synced() && nodes_.synced() && std::all_of(groups_.begin(), groups_.end(), is_synced) &&
         std::all_of(queues_.begin(), queues_.end(), is_synced) && priority_classes_.synced() &&
         namespaces_.synced() && claims_.synced();
}

bool SchedulerView::is_own(const std::string& uid, int64_t version) const {
  auto found = own_versions_.find(uid);
  return found != own_versions_.end() && found->second == version;
}

void SchedulerView::wrote(const kube::Resource& resource, const client::Object& object) {
  own_versions_[std::string(kube::uid_of(*object))] = kube::version_of(*object);
  const std::string_view uid = kube::uid_of(*object);
  for (size_t i = 0; i < groups_.size(); ++i) {
    if (kGroupResources[i] != resource) continue;
    groups_[i].know(object);
    if (const GroupSight* known = groups_[i].find(uid)) changes_.families.insert(known->seen.family);
  }
  for (size_t i = 0; i < queues_.size(); ++i) {
    if (kQueueResources[i] != resource || queues_[i].find(uid) == nullptr) continue;
    const QueueSight before = *queues_[i].find(uid);
    queues_[i].know(object);
    if (has_other_rules(&before, queues_[i].find(uid))) changes_.all = true;
  }
}

void SchedulerView::assume(const std::string& uid, const std::string& node) {
  assumed_[uid] = node;
  if (const PodSight* pod = find_pod(uid)) changes_.families.insert(pod->seen.family);
}

void SchedulerView::forget_assumed(const std::string& uid) {
  assumed_.erase(uid);
  if (const PodSight* pod = find_pod(uid)) changes_.families.insert(pod->seen.family);
}

// A gated pod that belongs to no group gets no node, and where there are no queues nobody counts it.
bool SchedulerView::can_matter(const PodSight* pod) const {
  if (pod == nullptr) return false;
  bool queued = std::any_of(queues_.begin(), queues_.end(),
                            [](const Sights<QueueSight>& queues) { return !queues.all().empty(); });
  return !pod->seen.gated || !pod->seen.group.empty() || queued;
}

bool SchedulerView::take_in(int stream, const client::Output& output) {
  bool news = false;
  auto any_change = [&](const auto*, const auto*) {
    news = true;
    changes_.all = true;
  };
  // Of what we write to ourselves; `object`: as it was, when it is gone.
  auto written_change = [&](const auto& object, bool gone) {
    if (gone) own_versions_.erase(object.uid);
    news = news || gone || !is_own(object.uid, object.version);
  };
  // All of them have another place then.
  const bool anew = std::holds_alternative<client::InitDone>(output);
  auto group_change = [&](const GroupSight* before, const GroupSight* after) {
    const sched::GroupSeen& seen = (after != nullptr ? after : before)->seen;
    written_change(seen.group, after == nullptr);
    changes_.families.insert(seen.family);
    if (!anew) follow(groups_of_, before, after);
  };
  auto queue_change = [&](const QueueSight* before, const QueueSight* after) {
    written_change((after != nullptr ? after : before)->seen, after == nullptr);
    if (has_other_rules(before, after)) changes_.all = true;
  };
  if (stream == kPodsSeen) {
    pods_.apply(output, [&](const PodSight* before, const PodSight* after) {
      for (const PodSight* one : {before, after}) {
        if (one == nullptr) continue;
        changes_.families.insert(one->seen.family);
        if (one->marked_at) marked_.erase(one->seen.uid);
      }
      if (!anew) follow(pods_of_, before, after);
      const sched::PodSeen& seen = (after != nullptr ? after : before)->seen;
      if (after != nullptr && after->marked_at) marked_.insert(seen.uid);
      auto assumed = assumed_.find(seen.uid);
      bool expected = false;
      if (before != nullptr && after != nullptr) {
        sched::PodSeen as_assumed = before->seen;
        if (assumed != assumed_.end() && as_assumed.node.empty()) as_assumed.node = assumed->second;
        expected = as_assumed == after->seen;
      }
      if (assumed != assumed_.end() && (after == nullptr || !seen.node.empty())) assumed_.erase(assumed);
      bool marked = before != nullptr && after != nullptr && after->marked_at && !before->marked_at;
      news = news || marked || (!expected && (can_matter(before) || can_matter(after)));
    });
  } else if (stream == kNodesSeen) {
    nodes_.apply(output, any_change);
    if (news) claims_.nodes_changed();
  } else if (stream < kFirstQueues) {
    groups_[static_cast<size_t>(stream - kFirstGroups)].apply(output, group_change);
  } else if (stream < kPriorityClassesSeen) {
    queues_[static_cast<size_t>(stream - kFirstQueues)].apply(output, queue_change);
  } else if (stream == kPriorityClassesSeen) {
    priority_classes_.apply(output, any_change);
  } else if (stream == kNamespacesSeen) {
    namespaces_.apply(output, any_change);
  } else {
    news = claims_.take_in(stream - kFirstClaims, output);
  }
  if (anew && (stream == kPodsSeen || (stream >= kFirstGroups && stream < kFirstQueues))) index_all();
  return news;
}

void SchedulerView::index_all() {
  changes_.all = true;
  pods_of_.clear();
  groups_of_.clear();
  for (const auto& [uid, sight] : pods_.all()) pods_of_.emplace(sight.value.seen.family, &sight.value);
  for (const Sights<GroupSight>& groups : groups_) {
    for (const auto& [uid, sight] : groups.all()) groups_of_.emplace(sight.value.seen.family, &sight.value);
  }
}

// Each job has pods of a shape of its own, by its name in their labels: without this a scheduler would grow
// with every job that ever was.
void SchedulerView::forget_old_shapes() {
  const auto pods_max = static_cast<int>(pods_.all().size());
  const int there = shapes_.size() + shapes_.labels().size();
  if (there <= std::min(4 * pods_max + kShapesSpare, shapes_checked_)) return;
  std::vector<bool> used(static_cast<size_t>(shapes_.size()), false);
  std::vector<bool> used_labels(static_cast<size_t>(shapes_.labels().size()), false);
  for (const auto& [uid, sight] : pods_.all()) {
    used[static_cast<size_t>(sight.value.seen.shape)] = true;
    used_labels[static_cast<size_t>(sight.value.seen.labels)] = true;
  }
  const auto live =
      std::count(used.begin(), used.end(), true) + std::count(used_labels.begin(), used_labels.end(), true);
  shapes_checked_ = 2 * static_cast<int>(live) + kShapesSpare;
  if (there <= shapes_checked_) return;
  const std::vector<int> renamed = shapes_.keep(used);
  const std::vector<int> renamed_labels = shapes_.labels().keep(used_labels);
  changes_.all = true;
  for (auto& [uid, sight] : pods_.all()) {
    sight.value.seen.shape = renamed[static_cast<size_t>(sight.value.seen.shape)];
    sight.value.seen.labels = renamed_labels[static_cast<size_t>(sight.value.seen.labels)];
  }
}

sched::Changes SchedulerView::take_changes() {
  if (pods_.at_rest()) forget_old_shapes();
  return std::exchange(changes_, {.all = false, .families = {}});
}

const GroupSight& SchedulerView::sight_of(const sched::GroupSeen& group) const {
  auto [from, to] = groups_of_.equal_range(group.family);
  auto found = std::find_if(from, to, [&](const auto& entry) { return &entry.second->seen == &group; });
  CHECK(found != to);
  return *found->second;
}

std::vector<client::Object> SchedulerView::queues() const {
  std::vector<client::Object> out;
  for (const Sights<QueueSight>& queues : queues_) {
    for (const auto& [uid, sight] : queues.all()) out.push_back(sight.value.object);
  }
  return out;
}

std::set<std::string> SchedulerView::ready_nodes() const {
  std::set<std::string> out;
  for (const auto& [uid, sight] : nodes_.all()) {
    if (sight.value.node.ready) out.insert(sight.value.node.name);
  }
  return out;
}

sched::Documents SchedulerView::of(const std::set<uint64_t>& families) {
  sched::Documents out;
  out.volumes = &claims_.found();
  for (uint64_t family : families) {
    auto [pod, last_pod] = pods_of_.equal_range(family);
    for (; pod != last_pod; ++pod) {
      out.pods.push_back(&pod->second->seen);
      auto assumed = assumed_.find(pod->second->seen.uid);
      if (assumed != assumed_.end()) out.assumed.insert(*assumed);
    }
    auto [group, last_group] = groups_of_.equal_range(family);
    for (; group != last_group; ++group) out.groups.push_back(&group->second->seen);
  }
  return out;
}

sched::Documents SchedulerView::all() {
  sched::Documents out;
  for (const auto& [uid, sight] : pods_.all()) out.pods.push_back(&sight.value.seen);
  for (const auto& [uid, sight] : nodes_.all()) out.nodes.push_back(&sight.value);
  for (const Sights<GroupSight>& groups : groups_) {
    for (const auto& [uid, sight] : groups.all()) out.groups.push_back(&sight.value.seen);
  }
  for (const Sights<QueueSight>& queues : queues_) {
    for (const auto& [uid, sight] : queues.all()) out.queues.push_back(&sight.value.seen);
  }
  for (const auto& [uid, sight] : priority_classes_.all()) {
    out.priority_classes.push_back(sight.value.object.get());
  }
  for (const auto& [uid, sight] : namespaces_.all()) out.namespaces.push_back(sight.value.object.get());
  out.volumes = &claims_.found();
  out.assumed = assumed_;
  return out;
}

}  // namespace trainyard::control
