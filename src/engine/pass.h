// Pass: the table that the policies of one plan() call work on. The observation is
// fixed, the state is what will be written, the steps are gathered by group so that
// their order in the plan never depends on the order in which policies run.
//
// A replica's *present* pod is the one of its present attempt; *old* pods belong to
// earlier attempts; *extra* ones belong to no replica of the spec. As soon as a
// restart raises a floor, present pods become old ones: nothing has to be moved.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/observation.h"
#include "model/plan.h"

namespace trainyard::engine {

class Pass {
 public:
  Pass(const model::Observation& seen, Time now);

  const model::Observation& seen;
  const model::JobSpec& spec;
  const Time now;  // whole seconds, as it will be remembered

  model::JobState state;
  bool restarted_now = false;  // this pass ordered a restart

  // Gathered by the policies.
  bool add_finalizer = false;
  bool drop_finalizer = false;
  bool delete_job = false;
  std::vector<model::Step> deletes;
  std::vector<model::Step> upserts;
  std::vector<model::Step> creates;
  std::vector<model::Note> notes;
  std::vector<model::Wait> waits;
  std::optional<Time> wake;

  // The pod that holds the replica's name now, of whatever attempt; null when none.
  const model::PodSeen* occupant(model::ReplicaId id) const { return slots_[slot(id)]; }
  // The occupant if it is of the present attempt.
  const model::PodSeen* present(model::ReplicaId id) const;
  bool is_old(const model::PodSeen& pod) const;
  // Belongs to no replica of the spec (scaled away, role removed), or is a second one.
  bool is_extra(const model::PodSeen& pod) const;
  // Somebody deleted the present pod, and it had not ended.
  bool was_deleted(model::ReplicaId id) const;

  // Calls f(ReplicaId) for every replica of the spec, or of one role.
  template <typename F>
  void each_replica(F&& f) const {
    for (size_t role = 0; role < spec.roles.size(); ++role) each_replica_of(static_cast<int>(role), f);
  }
  template <typename F>
  void each_replica_of(int role, F&& f) const {
    for (int index = 0; index < spec.roles[role].replicas; ++index) f(model::ReplicaId{role, index});
  }

  // How many replicas of the role ended so, in the present attempt.
  int count(int role, model::Outcome outcome) const;
  // Whether every replica of the role has an outcome.
  bool all_ended(int role) const;

  void wake_at(Time time);
  void note(model::NoteKind kind);
  void note(model::Note note) { notes.push_back(std::move(note)); }
  void wait(model::WaitKind kind, std::string text) { waits.push_back({kind, std::move(text)}); }
  // Orders a creation. What no plan could hold is not gathered: the next pass sees it missing again.
  void create(model::Step step) {
    if (creates.size() <= static_cast<size_t>(model::kStepsPerPlanMax)) creates.push_back(std::move(step));
  }
  // Orders the deletion unless it is under way already.
  void delete_pod(const model::PodSeen& pod);

 private:
  size_t slot(model::ReplicaId id) const { return offsets_[id.role] + id.index; }

  std::vector<size_t> offsets_;
  std::vector<const model::PodSeen*> slots_;
};

// A pod that has ended, whichever way.
inline bool ended(const model::PodSeen& pod) {
  return pod.phase == model::PodPhase::kSucceeded || pod.phase == model::PodPhase::kFailed;
}

// "worker-3", for sentences.
std::string label(const model::JobSpec& spec, model::ReplicaId id);

}  // namespace trainyard::engine
