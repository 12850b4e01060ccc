// Schema: the fields of the kinds we know, with types, descriptions, how lists merge and
// their numbers in protobuf. One table, read by openapi, validate_fields and protobuf.
// Pure data: built once from the text in schema_*.cc (the language is described in
// schema_text.h), immutable after, so any thread may read it.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard::server {

// Names that schemas of others use too.
inline constexpr std::string_view kObjectMeta = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
inline constexpr std::string_view kPreserve = "x-kubernetes-preserve-unknown-fields";

enum class ScalarType {
  kString,
  kInt32,
  kInt64,
  kBool,
  kDouble,
  kBytes,      // base64 in JSON
  kTime,       // RFC 3339, whole seconds
  kMicroTime,  // RFC 3339 with microseconds
  kDuration,   // "5m0s"; nanoseconds in protobuf
  kQuantity,   // "500m" or a number
  kIntOrString,
  kStringList,  // a list of strings that protobuf wraps in a message
  kRaw,         // any JSON object, as it is
  kMessage,     // another SchemaType
};

enum class Many { kOne, kList, kMap };

struct SchemaType;

struct SchemaField {
  std::string_view name;
  ScalarType scalar = ScalarType::kString;
  const SchemaType* message = nullptr;  // of kMessage
  Many many = Many::kOne;
  int number = 0;              // in protobuf; 0 when it has none
  bool required = false;       // must be there
  bool present = false;        // in protobuf: told apart from its zero value (a pointer in Go)
  bool inlined = false;        // the message's fields are the type's own in JSON
  std::string_view merge_key;  // of a list that strategic merge treats as a map
  bool merge_set = false;      // a list of plain values that merges as a set
  bool retain_keys = false;    // strategy retainKeys
  std::string_view description;
};

struct SchemaType {
  std::string_view package;  // "io.k8s.api.core.v1"
  std::string_view name;     // "Pod"
  std::string_view group;    // of a kind
  std::string_view version;  // of a kind; "" when the type is not a kind
  std::string_view description;
  bool open = false;  // also takes fields it does not list
  std::vector<SchemaField> fields;

  bool is_kind() const { return !version.empty(); }
  std::string full_name() const;  // "io.k8s.api.core.v1.Pod"
  // By JSON name, looking into inlined messages; null when there is none.
  const SchemaField* field(std::string_view name) const;
  const SchemaField* field_numbered(int number) const;
};

// The type of a kind; null when it has no schema.
const SchemaType* schema_of(std::string_view group, std::string_view version, std::string_view kind);
// By full name; null when there is none.
const SchemaType* schema_named(std::string_view full_name);

}  // namespace trainyard::server
