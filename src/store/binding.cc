#include "store/binding.h"

#include <fmt/format.h>

#include "kube/access.h"
#include "kube/meta.h"
#include "store/errors.h"

namespace trainyard::store {

Result<Object> bind(Store& store, std::string_view ns, const json::object& binding, Time now) {
  std::string_view name = kube::name_of(binding);
  std::string_view node = kube::text_at(binding, {"target", "name"});
  if (node.empty()) {
    return invalid_object("Binding", name, {required("target.name")});
  }
  Result<Object> pod = store.get(kube::kPods, ns, name);
  if (!pod.ok()) return pod;
  if (auto other = check_preconditions(kube::kPods, **pod, kube::uid_of(binding), "")) return *other;
  if (kube::is_deleting(**pod)) return conflict(kube::kPods, name, "it is being deleted");
  std::string_view there = kube::text_at(**pod, {"spec", "nodeName"});
  if (!there.empty()) {
    return conflict(kube::kPods, name, fmt::format("pod {} is already assigned to node \"{}\"", name, there));
  }
  const json::array* gates = kube::array_at(**pod, {"spec", "schedulingGates"});
  if (gates != nullptr && !gates->empty()) return conflict(kube::kPods, name, "it has scheduling gates");
  json::object body{{"spec", json::object{{"nodeName", kube::jview(node)}}}};
  return store.patch(kube::kPods, ns, {std::string(name), kube::PatchKind::kMerge, std::move(body)}, now);
}

}  // namespace trainyard::store
