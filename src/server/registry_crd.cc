// From a CustomResourceDefinition to what is served for it.
#include <fmt/format.h>

#include "kube/access.h"
#include "kube/texts.h"
#include "server/registry.h"

namespace trainyard::server {
namespace {

using kube::array_at;
using kube::bool_at;
using kube::object_at;
using kube::text_at;

constexpr size_t kVersionsMax = 64;

bool is_name(std::string_view text) {
  if (text.empty() || text.size() > 253) return false;
  for (char c : text) {
    bool fine = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
    if (!fine) return false;
  }
  return true;
}

Error refused(std::string_view crd, std::string_view field, std::string_view why) {
  return Error{ErrorKind::kInvalid,
               fmt::format("CustomResourceDefinition.apiextensions.k8s.io \"{}\" is invalid: {}: {}",
                           kube::shown(crd), field, why)};
}

Result<Done> check(const json::object& crd, const json::object& spec) {
  std::string_view name = kube::name_of(crd);
  std::string_view group = text_at(spec, {"group"});
  std::string_view plural = text_at(spec, {"names", "plural"});
  if (!is_name(group)) return refused(name, "spec.group", "Required value");
  if (!is_name(plural)) return refused(name, "spec.names.plural", "Required value");
  if (text_at(spec, {"names", "kind"}).empty()) return refused(name, "spec.names.kind", "Required value");
  if (name != fmt::format("{}.{}", plural, group)) {
    return refused(
        name, "metadata.name",
        fmt::format("Invalid value: \"{}\": must be spec.names.plural+\".\"+spec.group", kube::shown(name)));
  }
  std::string_view scope = text_at(spec, {"scope"});
  if (scope != "Namespaced" && scope != "Cluster") {
    return refused(name, "spec.scope",
                   fmt::format("Unsupported value: \"{}\": supported values: \"Cluster\", \"Namespaced\"",
                               kube::shown(scope)));
  }
  const json::array* versions = array_at(spec, {"versions"});
  if (versions == nullptr || versions->empty() || versions->size() > kVersionsMax) {
    return refused(name, "spec.versions", "Invalid value: must have between one and 64 versions");
  }
  return Done{};
}

std::string_view storage_version(const json::object& spec) {
  for (const json::value& each : *array_at(spec, {"versions"})) {
    const json::object* version = each.if_object();
    if (version && bool_at(*version, {"storage"}).value_or(false)) return text_at(*version, {"name"});
  }
  return {};
}

void add_columns(ApiResource& entry, const json::object& version) {
  const json::array* columns = array_at(version, {"additionalPrinterColumns"});
  if (columns == nullptr) return;
  for (const json::value& each : *columns) {
    const json::object* column = each.if_object();
    if (column == nullptr) continue;
    PrinterColumn made;
    made.name = text_at(*column, {"name"});
    made.type = text_at(*column, {"type"});
    made.json_path = text_at(*column, {"jsonPath"});
    made.priority = static_cast<int>(kube::int_at(*column, {"priority"}).value_or(0));
    made.format = text_at(*column, {"format"});
    made.description = text_at(*column, {"description"});
    entry.columns.push_back(std::move(made));
  }
}

void add_subresources(ApiResource& entry, const json::object& version) {
  if (object_at(version, {"subresources", "status"})) {
    entry.subresources.push_back(standard_subresource("status", entry.resource.kind));
    entry.resource.has_status = entry.storage.has_status = true;
  }
  if (const json::object* scale = object_at(version, {"subresources", "scale"})) {
    entry.subresources.push_back(standard_subresource("scale", entry.resource.kind));
    entry.scale = ScalePaths{std::string(text_at(*scale, {"specReplicasPath"})),
                             std::string(text_at(*scale, {"statusReplicasPath"})),
                             std::string(text_at(*scale, {"labelSelectorPath"}))};
  }
}

std::unique_ptr<ApiResource> entry_of(const json::object& spec, const json::object& version,
                                      std::string_view stored) {
  std::unique_ptr<ApiResource> entry =
      make_entry(text_at(spec, {"group"}), text_at(version, {"name"}), text_at(spec, {"names", "kind"}),
                 text_at(spec, {"names", "plural"}), text_at(spec, {"scope"}) == "Namespaced");
  entry->from_crd = true;
  entry->text[4] = stored;
  entry->storage.version = entry->text[4];
  if (std::string_view singular = text_at(spec, {"names", "singular"}); !singular.empty()) {
    entry->singular = singular;
  }
  if (std::string_view list = text_at(spec, {"names", "listKind"}); !list.empty()) entry->list_kind = list;
  entry->short_names = kube::texts_at(spec, {"names", "shortNames"});
  entry->categories = kube::texts_at(spec, {"names", "categories"});
  add_columns(*entry, version);
  add_subresources(*entry, version);
  if (const json::object* schema = object_at(version, {"schema", "openAPIV3Schema"})) {
    auto copy = std::make_shared<json::object>(*schema);
    if (bool_at(spec, {"preserveUnknownFields"}).value_or(false)) {
      (*copy)["x-kubernetes-preserve-unknown-fields"] = true;
    }
    entry->schema = std::move(copy);
  }
  return entry;
}

json::object condition(const json::object& crd, std::string_view type, std::string_view reason,
                       std::string_view message, Time now) {
  std::string since = format_rfc3339(now);
  if (const json::array* before = array_at(crd, {"status", "conditions"})) {
    for (const json::value& each : *before) {
      const json::object* old = each.if_object();
      if (old == nullptr || text_at(*old, {"type"}) != type || text_at(*old, {"status"}) != "True") continue;
      since = text_at(*old, {"lastTransitionTime"});
    }
  }
  return json::object{{"lastTransitionTime", since},
                      {"message", kube::jview(message)},
                      {"reason", kube::jview(reason)},
                      {"status", "True"},
                      {"type", kube::jview(type)}};
}

}  // namespace

Result<std::vector<std::unique_ptr<ApiResource>>> resources_of_crd(const json::object& crd) {
  const json::object* spec = object_at(crd, {"spec"});
  if (spec == nullptr) return refused(kube::name_of(crd), "spec", "Required value");
  if (Result<Done> checked = check(crd, *spec); !checked.ok()) return checked.error();
  std::string_view stored = storage_version(*spec);
  if (!is_name(stored)) {
    return refused(kube::name_of(crd), "spec.versions",
                   "Invalid value: must have exactly one version marked as storage version");
  }
  std::vector<std::unique_ptr<ApiResource>> entries;
  const json::array& versions = *array_at(*spec, {"versions"});
  for (size_t i = 0; i < versions.size(); ++i) {
    const json::object* version = versions[i].if_object();
    if (version == nullptr || !is_name(text_at(*version, {"name"}))) {
      return refused(kube::name_of(crd), fmt::format("spec.versions[{}].name", i), "Required value");
    }
    if (!bool_at(*version, {"served"}).value_or(false)) continue;
    entries.push_back(entry_of(*spec, *version, stored));
  }
  return entries;
}

json::object status_of_crd(const json::object& crd, Time now) {
  json::object names;
  if (const json::object* asked = object_at(crd, {"spec", "names"})) names = *asked;
  std::string kind(text_at(names, {"kind"}));  // a copy: names is about to change
  if (text_at(names, {"listKind"}).empty()) names["listKind"] = kind + "List";
  if (text_at(names, {"singular"}).empty()) {
    std::string singular = kind;
    for (char& c : singular) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    names["singular"] = singular;
  }
  json::array stored;
  if (const json::object* spec = object_at(crd, {"spec"}); spec && array_at(*spec, {"versions"})) {
    stored.emplace_back(kube::jview(storage_version(*spec)));
  }
  return json::object{
      {"acceptedNames", std::move(names)},
      {"conditions",
       {condition(crd, "NamesAccepted", "NoConflicts", "no conflicts found", now),
        condition(crd, "Established", "InitialNamesAccepted", "the initial names have been accepted", now)}},
      {"storedVersions", std::move(stored)}};
}

}  // namespace trainyard::server
