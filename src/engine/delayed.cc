#include "engine/delayed.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/failure.h"

namespace trainyard::engine {

using model::DelayedAction;

void delay(Pass& pass, const Happening& happening, const model::Rule& rule) {
  std::string uid = happening.pod != nullptr ? happening.pod->uid : "";
  auto same = [&](const DelayedAction& other) {
    return other.id == happening.id && other.action == rule.action;
  };
  if (std::any_of(pass.state.delayed.begin(), pass.state.delayed.end(), same)) return;
  std::erase_if(pass.state.delayed, [&](const DelayedAction& other) { return other.id == happening.id; });
  pass.state.delayed.push_back({happening.id, uid, happening.trigger, rule.action, pass.now + *rule.delay});
}

namespace {

// The replica runs again, in another pod than the one that failed.
bool recovered(const Pass& pass, const DelayedAction& delayed) {
  const model::PodSeen* pod = pass.present(delayed.id);
  return pod != nullptr && pod->phase == model::PodPhase::kRunning && pod->uid != delayed.uid;
}

bool out_of_spec(const Pass& pass, const DelayedAction& delayed) {
  return delayed.id.index >= pass.spec.roles[delayed.id.role].replicas;
}

}  // namespace

void run_delayed(Pass& pass) {
  std::erase_if(pass.state.delayed, [&](const DelayedAction& delayed) {
    return out_of_spec(pass, delayed) || recovered(pass, delayed);
  });
  std::vector<DelayedAction> waiting;
  std::vector<DelayedAction> due;
  for (const DelayedAction& delayed : pass.state.delayed) {
    (pass.now >= delayed.due ? due : waiting).push_back(delayed);
  }
  pass.state.delayed = waiting;
  for (const DelayedAction& delayed : due) {
    const model::ReplicaRecord* record = pass.state.find(delayed.id);
    Happening happening{delayed.trigger, delayed.id, std::nullopt, pass.present(delayed.id)};
    if (record != nullptr && record->outcome) happening.exit_code = record->exit_code;
    model::Note note;
    note.kind = model::NoteKind::kActionTaken;
    note.action = delayed.action;
    pass.note(std::move(note));
    bool charged =
        delayed.trigger != model::Trigger::kDisrupted && delayed.trigger != model::Trigger::kDeleted;
    if (!act(pass, happening, delayed.action, charged)) return;
  }
  for (const DelayedAction& delayed : pass.state.delayed) {
    pass.wake_at(delayed.due);
    pass.wait(model::WaitKind::kDelayedAction,
              fmt::format("{} in {} because of {}", to_string(delayed.action.kind),
                          format_duration(delayed.due - pass.now), label(pass.spec, delayed.id)));
  }
}

}  // namespace trainyard::engine
