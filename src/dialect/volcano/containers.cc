#include "dialect/volcano/containers.h"

#include <string_view>
#include <vector>

#include "kube/access.h"

namespace trainyard::dialect::vc {
namespace {

// The containers of a list of the pod's, added to `all`.
void gather(json::object& pod, std::string_view list, std::vector<json::object*>& all) {
  const json::array* there = kube::array_at(pod, {"spec", list});
  if (there == nullptr || there->empty()) return;
  for (json::value& value : kube::ensure_array(pod, {"spec", list})) {
    if (json::object* container = value.if_object()) all.push_back(container);
  }
}

// The last one gets the entry itself: most pods have one container.
void append(json::object& pod, std::string_view key, json::object entry, Containers where) {
  std::vector<json::object*> containers;
  gather(pod, "containers", containers);
  if (where == Containers::kAll) gather(pod, "initContainers", containers);
  if (containers.empty()) return;
  json::object* last = containers.back();
  containers.pop_back();
  for (json::object* container : containers) kube::ensure_array(*container, {key}).push_back(entry);
  kube::ensure_array(*last, {key}).push_back(std::move(entry));
}

}  // namespace

void add_volume(json::object& pod, json::object volume) {
  kube::ensure_array(pod, {"spec", "volumes"}).push_back(std::move(volume));
}

void add_mount(json::object& pod, json::object mount, Containers where) {
  append(pod, "volumeMounts", std::move(mount), where);
}

void add_env(json::object& pod, json::object entry, Containers where) {
  append(pod, "env", std::move(entry), where);
}

}  // namespace trainyard::dialect::vc
