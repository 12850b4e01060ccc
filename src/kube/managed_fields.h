// Who manages which fields of a document: sets of fields in the form of metadata's
// managedFields (FieldsV1), and the four walks that server-side apply is made of. Pure.
//
// A field is told by a path of elements as FieldsV1 writes them: "f:name" a member,
// "k:{...}" an element of a list by its keys, "v:..." an element of a set by its value.
// Lists whose elements have no keys, and a few objects that make no sense in parts, are
// atomic: they have one owner as a whole. Members that a schema does not name (of a map, or
// below x-kubernetes-preserve-unknown-fields) are owned in themselves, as elements are.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kube/json.h"
#include "kube/meta.h"

namespace trainyard::kube {

// A tree of fields. `owned`: the field at this place is in the set, whatever is below it.
struct FieldSet {
  bool owned = false;
  std::map<std::string, FieldSet, std::less<>> children;

  bool empty() const { return !owned && children.empty(); }
  bool operator==(const FieldSet&) const = default;
};

inline constexpr int kFieldDepthMax = 200;

// kInvalid when it is no FieldsV1.
Result<FieldSet> read_fields_v1(const json::object& fields);
json::object write_fields_v1(const FieldSet& set);

FieldSet unite(const FieldSet& a, const FieldSet& b);
// What is in a and not in b; a field below one of b's stays.
FieldSet subtract(const FieldSet& a, const FieldSet& b);
FieldSet intersect(const FieldSet& a, const FieldSet& b);
// For people: ".spec.containers[name=\"c\"].image", in order.
std::vector<std::string> paths_of(const FieldSet& set);

// What is known of a kind's lists and objects: the built-in ones, what the schema of a CRD
// says, and metadata of all.
struct FieldRules {
  bool built_in = false;
  std::string_view kind;
  std::shared_ptr<const json::object> schema = nullptr;  // a structural one
};
FieldRules field_rules_of(const Resource& resource);

// The fields that somebody who writes this document speaks about.
FieldSet fields_of(const json::object& document, const FieldRules& rules);

struct FieldChanges {
  FieldSet added;
  FieldSet modified;
  FieldSet removed;
};
FieldChanges compare_fields(const json::object& before, const json::object& after, const FieldRules& rules);

// `live` with everything that `config` says.
json::object merge_fields(const json::object& live, const json::object& config, const FieldRules& rules);

// `document` without what is in `dropped` and neither in nor above something in `kept`.
json::object remove_fields(const json::object& document, const FieldSet& dropped, const FieldSet& kept,
                           const FieldRules& rules);

}  // namespace trainyard::kube
