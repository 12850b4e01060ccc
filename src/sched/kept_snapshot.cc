#include "sched/kept_snapshot.h"

#include <algorithm>

#include "base/check.h"

namespace trainyard::sched {
namespace {

// As it is wherever it stands.
std::vector<const Gang*> sorted(const std::vector<Gang>& gangs) {
  std::vector<const Gang*> out;
  for (const Gang& gang : gangs) out.push_back(&gang);
  std::sort(out.begin(), out.end(), [](const Gang* a, const Gang* b) { return a->id < b->id; });
  return out;
}

bool same_gangs(const std::vector<Gang>& a, const std::vector<Gang>& b) {
  const std::vector<const Gang*> x = sorted(a);
  const std::vector<const Gang*> y = sorted(b);
  return std::equal(x.begin(), x.end(), y.begin(), y.end(),
                    [](const Gang* one, const Gang* other) { return *one == *other; });
}

}  // namespace

const Snapshot& KeptSnapshot::update(DocumentSource& source, const Shapes& shapes, const Changes& changes) {
  read_.clear();
  std::optional<Documents> part;
  if (assembly_ && !changes.all) part = source.of(changes.families);
  if (!part || !has_volumes(part->volumes) || !assembly_->knows(*part)) {
    read_all(source.all(), shapes);
  } else if (!changes.families.empty()) {
    replace(changes.families, *part);
  }
  return snapshot_;
}

bool KeptSnapshot::has_volumes(const VolumesFound* volumes) const {
  return volumes == nullptr ? !volumes_ : volumes_ && *volumes_ == *volumes;
}

void KeptSnapshot::read_all(const Documents& documents, const Shapes& shapes) {
  const bool first = !assembly_;
  standing_.reset();
  assembly_.reset();
  const Snapshot before = std::exchange(snapshot_, {});
  other_families_.clear();
  notes_.clear();
  gangs_of_.clear();
  sums_.clear();
  volumes_.reset();
  if (documents.volumes != nullptr) volumes_ = *documents.volumes;
  assembly_.emplace(snapshot_.cluster, documents, volumes_ ? &*volumes_ : nullptr, shapes, options_);
  for (const PodSeen* pod : documents.pods) {
    if (assembly_->add_other(*pod)) other_families_.push_back(pod->family);
  }
  Snapshot made;
  add_gangs(documents, options_, *assembly_, made);
  snapshot_.gangs.reserve(made.gangs.size());
  for (size_t g = 0; g < made.gangs.size(); ++g) put_gang(made, g, std::nullopt, false);
  standing_.emplace(snapshot_.cluster, snapshot_.gangs);
  bool same = before.cluster == snapshot_.cluster && same_gangs(before.gangs, snapshot_.gangs);
  if (first || !same) ++revision_;
}

// All of these families is read again, in the place of what there was of them.
void KeptSnapshot::replace(const Families& families, const Documents& part) {
  std::map<std::string, int> known;
  for (uint64_t family : families) {
    auto [from, to] = gangs_of_.equal_range(family);
    for (; from != to; ++from) {
      known.emplace(snapshot_.gangs[static_cast<size_t>(from->second)].id, from->second);
    }
  }
  const std::vector<OtherPod> gone = take_others(families);
  std::vector<OtherPod>& others = snapshot_.cluster.others;
  const auto kept = static_cast<std::ptrdiff_t>(others.size());
  for (const PodSeen* pod : part.pods) {
    if (assembly_->add_other(*pod)) other_families_.push_back(pod->family);
  }
  Snapshot made;
  add_gangs(part, options_, *assembly_, made);
  const bool follows = standing_->follow();
  if (follows) {
    for (const OtherPod& pod : gone) standing_->remove_other(pod);
    for (auto pod = others.begin() + kept; pod != others.end(); ++pod) standing_->add_other(*pod);
  }
  bool changed = !std::equal(gone.begin(), gone.end(), others.begin() + kept, others.end());
  for (size_t g = 0; g < made.gangs.size(); ++g) {
    auto there = known.find(made.gangs[g].id);
    std::optional<int> place = there == known.end() ? std::nullopt : std::optional(there->second);
    if (place) known.erase(there);
    changed = put_gang(made, g, place, follows) || changed;
  }
  std::set<int> leaving;
  for (const auto& [id, g] : known) leaving.insert(g);
  // From the end: the last one of all, which takes the room, stays.
  for (auto g = leaving.rbegin(); g != leaving.rend(); ++g) drop_gang(*g, follows);
  if (!follows) standing_.emplace(snapshot_.cluster, snapshot_.gangs);
  if (changed || !leaving.empty()) ++revision_;
}

// Takes out the pods of others that are of these families.
std::vector<OtherPod> KeptSnapshot::take_others(const Families& families) {
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
  return gone;
}

// Whether it is another than before. `follows`: the sums of the standing are kept up, too.
bool KeptSnapshot::put_gang(Snapshot& made, size_t from, std::optional<int> known, bool follows) {
  Gang& gang = made.gangs[from];
  read_.push_back(gang.id);
  const bool changed = !known || gang != snapshot_.gangs[static_cast<size_t>(*known)];
  const int g = known.value_or(static_cast<int>(snapshot_.gangs.size()));
  const auto at = static_cast<size_t>(g);
  if (known) {
    note(g, -1);
    if (changed && follows) standing_->remove(snapshot_.gangs, g);
  } else {
    snapshot_.gangs.emplace_back();
    snapshot_.tallies.emplace_back();
    snapshot_.group_of.push_back(nullptr);
    gangs_of_.emplace(family_of(gang.ns, gang.name), g);
    notes_.push_back({family_of(gang.ns, gang.name)});
  }
  if (changed) snapshot_.gangs[at] = std::move(gang);
  snapshot_.tallies[at] = made.tallies[from];
  snapshot_.group_of[at] = made.group_of[from];
  if (changed && follows) standing_->add(snapshot_.gangs, g);
  Note& noted = notes_[at];
  noted.print = gang_print(snapshot_.cluster, snapshot_.gangs[at], snapshot_.tallies[at]);
  noted.phase = counted_phase(snapshot_.group_of[at], snapshot_.gangs[at], snapshot_.tallies[at]);
  note(g, 1);
  return changed;
}

// The last gang takes its place.
void KeptSnapshot::drop_gang(int g, bool follows) {
  const auto at = static_cast<size_t>(g);
  const int last = static_cast<int>(snapshot_.gangs.size()) - 1;
  auto entry_of = [&](int gang) {
    auto [from, to] = gangs_of_.equal_range(notes_[static_cast<size_t>(gang)].family);
    auto found = std::find_if(from, to, [&](const auto& entry) { return entry.second == gang; });
    CHECK(found != to);
    return found;
  };
  note(g, -1);
  gangs_of_.erase(entry_of(g));
  if (follows) {
    standing_->remove(snapshot_.gangs, g);
    standing_->move_last(snapshot_.gangs, g);
  }
  if (g != last) {
    entry_of(last)->second = g;
    snapshot_.gangs[at] = std::move(snapshot_.gangs.back());
    snapshot_.tallies[at] = snapshot_.tallies.back();
    snapshot_.group_of[at] = snapshot_.group_of.back();
    notes_[at] = std::move(notes_.back());
  }
  snapshot_.gangs.pop_back();
  snapshot_.tallies.pop_back();
  snapshot_.group_of.pop_back();
  notes_.pop_back();
}

void KeptSnapshot::note(int g, int times) {
  const auto at = static_cast<size_t>(g);
  count(sums_, snapshot_.cluster, snapshot_.gangs[at], snapshot_.tallies[at], notes_[at].phase, times);
}

}  // namespace trainyard::sched
