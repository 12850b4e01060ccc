#include "sched/kept_snapshot.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"
#include "sched/group_status.h"

namespace trainyard::sched {

const Snapshot& KeptSnapshot::update(const Documents& documents, const Shapes& shapes,
                                     const Changes& changes) {
  std::optional<Part> part;
  if (assembly_ && !changes.all && has_volumes(documents.volumes)) {
    part = part_of(documents, changes.families);
  }
  if (!part || !assembly_->knows(part->documents)) {
    read_all(documents, shapes);
  } else if (!changes.families.empty()) {
    follow_groups(documents.groups, changes.families);
    bool others = replace_others(changes.families, *part);
    bool gangs = replace_gangs(changes.families, *part);
    if (others || gangs) ++revision_;
  }
  return snapshot_;
}

// The pods and groups of some families.
KeptSnapshot::Part KeptSnapshot::part_of(const Documents& documents, const Families& families) {
  Part out;
  out.documents.volumes = documents.volumes;
  if (families.empty()) return out;
  for (const PodSeen* pod : documents.pods) {
    if (!families.contains(pod->family)) continue;
    out.documents.pods.push_back(pod);
    auto assumed = documents.assumed.find(pod->uid);
    if (assumed != documents.assumed.end()) out.documents.assumed.insert(*assumed);
  }
  for (size_t i = 0; i < documents.groups.size(); ++i) {
    if (!families.contains(documents.groups[i]->family)) continue;
    out.documents.groups.push_back(documents.groups[i]);
    out.places.push_back(static_cast<int>(i));
  }
  return out;
}

bool KeptSnapshot::has_volumes(const VolumesFound* volumes) const {
  return volumes == nullptr ? !volumes_ : volumes_ && *volumes_ == *volumes;
}

void KeptSnapshot::read_all(const Documents& documents, const Shapes& shapes) {
  const bool first = !assembly_;
  assembly_.reset();
  const Snapshot before = std::exchange(snapshot_, {});
  for (std::vector<uint64_t>* kept : {&families_, &prints_, &group_families_, &other_families_})
    kept->clear();
  volumes_.reset();
  if (documents.volumes != nullptr) volumes_ = *documents.volumes;
  assembly_.emplace(snapshot_.cluster, documents, volumes_ ? &*volumes_ : nullptr, shapes, options_);
  follow_groups(documents.groups, {});
  Part all{documents, std::vector<int>(documents.groups.size())};
  std::iota(all.places.begin(), all.places.end(), 0);
  replace_others({}, all);
  replace_gangs({}, all);
  if (first || before.cluster != snapshot_.cluster || before.gangs != snapshot_.gangs) ++revision_;
}

// Groups of these families may have come and gone: the others have another place then.
void KeptSnapshot::follow_groups(const std::vector<const GroupSeen*>& groups, const Families& families) {
  std::vector<int> moved(group_families_.size(), -1);
  size_t now = 0;
  for (size_t before = 0; before < moved.size(); ++before) {
    if (families.contains(group_families_[before])) continue;
    while (now < groups.size() && families.contains(groups[now]->family)) ++now;
    CHECK(now < groups.size() && groups[now]->family == group_families_[before]);
    moved[before] = static_cast<int>(now++);
  }
  for (int& place : snapshot_.group_of) {
    if (place >= 0) place = moved[static_cast<size_t>(place)];
  }
  group_families_.clear();
  for (const GroupSeen* group : groups) group_families_.push_back(group->family);
}

// Whether any is another than before.
bool KeptSnapshot::replace_gangs(const Families& families, const Part& part) {
  Snapshot made;
  add_gangs(part.documents, options_, *assembly_, made);
  std::vector<const Gang*> fresh;
  for (const Gang& gang : made.gangs) fresh.push_back(&gang);
  std::sort(fresh.begin(), fresh.end(), [](const Gang* a, const Gang* b) { return a->id < b->id; });
  std::vector<size_t> spots;
  for (size_t g = 0; g < families_.size(); ++g) {
    if (families.contains(families_[g])) spots.push_back(g);
  }
  auto is_at = [&](const Gang* gang, size_t spot) { return gang->id == snapshot_.gangs[spot].id; };
  bool changed = !std::equal(fresh.begin(), fresh.end(), spots.begin(), spots.end(), is_at);
  if (changed) spots = make_spots(spots, fresh);
  for (size_t i = 0; i < fresh.size(); ++i) {
    const auto from = static_cast<size_t>(fresh[i] - made.gangs.data());
    const int group = made.group_of[from];
    Gang& gang = made.gangs[from];
    prints_[spots[i]] = gang_print(snapshot_.cluster, gang, made.tallies[from]);
    families_[spots[i]] = family_of(gang.ns, gang.name);
    snapshot_.tallies[spots[i]] = made.tallies[from];
    snapshot_.group_of[spots[i]] = group < 0 ? -1 : part.places[static_cast<size_t>(group)];
    changed = changed || gang != snapshot_.gangs[spots[i]];
    snapshot_.gangs[spots[i]] = std::move(gang);
  }
  return changed;
}

// Takes some gangs out and makes room for others, by id. Answers where.
std::vector<size_t> KeptSnapshot::make_spots(const std::vector<size_t>& gone,
                                             const std::vector<const Gang*>& fresh) {
  Snapshot old;
  std::swap(old.gangs, snapshot_.gangs);
  std::swap(old.tallies, snapshot_.tallies);
  std::swap(old.group_of, snapshot_.group_of);
  const std::vector<uint64_t> families = std::exchange(families_, {});
  const std::vector<uint64_t> prints = std::exchange(prints_, {});
  snapshot_.gangs.reserve(old.gangs.size() + fresh.size());
  std::vector<size_t> spots;
  auto put = [&](Gang&& gang, const Tally& tally, int group, uint64_t family, uint64_t print) {
    snapshot_.gangs.push_back(std::move(gang));
    snapshot_.tallies.push_back(tally);
    snapshot_.group_of.push_back(group);
    families_.push_back(family);
    prints_.push_back(print);
  };
  auto make_spot = [&] {
    spots.push_back(snapshot_.gangs.size());
    put({}, {}, -1, 0, 0);
  };
  auto leaves = gone.begin();
  for (size_t g = 0; g < old.gangs.size(); ++g) {
    if (leaves != gone.end() && *leaves == g) {
      ++leaves;
      continue;
    }
    while (spots.size() < fresh.size() && fresh[spots.size()]->id < old.gangs[g].id) make_spot();
    put(std::move(old.gangs[g]), old.tallies[g], old.group_of[g], families[g], prints[g]);
  }
  while (spots.size() < fresh.size()) make_spot();
  return spots;
}

bool KeptSnapshot::replace_others(const Families& families, const Part& part) {
  std::vector<OtherPod>& others = snapshot_.cluster.others;
  std::vector<OtherPod> gone;
  size_t kept = 0;
  for (size_t i = 0; i < others.size(); ++i) {
    if (families.contains(other_families_[i])) {
      gone.push_back(others[i]);
      continue;
    }
    others[kept] = others[i];
    other_families_[kept++] = other_families_[i];
  }
  others.resize(kept);
  other_families_.resize(kept);
  for (const PodSeen* pod : part.documents.pods) {
    if (assembly_->add_other(*pod)) other_families_.push_back(pod->family);
  }
  return !std::equal(gone.begin(), gone.end(), others.begin() + static_cast<std::ptrdiff_t>(kept),
                     others.end());
}

}  // namespace trainyard::sched
