#include "kube/yaml_source.h"

#include <algorithm>

#include "kube/utf8.h"
#include "kube/yaml_scalar.h"

namespace trainyard::kube {
namespace {

// The scanner reads a flow collection ahead before the first event of it: this many more
// brackets opened than closed are refused before they cost memory.
constexpr int kOpenBracketsMax = 10'000;

}  // namespace

Source::Source(std::string_view text) : text_(text) {
  starts_.push_back(0);
  for (size_t at = text.find('\n'); at != text.npos; at = text.find('\n', at + 1)) starts_.push_back(at + 1);
}

std::string_view Source::line(int number) const {
  auto index = static_cast<size_t>(number);
  if (number < 0 || index >= starts_.size()) return {};
  size_t end = index + 1 < starts_.size() ? starts_[index + 1] - 1 : text_.size();
  return text_.substr(starts_[index], end - starts_[index]);
}

bool Source::begins_at(int line_number, int column, char what) const {
  size_t at = byte_of(line_number, column);
  return at < text_.size() && text_[at] == what;
}

Position Source::place(int line_number, int column) const {
  if (line_number < 0) return {1, 1};
  std::string_view whole = line(line_number);
  auto bytes = std::min(static_cast<size_t>(std::max(column, 0)), whole.size());
  // Places are asked for from left to right, and a line may be the whole text: go on from the last.
  if (line_number != last_line_ || bytes < last_bytes_) {
    last_line_ = line_number;
    last_bytes_ = 0;
    last_chars_ = 0;
  }
  std::string_view between = whole.substr(last_bytes_, bytes - last_bytes_);
  auto begins_char = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; };
  last_chars_ += static_cast<int>(std::count_if(between.begin(), between.end(), begins_char));
  last_bytes_ = bytes;
  return {line_number + 1, 1 + last_chars_};
}

Position Source::place_of_byte(size_t at) const {
  auto next = std::upper_bound(starts_.begin(), starts_.end(), at);
  auto number = static_cast<int>(next - starts_.begin()) - 1;
  return place(number, static_cast<int>(at - starts_[static_cast<size_t>(number)]));
}

int Source::tab_in_indentation(int line_number, int column) const {
  std::string_view whole = line(line_number);
  for (int i = 0; i < column && i < static_cast<int>(whole.size()); ++i) {
    const auto at = static_cast<size_t>(i);
    const char c = whole[at];
    if (c == '\t') return i;
    const bool begins_entry =
        (c == '-' || c == '?') && at + 1 < whole.size() && (whole[at + 1] == ' ' || whole[at + 1] == '\t');
    if (c != ' ' && !begins_entry) return -1;
  }
  return -1;
}

bool Source::begins_document(int line_number) const {
  if (line(line_number).starts_with("---")) return true;
  for (int before = line_number - 1; before >= 0; --before) {
    std::string_view text = line(before);
    size_t first = text.find_first_not_of(" \t\r");
    if (first != text.npos && text[first] != '#') return text.starts_with("...");
  }
  return false;
}

size_t Source::byte_of(int line_number, int column) const {
  return starts_[static_cast<size_t>(line_number)] + static_cast<size_t>(column);
}

size_t Source::end_of_quotation(size_t at, bool& closed) const {
  char quote = text_[at++];
  closed = false;
  while (at < text_.size()) {
    bool escaped = quote == '"' ? text_[at] == '\\' : text_.substr(at, 2) == "''";
    closed = !escaped && text_[at] == quote;
    at += escaped ? 2 : 1;
    if (closed) break;
  }
  return std::min(at, text_.size());
}

size_t Source::after_properties(size_t at) const {
  while (at < text_.size() && (text_[at] == '&' || text_[at] == '!')) {
    at = std::min(text_.find_first_of(" \t\r\n", at), text_.size());
    at = std::min(text_.find_first_not_of(" \t\r\n", at), text_.size());
  }
  return at;
}

std::optional<BlockScalar> Source::block_scalar(int line_number, int column, int outside) const {
  const size_t at = after_properties(byte_of(line_number, column));
  if (at == text_.size() || (text_[at] != '|' && text_[at] != '>')) return std::nullopt;
  const std::string_view header = text_.substr(at, text_.find_first_of(" \t\r\n", at) - at);
  const size_t digit = header.find_first_of("123456789");
  int indent = digit == header.npos ? -1 : outside + header[digit] - '0';
  const auto first = static_cast<int>(std::upper_bound(starts_.begin(), starts_.end(), at) - starts_.begin());
  const auto lines = static_cast<int>(starts_.size());
  BlockScalar block;
  bool any_text = false;
  size_t breaks = 0;
  for (int number = first; number < lines; ++number) {
    std::string_view text = line(number);
    if (text.ends_with('\r')) text.remove_suffix(1);
    const size_t spaces = std::min(text.find_first_not_of(' '), text.size());
    const bool blank = spaces == text.size();
    if (indent < 0 && !blank) {
      if (text[spaces] == '\t') return BlockScalar{number, static_cast<int>(spaces), std::nullopt};
      indent = static_cast<int>(spaces);
    }
    const bool is_text =
        indent >= 0 && static_cast<int>(text.size()) > indent && static_cast<int>(spaces) >= indent;
    if (!is_text && !blank) break;
    any_text = any_text || is_text;
    breaks = (is_text ? 0 : breaks) + (number + 1 < lines ? 1 : 0);
  }
  if (any_text && header.find('+') != header.npos) block.kept_breaks = breaks;
  return block;
}

bool Source::has_open_quotation(int line_number, int column) const {
  size_t at = after_properties(byte_of(line_number, column));
  if (at == text_.size() || (text_[at] != '"' && text_[at] != '\'')) return false;
  bool closed = false;
  end_of_quotation(at, closed);
  return !closed;
}

std::optional<char> Source::open_bracket(int line_number, int column) const {
  size_t at = std::min(text_.find_first_of("[{", byte_of(line_number, column)), text_.size());
  if (at == text_.size()) return std::nullopt;
  const char bracket = text_[at];
  for (int open = 0; at < text_.size();) {
    const char c = text_[at];
    const bool at_word =
        std::string_view(" \t\n,[{:").find(text_[at - (at > 0 ? 1 : 0)]) != std::string_view::npos;
    if (c == '[' || c == '{') ++open;
    if ((c == ']' || c == '}') && --open == 0) return std::nullopt;
    bool closed = true;
    if ((c == '"' || c == '\'') && at_word) {
      at = end_of_quotation(at, closed);
    } else if (c == '#' && at_word) {
      at = std::min(text_.find('\n', at), text_.size());
    } else {
      ++at;
    }
  }
  return bracket;
}

void check_text(std::string_view text, const Source& source) {
  int open = 0;
  for (size_t at = 0; at < text.size();) {
    auto c = static_cast<unsigned char>(text[at]);
    if (c == '[' || c == '{') {
      if (++open > kOpenBracketsMax) throw Refusal{source.place_of_byte(at), "too many brackets are open"};
    } else if (c == ']' || c == '}') {
      open = std::max(0, open - 1);
    }
    if (c >= 0x20 && c < 0x7F) {
      ++at;
      continue;
    }
    Utf8Char found = utf8_at(text, at);
    if (found.bytes == 0) throw Refusal{source.place_of_byte(at), "the text is not valid UTF-8"};
    if (!is_printable(found.code)) {
      throw Refusal{source.place_of_byte(at),
                    fmt::format("the character U+{:04X} is not allowed", static_cast<uint32_t>(found.code))};
    }
    at += found.bytes;
  }
}

std::string join_surrogate_escapes(std::string_view text) {
  auto unit_at = [&](size_t at) -> uint32_t {
    if (text.size() - at < 6 || text[at] != '\\' || text[at + 1] != 'u') return 0;
    uint32_t n = 0;
    for (char c : text.substr(at + 2, 4)) {
      if (!std::isxdigit(static_cast<unsigned char>(c))) return 0;
      n = n * 16 + static_cast<uint32_t>(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    return n;
  };
  std::string out;
  for (size_t at = 0; at < text.size();) {
    if (text[at] != '\\') {
      size_t next = std::min(text.find('\\', at), text.size());
      out.append(text.substr(at, next - at));
      at = next;
      continue;
    }
    uint32_t high = unit_at(at);
    uint32_t low = high >= 0xD800 && high < 0xDC00 ? unit_at(std::min(at + 6, text.size())) : 0;
    if (low >= 0xDC00 && low < 0xE000) {
      out += fmt::format("\\U{:08X}", 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00));
      at += 12;
    } else {
      out.append(text.substr(at, 2));
      at += 2;
    }
  }
  return out;
}

bool looks_like_json(std::string_view text) {
  size_t first = text.find_first_not_of(" \t\r\n");
  return first != text.npos && (text[first] == '{' || text[first] == '[');
}

}  // namespace trainyard::kube
