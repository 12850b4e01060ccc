#include "store/managers.h"

#include <array>

#include "kube/access.h"

namespace trainyard::store {

using kube::FieldSet;
using kube::text_at;

namespace {

// What the server sets is nobody's.
constexpr std::array<std::string_view, 10> kServersMetadata = {"f:name",
                                                               "f:namespace",
                                                               "f:creationTimestamp",
                                                               "f:selfLink",
                                                               "f:uid",
                                                               "f:generation",
                                                               "f:managedFields",
                                                               "f:resourceVersion",
                                                               "f:deletionTimestamp",
                                                               "f:deletionGracePeriodSeconds"};

void drop_child(FieldSet& set, std::string_view element) {
  auto found = set.children.find(element);
  if (found != set.children.end()) set.children.erase(found);
}

std::string in_words(const Manager& manager) {
  std::string words = fmt::format("\"{}\"", manager.name);
  if (!manager.subresource.empty()) words += fmt::format(" with subresource \"{}\"", manager.subresource);
  if (!manager.applies) words += fmt::format(" using {}", manager.api_version);
  return words;
}

struct Conflict {
  std::string with;  // in words
  std::string path;
};

Error to_error(const std::vector<Conflict>& conflicts) {
  Error error{ErrorKind::kConflict, ""};
  for (const Conflict& conflict : conflicts) {
    error.causes.push_back(
        {"FieldManagerConflict", fmt::format("conflict with {}", conflict.with), conflict.path});
  }
  if (conflicts.size() == 1) {
    error.message = fmt::format("Apply failed with 1 conflict: conflict with {}: {}", conflicts[0].with,
                                conflicts[0].path);
    return error;
  }
  std::map<std::string, std::vector<std::string>> by_manager;
  for (const Conflict& conflict : conflicts) by_manager[conflict.with].push_back(conflict.path);
  std::string text;
  for (const auto& [with, paths] : by_manager) {
    text += fmt::format("{}conflicts with {}:", text.empty() ? "" : "\n", with);
    for (const std::string& path : paths) text += fmt::format("\n- {}", path);
  }
  error.message = fmt::format("Apply failed with {} conflicts: {}", conflicts.size(), text);
  return error;
}

// Of a set, the child of that name alone.
FieldSet only_child(FieldSet fields, std::string_view element) {
  FieldSet part;
  auto found = fields.children.find(element);
  if (found != fields.children.end()) part.children.emplace(found->first, std::move(found->second));
  return part;
}

// Of the fields of a container: those that a resize is about, and what names the container.
FieldSet resources_of_container(FieldSet fields) {
  FieldSet out;
  for (std::string_view member : {"f:resources", "f:resizePolicy"}) {
    auto found = fields.children.find(member);
    if (found != fields.children.end()) out.children.emplace(found->first, std::move(found->second));
  }
  if (out.empty()) return out;
  out.owned = fields.owned;
  auto name = fields.children.find("f:name");
  if (name != fields.children.end()) out.children.emplace(name->first, std::move(name->second));
  return out;
}

// The same of the fields of a pod's spec.
FieldSet resources_of(FieldSet&& fields) {
  FieldSet out;
  for (auto& [spec, parts] : fields.children) {
    for (std::string_view list : {"f:containers", "f:initContainers"}) {
      auto containers = parts.children.find(list);
      if (containers == parts.children.end()) continue;
      for (auto& [container, members] : containers->second.children) {
        FieldSet kept = resources_of_container(std::move(members));
        if (!kept.empty())
          out.children[spec].children[containers->first].children[container] = std::move(kept);
      }
    }
  }
  return out;
}

FieldSet all_but_the_servers(FieldSet fields) {
  drop_child(fields, "f:apiVersion");
  drop_child(fields, "f:kind");
  auto metadata = fields.children.find("f:metadata");
  if (metadata != fields.children.end()) {
    for (std::string_view field : kServersMetadata) drop_child(metadata->second, field);
  }
  for (std::string_view field : {"f:metadata", "f:spec", "f:status"}) {
    auto found = fields.children.find(field);
    if (found == fields.children.end()) continue;
    if (!found->second.children.empty()) found->second.owned = false;
    if (field == "f:metadata") found->second.owned = false;
    if (found->second.empty()) fields.children.erase(found);
  }
  return fields;
}

void drop_idle(Managers& managers) {
  std::erase_if(managers, [](const Manager& manager) { return manager.fields.empty(); });
}

}  // namespace

bool Manager::is_same(const Manager& other) const {
  // Who applies is the same in whatever version it speaks.
  return name == other.name && applies == other.applies && subresource == other.subresource &&
         (applies || api_version == other.api_version);
}

Managers read_managers(const json::object& object) {
  Managers managers;
  const json::array* entries = kube::array_at(object, {"metadata", "managedFields"});
  if (entries == nullptr) return managers;
  for (const json::value& value : *entries) {
    const json::object* entry = value.if_object();
    if (entry == nullptr) return {};
    const json::object* fields = kube::object_at(*entry, {"fieldsV1"});
    std::string_view operation = text_at(*entry, {"operation"});
    if (fields == nullptr || (operation != "Apply" && operation != "Update")) return {};
    Result<FieldSet> set = kube::read_fields_v1(*fields);
    if (!set.ok()) return {};
    managers.push_back({std::string(text_at(*entry, {"manager"})), operation == "Apply",
                        std::string(text_at(*entry, {"apiVersion"})),
                        std::string(text_at(*entry, {"subresource"})), std::string(text_at(*entry, {"time"})),
                        std::move(set).value()});
  }
  return managers;
}

void write_managers(json::object& object, const Managers& managers) {
  json::object& metadata = object["metadata"].get_object();
  if (managers.empty()) {
    metadata.erase("managedFields");
    return;
  }
  json::array entries;
  for (const Manager& manager : managers) {
    json::object entry{{"manager", manager.name},
                       {"operation", manager.applies ? "Apply" : "Update"},
                       {"apiVersion", manager.api_version}};
    if (!manager.time.empty()) entry["time"] = manager.time;
    entry["fieldsType"] = "FieldsV1";
    entry["fieldsV1"] = kube::write_fields_v1(manager.fields);
    if (!manager.subresource.empty()) entry["subresource"] = manager.subresource;
    entries.push_back(std::move(entry));
  }
  metadata["managedFields"] = std::move(entries);
}

FieldSet managed_part(FieldSet fields, kube::Part part) {
  switch (part) {
    case kube::Part::kMain:
      return all_but_the_servers(std::move(fields));
    case kube::Part::kStatus:
      return only_child(std::move(fields), "f:status");
    case kube::Part::kResize:
      return resources_of(only_child(std::move(fields), "f:spec"));
  }
  return {};
}

Managers after_update(Managers managers, const Manager& who, const kube::FieldChanges& changes) {
  const FieldSet written = kube::unite(changes.added, changes.modified);
  bool is_known = false;
  for (Manager& manager : managers) {
    FieldSet fields = kube::subtract(manager.fields, changes.removed);
    if (!who.name.empty() && manager.is_same(who)) {
      is_known = true;
      fields = kube::unite(fields, written);
      if (fields != manager.fields) manager.time = who.time;
    } else {
      fields = kube::subtract(fields, written);
    }
    manager.fields = std::move(fields);
  }
  if (!is_known && !who.name.empty()) {
    managers.push_back(who);
    managers.back().fields = written;
  }
  drop_idle(managers);
  return managers;
}

Result<Managers> after_apply(Managers managers, const Manager& who, const kube::FieldChanges& changes,
                             const Takes& takes) {
  const FieldSet written = kube::unite(changes.added, changes.modified);
  std::vector<Conflict> conflicts;
  bool is_known = false;
  for (Manager& manager : managers) {
    if (manager.is_same(who)) {
      is_known = true;
      if (manager.fields != who.fields) manager.time = who.time;
      manager.fields = who.fields;
      manager.api_version = who.api_version;
      continue;
    }
    FieldSet taken = kube::intersect(manager.fields, written);
    for (const std::string& path : kube::paths_of(kube::subtract(taken, takes.free))) {
      conflicts.push_back({in_words(manager), path});
    }
    manager.fields = kube::subtract(kube::subtract(manager.fields, taken), changes.removed);
  }
  if (!conflicts.empty() && !takes.force) return to_error(conflicts);
  if (!is_known) managers.push_back(who);
  drop_idle(managers);
  return managers;
}

}  // namespace trainyard::store
