#include "kube/managed_fields.h"

#include "kube/access.h"

namespace trainyard::kube {

namespace {

std::optional<Error> read_into(const json::object& fields, FieldSet& set, int depth) {
  if (depth > kFieldDepthMax) return Error{ErrorKind::kInvalid, "fieldsV1: nested too deep"};
  if (fields.empty()) {
    set.owned = true;
    return std::nullopt;
  }
  for (const json::key_value_pair& member : fields) {
    std::string_view key = view(member.key());
    if (key == ".") {
      set.owned = true;
      continue;
    }
    bool is_element = key.size() >= 2 && key[1] == ':' && std::string_view("fkvi").find(key[0]) != key.npos;
    if (!is_element || !member.value().is_object()) {
      return Error{ErrorKind::kInvalid, fmt::format("fieldsV1: \"{}\" names no field", shown(key))};
    }
    std::optional<Error> error =
        read_into(member.value().get_object(), set.children[std::string(key)], depth + 1);
    if (error) return error;
  }
  return std::nullopt;
}

// "f:name" as ".name", "k:{"a":1}" as "[a=1]", "v:"x"" as "[="x"]".
std::string shown_element(std::string_view element) {
  std::string_view text = element.substr(2);
  if (element[0] == 'f') return fmt::format(".{}", text);
  if (element[0] != 'k') return fmt::format("[={}]", text);
  boost::system::error_code error;
  json::value keys = json::parse(jview(text), error);
  if (error || !keys.is_object()) return fmt::format("[{}]", text);
  std::string out;
  for (const json::key_value_pair& key : keys.get_object()) {
    out += fmt::format("{}{}={}", out.empty() ? "" : ",", view(key.key()), json::serialize(key.value()));
  }
  return fmt::format("[{}]", out);
}

void collect_paths(const FieldSet& set, const std::string& path, std::vector<std::string>& out) {
  if (set.owned) out.push_back(path);
  for (const auto& [element, child] : set.children) collect_paths(child, path + shown_element(element), out);
}

}  // namespace

Result<FieldSet> read_fields_v1(const json::object& fields) {
  FieldSet set;
  if (fields.empty()) return set;
  if (std::optional<Error> error = read_into(fields, set, 0)) return *error;
  return set;
}

json::object write_fields_v1(const FieldSet& set) {
  json::object fields;
  if (set.owned && !set.children.empty()) fields["."] = json::object{};
  for (const auto& [element, child] : set.children) fields[element] = write_fields_v1(child);
  return fields;
}

FieldSet unite(const FieldSet& a, const FieldSet& b) {
  FieldSet all = a;
  all.owned = a.owned || b.owned;
  for (const auto& [element, child] : b.children) {
    auto [slot, is_new] = all.children.try_emplace(element, child);
    if (!is_new) slot->second = unite(slot->second, child);
  }
  return all;
}

FieldSet subtract(const FieldSet& a, const FieldSet& b) {
  FieldSet rest;
  rest.owned = a.owned && !b.owned;
  for (const auto& [element, child] : a.children) {
    auto other = b.children.find(element);
    FieldSet left = other == b.children.end() ? child : subtract(child, other->second);
    if (!left.empty()) rest.children.emplace(element, std::move(left));
  }
  return rest;
}

FieldSet intersect(const FieldSet& a, const FieldSet& b) {
  FieldSet both;
  both.owned = a.owned && b.owned;
  for (const auto& [element, child] : a.children) {
    auto other = b.children.find(element);
    if (other == b.children.end()) continue;
    FieldSet common = intersect(child, other->second);
    if (!common.empty()) both.children.emplace(element, std::move(common));
  }
  return both;
}

std::vector<std::string> paths_of(const FieldSet& set) {
  std::vector<std::string> paths;
  collect_paths(set, "", paths);
  return paths;
}

}  // namespace trainyard::kube
