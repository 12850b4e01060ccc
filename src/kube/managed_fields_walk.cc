// The walks over documents that server-side apply is made of, and what is known of lists.
#include "kube/access.h"
#include "kube/managed_fields.h"
#include "kube/patch.h"
#include "kube/structural.h"
#include "kube/texts.h"

namespace trainyard::kube {

namespace {

// A list whose elements are told apart. `kind` and `under` (the member it is found below)
// narrow a row; "" is any.
struct ListRow {
  std::string_view kind, under, field;
  std::string_view keys[2];  // none: a set of plain values
};
constexpr ListRow kListRows[] = {
    {"Service", "spec", "ports", {"port", "protocol"}},
    {"", "containers", "ports", {"containerPort", "protocol"}},
    {"", "initContainers", "ports", {"containerPort", "protocol"}},
    {"", "", "containers", {"name"}},
    {"", "", "initContainers", {"name"}},
    {"", "", "ephemeralContainers", {"name"}},
    {"", "", "volumes", {"name"}},
    {"", "", "env", {"name"}},
    {"", "", "volumeMounts", {"mountPath"}},
    {"", "", "volumeDevices", {"devicePath"}},
    {"", "spec", "imagePullSecrets", {"name"}},
    {"", "", "hostAliases", {"ip"}},
    {"", "status", "podIPs", {"ip"}},
    {"", "", "topologySpreadConstraints", {"topologyKey", "whenUnsatisfiable"}},
    {"", "status", "conditions", {"type"}},
    {"Node", "status", "addresses", {"type"}},
    {"Node", "spec", "podCIDRs", {}},
    {"ServiceAccount", "", "secrets", {"name"}},
    {"", "", "schedulingGates", {"name"}},
    {"", "spec", "resourceClaims", {"name"}},
    {"", "resources", "claims", {"name"}},
};
// What every kind has.
constexpr ListRow kMetadataRows[] = {
    {"", "metadata", "ownerReferences", {"uid"}},
    {"", "metadata", "finalizers", {}},
};

// Objects of the built-in kinds that have one owner as a whole.
constexpr std::string_view kAtomicObjects[] = {
    "nodeSelector", "selector",       "labelSelector",    "namespaceSelector", "configMapKeyRef",
    "secretKeyRef", "fieldRef",       "secretRef",        "configMapRef",      "claimRef",
    "targetRef",    "involvedObject", "resourceFieldRef", "related",
};

// Where in a document a walk is.
struct Place {
  const FieldRules& rules;
  std::string_view under;  // the member above: of an element, the list's own name
  std::string_view field;
  int depth = 0;
  const json::object* schema = nullptr;  // of this place
  // Whether its members are known without a schema: metadata's, and all of a kind that has none.
  bool is_typed = true;

  static Place root(const FieldRules& rules) {
    return {rules, "", "", 0, rules.schema.get(), rules.schema == nullptr};
  }
  Place member(std::string_view name) const {
    if (is_typed || is_fixed(name)) return {rules, field, name, depth + 1};
    return {rules, field, name, depth + 1, schema == nullptr ? nullptr : schema_of_member(*schema, name),
            false};
  }
  // An element of the list here.
  Place element() const {
    return {rules, under, field, depth + 1, schema == nullptr ? nullptr : schema_of_items(*schema), is_typed};
  }
  // Whether a member is there because somebody wrote it, and not because the kind has it.
  bool is_free(std::string_view name) const {
    if (is_typed || is_fixed(name)) return false;
    return schema == nullptr || schema_of_property(*schema, name) == nullptr;
  }

 private:
  bool is_fixed(std::string_view name) const {
    return depth == 0 && (name == "apiVersion" || name == "kind" || name == "metadata");
  }
};

// What tells the elements of a list apart.
struct ListKeys {
  std::vector<std::string> names;          // in order; none: plain values
  const json::object* elements = nullptr;  // their schema, where there is one

  // What a key is that is not written; null when it must be.
  json::value standard(std::string_view key) const {
    if (elements != nullptr) {
      const json::value* given = find(*elements, {"properties", key, "default"});
      return given == nullptr ? json::value() : *given;
    }
    return key == "protocol" ? json::value("TCP") : json::value();
  }
};

// Nullopt for a list that is one value.
std::optional<ListKeys> keys_by_schema(const json::object& schema) {
  std::string_view type = text_at(schema, {kListType});
  if (type != "map" && type != "set") return std::nullopt;
  ListKeys keys{{}, schema_of_items(schema)};
  if (type == "map") keys.names = texts_at(schema, {kListMapKeys});
  std::sort(keys.names.begin(), keys.names.end());
  return keys;
}

const ListRow* row_for(const Place& at) {
  auto fits = [&](const ListRow& row) {
    return row.field == at.field && (row.kind.empty() || row.kind == at.rules.kind) &&
           (row.under.empty() || row.under == at.under);
  };
  for (const ListRow& row : kMetadataRows) {
    if (fits(row)) return &row;
  }
  if (!at.rules.built_in) return nullptr;
  for (const ListRow& row : kListRows) {
    if (fits(row)) return &row;
  }
  return nullptr;
}

std::optional<ListKeys> keys_of(const Place& at) {
  if (!at.is_typed) return at.schema == nullptr ? std::nullopt : keys_by_schema(*at.schema);
  const ListRow* row = row_for(at);
  if (row == nullptr) return std::nullopt;
  ListKeys keys;
  for (std::string_view key : row->keys) {
    if (!key.empty()) keys.names.emplace_back(key);
  }
  return keys;
}

bool is_atomic_object(const Place& at) {
  if (at.depth > kFieldDepthMax || at.field == "ownerReferences") return true;
  if (!at.is_typed) return at.schema != nullptr && text_at(*at.schema, {kMapType}) == "atomic";
  return at.rules.built_in && std::find(std::begin(kAtomicObjects), std::end(kAtomicObjects), at.field) !=
                                  std::end(kAtomicObjects);
}

// What an element is called in FieldsV1; "" when it has not got what tells it apart.
std::string element_name(const json::value& element, const ListKeys& list) {
  if (list.names.empty()) {
    return element.is_structured() ? std::string() : fmt::format("v:{}", json::serialize(element));
  }
  const json::object* object = element.if_object();
  if (object == nullptr) return {};
  json::object keys;
  for (const std::string& key : list.names) {
    const json::value* value = object->if_contains(key);
    bool is_there = value != nullptr && !value->is_null();
    json::value own = is_there ? *value : list.standard(key);
    if (own.is_null()) return {};
    keys[key] = std::move(own);
  }
  return fmt::format("k:{}", json::serialize(keys));
}

using Elements = std::vector<std::pair<std::string, const json::value*>>;

// The elements by name, in order; nullopt when they cannot be told apart.
std::optional<Elements> elements_of(const json::array& list, const Place& at) {
  std::optional<ListKeys> keys = keys_of(at);
  if (!keys) return std::nullopt;
  Elements elements;
  std::set<std::string> names;
  for (const json::value& element : list) {
    std::string name = element_name(element, *keys);
    if (name.empty() || !names.insert(name).second) return std::nullopt;
    elements.emplace_back(std::move(name), &element);
  }
  return elements;
}

const json::value* find_element(const Elements& elements, std::string_view name) {
  for (const auto& [own, value] : elements) {
    if (own == name) return value;
  }
  return nullptr;
}

// Whether it can have parts with owners of their own.
bool is_container(const json::value& value, const Place& at) {
  if (value.is_object()) return !is_atomic_object(at);
  return value.is_array() && elements_of(value.get_array(), at).has_value();
}

// Whether it has.
bool is_granular(const json::value& value, const Place& at) {
  bool is_empty =
      value.is_object() ? value.get_object().empty() : value.is_array() && value.get_array().empty();
  return !is_empty && is_container(value, at);
}

std::string member_name(std::string_view key) { return fmt::format("f:{}", key); }

// The parts of a granular value: members or elements, by their names in FieldsV1.
struct Part {
  std::string name;
  const json::value* value;
  Place at;
};
std::vector<Part> parts_of(const json::value& value, const Place& at) {
  std::vector<Part> parts;
  if (value.is_object()) {
    for (const json::key_value_pair& member : value.get_object()) {
      if (member.value().is_null() && at.is_typed) continue;
      parts.push_back({member_name(view(member.key())), &member.value(), at.member(view(member.key()))});
    }
    return parts;
  }
  std::optional<Elements> elements = elements_of(value.get_array(), at);
  CHECK(elements.has_value());
  for (auto& [name, element] : *elements) parts.push_back({std::move(name), element, at.element()});
  return parts;
}

void collect(const json::value& value, const Place& at, bool is_element, FieldSet& set) {
  if (!is_granular(value, at)) {
    // A list that could have elements and has none says nothing.
    bool says_nothing = value.is_array() && value.get_array().empty() && keys_of(at).has_value();
    set.owned = !says_nothing;
    return;
  }
  set.owned = is_element;
  for (const Part& part : parts_of(value, at)) {
    FieldSet child;
    collect(*part.value, part.at, value.is_array() || at.is_free(part.at.field), child);
    if (!child.empty()) set.children.emplace(part.name, std::move(child));
  }
}

// Adds everything at and below a value to a set.
void cover(const json::value& value, const Place& at, FieldSet& set) {
  set.owned = true;
  if (!is_granular(value, at)) return;
  for (const Part& part : parts_of(value, at)) cover(*part.value, part.at, set.children[part.name]);
}

// Null pointers and null values stand for what is not there.
void compare(const json::value* before, const json::value* after, const Place& at, FieldSet& added,
             FieldSet& modified, FieldSet& removed);

void compare_parts(const json::value& before, const json::value& after, const Place& at, FieldSet& added,
                   FieldSet& modified, FieldSet& removed) {
  std::vector<Part> old = parts_of(before, at);
  std::vector<Part> now = parts_of(after, at);
  std::map<std::string_view, const Part*> old_by_name;
  std::set<std::string_view> names;
  for (const Part& part : old) old_by_name.emplace(part.name, &part);
  auto one = [&](const Part& part, const json::value* was, const json::value* is) {
    FieldSet add, modify, remove;
    compare(was, is, part.at, add, modify, remove);
    if (!add.empty()) added.children.emplace(part.name, std::move(add));
    if (!modify.empty()) modified.children.emplace(part.name, std::move(modify));
    if (!remove.empty()) removed.children.emplace(part.name, std::move(remove));
  };
  for (const Part& part : now) {
    names.insert(part.name);
    auto found = old_by_name.find(part.name);
    one(part, found == old_by_name.end() ? nullptr : found->second->value, part.value);
  }
  for (const Part& part : old) {
    if (!names.contains(part.name)) one(part, part.value, nullptr);
  }
}

void compare(const json::value* before, const json::value* after, const Place& at, FieldSet& added,
             FieldSet& modified, FieldSet& removed) {
  const bool was = before != nullptr && !before->is_null();
  const bool is = after != nullptr && !after->is_null();
  if (!was && !is) return;
  if (!was) return cover(*after, at, added);
  if (!is) return cover(*before, at, removed);
  if (*before == *after) return;
  if (before->kind() == after->kind() && is_container(*before, at) && is_container(*after, at)) {
    return compare_parts(*before, *after, at, added, modified, removed);
  }
  // They are not alike: whatever is below comes or goes.
  if (is_granular(*before, at)) cover(*before, at, removed);
  if (is_granular(*after, at)) cover(*after, at, added);
  removed.owned = added.owned = false;
  modified.owned = true;
}

json::value merge(const json::value& live, const json::value& config, const Place& at) {
  if (config.is_object() && live.is_object() && !is_atomic_object(at)) {
    json::object out = live.get_object();
    for (const json::key_value_pair& member : config.get_object()) {
      if (member.value().is_null() && at.is_typed) continue;
      const json::value* own = live.get_object().if_contains(member.key());
      out[member.key()] =
          own == nullptr ? member.value() : merge(*own, member.value(), at.member(view(member.key())));
    }
    return out;
  }
  if (!config.is_array() || !live.is_array()) return config;
  std::optional<Elements> wanted = elements_of(config.get_array(), at);
  std::optional<Elements> present = elements_of(live.get_array(), at);
  if (!wanted || !present) return config;
  json::array out;
  for (const auto& [name, element] : *present) {
    const json::value* change = find_element(*wanted, name);
    out.push_back(change == nullptr ? *element : merge(*element, *change, at.element()));
  }
  for (const auto& [name, element] : *wanted) {
    if (find_element(*present, name) == nullptr) out.push_back(*element);
  }
  return out;
}

// Nullopt: nothing is left of it.
std::optional<json::value> without(const json::value& value, const FieldSet& dropped, const FieldSet& kept,
                                   const Place& at) {
  if (dropped.owned && kept.empty()) return std::nullopt;
  if (dropped.children.empty() || !is_granular(value, at)) return value;
  static const FieldSet kNothing;
  json::object members;
  json::array elements;
  for (const Part& part : parts_of(value, at)) {
    auto drop = dropped.children.find(part.name);
    auto keep = kept.children.find(part.name);
    std::optional<json::value> left =
        drop == dropped.children.end()
            ? *part.value
            : without(*part.value, drop->second, keep == kept.children.end() ? kNothing : keep->second,
                      part.at);
    if (!left) continue;
    if (value.is_object()) {
      members[jview(part.at.field)] = std::move(*left);
    } else {
      elements.push_back(std::move(*left));
    }
  }
  if (members.empty() && elements.empty()) return std::nullopt;
  return value.is_object() ? json::value(std::move(members)) : json::value(std::move(elements));
}

}  // namespace

FieldRules field_rules_of(const Resource& resource) { return {is_built_in(resource), resource.kind}; }

FieldSet fields_of(const json::object& document, const FieldRules& rules) {
  FieldSet set;
  collect(json::value(document), Place::root(rules), false, set);
  return set;
}

FieldChanges compare_fields(const json::object& before, const json::object& after, const FieldRules& rules) {
  FieldChanges changes;
  json::value old(before), now(after);
  compare_parts(old, now, Place::root(rules), changes.added, changes.modified, changes.removed);
  return changes;
}

json::object merge_fields(const json::object& live, const json::object& config, const FieldRules& rules) {
  return merge(json::value(live), json::value(config), Place::root(rules)).get_object();
}

json::object remove_fields(const json::object& document, const FieldSet& dropped, const FieldSet& kept,
                           const FieldRules& rules) {
  std::optional<json::value> left = without(json::value(document), dropped, kept, Place::root(rules));
  return left ? left->get_object() : json::object();
}

}  // namespace trainyard::kube
