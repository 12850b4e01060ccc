#include <cmath>
#include <cstring>

#include "kube/access.h"
#include "kube/utf8.h"
#include "kube/yaml.h"
#include "kube/yaml_scalar.h"

namespace trainyard::kube {
namespace {

// YAML takes no longer key than 1024 characters on one line without the "? " mark.
constexpr size_t kSimpleKeyMax = 900;

// Whether every character may stand unescaped on one line.
bool is_one_line(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    Utf8Char c = utf8_at(text, at);
    if (c.bytes == 0 || !is_printable(c.code) || c.code == '\n' || c.code == '\r' || c.code == '\t' ||
        c.code == 0x85 || c.code == 0x2028 || c.code == 0x2029 || c.code == 0xFEFF) {
      return false;
    }
    at += c.bytes;
  }
  return true;
}

// Text that some reader of YAML 1.1 takes for a number, a date or a time: 12:30:45, 2001-01-01, 1_000.
bool reads_as_number_or_date(std::string_view text) {
  size_t first = text.find_first_not_of("+-.");
  if (first == text.npos || text[first] < '0' || text[first] > '9') return false;
  return text.find_first_not_of("0123456789+-.:_eETtZz ") == text.npos ||
         (text[first] == '0' && text.find_first_not_of("0123456789abcdefABCDEFxXoO_", first) == text.npos);
}

bool is_plain(std::string_view text) {
  if (text.empty() || !is_one_line(text)) return false;
  if (resolve_plain(text).kind != ScalarKind::kText || reads_as_number_or_date(text)) return false;
  if (text == "<<" || text == "=" || text.starts_with("---") || text.starts_with("...")) return false;
  auto first = static_cast<unsigned char>(text[0]);
  bool starts_well = std::isalnum(first) || first >= 0x80 || std::strchr("_./($+^;<", first) != nullptr ||
                     (first == '-' && text.size() > 1 && text[1] != ' ');
  if (!starts_well || text.back() == ' ' || text.back() == ':') return false;
  return text.find(": ") == text.npos && text.find(" #") == text.npos;
}

std::string double_quoted(std::string_view text) {
  std::string out = "\"";
  for (size_t at = 0; at < text.size();) {
    Utf8Char c = utf8_at(text, at);
    size_t bytes = std::max<size_t>(c.bytes, 1);
    std::string_view raw = text.substr(at, bytes);
    at += bytes;
    if (c.bytes == 0) {
      out += "\xEF\xBF\xBD";  // not text: the replacement character stands for it
    } else if (raw == "\"" || raw == "\\") {
      out += '\\';
      out += raw;
    } else if (raw == "\n") {
      out += "\\n";
    } else if (raw == "\t") {
      out += "\\t";
    } else if (raw == "\r") {
      out += "\\r";
    } else if (is_one_line(raw)) {
      out += raw;
    } else {
      out += fmt::format("\\u{:04X}", static_cast<uint32_t>(c.code));
    }
  }
  return out + '"';
}

std::string single_quoted(std::string_view text) {
  std::string out = "'";
  for (char c : text) {
    if (c == '\'') out += '\'';
    out += c;
  }
  return out + '\'';
}

std::string on_one_line(std::string_view text) {
  if (is_plain(text)) return std::string(text);
  bool noisy = text.find_first_of("\"\\") != text.npos;
  return noisy && is_one_line(text) ? single_quoted(text) : double_quoted(text);
}

// Whether a literal block gives the text back: it has several lines, nothing to escape, and
// its first line shows the indentation.
bool is_literal(std::string_view text) {
  if (text.find('\n') == text.npos || text[0] == '\n' || text[0] == ' ' || text[0] == '\t') return false;
  size_t from = 0;
  while (from < text.size()) {
    size_t end = std::min(text.find('\n', from), text.size());
    std::string line(text.substr(from, end - from));
    std::replace(line.begin(), line.end(), '\t', ' ');
    if (!is_one_line(line)) return false;
    from = end + 1;
  }
  return true;
}

class Writer {
 public:
  std::string take() { return std::move(out_); }

  // A document: what stands at the start of a line.
  void document(const json::value& value) {
    if (const json::object* object = value.if_object(); object != nullptr && !object->empty()) {
      members(*object, 0, false);
    } else if (const json::array* array = value.if_array(); array != nullptr && !array->empty()) {
      elements(*array, 0, false);
    } else {
      scalar(value, 0);
    }
  }

 private:
  void indent(size_t by) { out_.append(by, ' '); }

  // `inline_first`: the first line is already begun, behind "- ".
  void members(const json::object& object, size_t by, bool inline_first) {
    for (const json::key_value_pair& member : object) {
      if (!inline_first) indent(by);
      inline_first = false;
      std::string_view name(member.key().data(), member.key().size());
      std::string key = on_one_line(name);
      if (key.size() > kSimpleKeyMax) {
        out_ += "? " + key + "\n";
        indent(by);
        out_ += ":";
      } else {
        out_ += key + ":";
      }
      member_value(member.value(), by);
    }
  }

  void member_value(const json::value& value, size_t by) {
    if (const json::object* object = value.if_object(); object != nullptr && !object->empty()) {
      out_ += '\n';
      members(*object, by + 2, false);
    } else if (const json::array* array = value.if_array(); array != nullptr && !array->empty()) {
      out_ += '\n';
      elements(*array, by, false);
    } else {
      out_ += ' ';
      scalar(value, by + 2);
    }
  }

  void elements(const json::array& array, size_t by, bool inline_first) {
    for (const json::value& element : array) {
      if (!inline_first) indent(by);
      inline_first = false;
      out_ += "- ";
      if (const json::object* object = element.if_object(); object != nullptr && !object->empty()) {
        members(*object, by + 2, true);
      } else if (const json::array* list = element.if_array(); list != nullptr && !list->empty()) {
        elements(*list, by + 2, true);
      } else {
        scalar(element, by + 2);
      }
    }
  }

  // A value without parts and the end of its line.
  void scalar(const json::value& value, size_t by) {
    switch (value.kind()) {
      case json::kind::null:
        out_ += "null";
        break;
      case json::kind::bool_:
        out_ += value.get_bool() ? "true" : "false";
        break;
      case json::kind::int64:
        out_ += fmt::format("{}", value.get_int64());
        break;
      case json::kind::uint64:
        out_ += fmt::format("{}", value.get_uint64());
        break;
      case json::kind::double_:
        out_ += std::isfinite(value.get_double()) ? fmt::format("{}", value.get_double()) : "null";
        break;
      case json::kind::object:
        out_ += "{}";
        break;
      case json::kind::array:
        out_ += "[]";
        break;
      case json::kind::string:
        text(view(value.get_string()), by);
        return;
    }
    out_ += '\n';
  }

  void text(std::string_view value, size_t by) {
    if (!is_literal(value)) {
      out_ += on_one_line(value) + "\n";
      return;
    }
    bool ends = value.back() == '\n';
    bool keeps = ends && value.size() > 1 && value[value.size() - 2] == '\n';
    out_ += keeps ? "|+\n" : ends ? "|\n" : "|-\n";
    if (by == 0) by = 2;
    for (size_t from = 0; from < value.size();) {
      size_t end = std::min(value.find('\n', from), value.size());
      if (end > from) indent(by);
      out_ += value.substr(from, end - from);
      out_ += '\n';
      from = end + 1;
    }
  }

  std::string out_;
};

}  // namespace

std::string to_yaml(const json::value& value) {
  Writer writer;
  writer.document(value);
  return writer.take();
}

std::string to_yaml_documents(const std::vector<json::value>& documents) {
  std::string out;
  for (const json::value& document : documents) {
    if (!out.empty()) out += "---\n";
    out += to_yaml(document);
  }
  return out;
}

}  // namespace trainyard::kube
