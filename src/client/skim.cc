#include "client/skim.h"

#include <cstring>
#include <string>

namespace trainyard::client {
namespace {

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

}  // namespace

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
  return kNoEnd;
}

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

}  // namespace trainyard::client
