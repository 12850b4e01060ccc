#include "control/put_off.h"

namespace trainyard::control {
namespace {

// `state` with what `from` knows of pods that have existed.
model::JobState with_made(model::JobState state, const model::JobState& from) {
  state.made_attempt = from.made_attempt;
  state.initialized = from.initialized;
  for (size_t role = 0; role < state.roles.size() && role < from.roles.size(); ++role) {
    state.roles[role].made = from.roles[role].made;
  }
  return state;
}

}  // namespace

void PutOff::remind(const JobKey& key, std::string_view uid, model::JobState& state) const {
  auto found = kept_.find(key);
  if (found == kept_.end()) return;
  const Kept& kept = found->second;
  bool is_news = kept.attempt >= state.made_attempt && kept.made.size() == state.roles.size();
  if (kept.uid != uid || !is_news) return;
  state.made_attempt = kept.attempt;
  state.initialized = state.initialized || kept.initialized;
  for (size_t role = 0; role < state.roles.size(); ++role) state.roles[role].made = kept.made[role];
}

bool PutOff::may_wait(const model::JobState& written, const model::JobState& planned) {
  return written != planned && with_made(written, planned) == planned;
}

std::optional<Time> PutOff::keep(const JobKey& key, std::string_view uid, const model::JobState& written,
                                 const model::JobState& planned, Time now) {
  if (!may_wait(written, planned)) return std::nullopt;
  auto [found, is_new] = kept_.try_emplace(key);
  Kept& kept = found->second;
  if (is_new || kept.uid != uid) kept = {std::string(uid), now + kPutOffMax, 0, {}, false};
  // No pause is that long: the clock went back.
  if (now >= kept.due || kept.due > now + kPutOffMax) return std::nullopt;
  kept.attempt = planned.made_attempt;
  kept.initialized = planned.initialized;
  kept.made.clear();
  for (const model::RoleState& role : planned.roles) kept.made.push_back(role.made);
  return kept.due;
}

}  // namespace trainyard::control
