// UTF-8, which the texts of a document have to be: who reads one that holds anything else refuses all of
// it. Pure.
#pragma once

#include <string>
#include <string_view>

#include "kube/json.h"

namespace trainyard::kube {

// The character at `at` and the number of its bytes; 0 bytes when it is not valid UTF-8.
struct Utf8Char {
  char32_t code = 0;
  size_t bytes = 0;
};
Utf8Char utf8_at(std::string_view text, size_t at);

bool is_utf8(std::string_view text);

// A text that is longer ends with the last character that is whole within so many bytes, and "...".
std::string beginning_of(std::string_view text, size_t bytes_max);

// With U+FFFD in place of each byte that belongs to no character.
std::string as_utf8(std::string text);
// The same of every text in a document; names of members stay as they are.
void make_utf8(json::value& value);
void make_utf8(json::object& object);

}  // namespace trainyard::kube
