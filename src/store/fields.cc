#include "store/fields.h"

#include <span>

#include "kube/access.h"

namespace trainyard::store {

namespace {

constexpr std::string_view kPodFields[] = {
    "spec.nodeName",           "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName",
    "spec.hostNetwork",        "status.phase",       "status.podIP",       "status.podIPs",
    "status.nominatedNodeName"};
constexpr std::string_view kEventFields[] = {"involvedObject.kind",
                                             "involvedObject.namespace",
                                             "involvedObject.name",
                                             "involvedObject.uid",
                                             "involvedObject.apiVersion",
                                             "involvedObject.resourceVersion",
                                             "involvedObject.fieldPath",
                                             "reason",
                                             "reportingComponent",
                                             "source",
                                             "type"};
constexpr std::string_view kNamespaceFields[] = {"status.phase"};
constexpr std::string_view kSecretFields[] = {"type"};
constexpr std::string_view kNodeFields[] = {"spec.unschedulable"};
constexpr std::string_view kServiceFields[] = {"spec.clusterIP", "spec.type"};
constexpr std::string_view kJobFields[] = {"status.successful"};

std::span<const std::string_view> fields_of(const kube::Resource& resource) {
  if (resource.group == "batch" && resource.plural == "jobs") return kJobFields;
  if (!resource.group.empty()) return {};
  if (resource.plural == "pods") return kPodFields;
  if (resource.plural == "events") return kEventFields;
  if (resource.plural == "namespaces") return kNamespaceFields;
  if (resource.plural == "secrets") return kSecretFields;
  if (resource.plural == "nodes") return kNodeFields;
  if (resource.plural == "services") return kServiceFields;
  return {};
}

bool is_selectable(const kube::Resource& resource, std::string_view path) {
  if (path == "metadata.name") return true;
  if (path == "metadata.namespace") return resource.namespaced;
  std::span<const std::string_view> known = fields_of(resource);
  return std::find(known.begin(), known.end(), path) != known.end();
}

// The one field whose name is not where it is.
std::string_view source_of(const json::object& event) {
  std::string_view component = kube::text_at(event, {"source", "component"});
  return component.empty() ? kube::text_at(event, {"reportingComponent"}) : component;
}

}  // namespace

std::optional<Error> check_field_labels(const kube::Resource& resource, const kube::FieldSelector& fields) {
  for (const kube::FieldSelector::Term& term : fields.terms()) {
    if (is_selectable(resource, term.path)) continue;
    return Error{ErrorKind::kInvalid, fmt::format("field label not supported: {}", kube::shown(term.path))};
  }
  return std::nullopt;
}

bool matches_fields(const kube::Resource& resource, const kube::FieldSelector& fields,
                    const json::object& object) {
  const bool is_event = resource.group.empty() && resource.plural == "events";
  const auto& terms = fields.terms();
  if (!is_event ||
      std::none_of(terms.begin(), terms.end(), [](const auto& t) { return t.path == "source"; })) {
    return fields.matches(object);
  }
  return std::all_of(terms.begin(), terms.end(), [&](const kube::FieldSelector::Term& term) {
    if (term.path == "source") return (source_of(object) == term.value) == term.equal;
    kube::FieldSelector one;
    one.add(term.path, term.value);
    return one.matches(object) == term.equal;
  });
}

}  // namespace trainyard::store
