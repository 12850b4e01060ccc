#include "engine/deletion.h"

#include <fmt/format.h>

#include "base/check.h"

namespace trainyard::engine {

void let_go(Pass& pass) {
  CHECK(pass.seen.deleting);
  if (!pass.seen.has_finalizer) return;
  const model::PodSeen* left = nullptr;
  for (const model::PodSeen& pod : pass.seen.pods) {
    if (pod.gone) continue;
    left = &pod;
    pass.delete_pod(pod);
  }
  if (left == nullptr) {
    pass.drop_finalizer = true;
  } else {
    pass.wait(model::WaitKind::kDeleting, fmt::format("waiting for {} to end", left->name));
  }
}

void keep_finalizer(Pass& pass) {
  pass.add_finalizer = pass.spec.holds_deletion && !pass.seen.has_finalizer;
  pass.drop_finalizer = !pass.spec.holds_deletion && pass.seen.has_finalizer;
}

}  // namespace trainyard::engine
