// JobState to JSON and back. Fields at their default are left out. Replicas that
// merely succeeded are kept as ranges ("0-3,7"), so a job of a thousand replicas
// stays a few bytes; everything else a replica has to say is an entry of its own.
#include <charconv>

#include "kube/access.h"
#include "model/job_state.h"

namespace trainyard::model {
namespace {

using kube::int_at;
using kube::text_at;

// The value of `Enum` whose name is `text`, looked for from 0 to `last`.
template <typename Enum>
std::optional<Enum> parse_enum(std::string_view text, Enum last) {
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    if (to_string(static_cast<Enum>(i)) == text) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

int small_at(const json::object& from, std::string_view key, int fallback) {
  std::optional<int64_t> n = int_at(from, {key});
  if (!n || *n < -1 || *n > 1'000'000'000) return fallback;
  return static_cast<int>(*n);
}

void put_unless(json::object& into, std::string_view key, int64_t value, int64_t usual) {
  if (value != usual) into.emplace(kube::jview(key), value);
}

// ---- ranges of indexes -------------------------------------------------------

void add_to_ranges(std::string& ranges, int first, int last) {
  if (!ranges.empty()) ranges += ',';
  ranges += first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
}

std::string write_ranges(const std::vector<int>& sorted) {
  std::string ranges;
  for (size_t i = 0; i < sorted.size();) {
    size_t j = i;
    while (j + 1 < sorted.size() && sorted[j + 1] == sorted[j] + 1) ++j;
    add_to_ranges(ranges, sorted[i], sorted[j]);
    i = j + 1;
  }
  return ranges;
}

bool take_number(std::string_view& text, int& n) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc{} || n < 0 || n >= kReplicasMax) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return true;
}

std::vector<int> read_ranges(std::string_view text) {
  std::vector<int> indexes;
  while (!text.empty()) {
    int first = 0;
    if (!take_number(text, first)) return indexes;
    int last = first;
    if (!text.empty() && text.front() == '-') {
      text.remove_prefix(1);
      if (!take_number(text, last)) return indexes;
    }
    for (int i = first; i <= last; ++i) indexes.push_back(i);
    if (!text.empty()) text.remove_prefix(1);
  }
  return indexes;
}

// ---- parts --------------------------------------------------------------------

json::object encode_cause(const Cause& cause) {
  json::object out{{"kind", to_string(cause.kind)}};
  if (!cause.role.empty()) out.emplace("role", cause.role);
  put_unless(out, "index", cause.index, -1);
  put_unless(out, "exitCode", cause.exit_code, 0);
  put_unless(out, "failed", cause.failed_count, 0);
  if (!cause.detail.empty()) out.emplace("detail", cause.detail);
  return out;
}

Cause decode_cause(const json::object& from) {
  Cause cause;
  cause.kind = parse_enum(text_at(from, {"kind"}), CauseKind::kInvalid).value_or(CauseKind::kNone);
  cause.role = text_at(from, {"role"});
  cause.index = small_at(from, "index", -1);
  cause.exit_code = small_at(from, "exitCode", 0);
  cause.failed_count = small_at(from, "failed", 0);
  cause.detail = text_at(from, {"detail"});
  return cause;
}

json::object encode_record(const ReplicaRecord& record) {
  json::object out;
  out.reserve(5);
  put_unless(out, "attempt", record.attempt, 0);
  if (record.outcome) out.emplace("outcome", *record.outcome == Outcome::kSucceeded ? "Succeeded" : "Failed");
  put_unless(out, "exitCode", record.exit_code, 0);
  if (!record.counted_uid.empty()) out.emplace("uid", record.counted_uid);
  put_unless(out, "counted", record.counted, 0);
  return out;
}

void decode_record(const json::object& from, ReplicaRecord& record) {
  record.attempt = small_at(from, "attempt", 0);
  std::string_view outcome = text_at(from, {"outcome"});
  if (outcome == "Succeeded") record.outcome = Outcome::kSucceeded;
  if (outcome == "Failed") record.outcome = Outcome::kFailed;
  record.exit_code = small_at(from, "exitCode", 0);
  record.counted_uid = text_at(from, {"uid"});
  record.counted = small_at(from, "counted", 0);
}

// Whether "it succeeded" is all there is to say about a replica.
bool merely_succeeded(const ReplicaRecord& record, int role_attempt) {
  return record.outcome == Outcome::kSucceeded && record.exit_code == 0 && record.counted_uid.empty() &&
         record.counted == 0 && record.attempt == role_attempt;
}

json::object encode_role(const JobState& state, int role) {
  const RoleState& own = state.roles[role];
  json::object out;
  out.reserve(4);  // most have less
  put_unless(out, "floor", own.floor, 0);
  put_unless(out, "made", own.made, 0);
  put_unless(out, "restarts", own.restarts, 0);
  put_unless(out, "completed", own.completed_attempt, -1);
  put_unless(out, "failed", own.failed_attempt, -1);
  std::vector<int> succeeded;
  json::object replicas;
  for (const ReplicaRecord& record : state.replicas) {
    if (record.id.role != role) continue;
    if (merely_succeeded(record, std::max(state.floor, own.floor))) {
      succeeded.push_back(record.id.index);
    } else {
      replicas[std::to_string(record.id.index)] = encode_record(record);
    }
  }
  if (!succeeded.empty()) out.emplace("succeeded", write_ranges(succeeded));
  if (!replicas.empty()) out.emplace("replicas", std::move(replicas));
  return out;
}

void decode_role(const json::object& from, int role, JobState& state) {
  RoleState& own = state.roles[role];
  own.floor = small_at(from, "floor", 0);
  own.made = small_at(from, "made", 0);
  own.restarts = small_at(from, "restarts", 0);
  own.completed_attempt = small_at(from, "completed", -1);
  own.failed_attempt = small_at(from, "failed", -1);
  for (int index : read_ranges(text_at(from, {"succeeded"}))) {
    ReplicaRecord& record = state.record({role, index});
    record.attempt = std::max(state.floor, own.floor);
    record.outcome = Outcome::kSucceeded;
  }
  const json::object* replicas = kube::object_at(from, {"replicas"});
  if (replicas == nullptr) return;
  for (const json::key_value_pair& entry : *replicas) {
    std::string_view key{entry.key().data(), entry.key().size()};
    int index = 0;
    if (!take_number(key, index) || !key.empty() || !entry.value().is_object()) continue;
    decode_record(entry.value().get_object(), state.record({role, index}));
  }
}

json::object encode_delayed(const JobSpec& spec, const DelayedAction& delayed) {
  json::object out{{"role", spec.roles[delayed.id.role].name}, {"index", delayed.id.index}};
  if (!delayed.uid.empty()) out.emplace("uid", delayed.uid);
  out.emplace("trigger", to_string(delayed.trigger));
  out.emplace("action", to_string(delayed.action.kind));
  out.emplace("scope", to_string(delayed.action.scope));
  out.emplace("due", format_rfc3339(delayed.due));
  return out;
}

std::optional<DelayedAction> decode_delayed(const JobSpec& spec, const json::object& from) {
  int role = spec.role_named(text_at(from, {"role"}));
  std::optional<Time> due = parse_rfc3339(text_at(from, {"due"}));
  auto trigger = parse_enum(text_at(from, {"trigger"}), Trigger::kAny);
  auto action = parse_enum(text_at(from, {"action"}), ActionKind::kComplete);
  auto scope = parse_enum(text_at(from, {"scope"}), Scope::kJob);
  if (role < 0 || !due || !trigger || !action || !scope) return std::nullopt;
  return DelayedAction{{role, small_at(from, "index", 0)},
                       std::string(text_at(from, {"uid"})),
                       *trigger,
                       {*action, *scope},
                       *due};
}

void encode_progress(const JobState& state, json::object& out) {
  put_unless(out, "attempt", state.attempt, 0);
  put_unless(out, "floor", state.floor, 0);
  put_unless(out, "kills", state.kills, 0);
  put_unless(out, "restarts", state.restarts, 0);
  put_unless(out, "disruptions", state.disruptions, 0);
  put_unless(out, "resumes", state.resumes, 0);
  if (state.budget_refused) out.emplace("budgetRefused", true);
  if (state.initialized) out.emplace("initialized", true);
  put_unless(out, "made", state.made_attempt, -1);
  if (state.asked_mode == RunMode::kPause) out.emplace("pausedByRule", true);
  if (state.gang_told) out.emplace("gangTold", true);
  put_unless(out, "gangLost", state.gang_lost_attempt, -1);
  if (!state.last_command_uid.empty()) out.emplace("command", state.last_command_uid);
  put_unless(out, "observedGeneration", state.observed_generation, 0);
}

void decode_progress(const json::object& from, JobState& state) {
  state.attempt = small_at(from, "attempt", 0);
  state.floor = small_at(from, "floor", 0);
  state.kills = small_at(from, "kills", 0);
  state.restarts = small_at(from, "restarts", 0);
  state.disruptions = small_at(from, "disruptions", 0);
  state.resumes = small_at(from, "resumes", 0);
  state.budget_refused = kube::bool_at(from, {"budgetRefused"}).value_or(false);
  state.initialized = kube::bool_at(from, {"initialized"}).value_or(false);
  state.made_attempt = small_at(from, "made", -1);
  if (kube::bool_at(from, {"pausedByRule"}).value_or(false)) state.asked_mode = RunMode::kPause;
  state.gang_told = kube::bool_at(from, {"gangTold"}).value_or(false);
  state.gang_lost_attempt = small_at(from, "gangLost", -1);
  state.last_command_uid = text_at(from, {"command"});
  state.observed_generation = int_at(from, {"observedGeneration"}).value_or(0);
}

}  // namespace

json::object encode_state(const JobSpec& spec, const JobState& state) {
  json::object out;
  out.reserve(12);  // few have more to tell
  out.emplace("phase", to_string(state.phase));
  if (state.result) out.emplace("result", to_string(*state.result));
  if (state.cause.kind != CauseKind::kNone) out.emplace("cause", encode_cause(state.cause));
  if (state.started_at) out.emplace("startedAt", format_rfc3339(*state.started_at));
  if (state.finished_at) out.emplace("finishedAt", format_rfc3339(*state.finished_at));
  encode_progress(state, out);
  json::object roles;
  for (size_t role = 0; role < spec.roles.size() && role < state.roles.size(); ++role) {
    json::object encoded = encode_role(state, static_cast<int>(role));
    if (!encoded.empty()) roles.emplace(spec.roles[role].name, std::move(encoded));
  }
  if (!roles.empty()) out.emplace("roles", std::move(roles));
  if (!state.delayed.empty()) {
    json::array list;
    for (const DelayedAction& delayed : state.delayed) list.push_back(encode_delayed(spec, delayed));
    out.emplace("delayed", std::move(list));
  }
  return out;
}

JobState decode_state(const JobSpec& spec, const json::object& encoded) {
  JobState state;
  state.roles.resize(spec.roles.size());
  state.phase = parse_enum(text_at(encoded, {"phase"}), Phase::kFinished).value_or(Phase::kNew);
  state.result = parse_enum(text_at(encoded, {"result"}), ResultKind::kTerminated);
  if (const json::object* cause = kube::object_at(encoded, {"cause"})) state.cause = decode_cause(*cause);
  state.started_at = parse_rfc3339(text_at(encoded, {"startedAt"}));
  state.finished_at = parse_rfc3339(text_at(encoded, {"finishedAt"}));
  decode_progress(encoded, state);
  if (const json::object* roles = kube::object_at(encoded, {"roles"})) {
    for (size_t role = 0; role < spec.roles.size(); ++role) {
      const json::object* own = kube::object_at(*roles, {spec.roles[role].name});
      if (own != nullptr) decode_role(*own, static_cast<int>(role), state);
    }
  }
  if (const json::array* list = kube::array_at(encoded, {"delayed"})) {
    for (const json::value& entry : *list) {
      if (!entry.is_object()) continue;
      if (auto delayed = decode_delayed(spec, entry.get_object())) state.delayed.push_back(*delayed);
    }
  }
  return state;
}

}  // namespace trainyard::model
