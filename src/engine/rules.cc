#include "engine/rules.h"

#include <algorithm>

namespace trainyard::engine {

using model::Rule;
using model::Trigger;

namespace {

bool answers(const Rule& rule, const Happening& happening) {
  auto listed = [&](Trigger trigger) {
    return std::find(rule.on.begin(), rule.on.end(), trigger) != rule.on.end();
  };
  if (happening.trigger == Trigger::kPending) {
    if (!rule.delay || !(listed(Trigger::kPending) || listed(Trigger::kAny))) return false;
  } else if (!listed(happening.trigger) && !listed(Trigger::kAny)) {
    return false;
  }
  if (rule.exits.empty()) return true;
  if (happening.trigger != Trigger::kFailed || !happening.exit_code) return false;
  return std::any_of(rule.exits.begin(), rule.exits.end(), [&](const model::ExitRange& range) {
    return range.first <= *happening.exit_code && *happening.exit_code <= range.last;
  });
}

}  // namespace

const Rule* matching_rule(const model::JobSpec& spec, const Happening& happening) {
  for (const Rule& rule : spec.roles[happening.id.role].rules) {
    if (answers(rule, happening)) return &rule;
  }
  return nullptr;
}

bool is_main(const model::JobSpec& spec, model::ReplicaId id) {
  const auto* main = std::get_if<model::MainReplica>(&spec.success);
  return main != nullptr && main->id == id;
}

bool decides_success(const model::JobSpec& spec, model::ReplicaId id) {
  const auto* whole = std::get_if<model::WholeRole>(&spec.success);
  return is_main(spec, id) || (whole != nullptr && whole->role == id.role);
}

model::Action fallback(const model::JobSpec& spec, model::ReplicaId id) {
  const model::Role& role = spec.roles[id.role];
  return role.otherwise_main && is_main(spec, id) ? *role.otherwise_main : role.otherwise;
}

}  // namespace trainyard::engine
