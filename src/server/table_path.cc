#include "server/table_path.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <variant>

#include "base/match.h"
#include "kube/access.h"

namespace trainyard::server {
namespace {

struct KeyStep {
  std::string name;
};
struct All {};
// [from:to], with negative numbers counting from the end; [3] is a slice of one.
struct Slice {
  std::optional<int64_t> from;
  std::optional<int64_t> to;
  bool one = false;
};
struct Filter {
  std::string path;  // below "@"; "" for the element itself
  std::string value;
  bool equal = true;
};
using Step = std::variant<KeyStep, All, Slice, Filter>;

using Values = std::vector<const json::value*>;

std::string_view unquoted(std::string_view text) {
  bool quoted =
      text.size() >= 2 && (text.front() == '\'' || text.front() == '"') && text.back() == text.front();
  return quoted ? text.substr(1, text.size() - 2) : text;
}

std::string_view without_spaces(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

std::optional<int64_t> number_of(std::string_view text) {
  int64_t number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<Step> filter_of(std::string_view text) {
  // ?(@.type=="Ready")
  if (!text.starts_with("?(") || !text.ends_with(')')) return std::nullopt;
  text = without_spaces(text.substr(2, text.size() - 3));
  size_t at = text.find("==");
  bool equal = at != std::string_view::npos;
  if (!equal) at = text.find("!=");
  if (at == std::string_view::npos || !text.starts_with('@')) return std::nullopt;
  return Filter{std::string(without_spaces(text.substr(1, at - 1))),
                std::string(unquoted(without_spaces(text.substr(at + 2)))), equal};
}

std::optional<Step> bracket_of(std::string_view text) {
  text = without_spaces(text);
  if (text.empty()) return std::nullopt;
  if (text == "*") return All{};
  if (text.front() == '?') return filter_of(text);
  if (text.front() == '\'' || text.front() == '"') return KeyStep{std::string(unquoted(text))};
  size_t colon = text.find(':');
  if (colon == std::string_view::npos) {
    std::optional<int64_t> index = number_of(text);
    if (!index) return std::nullopt;
    return Slice{index, std::nullopt, true};
  }
  std::string_view from = text.substr(0, colon);
  std::string_view to = text.substr(colon + 1);
  Slice slice{number_of(from), number_of(to), false};
  if ((!from.empty() && !slice.from) || (!to.empty() && !slice.to)) return std::nullopt;
  return slice;
}

// The key that begins here, up to a dot or bracket; a backslash keeps what follows.
std::string take_key(std::string_view& path) {
  std::string key;
  while (!path.empty() && path.front() != '.' && path.front() != '[') {
    if (path.front() == '\\' && path.size() > 1) path.remove_prefix(1);
    key += path.front();
    path.remove_prefix(1);
  }
  return key;
}

// The end of a bracket that is open at 0, looking past quotes.
size_t closing(std::string_view path) {
  char quote = 0;
  for (size_t i = 1; i < path.size(); ++i) {
    if (quote != 0) {
      if (path[i] == quote) quote = 0;
    } else if (path[i] == '\'' || path[i] == '"') {
      quote = path[i];
    } else if (path[i] == ']') {
      return i;
    }
  }
  return std::string_view::npos;
}

std::optional<std::vector<Step>> steps_of(std::string_view path) {
  if (path.starts_with('{') && path.ends_with('}')) path = path.substr(1, path.size() - 2);
  if (path.starts_with('$')) path.remove_prefix(1);
  std::vector<Step> steps;
  while (!path.empty()) {
    if (path.front() == '[') {
      size_t end = closing(path);
      if (end == std::string_view::npos) return std::nullopt;
      std::optional<Step> step = bracket_of(path.substr(1, end - 1));
      if (!step) return std::nullopt;
      steps.push_back(std::move(*step));
      path.remove_prefix(end + 1);
      continue;
    }
    if (path.front() == '.') path.remove_prefix(1);
    std::string key = take_key(path);
    if (key == "*") {
      steps.push_back(All{});
    } else if (!key.empty()) {
      steps.push_back(KeyStep{std::move(key)});
    } else if (!path.starts_with('[')) {
      return std::nullopt;
    }
  }
  return steps;
}

std::string text_of(const json::value& value) {
  return value.is_string() ? std::string(kube::view(value.get_string())) : json::serialize(value);
}

Values slice_of(const json::array& list, const Slice& slice) {
  int64_t size = static_cast<int64_t>(list.size());
  auto place = [size](int64_t n) { return n < 0 ? n + size : n; };
  int64_t from = place(slice.from.value_or(0));
  int64_t to = slice.one ? from + 1 : place(slice.to.value_or(size));
  if (slice.one && (from < 0 || from >= size)) return {};
  from = std::max<int64_t>(from, 0);
  to = std::min(to, size);
  Values out;
  for (int64_t i = from; i < to; ++i) out.push_back(&list[static_cast<size_t>(i)]);
  return out;
}

bool keeps(const Filter& filter, const json::value& element) {
  for (const json::value* value : find_path(element, filter.path)) {
    if ((text_of(*value) == filter.value) == filter.equal) return true;
  }
  return false;
}

void follow(const Step& step, const json::value& from, Values& out) {
  std::visit(Match{[&](const KeyStep& key) {
                     const json::object* object = from.if_object();
                     const json::value* value = object ? object->if_contains(key.name) : nullptr;
                     if (value != nullptr) out.push_back(value);
                   },
                   [&](const All&) {
                     if (const json::array* list = from.if_array()) {
                       for (const json::value& each : *list) out.push_back(&each);
                     } else if (const json::object* object = from.if_object()) {
                       for (const json::key_value_pair& each : *object) out.push_back(&each.value());
                     }
                   },
                   [&](const Slice& slice) {
                     const json::array* list = from.if_array();
                     if (list == nullptr) return;
                     for (const json::value* each : slice_of(*list, slice)) out.push_back(each);
                   },
                   [&](const Filter& filter) {
                     const json::array* list = from.if_array();
                     if (list == nullptr) return;
                     for (const json::value& each : *list) {
                       if (keeps(filter, each)) out.push_back(&each);
                     }
                   }},
             step);
}

Values follow_all(const std::vector<Step>& steps, Values values) {
  for (const Step& step : steps) {
    Values next;
    for (const json::value* value : values) follow(step, *value, next);
    values = std::move(next);
  }
  return values;
}

}  // namespace

Values find_path(const json::value& from, std::string_view path) {
  std::optional<std::vector<Step>> steps = steps_of(path);
  return steps ? follow_all(*steps, {&from}) : Values();
}

Values find_path(const json::object& from, std::string_view path) {
  std::optional<std::vector<Step>> steps = steps_of(path);
  if (!steps || steps->empty()) return {};
  const KeyStep* key = std::get_if<KeyStep>(&steps->front());
  const json::value* first = key ? from.if_contains(key->name) : nullptr;
  if (first == nullptr) return {};
  steps->erase(steps->begin());
  return follow_all(*steps, {first});
}

std::vector<std::string> keys_of_path(std::string_view path) {
  std::vector<std::string> keys;
  std::optional<std::vector<Step>> steps = steps_of(path);
  if (!steps) return keys;
  for (const Step& step : *steps) {
    const KeyStep* key = std::get_if<KeyStep>(&step);
    if (key == nullptr) return {};
    keys.push_back(key->name);
  }
  return keys;
}

}  // namespace trainyard::server
