#include "kube/json_text.h"

#include <cstring>

namespace trainyard::kube {

size_t end_of_string(std::string_view text, size_t at) {
  const size_t begin = at + 1;
  for (at = begin; at < text.size(); ++at) {
    const void* mark = std::memchr(text.data() + at, '"', text.size() - at);
    if (mark == nullptr) break;
    at = static_cast<size_t>(static_cast<const char*>(mark) - text.data());
    size_t escapes = at;
    while (escapes > begin && text[escapes - 1] == '\\') --escapes;
    if ((at - escapes) % 2 == 0) return at + 1;
  }
  return std::string_view::npos;
}

}  // namespace trainyard::kube
