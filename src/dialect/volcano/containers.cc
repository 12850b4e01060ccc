#include "dialect/volcano/containers.h"

#include <string_view>

#include "kube/access.h"

namespace trainyard::dialect::vc {
namespace {

void append_to_each(json::object& pod, std::string_view list, std::string_view key,
                    const json::object& entry) {
  if (kube::array_at(pod, {"spec", list}) == nullptr) return;
  for (json::value& value : kube::ensure_array(pod, {"spec", list})) {
    if (json::object* container = value.if_object()) kube::ensure_array(*container, {key}).push_back(entry);
  }
}

void append(json::object& pod, std::string_view key, const json::object& entry, Containers where) {
  append_to_each(pod, "containers", key, entry);
  if (where == Containers::kAll) append_to_each(pod, "initContainers", key, entry);
}

}  // namespace

void add_volume(json::object& pod, json::object volume) {
  kube::ensure_array(pod, {"spec", "volumes"}).push_back(std::move(volume));
}

void add_mount(json::object& pod, const json::object& mount, Containers where) {
  append(pod, "volumeMounts", mount, where);
}

void add_env(json::object& pod, const json::object& entry, Containers where) {
  append(pod, "env", entry, where);
}

}  // namespace trainyard::dialect::vc
