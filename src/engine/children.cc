#include "engine/children.h"

#include <fmt/format.h>

#include <algorithm>

namespace trainyard::engine {

using model::Companion;
using model::CompanionSeen;
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
    pass.create(model::CreateService{id});
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

// ---- TensorBoard ---------------------------------------------------------------

void keep_tensorboard(Pass& pass) {
  if (pass.spec.tensorboard && !pass.seen.tensorboard) pass.upserts.push_back(model::UpsertTensorBoard{""});
}

}  // namespace trainyard::engine
