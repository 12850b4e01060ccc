// What a scalar of a YAML document means, by the rules Kubernetes reads with (YAML 1.1
// as go-yaml v2 has it): y/yes/on are true, 0777 is octal, 1_000 is a number, dates stay
// text. Pure. Shared by the reader and by the writer, which quotes what would change.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "kube/json.h"

namespace trainyard::kube {

enum class ScalarKind { kNull, kBool, kInt, kFloat, kText };

struct Scalar {
  ScalarKind kind = ScalarKind::kText;
  json::value value;   // for kText: left null, the text is the caller's
  bool finite = true;  // false for .inf and .nan, which JSON cannot hold
};

// A scalar written without quotes and without a tag.
Scalar resolve_plain(std::string_view text);

// The text of a key: 1 is "1", yes is "true"; nullopt for what cannot be one (null, a list).
std::optional<std::string> key_text(const json::value& value);

// Whether a character may stand in a YAML text unescaped (line breaks and tabs included).
bool is_printable(char32_t c);

}  // namespace trainyard::kube
