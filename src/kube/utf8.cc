#include "kube/utf8.h"

#include <algorithm>

namespace trainyard::kube {

Utf8Char utf8_at(std::string_view text, size_t at) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[at + i]); };
  unsigned char first = byte(0);
  if (first < 0x80) return {first, 1};
  size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() - at < bytes) return {};
  char32_t code = first & (0xFF >> (bytes + 1));
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    code = (code << 6) | (byte(i) & 0x3F);
  }
  constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kLeast[bytes] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return {};
  return {code, bytes};
}

bool is_utf8(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const size_t length = utf8_at(text, at).bytes;
    if (length == 0) return false;
    at += length;
  }
  return true;
}

std::string beginning_of(std::string_view text, size_t bytes_max) {
  if (text.size() <= bytes_max) return std::string(text);
  auto is_within_character = [&](size_t at) { return (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80; };
  size_t end = bytes_max;
  while (end > 0 && is_within_character(end)) --end;
  return std::string(text.substr(0, end)) + "...";
}

std::string as_utf8(std::string text) {
  if (is_utf8(text)) return text;
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t length = utf8_at(text, at).bytes;
    length == 0 ? out.append("\xEF\xBF\xBD") : out.append(text, at, length);
    at += std::max<size_t>(length, 1);
  }
  return out;
}

void make_utf8(json::value& value) {
  if (json::object* object = value.if_object()) return make_utf8(*object);
  if (json::array* list = value.if_array()) {
    for (json::value& one : *list) make_utf8(one);
  } else if (json::string* text = value.if_string()) {
    if (!is_utf8({text->data(), text->size()})) text->assign(as_utf8({text->data(), text->size()}));
  }
}

void make_utf8(json::object& object) {
  for (json::key_value_pair& member : object) make_utf8(member.value());
}

}  // namespace trainyard::kube
