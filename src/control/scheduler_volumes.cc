// Gangs whose claims get their volumes together with nodes: see volume_waits.h.
#include "control/scheduler.h"

namespace trainyard::control {

bool Scheduler::run_tellings(Time now) {
  std::optional<VolumeWaits::Telling> next = volume_waits_.next_telling();
  if (!next) return false;
  ++counts_.writes;
  Result<client::Reply> done = fence_->send(std::move(next->request));
  if (!done.ok()) {
    failed(done.error(), now);
    place_anew(volume_waits_.give_up(next->gang));
  }
  return true;
}

void Scheduler::settle_volumes(Time now) {
  view_.look_at_claims(volume_waits_.choices());
  VolumeWaits::Outcome outcome = volume_waits_.look(view_, now);
  for (Bind& bind : outcome.ready) binder_.add(std::move(bind));
  place_anew(outcome.given_up);
  view_.look_at_claims(volume_waits_.choices());
}

void Scheduler::place_anew(const std::vector<std::string>& uids) {
  for (const std::string& uid : uids) view_.forget_assumed(uid);
  if (!uids.empty()) dirty_ = true;
}

}  // namespace trainyard::control
