#include "dialect/shared/pod_template.h"

#include <fmt/format.h>

#include "dialect/shared/dialect.h"
#include "kube/access.h"

namespace trainyard::dialect {
namespace {

void keep(json::object& to, const json::object& from, std::string_view key) {
  const json::value* found = from.if_contains(kube::jview(key));
  if (found == nullptr || found->is_null()) return;
  if (found->is_object() && found->get_object().empty()) return;
  to[kube::jview(key)] = *found;
}

}  // namespace

json::object pod_from_template(const json::object& pod_template, std::string_view name,
                               std::string_view name_space, const json::object& owner_reference,
                               int attempt) {
  json::object meta;
  meta["name"] = kube::jview(name);
  if (!name_space.empty()) meta["namespace"] = kube::jview(name_space);
  if (const json::object* given = kube::object_at(pod_template, {"metadata"})) {
    keep(meta, *given, "labels");
    keep(meta, *given, "annotations");
    keep(meta, *given, "finalizers");
  }
  if (!owner_reference.empty()) meta["ownerReferences"] = json::array{owner_reference};

  json::object pod;
  pod["apiVersion"] = "v1";
  pod["kind"] = "Pod";
  pod["metadata"] = std::move(meta);
  const json::object* spec = kube::object_at(pod_template, {"spec"});
  json::object& made = pod["spec"].emplace_object();
  if (spec != nullptr) made = *spec;
  if (kube::text_at(made, {"restartPolicy"}).empty()) made.erase("restartPolicy");
  if (attempt > 0) set_annotation(pod, kAttemptAnnotation, fmt::to_string(attempt));
  return pod;
}

const json::object* main_container(const json::object& pod, std::string_view name) {
  const json::array* containers = kube::array_at(pod, {"spec", "containers"});
  if (containers == nullptr) return nullptr;
  for (const json::value& entry : *containers) {
    const json::object* container = entry.if_object();
    if (container != nullptr && (name.empty() || kube::text_at(*container, {"name"}) == name))
      return container;
  }
  return nullptr;
}

json::object* main_container(json::object& pod, std::string_view name) {
  return const_cast<json::object*>(main_container(static_cast<const json::object&>(pod), name));
}

void set_label(json::object& object, std::string_view key, std::string_view value) {
  kube::ensure_object(object, {"metadata", "labels"})[kube::jview(key)] = kube::jview(value);
}

void set_annotation(json::object& object, std::string_view key, std::string_view value) {
  kube::ensure_object(object, {"metadata", "annotations"})[kube::jview(key)] = kube::jview(value);
}

void append_env(json::object& container, std::string_view name, std::string_view value) {
  json::object entry;
  entry["name"] = kube::jview(name);
  entry["value"] = kube::jview(value);
  kube::ensure_array(container, {"env"}).push_back(std::move(entry));
}

}  // namespace trainyard::dialect
