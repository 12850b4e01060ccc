#include "server/uri.h"

#include <fmt/format.h>

#include <charconv>

#include "kube/utf8.h"

namespace trainyard::server {
namespace {

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool has_control_character(std::string_view text) {
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) return true;
  }
  return false;
}

Error bad_target(std::string message) { return {ErrorKind::kInvalid, std::move(message)}; }

Result<std::string> decode_segment(std::string_view raw) {
  if (raw.empty()) return bad_target("the path has an empty segment");
  std::optional<std::string> segment = percent_decode(raw, false);
  if (!segment) return bad_target("the path has a broken escape");
  if (*segment == "." || *segment == "..") return bad_target("the path has a segment of dots");
  if (segment->find('/') != std::string::npos || segment->find('\\') != std::string::npos) {
    return bad_target("the path has an escaped slash");
  }
  if (has_control_character(*segment)) return bad_target("the path has a control character");
  if (!kube::is_utf8(*segment)) return bad_target("the path is not UTF-8");
  return *segment;
}

Result<Query> parse_query(std::string_view text) {
  Query query;
  while (!text.empty()) {
    size_t end = std::min(text.find('&'), text.size());
    std::string_view pair = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (pair.empty()) continue;
    size_t equals = std::min(pair.find('='), pair.size());
    std::optional<std::string> name = percent_decode(pair.substr(0, equals), true);
    std::optional<std::string> value = percent_decode(pair.substr(std::min(equals + 1, pair.size())), true);
    if (!name || !value) return bad_target("the query has a broken escape");
    if (!kube::is_utf8(*name) || !kube::is_utf8(*value)) return bad_target("the query is not UTF-8");
    query.add(std::move(*name), std::move(*value));
  }
  return query;
}

}  // namespace

bool Query::has(std::string_view name) const {
  for (const auto& [key, value] : all_) {
    if (key == name) return true;
  }
  return false;
}

std::string_view Query::get(std::string_view name) const {
  for (const auto& [key, value] : all_) {
    if (key == name) return value;
  }
  return {};
}

std::vector<std::string> Query::all(std::string_view name) const {
  std::vector<std::string> values;
  for (const auto& [key, value] : all_) {
    if (key == name) values.push_back(value);
  }
  return values;
}

Result<bool> Query::flag(std::string_view name) const {
  if (!has(name)) return false;
  std::string_view value = get(name);
  for (std::string_view yes : {"true", "1", "t", "T", "TRUE", "True"}) {
    if (value == yes) return true;
  }
  for (std::string_view no : {"", "false", "0", "f", "F", "FALSE", "False"}) {
    if (value == no) return false;
  }
  return bad_target(fmt::format("{}: true or false is wanted", name));
}

Result<std::optional<int64_t>> Query::number(std::string_view name) const {
  std::string_view text = get(name);
  if (text.empty()) return std::optional<int64_t>();
  int64_t value = 0;
  auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc() || end != text.data() + text.size()) {
    return bad_target(fmt::format("{}: a whole number is wanted", name));
  }
  return std::optional<int64_t>(value);
}

Result<Uri> parse_target(std::string_view target) {
  if (target.size() > kTargetBytesMax) return bad_target("the URL is too long");
  if (target.empty() || target.front() != '/') return bad_target("the URL must begin with a slash");
  if (has_control_character(target)) return bad_target("the URL has a control character");
  if (target.find('#') != std::string_view::npos) return bad_target("the URL has a fragment");
  size_t end = std::min(target.find('?'), target.size());
  std::string_view path = target.substr(1, end - 1);
  if (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  Uri uri;
  while (!path.empty()) {
    size_t slash = std::min(path.find('/'), path.size());
    Result<std::string> segment = decode_segment(path.substr(0, slash));
    if (!segment.ok()) return segment.error();
    uri.segments.push_back(std::move(segment).value());
    if (slash == path.size()) break;
    path.remove_prefix(slash + 1);
    if (path.empty()) return bad_target("the path has an empty segment");
  }
  Result<Query> query = parse_query(target.substr(std::min(end + 1, target.size())));
  if (!query.ok()) return query.error();
  uri.query = std::move(query).value();
  return uri;
}

std::optional<std::string> percent_decode(std::string_view text, bool plus_is_space) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus_is_space) {
      out += ' ';
    } else if (text[i] == '%') {
      if (i + 2 >= text.size()) return std::nullopt;
      int high = hex_value(text[i + 1]);
      int low = hex_value(text[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      out += static_cast<char>(high * 16 + low);
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace trainyard::server
