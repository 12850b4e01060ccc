#include "engine/gang.h"

#include <fmt/format.h>

#include <algorithm>

namespace trainyard::engine {

using model::Gang;
using model::GangSeen;
using model::Outcome;
using model::PodPhase;
using model::PodSeen;
using model::ReplicaId;

namespace {

// A queue that is set stays: it is immutable for users, and an admission hook may have
// chosen it.
bool up_to_date(const Gang& wanted, const Gang& stored) {
  return wanted.min_member == stored.min_member && wanted.min_per_role == stored.min_per_role &&
         wanted.min_resources == stored.min_resources && wanted.priority_class == stored.priority_class &&
         wanted.priority == stored.priority && wanted.timeout_seconds == stored.timeout_seconds &&
         (wanted.queue == stored.queue || !stored.queue.empty());
}

// Has ended for good, and no pod is left that a scheduler counts.
bool counts_no_more(const Pass& pass, ReplicaId id) {
  const std::optional<Outcome> outcome = pass.state.outcome_of(id);
  if (!outcome) return false;
  const PodSeen* pod = pass.present(id);
  const bool shown = pod != nullptr && !pod->gone && !pod->terminating && pod->phase == PodPhase::kSucceeded;
  return *outcome == Outcome::kFailed || !shown;
}

// A replica that is to run has no node: what the gang asks for decides whether it gets one.
bool waits_for_nodes(const Pass& pass) {
  bool waits = false;
  pass.each_replica([&](ReplicaId id) {
    const PodSeen* pod = pass.present(id);
    const bool placed = pod != nullptr && (pod->scheduled || pod->phase != PodPhase::kPending);
    waits = waits || (!pass.state.outcome_of(id) && !placed);
  });
  return waits;
}

// Never more than there can be; what is stored stays while it does no harm.
int least_of(int wanted, int possible, std::optional<int> stored, bool waits) {
  const int lowest = std::min(wanted, possible);
  if (waits || !stored) return lowest;
  return std::clamp(*stored, lowest, wanted);
}

Gang gang_to_be(const Pass& pass) {
  Gang gang = *pass.spec.gang;
  const Gang* stored = pass.seen.gang ? &pass.seen.gang->spec : nullptr;
  const bool waits = waits_for_nodes(pass);
  int members = 0;
  for (size_t role = 0; role < pass.spec.roles.size(); ++role) {
    int of_role = 0;
    pass.each_replica_of(static_cast<int>(role), [&](ReplicaId id) { of_role += !counts_no_more(pass, id); });
    members += of_role;
    auto least = gang.min_per_role.find(pass.spec.roles[role].name);
    if (least == gang.min_per_role.end()) continue;
    std::optional<int> before;
    if (stored != nullptr && stored->min_per_role.contains(least->first)) {
      before = stored->min_per_role.at(least->first);
    }
    least->second = least_of(least->second, of_role, before, waits);
  }
  std::optional<int> before;
  if (stored != nullptr) before = stored->min_member;
  gang.min_member = least_of(gang.min_member, std::max(1, members), before, waits);
  return gang;
}

void tell_waiting(Pass& pass, const GangSeen* seen) {
  const bool complains = seen != nullptr && !seen->message.empty();
  if (complains && !pass.state.gang_told) {
    model::Note note;
    note.kind = model::NoteKind::kGangWaiting;
    note.object = pass.spec.gang->name;
    note.text = seen->message;
    pass.note(std::move(note));
  }
  pass.state.gang_told = complains;
}

}  // namespace

bool keep_gang(Pass& pass) {
  if (!pass.spec.gang) return true;
  const Gang& wanted = *pass.spec.gang;
  const GangSeen* seen = pass.seen.gang ? &*pass.seen.gang : nullptr;
  int asked = wanted.min_member;
  if (wanted.owned && (seen == nullptr || seen->owned)) {
    Gang gang = gang_to_be(pass);
    asked = gang.min_member;
    if (seen == nullptr) {
      pass.upserts.push_back(model::UpsertGang{"", std::move(gang)});
    } else if (!up_to_date(gang, seen->spec)) {
      pass.upserts.push_back(model::UpsertGang{seen->uid, std::move(gang)});
    }
  }
  tell_waiting(pass, seen);
  if (!wanted.gates_pods) return true;
  // A group of the user's own does not say who lets it in: of its pods the scheduler knows.
  if (seen != nullptr && !seen->owned && !wanted.placed_by.empty()) return true;
  if (seen != nullptr && seen->phase != model::GangPhase::kPending) return true;
  std::string why = seen != nullptr && !seen->message.empty() ? ": " + seen->message : "";
  pass.wait(model::WaitKind::kGangPending,
            seen != nullptr || wanted.owned
                ? fmt::format("waiting for the scheduler to let in the gang {} of {} pods{}", wanted.name,
                              asked, why)
                : fmt::format("waiting for the PodGroup {}, which does not exist", wanted.name));
  return false;
}

void delete_gang(Pass& pass) {
  if (!pass.seen.gang || !pass.seen.gang->owned || !pass.spec.gang || !pass.spec.gang->owned) return;
  pass.deletes.push_back(model::DeleteGang{pass.spec.gang->name, pass.seen.gang->uid});
}

}  // namespace trainyard::engine
