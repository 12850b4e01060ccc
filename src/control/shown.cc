#include "control/shown.h"

namespace trainyard::control {

namespace {

// What a status is projected from, the state aside. A manifest that was read once has one source.
bool is_same_sight(const model::Observation& a, const model::Observation& b) {
  return a.spec.source != nullptr && a.spec.source == b.spec.source && a.deleting == b.deleting &&
         a.has_finalizer == b.has_finalizer && a.pods == b.pods && a.services == b.services &&
         a.companions == b.companions && a.gang == b.gang && a.tensorboard == b.tensorboard &&
         a.commands == b.commands;
}

}  // namespace

bool Shown::holds(const JobKey& key, int64_t version, const model::Observation& seen,
                  const model::JobState& state) const {
  auto found = jobs_.find(key);
  return found != jobs_.end() && version != 0 && found->second.version == version &&
         found->second.state == state && is_same_sight(found->second.seen, seen);
}

void Shown::keep(const JobKey& key, int64_t version, model::Observation&& seen,
                 const model::JobState& state) {
  if (jobs_.size() >= kShownMax && !jobs_.contains(key)) jobs_.clear();
  Sight& sight = jobs_[key];
  sight.version = version;
  sight.seen = std::move(seen);
  sight.state = state;
}

}  // namespace trainyard::control
