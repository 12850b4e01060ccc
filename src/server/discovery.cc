#include "server/discovery.h"

#include <fmt/format.h>

#include "kube/access.h"
#include "kube/texts.h"

namespace trainyard::server {
namespace {

using kube::jview;

constexpr std::string_view kV2Type = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
constexpr std::string_view kV2Beta1Type =
    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";

// Entries of one group and version, in order.
struct VersionOf {
  std::string_view version;
  std::vector<const ApiResource*> resources;
};
struct GroupOf {
  std::string_view name;
  std::vector<VersionOf> versions;
};

std::vector<GroupOf> groups_of(const Registry& registry) {
  std::vector<GroupOf> groups;
  for (const ApiResource* entry : registry.all()) {
    if (groups.empty() || groups.back().name != entry->resource.group) {
      groups.push_back({entry->resource.group, {}});
    }
    std::vector<VersionOf>& versions = groups.back().versions;
    if (versions.empty() || versions.back().version != entry->resource.version) {
      versions.push_back({entry->resource.version, {}});
    }
    versions.back().resources.push_back(entry);
  }
  return groups;
}

std::string group_version(std::string_view group, std::string_view version) {
  return group.empty() ? std::string(version) : fmt::format("{}/{}", group, version);
}

json::object response_kind(std::string_view group, std::string_view version, std::string_view kind) {
  return {{"group", jview(group)}, {"version", jview(version)}, {"kind", jview(kind)}};
}

json::object aggregated_subresource(const ApiResource& parent, const Subresource& sub) {
  std::string_view group = sub.version.empty() ? parent.resource.group : std::string_view(sub.group);
  std::string_view version = sub.version.empty() ? parent.resource.version : std::string_view(sub.version);
  return {{"subresource", sub.name},
          {"responseKind", response_kind(group, version, sub.kind)},
          {"verbs", kube::to_array(sub.verbs)}};
}

json::object aggregated_resource(const ApiResource& entry) {
  const kube::Resource& resource = entry.resource;
  json::object out{{"resource", jview(resource.plural)},
                   {"responseKind", response_kind(resource.group, resource.version, resource.kind)},
                   {"scope", resource.namespaced ? "Namespaced" : "Cluster"},
                   {"singularResource", entry.singular},
                   {"verbs", kube::to_array(entry.verbs)}};
  if (!entry.short_names.empty()) out["shortNames"] = kube::to_array(entry.short_names);
  if (!entry.categories.empty()) out["categories"] = kube::to_array(entry.categories);
  if (!entry.subresources.empty()) {
    json::array subresources;
    for (const Subresource& sub : entry.subresources) {
      subresources.push_back(aggregated_subresource(entry, sub));
    }
    out["subresources"] = std::move(subresources);
  }
  return out;
}

Document aggregated(const Registry& registry, bool core, DiscoveryForm form) {
  json::array items;
  for (const GroupOf& group : groups_of(registry)) {
    if (group.name.empty() != core) continue;
    json::array versions;
    for (const VersionOf& version : group.versions) {
      json::array resources;
      for (const ApiResource* entry : version.resources) resources.push_back(aggregated_resource(*entry));
      versions.push_back(json::object{{"version", jview(version.version)},
                                      {"resources", std::move(resources)},
                                      {"freshness", "Current"}});
    }
    json::object metadata;
    if (!core) metadata["name"] = jview(group.name);
    metadata["creationTimestamp"] = nullptr;
    items.push_back(json::object{{"metadata", std::move(metadata)}, {"versions", std::move(versions)}});
  }
  bool v2 = form == DiscoveryForm::kV2;
  return document_of(
      json::object{{"kind", "APIGroupDiscoveryList"},
                   {"apiVersion", v2 ? "apidiscovery.k8s.io/v2" : "apidiscovery.k8s.io/v2beta1"},
                   {"metadata", json::object()},
                   {"items", std::move(items)}},
      v2 ? kV2Type : kV2Beta1Type);
}

json::object group_entry(const GroupOf& group) {
  json::array versions;
  for (const VersionOf& each : group.versions) {
    versions.push_back(json::object{{"groupVersion", group_version(group.name, each.version)},
                                    {"version", jview(each.version)}});
  }
  json::value preferred = versions.front();
  return {{"name", jview(group.name)},
          {"versions", std::move(versions)},
          {"preferredVersion", std::move(preferred)}};
}

json::object legacy_resource(const ApiResource& entry) {
  json::object out{{"name", jview(entry.resource.plural)},
                   {"singularName", entry.singular},
                   {"namespaced", entry.resource.namespaced},
                   {"kind", jview(entry.resource.kind)},
                   {"verbs", kube::to_array(entry.verbs)}};
  if (!entry.short_names.empty()) out["shortNames"] = kube::to_array(entry.short_names);
  if (!entry.categories.empty()) out["categories"] = kube::to_array(entry.categories);
  return out;
}

json::object legacy_subresource(const ApiResource& parent, const Subresource& sub) {
  json::object out{{"name", fmt::format("{}/{}", parent.resource.plural, sub.name)},
                   {"singularName", ""},
                   {"namespaced", parent.resource.namespaced},
                   {"kind", sub.kind},
                   {"verbs", kube::to_array(sub.verbs)}};
  if (!sub.version.empty()) {
    out["group"] = sub.group;
    out["version"] = sub.version;
  }
  return out;
}

}  // namespace

Document discover_core(const Registry& registry, DiscoveryForm form) {
  if (form != DiscoveryForm::kLegacy) return aggregated(registry, true, form);
  return document_of(json::object{
      {"kind", "APIVersions"},
      {"versions", {"v1"}},
      {"serverAddressByClientCIDRs", json::array()},
  });
}

Document discover_groups(const Registry& registry, DiscoveryForm form) {
  if (form != DiscoveryForm::kLegacy) return aggregated(registry, false, form);
  json::array groups;
  for (const GroupOf& group : groups_of(registry)) {
    if (!group.name.empty()) groups.push_back(group_entry(group));
  }
  return document_of(
      json::object{{"kind", "APIGroupList"}, {"apiVersion", "v1"}, {"groups", std::move(groups)}});
}

std::optional<Document> discover_group(const Registry& registry, std::string_view name) {
  for (const GroupOf& group : groups_of(registry)) {
    if (group.name != name || name.empty()) continue;
    json::object out{{"kind", "APIGroup"}, {"apiVersion", "v1"}};
    for (json::key_value_pair& member : group_entry(group)) out[member.key()] = std::move(member.value());
    return document_of(out);
  }
  return std::nullopt;
}

std::optional<Document> discover_resources(const Registry& registry, std::string_view group,
                                           std::string_view version) {
  if (!registry.serves(group, version)) return std::nullopt;
  json::array resources;
  for (const ApiResource* entry : registry.all()) {
    if (entry->resource.group != group || entry->resource.version != version) continue;
    resources.push_back(legacy_resource(*entry));
    for (const Subresource& sub : entry->subresources) {
      resources.push_back(legacy_subresource(*entry, sub));
    }
  }
  return document_of(json::object{{"kind", "APIResourceList"},
                                  {"apiVersion", "v1"},
                                  {"groupVersion", group_version(group, version)},
                                  {"resources", std::move(resources)}});
}

Document version_document(std::string_view git_version) {
  std::string_view rest = git_version.starts_with('v') ? git_version.substr(1) : git_version;
  std::string_view major = rest.substr(0, rest.find('.'));
  rest.remove_prefix(std::min(rest.size(), major.size() + 1));
  std::string_view minor = rest.substr(0, rest.find('.'));
  return document_of(json::object{{"major", jview(major)},
                                  {"minor", jview(minor)},
                                  {"gitVersion", jview(git_version)},
                                  {"gitCommit", ""},
                                  {"gitTreeState", "clean"},
                                  {"buildDate", "1970-01-01T00:00:00Z"},
                                  {"goVersion", ""},
                                  {"compiler", "g++"},
                                  {"platform", "linux/amd64"}});
}

}  // namespace trainyard::server
