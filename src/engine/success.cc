#include "engine/success.h"

#include <fmt/format.h>

#include "base/match.h"
#include "engine/finish.h"
#include "engine/rules.h"

namespace trainyard::engine {

using model::Outcome;
using model::ReplicaId;
using model::ResultKind;

void record_successes(Pass& pass) {
  for (const model::PodSeen& pod : pass.seen.pods) {
    if (pod.phase != model::PodPhase::kSucceeded || pass.is_extra(pod) || pass.is_old(pod)) continue;
    // Programs exit with 0 when they are told to stop: that is no success.
    if (pod.deleted_first) continue;
    // A replica that runs for ever starts again instead, unless its success is the job's.
    if (pass.spec.roles[pod.id.role].runs_forever && !decides_success(pass.spec, pod.id)) continue;
    if (pass.state.outcome_of(pod.id)) continue;
    model::ReplicaRecord& record = pass.state.record(pod.id);
    record.outcome = Outcome::kSucceeded;
    record.exit_code = 0;
    model::Note note;
    note.kind = model::NoteKind::kReplicaEnded;
    note.replica = pod.id;
    note.object = pod.name;
    note.exit_code = pod.exit_code.value_or(0);
    if (pass.spec.tells_replica_endings) pass.note(std::move(note));
  }
}

namespace {

enum class Verdict { kOpen, kSucceeded, kFailed };

bool whole_role_succeeded(const Pass& pass, int role) {
  int replicas = pass.spec.roles[role].replicas;
  return replicas > 0 && pass.count(role, Outcome::kSucceeded) == replicas;
}

Verdict judge_tally(const Pass& pass, const model::Tally& tally) {
  int succeeded = 0;
  int failed = 0;
  bool roles_met = true;
  for (size_t role = 0; role < pass.spec.roles.size(); ++role) {
    int own = pass.count(static_cast<int>(role), Outcome::kSucceeded);
    succeeded += own;
    failed += pass.count(static_cast<int>(role), Outcome::kFailed);
    roles_met = roles_met && own >= pass.spec.roles[role].min_available;
  }
  int total = pass.spec.total_replicas();
  if (total == 0) return Verdict::kOpen;
  if (tally.min_success && succeeded >= *tally.min_success) return Verdict::kSucceeded;
  if (succeeded + failed < total) return Verdict::kOpen;
  if (tally.per_role && !roles_met) return Verdict::kFailed;
  if (tally.min_success) return Verdict::kFailed;
  return succeeded >= tally.min_available ? Verdict::kSucceeded : Verdict::kFailed;
}

Verdict judge(const Pass& pass) {
  auto by_role = [&](int role, bool met) {
    if (met) return Verdict::kSucceeded;
    bool hopeless = pass.spec.roles[role].replicas > 0 && pass.all_ended(role);
    return hopeless ? Verdict::kFailed : Verdict::kOpen;
  };
  return std::visit(Match{
                        [&](const model::MainReplica& rule) {
                          bool met = pass.state.outcome_of(rule.id) == Outcome::kSucceeded ||
                                     (rule.or_all && whole_role_succeeded(pass, rule.id.role));
                          return by_role(rule.id.role, met);
                        },
                        [&](const model::WholeRole& rule) {
                          return by_role(rule.role, whole_role_succeeded(pass, rule.role));
                        },
                        [&](const model::Tally& rule) { return judge_tally(pass, rule); },
                        [](const model::NoSuccess&) { return Verdict::kOpen; },
                    },
                    pass.spec.success);
}

}  // namespace

void check_success(Pass& pass) {
  if (judge(pass) == Verdict::kSucceeded) finish(pass, ResultKind::kSucceeded, {});
}

void check_nothing_left(Pass& pass) {
  if (judge(pass) != Verdict::kFailed) return;
  model::Cause cause;
  cause.kind = model::CauseKind::kNothingLeft;
  int failed = 0;
  for (const model::ReplicaRecord& record : pass.state.replicas) {
    if (pass.state.outcome_of(record.id) != Outcome::kFailed) continue;
    if (failed++ > 0) continue;
    cause.role = pass.spec.roles[record.id.role].name;
    cause.index = record.id.index;
    cause.exit_code = record.exit_code;
  }
  cause.failed_count = failed;
  cause.detail = fmt::format("{} replica(s) failed and too few succeeded", failed);
  finish(pass, ResultKind::kFailed, std::move(cause));
}

}  // namespace trainyard::engine
