#include "kube/yaml_scalar.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "kube/access.h"

namespace trainyard::kube {
namespace {

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

std::optional<Scalar> resolve_word(std::string_view text) {
  if (is_one_of(text, {"", "~", "null", "Null", "NULL"})) return Scalar{ScalarKind::kNull, nullptr};
  if (is_one_of(text, {"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"})) {
    return Scalar{ScalarKind::kBool, true};
  }
  if (is_one_of(text, {"n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"})) {
    return Scalar{ScalarKind::kBool, false};
  }
  if (is_one_of(text, {".nan", ".NaN", ".NAN", ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF", "-.inf",
                       "-.Inf", "-.INF"})) {
    return Scalar{ScalarKind::kFloat, nullptr, false};
  }
  return std::nullopt;
}

// [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?
bool looks_like_float(std::string_view text) {
  size_t at = 0;
  auto digits = [&] {
    size_t from = at;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
    return at - from;
  };
  if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
  bool whole = digits() > 0;
  if (at < text.size() && text[at] == '.') {
    ++at;
    if (digits() == 0 && !whole) return false;
  } else if (!whole) {
    return false;
  }
  if (at == text.size()) return true;
  if (text[at] != 'e' && text[at] != 'E') return false;
  ++at;
  if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
  return digits() > 0 && at == text.size();
}

// An integer in the notations of Go: 0x1f, 0o17, 017, 0b11, 12.
std::optional<json::value> read_int(std::string_view text) {
  bool negative = false;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    negative = text[0] == '-';
    text.remove_prefix(1);
  }
  int base = 10;
  if (text.size() > 1 && text[0] == '0') {
    char mark = static_cast<char>(text[1] | 0x20);
    base = mark == 'x' ? 16 : mark == 'b' ? 2 : 8;
    text.remove_prefix(mark == 'x' || mark == 'b' || mark == 'o' ? 2 : 1);
  }
  uint64_t n = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n, base);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  constexpr uint64_t kInt64Max = std::numeric_limits<int64_t>::max();
  if (negative) {
    if (n > kInt64Max + 1) return std::nullopt;
    return json::value(static_cast<int64_t>(0 - n));
  }
  if (n <= kInt64Max) return json::value(static_cast<int64_t>(n));
  return json::value(n);
}

// A float as it comes out of JSON again: 8.0 is written 8 and so is the integer 8.
std::optional<json::value> read_float(const std::string& text) {
  double n = std::strtod(text.c_str(), nullptr);
  if (!std::isfinite(n)) return std::nullopt;
  if (std::trunc(n) == n && std::fabs(n) < 9.2e18) return json::value(static_cast<int64_t>(n));
  return json::value(n);
}

Scalar resolve_number(std::string_view text) {
  std::string plain(text);
  std::erase(plain, '_');
  if (std::optional<json::value> n = read_int(plain)) return {ScalarKind::kInt, std::move(*n)};
  if (looks_like_float(plain)) {
    if (std::optional<json::value> n = read_float(plain)) return {ScalarKind::kFloat, std::move(*n)};
  }
  return {};
}

}  // namespace

Scalar resolve_plain(std::string_view text) {
  if (std::optional<Scalar> word = resolve_word(text)) return std::move(*word);
  char first = text[0];
  if ((first >= '0' && first <= '9') || first == '-' || first == '+') return resolve_number(text);
  if (first == '.' && looks_like_float(text)) {
    if (std::optional<json::value> n = read_float(std::string(text)))
      return {ScalarKind::kFloat, std::move(*n)};
  }
  return {};
}

std::optional<std::string> key_text(const json::value& value) {
  switch (value.kind()) {
    case json::kind::string:
      return std::string(view(value.get_string()));
    case json::kind::bool_:
      return value.get_bool() ? "true" : "false";
    case json::kind::int64:
      return fmt::format("{}", value.get_int64());
    case json::kind::uint64:
      return fmt::format("{}", value.get_uint64());
    case json::kind::double_:
      return fmt::format("{}", value.get_double());
    case json::kind::null:
    case json::kind::array:
    case json::kind::object:
      return std::nullopt;
  }
  return std::nullopt;
}

bool is_printable(char32_t c) {
  if (c < 0x20) return c == '\t' || c == '\n' || c == '\r';
  if (c < 0x7F) return true;
  return c == 0x85 || (c >= 0xA0 && c != 0xFFFE && c != 0xFFFF);
}

}  // namespace trainyard::kube
