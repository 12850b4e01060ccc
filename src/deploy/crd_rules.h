// What the API server itself refuses: bounds, words and CEL rules, laid over the structural
// schemas of the kinds. They say what the dialects' validation says, as far as CEL can and
// within its cost limits; the operator checks the rest. Pure data.
//
// A path is such as "spec.replicaSpecs[].type": "[]" steps into the items of a list, "{}"
// into the values of a map, "" is the object itself.
#pragma once

#include <span>
#include <string_view>

#include "kube/json.h"

namespace trainyard::deploy {

// A JSON object whose members are put into the schema there.
struct CrdBound {
  std::string_view path;
  std::string_view schema;
};

// With oldSelf in it, a rule is about changes alone. It says nothing that Kubernetes 1.27 does not know:
// reason and fieldPath came later, and kubectl apply refuses a definition with a field that is unknown.
struct CelRule {
  std::string_view path;
  std::string_view rule;
  std::string_view message;
};

struct KindRules {
  std::string_view group;
  std::string_view kind;
  std::span<const CrdBound> bounds;  // laid in this order
  std::span<const CelRule> cel;
};

// Null for a kind that has none.
const KindRules* rules_of(std::string_view group, std::string_view kind);

// REQUIRES: every path leads somewhere, every bound is a JSON object.
void lay_rules(const KindRules& rules, json::object& schema);

}  // namespace trainyard::deploy
