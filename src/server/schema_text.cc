#include "server/schema_text.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

namespace trainyard::server {
namespace {

constexpr std::string_view kMeta = "io.k8s.apimachinery.pkg.apis.meta.v1";
constexpr std::string_view kCore = "io.k8s.api.core.v1";

constexpr std::pair<std::string_view, ScalarType> kScalars[] = {
    {"string", ScalarType::kString},
    {"int32", ScalarType::kInt32},
    {"int64", ScalarType::kInt64},
    {"bool", ScalarType::kBool},
    {"double", ScalarType::kDouble},
    {"bytes", ScalarType::kBytes},
    {"time", ScalarType::kTime},
    {"microtime", ScalarType::kMicroTime},
    {"duration", ScalarType::kDuration},
    {"quantity", ScalarType::kQuantity},
    {"intorstring", ScalarType::kIntOrString},
    {"stringlist", ScalarType::kStringList},
    {"raw", ScalarType::kRaw},
};

std::optional<ScalarType> scalar_named(std::string_view name) {
  for (const auto& [word, scalar] : kScalars) {
    if (word == name) return scalar;
  }
  return std::nullopt;
}

bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

std::string_view take_word(std::string_view& text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(word.size());
  return word;
}

class Parser {
 public:
  Result<Schemas> parse(std::span<const std::string_view> texts) {
    for (std::string_view text : texts) {
      while (!text.empty()) {
        std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        if (!line.empty() && !read(line)) {
          return Error{ErrorKind::kInvalid, fmt::format("schema line \"{}\"", line)};
        }
      }
    }
    for (const Pending& each : pending_) {
      const SchemaType* found = resolve(each.type->package, each.wanted);
      if (found == nullptr) {
        return Error{ErrorKind::kInvalid, fmt::format("{} has a field of type {}, which is not there",
                                                      each.type->full_name(), each.wanted)};
      }
      each.type->fields[each.field].message = found;
    }
    return std::move(schemas_);
  }

 private:
  // A field whose type was not looked up yet.
  struct Pending {
    SchemaType* type;
    size_t field;
    std::string_view wanted;
  };

  bool read(std::string_view line) {
    if (take_prefix(line, "package ")) {
      package_ = line;
      return true;
    }
    size_t bar = line.find(" |");
    std::string_view description = bar == std::string_view::npos ? "" : line.substr(bar + 2);
    take_prefix(description, " ");
    line = line.substr(0, bar);
    if (take_prefix(line, "type ")) return read_type(line, description);
    return type_ != nullptr && read_field(line, description);
  }

  bool read_type(std::string_view line, std::string_view description) {
    SchemaType type;
    type.package = package_;
    type.name = take_word(line);
    type.description = description;
    for (std::string_view word = take_word(line); !word.empty(); word = take_word(line)) {
      if (word == "open") {
        type.open = true;
        continue;
      }
      std::string_view version = take_word(line);
      size_t slash = version.find('/');
      if (word != "kind" || slash == std::string_view::npos) return false;
      type.group = version.substr(0, slash);
      type.version = version.substr(slash + 1);
    }
    auto [at, added] = schemas_.types.emplace(type.full_name(), std::move(type));
    type_ = &at->second;
    return added;
  }

  bool read_field(std::string_view line, std::string_view description) {
    SchemaField field;
    field.description = description;
    std::string_view number = take_word(line);
    if (number != "-") {
      auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), field.number);
      if (error != std::errc() || end != number.data() + number.size()) return false;
    }
    field.name = take_word(line);
    if (field.name == "<") {
      field.inlined = true;
      field.name = "";
    }
    if (field.name.ends_with('!')) {
      field.required = true;
      field.name.remove_suffix(1);
    }
    std::string_view type = take_word(line);
    for (std::string_view word = take_word(line); !word.empty(); word = take_word(line)) {
      if (word == "retainkeys") {
        field.retain_keys = true;
      } else if (word == "~") {
        field.merge_set = true;
      } else if (take_prefix(word, "~")) {
        field.merge_key = word;
      } else {
        return false;
      }
    }
    return add_field(field, type);
  }

  bool add_field(SchemaField field, std::string_view type) {
    if (take_prefix(type, "[]")) {
      field.many = Many::kList;
    } else if (take_prefix(type, "{}")) {
      field.many = Many::kMap;
    } else if (take_prefix(type, "*")) {
      field.present = true;
    }
    if (type.empty()) return false;
    std::optional<ScalarType> scalar = scalar_named(type);
    field.scalar = scalar.value_or(ScalarType::kMessage);
    if (!scalar) pending_.push_back({type_, type_->fields.size(), type});
    type_->fields.push_back(field);
    return true;
  }

  const SchemaType* resolve(std::string_view package, std::string_view name) const {
    for (std::string_view in : {package, kMeta, kCore}) {
      auto found = schemas_.types.find(fmt::format("{}.{}", in, name));
      if (found != schemas_.types.end()) return &found->second;
    }
    auto found = schemas_.types.find(name);
    return found == schemas_.types.end() ? nullptr : &found->second;
  }

  Schemas schemas_;
  std::vector<Pending> pending_;
  std::string_view package_;
  SchemaType* type_ = nullptr;
};

}  // namespace

Result<Schemas> parse_schemas(std::span<const std::string_view> texts) { return Parser().parse(texts); }

}  // namespace trainyard::server
