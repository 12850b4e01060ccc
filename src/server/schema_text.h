// The text that schemas are written in, and its reader. Pure. A line is one of
//
//   package io.k8s.api.core.v1           the types that follow are of this package
//   type Pod kind /v1 | What it is.      a type; with "kind group/version" an API kind;
//                                        with "open" it takes fields that are not listed
//   1 metadata ObjectMeta | What for.    a field: its number in protobuf ("-" when it has
//                                        none), its name, its type, what it is for
//   2 < VolumeSource                     the fields of that type are this type's own in JSON
//
// A name that ends in "!" must be there. Types: string int32 int64 bool double bytes time
// microtime duration quantity intorstring stringlist raw, or the name of a type of the same
// package, of meta/v1 or of core/v1, or a full name; "[]T" is a list, "{}T" a map from text, and "*T" is told
// apart from its zero value. After the type "~key" is a list merged by that key, "~" one
// merged as a set, "retainkeys" the strategy of that name.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "server/schema.h"

namespace trainyard::server {

struct Schemas {
  // By full name. Types point at one another, so this is never copied.
  std::map<std::string, SchemaType, std::less<>> types;

  Schemas() = default;
  Schemas(Schemas&&) = default;
  Schemas& operator=(Schemas&&) = default;
};

// kInvalid names the line that cannot be read. The texts must live as long as the schemas.
Result<Schemas> parse_schemas(std::span<const std::string_view> texts);

// Everything that is known, in the order of full names. The texts are in schema_*.cc.
const Schemas& known_schemas();

// Another number whenever another word stands in those texts.
uint64_t schema_fingerprint();

extern const std::string_view kMetaSchemas;
extern const std::string_view kPodSchemas;
extern const std::string_view kContainerSchemas;
extern const std::string_view kVolumeSchemas;
extern const std::string_view kCoreSchemas;
extern const std::string_view kWorkloadSchemas;
extern const std::string_view kPolicySchemas;
extern const std::string_view kJobSchemas;

}  // namespace trainyard::server
