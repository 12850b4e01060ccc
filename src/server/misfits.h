// What in a document does not fit the schema of its kind (schema.h): fields that the kind does
// not have, and values of another type than theirs. Pure; one walk over the document, which
// writes nothing down while all is well.
//
// Null fits everywhere, as it does in Go. Not looked at: what is required, and whether a text
// that is to be a time, a quantity or base64 is one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kube/json.h"
#include "server/schema.h"

namespace trainyard::server {

inline constexpr size_t kMisfitsMax = 100;  // of each sort

struct Misfit {
  std::string path;                    // "spec.containers[0].securityContext.runAsUser"
  const SchemaType* owner = nullptr;   // the type whose field it is, or would be
  const SchemaField* field = nullptr;  // null: the owner has no such field
  const json::value* value = nullptr;  // in the document
  std::string members;                 // the path in Go's words: "spec.containers.securityContext.runAsUser"
  std::string wanted;                  // the type in Go's words: "int64", "[]string", "v1.PodSpec"
  std::string_view wanted_plainly;     // and in those of OpenAPI: "integer", "array", "object"

  bool is_unknown() const { return field == nullptr; }
};

// In the order of the document. REQUIRES: the document outlives the result.
std::vector<Misfit> misfits(const SchemaType& type, const json::object& document);

// What the value is, in the words of Go: "string", "bool", "number 1.5" where a whole number
// was wanted.
std::string found_in_go(const Misfit& misfit);

}  // namespace trainyard::server
