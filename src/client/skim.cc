#include "client/skim.h"

#include <cstring>
#include <string>

#include "kube/json_text.h"

namespace trainyard::client {
namespace {

using kube::end_of_string;

constexpr size_t kNoEnd = std::string_view::npos;
constexpr std::string_view kManagers = R"("managedFields":[)";
constexpr size_t kPathMax = 2;

// How deep a character leads, and for what lies between: nothing to look at.
enum Mark : signed char { kPlain = 0, kOpens = 1, kCloses = -1, kQuotes = 2 };

constexpr std::array<signed char, 256> kMarks = [] {
  std::array<signed char, 256> marks{};
  marks['{'] = marks['['] = kOpens;
  marks['}'] = marks[']'] = kCloses;
  marks['"'] = kQuotes;
  return marks;
}();

// Behind the object or array that begins at `at`; npos when it does not end. Lists of thousands of pods go
// through here.
size_t end_of_value(std::string_view text, size_t at) {
  int depth = 0;
  while (at < text.size()) {
    const signed char mark = kMarks[static_cast<unsigned char>(text[at])];
    if (mark == kQuotes) {
      at = end_of_string(text, at);
      if (at == kNoEnd) return kNoEnd;
      continue;
    }
    ++at;
    depth += mark;
    if (mark == kCloses && depth == 0) return at;
  }
  return kNoEnd;
}

// Whether what begins at `place` is a member of the metadata of the object at the path.
bool is_in_metadata(std::string_view text, size_t place, std::span<const std::string_view> path) {
  std::array<std::string_view, kPathMax + 2> names;  // of the members that we are in, by depth
  size_t depth = 0;
  for (size_t at = 0; at < place;) {
    const char c = text[at];
    if (c == '"') {
      size_t end = end_of_string(text, at);
      if (end == kNoEnd) return false;
      if (depth < names.size() && text[end] == ':') names[depth] = text.substr(at + 1, end - at - 2);
      at = end;
      continue;
    }
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    ++at;
  }
  return depth == path.size() + 2 && std::equal(path.begin(), path.end(), names.begin() + 1) &&
         names[path.size() + 1] == "metadata";
}

// Behind whatever value begins at `at`; npos when it does not end.
size_t end_of_any(std::string_view text, size_t at) {
  const char first = at < text.size() ? text[at] : '\0';
  if (first == '"') return end_of_string(text, at);
  if (first == '{' || first == '[') return end_of_value(text, at);
  return text.find_first_of(",]}", at);
}

size_t put_value(std::string_view text, size_t at, std::span<const Wanted> parts, std::string& out);

// Appends what is wanted of the object that begins at `at`. Behind it; npos when it is not written as
// expected.
size_t put_object(std::string_view text, size_t at, std::span<const Wanted> wanted, std::string& out) {
  out.push_back('{');
  const size_t empty = out.size();
  do {
    const size_t name_begin = at + 1;
    if (!text.substr(name_begin).starts_with('"')) return kNoEnd;
    const size_t name_end = end_of_string(text, name_begin);
    if (name_end == kNoEnd || !text.substr(name_end).starts_with(':')) return kNoEnd;
    const std::string_view name = text.substr(name_begin + 1, name_end - name_begin - 2);
    auto found = std::ranges::find(wanted, name, &Wanted::name);
    if (found == wanted.end()) {
      if (name.find('\\') != std::string_view::npos) return kNoEnd;  // it may be wanted, in other words
      at = end_of_any(text, name_end + 1);
    } else {
      if (out.size() > empty) out.push_back(',');
      out.append(text.substr(name_begin, name_end + 1 - name_begin));
      at = put_value(text, name_end + 1, found->parts, out);
    }
    if (at == kNoEnd) return kNoEnd;
  } while (text.substr(at).starts_with(','));
  if (!text.substr(at).starts_with('}')) return kNoEnd;
  out.push_back('}');
  return at + 1;
}

// The same of a list's objects.
size_t put_list(std::string_view text, size_t at, std::span<const Wanted> wanted, std::string& out) {
  do {
    out.push_back(text[at]);  // the bracket, or the comma
    ++at;
    const bool is_object = text.substr(at).starts_with('{');
    at = put_value(text, at, is_object ? wanted : std::span<const Wanted>(), out);
    if (at == kNoEnd) return kNoEnd;
  } while (text.substr(at).starts_with(','));
  if (!text.substr(at).starts_with(']')) return kNoEnd;
  out.push_back(']');
  return at + 1;
}

size_t put_value(std::string_view text, size_t at, std::span<const Wanted> parts, std::string& out) {
  const std::string_view rest = text.substr(at);
  const bool has_parts = !parts.empty() && !rest.starts_with("{}") && !rest.starts_with("[]");
  if (has_parts && rest.starts_with('{')) return put_object(text, at, parts, out);
  if (has_parts && rest.starts_with('[')) return put_list(text, at, parts, out);
  const size_t end = end_of_any(text, at);
  if (end != kNoEnd) out.append(text.substr(at, end - at));
  return end;
}

}  // namespace

std::optional<std::string> skim_list(std::string_view text,
                                     const std::function<void(std::string_view item)>& item) {
  constexpr std::string_view kItems = R"("items":[)";
  if (!text.starts_with('{')) return std::nullopt;
  size_t at = 1;
  while (!text.substr(at).starts_with(kItems)) {
    if (!text.substr(at).starts_with('"')) return std::nullopt;
    at = end_of_string(text, at);
    if (at == kNoEnd || !text.substr(at).starts_with(':')) return std::nullopt;
    const char first = ++at < text.size() ? text[at] : '\0';
    if (first != '"' && first != '{') return std::nullopt;
    at = first == '"' ? end_of_string(text, at) : end_of_value(text, at);
    if (at == kNoEnd || !text.substr(at).starts_with(',')) return std::nullopt;
    ++at;
  }
  size_t begin = at + kItems.size();
  at = begin;
  while (at < text.size() && text[at] == '{') {
    size_t end = end_of_value(text, at);
    if (end == kNoEnd) return std::nullopt;
    item(text.substr(at, end - at));
    at = end;
    if (!text.substr(at).starts_with(",{")) break;
    ++at;
  }
  if (!text.substr(at).starts_with(']')) return std::nullopt;
  std::string rest;
  return rest.append(text.substr(0, begin)).append(text.substr(at));
}

std::string_view without_managers(std::string_view text, std::span<const std::string_view> path,
                                  std::string& room) {
  // Within a string its quotation marks would be escaped: this is the name of a member, wherever it stands.
  const void* found = ::memmem(text.data(), text.size(), kManagers.data(), kManagers.size());
  if (found == nullptr || path.size() > kPathMax) return text;
  const auto begin = static_cast<size_t>(static_cast<const char*>(found) - text.data());
  if (begin == 0 || !is_in_metadata(text, begin, path)) return text;
  const size_t end = end_of_value(text, begin + kManagers.size() - 1);
  if (end == kNoEnd) return text;
  const bool is_last = text.substr(end).starts_with('}');
  if (is_last && text[begin - 1] != ',' && text[begin - 1] != '{') return text;
  if (!is_last && !text.substr(end).starts_with(',')) return text;
  const bool takes_comma_before = is_last && text[begin - 1] == ',';
  room.clear();
  room.reserve(text.size() - (end - begin));
  room.append(text.substr(0, takes_comma_before ? begin - 1 : begin));
  room.append(text.substr(is_last ? end : end + 1));
  return room;
}

std::string_view with_only(std::string_view text, std::span<const Wanted> wanted, std::string& room) {
  room.clear();
  room.reserve(text.size());
  const bool is_whole = text.starts_with('{') && put_value(text, 0, wanted, room) == text.size();
  return is_whole ? room : text;
}

}  // namespace trainyard::client
