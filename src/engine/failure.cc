#include "engine/failure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <tuple>

#include "engine/budget.h"
#include "engine/delayed.h"
#include "engine/finish.h"
#include "engine/restart.h"

namespace trainyard::engine {

using model::Action;
using model::ActionKind;
using model::Cause;
using model::CauseKind;
using model::Outcome;
using model::PodPhase;
using model::PodSeen;
using model::ReplicaId;
using model::ResultKind;
using model::Trigger;

namespace {

// A pod that failed in the present attempt and was not answered yet.
std::optional<Happening> failure_of(const Pass& pass, const PodSeen& pod) {
  if (pass.is_extra(pod) || pass.is_old(pod) || pass.state.outcome_of(pod.id)) return std::nullopt;
  bool again =
      pod.phase == PodPhase::kSucceeded && pass.spec.roles[pod.id.role].runs_forever && !pod.deleted_first;
  if (pod.phase != PodPhase::kFailed && !again) return std::nullopt;
  Happening happening{Trigger::kFailed, pod.id, pod.exit_code, &pod};
  if (pod.phase == PodPhase::kFailed && (pod.disrupted || pod.deleted_first))
    happening.trigger = Trigger::kDisrupted;
  return happening;
}

// order: when it ended asc (unknown last), signals before plain codes, id asc. A peer
// that dies of another's death dies later, or in the same second with a plain code.
std::vector<Happening> failures_in_order(const Pass& pass) {
  std::vector<Happening> all;
  for (const PodSeen& pod : pass.seen.pods) {
    if (auto failure = failure_of(pass, pod)) all.push_back(*failure);
  }
  auto key = [](const Happening& h) {
    Time end = h.pod->finished_at.value_or(Time{INT64_MAX});
    bool plain = h.trigger == Trigger::kFailed && h.exit_code.value_or(0) < 128;
    return std::tuple(end, plain, h.id);
  };
  std::stable_sort(all.begin(), all.end(),
                   [&](const Happening& a, const Happening& b) { return key(a) < key(b); });
  return all;
}

int failed_now(const Pass& pass, int role) {
  int n = 0;
  pass.each_replica_of(role, [&](ReplicaId id) {
    const PodSeen* pod = pass.present(id);
    bool failed = pod != nullptr && pod->phase == PodPhase::kFailed;
    n += failed || pass.state.outcome_of(id) == Outcome::kFailed;
  });
  return n;
}

Cause cause_of(const Pass& pass, const Happening& happening, CauseKind kind) {
  Cause cause;
  cause.kind = kind;
  cause.role = pass.spec.roles[happening.id.role].name;
  cause.index = happening.id.index;
  cause.exit_code = happening.exit_code.value_or(0);
  cause.failed_count = std::max(1, failed_now(pass, happening.id.role));
  if (happening.pod != nullptr) cause.detail = happening.pod->reason;
  return cause;
}

void record_failure(Pass& pass, const Happening& happening) {
  model::ReplicaRecord& record = pass.state.record(happening.id);
  record.outcome = Outcome::kFailed;
  record.exit_code = happening.exit_code.value_or(0);
}

// Why the job fails of this: a permanent code has its own words in some dialects.
CauseKind failure_kind(const Pass& pass, const Happening& happening) {
  if (happening.trigger == Trigger::kDisrupted) return CauseKind::kReplicaDisrupted;
  const auto& rules = pass.spec.roles[happening.id.role].rules;
  bool by_code =
      std::any_of(rules.begin(), rules.end(), [](const model::Rule& rule) { return !rule.exits.empty(); });
  return by_code ? CauseKind::kReplicaPermanent : CauseKind::kReplicaFailed;
}

void tell_ending(Pass& pass, const Happening& happening) {
  if (happening.pod == nullptr || !pass.spec.tells_replica_endings) return;
  model::Note note;
  note.kind = happening.trigger == Trigger::kDisrupted ? model::NoteKind::kReplicaDisrupted
                                                       : model::NoteKind::kReplicaEnded;
  note.replica = happening.id;
  note.object = happening.pod->name;
  note.exit_code = happening.exit_code.value_or(0);
  note.reason = happening.pod->reason;
  note.text = happening.pod->message;
  pass.note(std::move(note));
}

bool is_failure(const Happening& happening) {
  return happening.trigger == Trigger::kFailed || happening.trigger == Trigger::kDisrupted;
}

// Takes note of a failure that nothing is done about.
void let_be(Pass& pass, const Happening& happening) {
  if (!is_failure(happening)) return;
  record_failure(pass, happening);
  model::Note note;
  note.kind = model::NoteKind::kReplicaFailed;
  note.replica = happening.id;
  if (happening.pod != nullptr) note.object = happening.pod->name;
  note.exit_code = happening.exit_code.value_or(0);
  pass.note(std::move(note));
}

// A restart that the budget has no room for.
bool refuse_restart(Pass& pass, const Happening& happening) {
  pass.state.budget_refused = true;
  Action instead =
      pass.spec.budget.spent_fails_job ? Action{ActionKind::kFail} : fallback(pass.spec, happening.id);
  if (instead.kind != ActionKind::kFail) {
    let_be(pass, happening);
    return true;
  }
  Cause cause = cause_of(pass, happening, CauseKind::kBudgetSpent);
  record_failure(pass, happening);
  finish(pass, ResultKind::kFailed, std::move(cause));
  return false;
}

bool act_restart(Pass& pass, const Happening& happening, model::Scope scope, bool charged) {
  if (charged && !may_restart(pass)) return refuse_restart(pass, happening);
  CauseKind kind = happening.trigger == Trigger::kDisrupted || happening.trigger == Trigger::kDeleted
                       ? CauseKind::kReplicaDisrupted
                       : CauseKind::kReplicaFailed;
  Cause cause = cause_of(pass, happening, kind);
  if (charged) {
    charge(pass, happening.id, 1);
  } else {
    pass.state.disruptions +=
        happening.trigger == Trigger::kDisrupted || happening.trigger == Trigger::kDeleted;
  }
  restart(pass, happening.id, scope, cause);
  return scope != model::Scope::kJob;
}

}  // namespace

bool act(Pass& pass, const Happening& happening, const Action& action, bool charged) {
  auto because_of_rule = [&] {
    Cause cause = cause_of(pass, happening, CauseKind::kRule);
    if (is_failure(happening)) record_failure(pass, happening);
    return cause;
  };
  switch (action.kind) {
    case ActionKind::kNone:
    case ActionKind::kResume:
      let_be(pass, happening);
      return true;
    case ActionKind::kRestart:
      return act_restart(pass, happening, action.scope, charged);
    case ActionKind::kFail: {
      Cause cause = cause_of(pass, happening, failure_kind(pass, happening));
      let_be(pass, happening);
      finish(pass, ResultKind::kFailed, std::move(cause));
      return false;
    }
    case ActionKind::kAbort:
      pass.state.asked_mode = model::RunMode::kPause;
      pass.state.cause = because_of_rule();
      return false;
    case ActionKind::kTerminate:
      finish(pass, ResultKind::kTerminated, because_of_rule(), /*by_order=*/true);
      return false;
    case ActionKind::kComplete:
      finish(pass, ResultKind::kSucceeded, because_of_rule(), /*by_order=*/true);
      return false;
  }
  return true;
}

namespace {

// Charged is what a replica or its role did; not what was done to it.
bool charges(Trigger trigger) { return trigger != Trigger::kDisrupted && trigger != Trigger::kDeleted; }

void tell_action(Pass& pass, const model::Rule& rule) {
  if (rule.action.kind == ActionKind::kNone) return;
  model::Note note;
  note.kind = model::NoteKind::kActionTaken;
  note.action = rule.action;
  note.delay = rule.delay;
  pass.note(std::move(note));
}

// Asks the table and acts. Returns whether other happenings are still of interest.
bool answer(Pass& pass, const Happening& happening) {
  const model::Rule* rule = matching_rule(pass.spec, happening);
  if (rule == nullptr) {
    if (!is_failure(happening)) return true;
    return act(pass, happening, fallback(pass.spec, happening.id), charges(happening.trigger));
  }
  tell_action(pass, *rule);
  if (rule->delay && happening.trigger != Trigger::kPending) {
    if (is_failure(happening)) record_failure(pass, happening);
    delay(pass, happening, *rule);
    return true;
  }
  return act(pass, happening, rule->action, charges(happening.trigger));
}

bool answer_failures(Pass& pass) {
  for (const Happening& happening : failures_in_order(pass)) {
    // An answer to an earlier one may have made this pod an old one.
    if (pass.is_old(*happening.pod) || pass.state.outcome_of(happening.id)) continue;
    bool runs_forever = happening.pod->phase == PodPhase::kSucceeded;
    tell_ending(pass, happening);
    bool goes_on = runs_forever ? act(pass, happening, {ActionKind::kRestart, model::Scope::kPod}, true)
                                : answer(pass, happening);
    if (!goes_on) return false;
  }
  return true;
}

// Pods deleted by somebody: answered only where a rule asks for it; else they are
// simply made again.
bool answer_deletions(Pass& pass) {
  bool goes_on = true;
  pass.each_replica([&](ReplicaId id) {
    if (!goes_on || !pass.was_deleted(id)) return;
    Happening happening{Trigger::kDeleted, id, std::nullopt, nullptr};
    const model::Rule* rule = matching_rule(pass.spec, happening);
    if (rule == nullptr) return;
    goes_on = answer(pass, happening);
    // With a delay the pod is made again meanwhile; it must not be missed twice.
    if (goes_on && rule->delay && pass.was_deleted(id)) pass.state.record(id).attempt = ++pass.state.attempt;
  });
  return goes_on;
}

// Pending pods with a rule that has run out of patience.
bool answer_pending(Pass& pass) {
  for (const PodSeen& pod : pass.seen.pods) {
    if (pod.gone || pod.terminating || pod.phase != PodPhase::kPending) continue;
    if (pass.is_extra(pod) || pass.is_old(pod) || !pod.created_at) continue;
    Happening happening{Trigger::kPending, pod.id, std::nullopt, &pod};
    const model::Rule* rule = matching_rule(pass.spec, happening);
    if (rule == nullptr) continue;
    Time due = *pod.created_at + *rule->delay;
    if (pass.now < due) {
      pass.wake_at(due);
    } else if (!answer(pass, happening)) {
      return false;
    }
  }
  return true;
}

// What a role as a whole did; each answered once per attempt.
bool answer_roles(Pass& pass) {
  for (int role = 0; role < static_cast<int>(pass.spec.roles.size()); ++role) {
    const model::Role& wanted = pass.spec.roles[role];
    int attempt = std::max(pass.state.floor, pass.state.roles[role].floor);
    bool completed = wanted.replicas > 0 && pass.count(role, Outcome::kSucceeded) == wanted.replicas;
    if (completed && pass.state.roles[role].completed_attempt != attempt) {
      pass.state.roles[role].completed_attempt = attempt;
      if (!answer(pass, {Trigger::kRoleCompleted, {role, 0}, std::nullopt, nullptr})) return false;
    }
    if (!wanted.container_restarts_max || pass.state.roles[role].failed_attempt == pass.state.attempt)
      continue;
    int restarts = 0;
    pass.each_replica_of(role, [&](ReplicaId id) {
      const PodSeen* pod = pass.present(id);
      if (pod != nullptr && !ended(*pod)) restarts += pod->restarts;
    });
    if (restarts < *wanted.container_restarts_max) continue;
    pass.state.roles[role].failed_attempt = pass.state.attempt;
    if (!answer(pass, {Trigger::kRoleFailed, {role, 0}, std::nullopt, nullptr})) return false;
  }
  return true;
}

bool answer_gang(Pass& pass) {
  if (!pass.seen.gang || pass.seen.gang->phase != model::GangPhase::kLost) return true;
  // While pods are being made the scheduler's word is about their predecessors.
  bool settled = pass.state.phase == model::Phase::kRunning;
  if (!settled || pass.state.gang_lost_attempt == pass.state.attempt || pass.spec.roles.empty()) return true;
  pass.state.gang_lost_attempt = pass.state.attempt;
  return answer(pass, {Trigger::kGangLost, {0, 0}, std::nullopt, nullptr});
}

}  // namespace

void answer_happenings(Pass& pass) {
  bool goes_on = answer_failures(pass);
  goes_on = goes_on && answer_roles(pass);
  goes_on = goes_on && answer_deletions(pass);
  goes_on = goes_on && answer_pending(pass);
  goes_on = goes_on && answer_gang(pass);
  if (goes_on) run_delayed(pass);
}

}  // namespace trainyard::engine
