#include "engine/children.h"

#include <fmt/format.h>

#include <algorithm>

namespace trainyard::engine {

using model::Companion;
using model::CompanionSeen;
using model::Gang;
using model::GangSeen;
using model::ReplicaId;
using model::ServiceSeen;

// ---- services -------------------------------------------------------------------

void keep_services(Pass& pass) {
  if (!pass.spec.service_per_replica) return;
  auto at = pass.seen.services.begin();
  auto end = pass.seen.services.end();
  auto drop = [&](const ServiceSeen& service) {
    pass.deletes.push_back(model::DeleteService{service.name, service.uid});
  };
  for (; at != end && at->id.role < 0; ++at) drop(*at);
  pass.each_replica([&](ReplicaId id) {
    for (; at != end && at->id < id; ++at) drop(*at);
    if (at != end && at->id == id) {
      ++at;
      return;
    }
    pass.creates.push_back(model::CreateService{id});
  });
  for (; at != end; ++at) drop(*at);
}

void delete_services(Pass& pass) {
  for (const ServiceSeen& service : pass.seen.services) {
    pass.deletes.push_back(model::DeleteService{service.name, service.uid});
  }
}

// ---- companions -----------------------------------------------------------------

namespace {

const CompanionSeen* find_companion(const Pass& pass, const Companion& wanted) {
  for (const CompanionSeen& seen : pass.seen.companions) {
    if (seen.kind == wanted.kind && seen.name == wanted.name) return &seen;
  }
  return nullptr;
}

void tell_missing(Pass& pass, const Companion& wanted) {
  model::Note note;
  note.kind = model::NoteKind::kCompanionFailed;
  note.object = wanted.name;
  pass.note(std::move(note));
}

}  // namespace

bool keep_companions(Pass& pass) {
  bool complete = true;
  for (const Companion& wanted : pass.spec.companions) {
    const CompanionSeen* seen = find_companion(pass, wanted);
    if (wanted.must_exist) {
      if (seen != nullptr) continue;
      complete = false;
      pass.wait(model::WaitKind::kCompanion, fmt::format("waiting for the {} {}, which does not exist",
                                                         to_string(wanted.kind), wanted.name));
      if (pass.seen.state.phase == model::Phase::kNew) tell_missing(pass, wanted);
    } else if (seen == nullptr) {
      pass.upserts.push_back(model::UpsertCompanion{wanted.kind, wanted.name, ""});
    } else if (seen->owned && seen->digest != wanted.digest) {
      pass.upserts.push_back(model::UpsertCompanion{wanted.kind, wanted.name, seen->uid});
    }
  }
  return complete;
}

void delete_companions(Pass& pass) {
  for (const Companion& wanted : pass.spec.companions) {
    const CompanionSeen* seen = find_companion(pass, wanted);
    if (seen == nullptr || !seen->owned || wanted.outlives_run || wanted.must_exist) continue;
    pass.deletes.push_back(model::DeleteCompanion{seen->kind, seen->name, seen->uid});
  }
}

// ---- gang -----------------------------------------------------------------------

namespace {

// A queue that is set stays: it is immutable for users, and an admission hook may have
// chosen it.
bool up_to_date(const Gang& wanted, const Gang& stored) {
  return wanted.min_member == stored.min_member && wanted.min_per_role == stored.min_per_role &&
         wanted.min_resources == stored.min_resources && wanted.priority_class == stored.priority_class &&
         wanted.priority == stored.priority && wanted.timeout_seconds == stored.timeout_seconds &&
         (wanted.queue == stored.queue || !stored.queue.empty());
}

}  // namespace

bool keep_gang(Pass& pass) {
  if (!pass.spec.gang) return true;
  const Gang& wanted = *pass.spec.gang;
  const std::optional<GangSeen>& seen = pass.seen.gang;
  if (!seen && wanted.owned) pass.upserts.push_back(model::UpsertGang{""});
  if (seen && wanted.owned && seen->owned && !up_to_date(wanted, seen->spec)) {
    pass.upserts.push_back(model::UpsertGang{seen->uid});
  }
  if (!wanted.gates_pods) return true;
  if (seen && seen->phase != model::GangPhase::kPending) return true;
  std::string why = seen && !seen->message.empty() ? ": " + seen->message : "";
  pass.wait(model::WaitKind::kGangPending,
            seen || wanted.owned
                ? fmt::format("waiting for the scheduler to let in the gang {} of {} pods{}", wanted.name,
                              wanted.min_member, why)
                : fmt::format("waiting for the PodGroup {}, which does not exist", wanted.name));
  return false;
}

void delete_gang(Pass& pass) {
  if (!pass.seen.gang || !pass.seen.gang->owned || !pass.spec.gang || !pass.spec.gang->owned) return;
  pass.deletes.push_back(model::DeleteGang{pass.spec.gang->name, pass.seen.gang->uid});
}

void keep_tensorboard(Pass& pass) {
  if (pass.spec.tensorboard && !pass.seen.tensorboard) pass.upserts.push_back(model::UpsertTensorBoard{""});
}

}  // namespace trainyard::engine
