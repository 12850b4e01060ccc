#include "cli/objects.h"

#include "kube/access.h"

namespace trainyard::cli {
namespace {

// Makes a rendered object fit to be applied by hand.
json::object ready_to_apply(json::object object, bool owned) {
  json::object& metadata = kube::ensure_object(object, {"metadata"});
  if (!owned) metadata.erase("ownerReferences");
  if (const json::value* space = metadata.if_contains("namespace");
      space != nullptr && space->is_string() && space->get_string().empty()) {
    metadata.erase("namespace");
  }
  return object;
}

bool runs_again(const model::JobState& state, const model::Role& role, model::ReplicaId id) {
  std::optional<model::Outcome> outcome = state.outcome_of(id);
  return !outcome || (*outcome == model::Outcome::kSucceeded && role.runs_forever);
}

}  // namespace

Result<Done> each_child_of(const dialect::Dialect& dialect, const dialect::Settings& settings,
                           const model::JobSpec& spec, const model::JobState& state, const KeyMaker& keys,
                           const std::function<void(json::object)>& tell) {
  bool owned = !spec.uid.empty();
  auto add = [&](json::object object) { tell(ready_to_apply(std::move(object), owned)); };
  if (state.finished() || !spec.managed) return Done{};
  if (spec.tensorboard) add(dialect.render_tensorboard(spec));
  if (spec.mode == model::RunMode::kPause) return Done{};
  for (const model::Companion& companion : spec.companions) {
    if (companion.must_exist) continue;
    std::optional<dialect::KeyPair> pair;
    if (companion.kind == model::CompanionKind::kSecret) {
      Result<dialect::KeyPair> made = keys();
      if (!made.ok()) return made.error();
      pair = made.value();
    }
    add(dialect.render_companion(spec, companion, pair ? &*pair : nullptr));
  }
  if (spec.gang && spec.gang->owned) add(dialect.render_gang(spec));
  for (size_t role = 0; role < spec.roles.size(); ++role) {
    for (int index = 0; index < spec.roles[role].replicas; ++index) {
      model::ReplicaId id{static_cast<int>(role), index};
      if (spec.service_per_replica) add(dialect.render_service(spec, id));
      if (!runs_again(state, spec.roles[role], id)) continue;
      add(dialect.render_pod(spec, settings, {id, state.attempt_of(id), &state}));
    }
  }
  return Done{};
}

json::object list_of(json::array items) {
  return {{"apiVersion", "v1"}, {"kind", "List"}, {"items", std::move(items)}};
}

}  // namespace trainyard::cli
