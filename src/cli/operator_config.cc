#include "cli/operator_config.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/nearest_word.h"
#include "kube/access.h"
#include "kube/yaml.h"

namespace trainyard::cli {
namespace {

// A scalar as a flag would be given it; nullopt for what no flag takes.
std::optional<std::string> as_flag_value(const json::value& value) {
  if (value.is_string()) return std::string(kube::view(value.get_string()));
  if (value.is_bool()) return std::string(value.get_bool() ? "true" : "false");
  if (std::optional<int64_t> number = kube::as_whole(value)) return std::to_string(*number);
  return std::nullopt;
}

std::optional<std::vector<std::string>> as_flag_values(const json::value& value) {
  std::vector<std::string> values;
  const json::array* list = value.if_array();
  for (size_t i = 0; i < (list == nullptr ? 1 : list->size()); ++i) {
    std::optional<std::string> one = as_flag_value(list == nullptr ? value : (*list)[i]);
    if (!one) return std::nullopt;
    values.push_back(std::move(*one));
  }
  return values;
}

}  // namespace

Result<std::vector<ConfigEntry>> read_operator_config(std::string_view path, std::string_view text,
                                                      const std::vector<std::string_view>& known) {
  auto wrong = [&](int line, const std::string& what) {
    return Error{ErrorKind::kInvalid, fmt::format("{}:{}: {}", path, line, what)};
  };
  Result<std::vector<kube::Document>> documents = kube::parse_yaml(text);
  if (!documents.ok())
    return Error{ErrorKind::kInvalid, fmt::format("{}: {}", path, documents.error().message)};
  std::vector<ConfigEntry> entries;
  if (documents->empty()) return entries;
  if (documents->size() > 1) return wrong((*documents)[1].line, "a second document");
  const kube::Document& document = documents->front();
  const json::object* map = document.body.if_object();
  if (map == nullptr) return wrong(document.line, "not a map of names to values");
  for (const json::key_value_pair& member : *map) {
    std::string name(kube::view(member.key()));
    int line = document.lines.nearest(fmt::format("[{}]", name)).line;
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      std::string near = nearest_word(name, known);
      return wrong(line, fmt::format("unknown name '{}'{}", name,
                                     near.empty() ? "" : fmt::format("; did you mean '{}'?", near)));
    }
    std::optional<std::vector<std::string>> values = as_flag_values(member.value());
    if (!values)
      return wrong(line, fmt::format("'{}' takes a text, a number, true or false, or a list", name));
    entries.push_back({std::move(name), std::move(*values), line});
  }
  return entries;
}

}  // namespace trainyard::cli
