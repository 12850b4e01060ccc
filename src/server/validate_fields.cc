#include "server/validate_fields.h"

#include <fmt/format.h>

#include <set>

#include "kube/access.h"
#include "kube/json_text.h"
#include "kube/meta.h"
#include "kube/structural.h"
#include "server/field_path.h"
#include "server/misfits.h"
#include "server/schema.h"
#include "server/validate_values.h"

namespace trainyard::server {
namespace {

using kube::is_set;
using kube::object_at;

constexpr std::string_view kEmbedded = "x-kubernetes-embedded-resource";
constexpr int kFieldDepthMax = 200;

bool names_object(std::string_view key) { return key == "apiVersion" || key == "kind" || key == "metadata"; }

// Whether an object of that schema may have members that it does not describe.
bool is_open(const json::object& schema) {
  const json::value* additional = schema.if_contains("additionalProperties");
  return is_set(schema, kPreserve) || is_set(schema, kube::kIntOrString) ||
         (additional != nullptr && additional->is_bool() && additional->get_bool());
}

std::string unknown_field(std::string_view path) { return fmt::format("unknown field \"{}\"", path); }

// Walks a document along the schema of its CRD and notes what has no place in it.
class Finder {
 public:
  std::vector<std::string> take() { return std::move(problems_); }

  void check(const json::object& object, const json::object& schema) {
    check_members(object, schema, "", true, 0);
  }

 private:
  // `whole` where the value is an object with apiVersion and kind.
  void check_value(const json::value& value, const json::object& schema, const std::string& path, bool whole,
                   int depth) {
    if (depth > kFieldDepthMax) return;
    if (const json::array* list = value.if_array()) {
      const json::object* items = object_at(schema, {"items"});
      for (size_t i = 0; items != nullptr && i < list->size(); ++i) {
        check_value((*list)[i], *items, fmt::format("{}[{}]", path, i), is_set(*items, kEmbedded), depth + 1);
      }
      return;
    }
    if (const json::object* object = value.if_object()) check_members(*object, schema, path, whole, depth);
  }

  void note(const std::string& path) {
    if (problems_.size() < kFieldProblemsMax) problems_.push_back(unknown_field(path));
  }

  void check_members(const json::object& object, const json::object& schema, const std::string& path,
                     bool whole, int depth) {
    const bool open = is_open(schema);
    for (const json::key_value_pair& member : object) {
      std::string_view key = kube::view(member.key());
      std::string member_path = path_below(path, key);
      if (whole && names_object(key)) {
        const SchemaType* meta = schema_named(kObjectMeta);
        if (key == "metadata" && member.value().is_object() && meta != nullptr) {
          for (const Misfit& misfit : misfits(*meta, member.value().get_object())) {
            if (misfit.is_unknown()) note(path_below(member_path, misfit.path));
          }
        }
        continue;
      }
      const json::object* known = kube::schema_of_member(schema, key);
      if (known != nullptr) {
        check_value(member.value(), *known, member_path, is_set(*known, kEmbedded), depth + 1);
      } else if (!open) {
        note(member_path);
      }
    }
  }

  std::vector<std::string> problems_;
};

// How many members are written in text that is JSON, in all its objects.
size_t members_written(std::string_view text) {
  size_t count = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ':') ++count;
    if (text[i] == '"') i = kube::end_of_string(text, i) - 1;
  }
  return count;
}

size_t members_in(const json::value& value) {
  size_t count = 0;
  if (const json::object* object = value.if_object()) {
    count = object->size();
    for (const json::key_value_pair& member : *object) count += members_in(member.value());
  } else if (const json::array* list = value.if_array()) {
    for (const json::value& each : *list) count += members_in(each);
  }
  return count;
}

// Finds keys that an object has twice, in text that is JSON.
class DuplicateFinder {
 public:
  explicit DuplicateFinder(std::string_view text) : text_(text) {}

  std::vector<std::string> run() {
    for (size_t i = 0; i < text_.size(); ++i) {
      char c = text_[i];
      if (c == '{' || c == '[') {
        open_.push_back(Level{c == '[', {}, "", 0, c == '{'});
      } else if (c == '}' || c == ']') {
        if (open_.empty()) break;
        open_.pop_back();
      } else if (c == ',' && !open_.empty()) {
        ++open_.back().index;
        open_.back().at_key = !open_.back().list;
      } else if (c == '"') {
        const size_t end = kube::end_of_string(text_, i) - 1;
        if (!open_.empty() && open_.back().at_key) take_key(text_.substr(i + 1, end - i - 1));
        i = end;
      }
    }
    return std::move(problems_);
  }

 private:
  struct Level {
    bool list = false;
    std::set<std::string, std::less<>> keys;
    std::string key;
    size_t index = 0;
    bool at_key = false;
  };

  void take_key(std::string_view key) {
    Level& level = open_.back();
    level.at_key = false;
    level.key = key;
    if (level.keys.emplace(key).second || problems_.size() >= kFieldProblemsMax) return;
    problems_.push_back(fmt::format("duplicate field \"{}\"", path()));
  }

  std::string path() const {
    std::string path;
    for (const Level& level : open_) {
      path = level.list ? fmt::format("{}[{}]", path, level.index) : path_below(path, level.key);
    }
    return path;
  }

  std::string_view text_;
  std::vector<Level> open_;
  std::vector<std::string> problems_;
};

void prune(json::value& value, const json::object& schema, bool whole, int depth);

void prune_members(json::object& object, const json::object& schema, bool whole, int depth) {
  const bool open = is_open(schema);
  json::object kept(object.storage());
  for (json::key_value_pair& member : object) {
    std::string_view key = kube::view(member.key());
    const json::object* known = kube::schema_of_member(schema, key);
    bool fixed = whole && names_object(key);
    if (!fixed && known == nullptr && !open) continue;
    json::value& value = kept[member.key()];
    value = std::move(member.value());
    if (!fixed && known != nullptr) prune(value, *known, is_set(*known, kEmbedded), depth + 1);
  }
  object = std::move(kept);
  const json::object* properties = object_at(schema, {"properties"});
  if (properties == nullptr) return;
  for (const json::key_value_pair& each : *properties) {
    const json::object* known = each.value().if_object();
    const json::value* standard = known ? known->if_contains("default") : nullptr;
    if (standard == nullptr) continue;
    json::value* present = object.if_contains(each.key());
    bool missing = present == nullptr || (present->is_null() && !is_set(*known, "nullable"));
    if (!missing) continue;
    object[each.key()] = *standard;
    prune(object[each.key()], *known, is_set(*known, kEmbedded), depth + 1);
  }
}

void prune(json::value& value, const json::object& schema, bool whole, int depth) {
  if (depth > kFieldDepthMax) return;
  if (json::object* object = value.if_object()) {
    prune_members(*object, schema, whole, depth);
    return;
  }
  const json::object* items = object_at(schema, {"items"});
  json::array* list = value.if_array();
  if (list == nullptr || items == nullptr) return;
  for (json::value& each : *list) prune(each, *items, is_set(*items, kEmbedded), depth + 1);
}

void drop_unlisted(json::object& object, const SchemaType& type, int depth);

void drop_unlisted_in(json::value& value, const SchemaField& field, int depth) {
  if (field.scalar != ScalarType::kMessage) return;
  auto drop = [&](json::value& each) {
    if (each.is_object()) drop_unlisted(each.get_object(), *field.message, depth + 1);
  };
  switch (field.many) {
    case Many::kOne:
      return drop(value);
    case Many::kList:
      for (size_t i = 0; value.is_array() && i < value.get_array().size(); ++i) drop(value.get_array()[i]);
      return;
    case Many::kMap:
      if (!value.is_object()) return;
      for (json::key_value_pair& each : value.get_object()) drop(each.value());
  }
}

void drop_unlisted(json::object& object, const SchemaType& type, int depth) {
  if (depth > kFieldDepthMax) return;
  for (auto it = object.begin(); it != object.end();) {
    std::string_view key = kube::view(it->key());
    const bool names_kind = type.is_kind() && (key == "apiVersion" || key == "kind");
    const SchemaField* field = names_kind ? nullptr : type.field(key);
    if (field == nullptr && !names_kind && !type.open) {
      it = object.stable_erase(it);
      continue;
    }
    if (field != nullptr) drop_unlisted_in(it->value(), *field, depth);
    ++it;
  }
}

std::string cannot_be_handled(const kube::Resource& kind, std::string_view why) {
  return fmt::format("{0} in version \"{1}\" cannot be handled as a {0}: {2}", kind.kind, kind.version, why);
}

Status refusal_of_types(const ApiResource& resource, std::string_view name,
                        const std::vector<Misfit>& mistyped) {
  const Misfit& first = mistyped.front();
  if (resource.built_in) {
    return bad_request(cannot_be_handled(
        resource.resource, fmt::format("json: cannot unmarshal {} into Go struct field {}.{} of type {}",
                                       found_in_go(first), first.owner->name, first.members, first.wanted)));
  }
  store::Causes causes;
  for (const Misfit& each : mistyped)
    causes.push_back(wrong_type(*each.value, each.path, each.wanted_plainly));
  return status_of(store::invalid_object(resource.resource, name, std::move(causes)), resource.resource,
                   name);
}

}  // namespace

FieldProblems field_problems(const ApiResource& resource, const json::object& body) {
  FieldProblems problems;
  const kube::Resource& kind = resource.resource;
  if (resource.schema) {
    Finder finder;
    finder.check(body, *resource.schema);
    problems.unknown = finder.take();
    return problems;
  }
  const SchemaType* type = resource.from_crd ? nullptr : schema_of(kind.group, kind.version, kind.kind);
  if (type == nullptr) return problems;
  std::vector<Misfit> mistyped;
  for (Misfit& misfit : misfits(*type, body)) {
    if (misfit.is_unknown()) {
      problems.unknown.push_back(unknown_field(misfit.path));
    } else {
      mistyped.push_back(std::move(misfit));
    }
  }
  if (!mistyped.empty()) problems.refusal = refusal_of_types(resource, kube::name_of(body), mistyped);
  return problems;
}

std::vector<std::string> duplicate_fields(std::string_view json_text) {
  return DuplicateFinder(json_text).run();
}

std::vector<std::string> duplicate_fields(std::string_view json_text, const json::value& parsed) {
  // What is there twice was written more often than it can be read.
  if (members_written(json_text) <= members_in(parsed)) return {};
  return duplicate_fields(json_text);
}

Status strict_decoding_error(const ApiResource& resource, const std::vector<std::string>& problems) {
  return bad_request(cannot_be_handled(resource.resource,
                                       fmt::format("strict decoding error: {}", fmt::join(problems, ", "))));
}

Status strict_patch_error(const Status& decoding_error) {
  const std::string why = fmt::format("Invalid value: {}", decoding_error.message);
  return {.code = 422,
          .reason = "Invalid",
          .message = fmt::format(" \"\" is invalid: patch: {}", why),
          .causes = {{"FieldValueInvalid", why, "patch"}}};
}

void drop_unknown_fields(const ApiResource& resource, json::object& body) {
  const kube::Resource& kind = resource.resource;
  if (!resource.built_in) return;
  if (const SchemaType* type = schema_of(kind.group, kind.version, kind.kind)) drop_unlisted(body, *type, 0);
}

void prune_and_default(const ApiResource& resource, json::object& body) {
  if (!resource.from_crd || !resource.schema) return;
  prune_members(body, *resource.schema, true, 0);
}

}  // namespace trainyard::server
