// Server-side apply and who manages which field.
#include "store/errors.h"
#include "store/metadata.h"
#include "store/store.h"

namespace trainyard::store {

Result<Object> Store::apply(const kube::Resource&, std::string_view, const kube::Patch&, Time,
                            const kube::WriteOptions&) {
  return Error{ErrorKind::kInvalid, "apply is not a change of one document"};
}

void Store::track_managers(json::object&, const json::object*, const kube::Resource&, Part, Time,
                           const kube::WriteOptions&) {}

}  // namespace trainyard::store
