#include "deploy/crds.h"

#include <fmt/format.h>

#include "base/check.h"
#include "deploy/crd_rules.h"
#include "deploy/crd_schema.h"
#include "kube/access.h"
#include "server/registry.h"
#include "server/schema.h"

namespace trainyard::deploy {
namespace {

using kube::jview;
using server::ApiResource;

// A kind and how it is installed. `versions` is the stored one, then the older ones.
struct Kind {
  std::string_view group;
  std::string_view plural;
  std::vector<std::string_view> versions;
  std::string_view scaled = {};  // the role whose replicas `kubectl scale` changes
};

const server::Registry& registry() {
  static const server::Registry kRegistry;
  return kRegistry;
}

json::array texts(const std::vector<std::string>& words) {
  json::array out;
  for (const std::string& word : words) out.emplace_back(word);
  return out;
}

json::array columns_of(const ApiResource& resource) {
  json::array out;
  for (const server::PrinterColumn& column : resource.columns) {
    json::object one{{"name", column.name}, {"type", column.type}, {"jsonPath", column.json_path}};
    if (column.priority != 0) one["priority"] = column.priority;
    out.push_back(std::move(one));
  }
  return out;
}

json::object subresources_of(const ApiResource& resource, std::string_view scaled) {
  json::object out;
  if (resource.subresource("status") != nullptr) out["status"].emplace_object();
  if (!scaled.empty()) {
    out["scale"] =
        json::object{{"specReplicasPath", fmt::format(".spec.tfReplicaSpecs.{}.replicas", scaled)},
                     {"statusReplicasPath", fmt::format(".status.replicaStatuses.{}.active", scaled)},
                     {"labelSelectorPath", fmt::format(".status.replicaStatuses.{}.selector", scaled)}};
  }
  return out;
}

json::object version_of(const Kind& kind, std::string_view version) {
  const ApiResource* resource = registry().find(kind.group, version, kind.plural);
  CHECK(resource != nullptr);
  const server::SchemaType* type = server::schema_of(kind.group, version, resource->resource.kind);
  CHECK(type != nullptr);
  bool stored = version == kind.versions.front();
  json::object out{{"name", jview(version)}, {"served", true}, {"storage", stored}};
  if (!stored) {
    out["deprecated"] = true;
    out["deprecationWarning"] = fmt::format("{}/{} {} is deprecated; write {}/{}", kind.group, version,
                                            resource->resource.kind, kind.group, kind.versions.front());
  }
  if (!resource->columns.empty()) out["additionalPrinterColumns"] = columns_of(*resource);
  json::object subresources = subresources_of(*resource, kind.scaled);
  if (!subresources.empty()) out["subresources"] = std::move(subresources);
  json::object schema = structural_schema(*type);
  if (const KindRules* rules = rules_of(kind.group, resource->resource.kind)) lay_rules(*rules, schema);
  out["schema"] = json::object{{"openAPIV3Schema", std::move(schema)}};
  return out;
}

json::object crd_of(const Kind& kind) {
  const ApiResource* resource = registry().find(kind.group, kind.versions.front(), kind.plural);
  CHECK(resource != nullptr);
  json::object names{{"kind", jview(resource->resource.kind)},
                     {"listKind", resource->list_kind},
                     {"plural", jview(kind.plural)},
                     {"singular", resource->singular}};
  if (!resource->short_names.empty()) names["shortNames"] = texts(resource->short_names);
  if (!resource->categories.empty()) names["categories"] = texts(resource->categories);
  json::array versions;
  for (std::string_view version : kind.versions) versions.push_back(version_of(kind, version));
  json::object metadata{{"name", fmt::format("{}.{}", kind.plural, kind.group)},
                        {"labels", json::object{{"app.kubernetes.io/name", "trainyard"}}}};
  // The groups that the project keeps for itself; this one is older than the rule.
  if (kind.group.ends_with(".k8s.io")) {
    metadata["annotations"] =
        json::object{{"api-approved.kubernetes.io", "unapproved, as kube-batch's own definition is"}};
  }
  json::object spec{{"group", jview(kind.group)},
                    {"names", std::move(names)},
                    {"scope", resource->resource.namespaced ? "Namespaced" : "Cluster"},
                    {"versions", std::move(versions)}};
  return {{"apiVersion", "apiextensions.k8s.io/v1"},
          {"kind", "CustomResourceDefinition"},
          {"metadata", std::move(metadata)},
          {"spec", std::move(spec)}};
}

std::vector<json::object> crds_of(const std::vector<Kind>& kinds) {
  std::vector<json::object> crds;
  for (const Kind& kind : kinds) crds.push_back(crd_of(kind));
  return crds;
}

}  // namespace

std::vector<json::object> own_crds() {
  return crds_of({{"kubeflow.org", "tfjobs", {"v1", "v1beta2", "v1beta1", "v1alpha2"}, "Worker"},
                  {"batch.tensorstack.dev", "tensorflowtrainingjobs", {"v1beta1"}},
                  {"tensorstack.dev", "tensorboards", {"v1beta1"}},
                  {"scheduler.tensorstack.dev", "podgroups", {"v1beta1"}},
                  {"scheduler.tensorstack.dev", "queues", {"v1beta1"}}});
}

std::vector<json::object> volcano_crds() {
  return crds_of({{"batch.volcano.sh", "jobs", {"v1alpha1"}},
                  {"bus.volcano.sh", "commands", {"v1alpha1"}},
                  {"scheduling.volcano.sh", "podgroups", {"v1beta1"}},
                  {"scheduling.volcano.sh", "queues", {"v1beta1"}}});
}

std::vector<json::object> kube_batch_crds() {
  return crds_of({{"scheduling.incubator.k8s.io", "podgroups", {"v1alpha1"}}});
}

}  // namespace trainyard::deploy
