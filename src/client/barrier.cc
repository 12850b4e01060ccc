#include "client/barrier.h"

#include "kube/meta.h"

namespace trainyard::client {

bool has_shown(const Cache& cache, const Expected& expected) {
  if (expected.lists && cache.lists() > *expected.lists) return true;
  if (expected.gone_uid.empty()) return cache.revision() >= expected.version;
  Object object = cache.find(expected.object.ns, expected.object.name);
  return object == nullptr || kube::uid_of(*object) != expected.gone_uid || kube::is_deleting(*object);
}

}  // namespace trainyard::client
