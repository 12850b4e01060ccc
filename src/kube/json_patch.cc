// JSON patch, RFC 6902 over JSON pointers, RFC 6901.
#include <charconv>

#include "kube/access.h"
#include "kube/patch.h"

namespace trainyard::kube {
namespace {

// Elements that inserting and removing may move, all operations together. Beyond it the
// patch is refused: it would take longer than anybody waits.
constexpr size_t kMovedMax = 20'000'000;
// Of text that is copied, all operations together: a long text is one node.
constexpr size_t kCopiedBytesMax = 3 << 20;

Error bad_patch(std::string message) { return {ErrorKind::kInvalid, std::move(message)}; }

using Pointer = std::vector<std::string>;

Result<Pointer> parse_pointer(std::string_view text) {
  Pointer out;
  if (text.empty()) return out;
  if (text[0] != '/')
    return bad_patch(fmt::format("\"{}\" is not a JSON pointer: it must begin with \"/\"", shown(text)));
  std::string token;
  for (size_t at = 1; at <= text.size(); ++at) {
    if (at == text.size() || text[at] == '/') {
      out.push_back(std::move(token));
      token.clear();
      if (out.size() > static_cast<size_t>(kPatchDepthMax)) return bad_patch("the JSON pointer is too deep");
    } else if (text[at] != '~') {
      token += text[at];
    } else if (text.substr(at, 2) == "~0" || text.substr(at, 2) == "~1") {
      token += text[++at] == '0' ? '~' : '/';
    } else {
      return bad_patch(
          fmt::format("\"{}\" is not a JSON pointer: \"~\" must be followed by 0 or 1", shown(text)));
    }
  }
  return out;
}

// The position a token means in a list of `size`, which may be `size` itself (for adding).
std::optional<size_t> parse_index(std::string_view token, size_t size) {
  if (token == "-") return size;
  if (token.empty() || token[0] == '+' || (token.size() > 1 && token[0] == '0')) return std::nullopt;
  size_t n = 0;
  auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), n);
  if (error != std::errc{} || end != token.data() + token.size() || n > size) return std::nullopt;
  return n;
}

struct Extent {
  size_t nodes = 1;
  int depth = 1;
  size_t bytes = 0;  // of text
};

Extent extent_of(const json::value& value) {
  Extent out;
  auto add = [&](const json::value& part) {
    Extent inner = extent_of(part);
    out.nodes += inner.nodes;
    out.bytes += inner.bytes;
    out.depth = std::max(out.depth, inner.depth + 1);
  };
  if (const json::array* array = value.if_array()) {
    for (const json::value& part : *array) add(part);
  } else if (const json::object* object = value.if_object()) {
    for (const json::key_value_pair& member : *object) {
      out.bytes += member.key().size();
      add(member.value());
    }
  } else if (const json::string* text = value.if_string()) {
    out.bytes = text->size();
  }
  return out;
}

// Equality as RFC 6902 wants it: numbers by what they are worth, objects in any order.
bool worth_the_same(const json::value& a, const json::value& b) {
  if (a.is_number() && b.is_number()) {
    if (a.is_double() || b.is_double()) return a.to_number<double>() == b.to_number<double>();
    return a == b;
  }
  if (a.kind() != b.kind()) return false;
  if (const json::array* left = a.if_array()) {
    const json::array& right = b.get_array();
    return left->size() == right.size() &&
           std::equal(left->begin(), left->end(), right.begin(), worth_the_same);
  }
  if (const json::object* left = a.if_object()) {
    const json::object& right = b.get_object();
    return left->size() == right.size() &&
           std::all_of(left->begin(), left->end(), [&](const json::key_value_pair& member) {
             const json::value* other = right.if_contains(member.key());
             return other != nullptr && worth_the_same(member.value(), *other);
           });
  }
  return a == b;
}

class JsonPatcher {
 public:
  explicit JsonPatcher(const json::value& target) : document_(target) {}

  json::value take() { return std::move(document_); }

  // The error of one operation, nullopt when it was done.
  std::optional<Error> apply(const json::value& entry) {
    const json::object* operation = entry.if_object();
    if (operation == nullptr) return bad_patch("an operation must be an object");
    std::string_view op = text_at(*operation, {"op"});
    const json::value* path = operation->if_contains("path");
    if (path == nullptr || !path->is_string()) return bad_patch("\"path\" must be a string");
    path_ = view(path->get_string());
    Result<Pointer> pointer = parse_pointer(path_);
    if (!pointer.ok()) return pointer.error();
    if (op == "remove") return remove(pointer.value());
    if (op == "add" || op == "replace" || op == "test") {
      const json::value* value = operation->if_contains("value");
      if (value == nullptr) return bad_patch(fmt::format("{} {}: \"value\" is missing", op, shown(path_)));
      if (op == "test") return test(pointer.value(), *value);
      return op == "add" ? add(pointer.value(), *value) : replace(pointer.value(), *value);
    }
    if (op == "move" || op == "copy") return transfer(*operation, pointer.value(), op == "move");
    return bad_patch(
        fmt::format("op \"{}\" is not one of add, remove, replace, move, copy, test", shown(op)));
  }

 private:
  Error missing() const { return bad_patch(fmt::format("there is nothing at {}", shown(path_))); }

  json::value* find(const Pointer& pointer, size_t length) {
    json::value* at = &document_;
    for (size_t i = 0; i < length; ++i) {
      if (json::object* object = at->if_object()) {
        at = object->if_contains(jview(pointer[i]));
        if (at == nullptr) return nullptr;
      } else if (json::array* array = at->if_array()) {
        std::optional<size_t> index = parse_index(pointer[i], array->size());
        if (!index || *index == array->size()) return nullptr;
        at = &(*array)[*index];
      } else {
        return nullptr;
      }
    }
    return at;
  }
  json::value* find(const Pointer& pointer) { return find(pointer, pointer.size()); }

  std::optional<Error> check_depth(const Pointer& pointer, const json::value& value) {
    if (static_cast<int>(pointer.size()) + extent_of(value).depth <= kPatchDepthMax) return std::nullopt;
    return bad_patch(fmt::format("{} would be nested more than {} deep", shown(path_), kPatchDepthMax));
  }

  std::optional<Error> charge_move(size_t elements) {
    moved_ += elements;
    if (moved_ <= kMovedMax) return std::nullopt;
    return bad_patch("the patch moves too many elements");
  }

  std::optional<Error> add(const Pointer& pointer, json::value value) {
    if (std::optional<Error> fault = check_depth(pointer, value)) return fault;
    if (pointer.empty()) {
      document_ = std::move(value);
      return std::nullopt;
    }
    json::value* parent = find(pointer, pointer.size() - 1);
    if (parent == nullptr) return bad_patch(fmt::format("there is nothing above {}", shown(path_)));
    if (json::object* object = parent->if_object()) {
      (*object)[jview(pointer.back())] = std::move(value);
      return std::nullopt;
    }
    json::array* array = parent->if_array();
    if (array == nullptr)
      return bad_patch(fmt::format("what is above {} is no object or list", shown(path_)));
    std::optional<size_t> index = parse_index(pointer.back(), array->size());
    if (!index)
      return bad_patch(fmt::format("{} is not a place in a list of {}", shown(path_), array->size()));
    if (std::optional<Error> fault = charge_move(array->size() - *index)) return fault;
    array->insert(array->begin() + *index, std::move(value));
    return std::nullopt;
  }

  std::optional<Error> remove(const Pointer& pointer) {
    if (pointer.empty()) return bad_patch("the whole document cannot be removed");
    if (find(pointer) == nullptr) return missing();
    json::value* parent = find(pointer, pointer.size() - 1);
    if (json::object* object = parent->if_object()) {
      if (std::optional<Error> fault = charge_move(object->size())) return fault;
      object->stable_erase(object->find(jview(pointer.back())));
      return std::nullopt;
    }
    json::array& array = parent->get_array();
    size_t index = *parse_index(pointer.back(), array.size());
    if (std::optional<Error> fault = charge_move(array.size() - index)) return fault;
    array.erase(array.begin() + index);
    return std::nullopt;
  }

  std::optional<Error> replace(const Pointer& pointer, const json::value& value) {
    if (std::optional<Error> fault = check_depth(pointer, value)) return fault;
    json::value* found = find(pointer);
    if (found == nullptr) return missing();
    *found = value;
    return std::nullopt;
  }

  std::optional<Error> test(const Pointer& pointer, const json::value& value) {
    json::value* found = find(pointer);
    if (found != nullptr && worth_the_same(*found, value)) return std::nullopt;
    return Error{ErrorKind::kInvalid, fmt::format("test {}: the value is another", shown(path_))};
  }

  std::optional<Error> transfer(const json::object& operation, const Pointer& to, bool moves) {
    const json::value* from_text = operation.if_contains("from");
    if (from_text == nullptr || !from_text->is_string()) return bad_patch("\"from\" must be a string");
    Result<Pointer> from = parse_pointer(view(from_text->get_string()));
    if (!from.ok()) return from.error();
    json::value* found = find(from.value());
    if (found == nullptr) {
      return bad_patch(fmt::format("there is nothing at {}", shown(view(from_text->get_string()))));
    }
    if (!moves) {
      const Extent extent = extent_of(*found);
      copied_ += extent.nodes;
      copied_bytes_ += extent.bytes;
      if (copied_ > kPatchCopiedNodesMax || copied_bytes_ > kCopiedBytesMax) {
        return bad_patch("the patch copies too much");
      }
      return add(to, *found);
    }
    if (from.value() == to) return std::nullopt;
    bool inside =
        from.value().size() < to.size() && std::equal(from.value().begin(), from.value().end(), to.begin());
    if (inside) return bad_patch(fmt::format("{} is inside what is moved there", shown(path_)));
    json::value value = std::move(*found);
    moved_ += extent_of(value).nodes;
    std::string_view target_path = path_;
    path_ = view(from_text->get_string());
    if (std::optional<Error> fault = remove(from.value())) return fault;
    path_ = target_path;
    return add(to, std::move(value));
  }

  json::value document_;
  std::string_view path_;  // of the operation at hand
  size_t copied_ = 0;
  size_t copied_bytes_ = 0;
  size_t moved_ = 0;
};

}  // namespace

Result<json::value> apply_json_patch(const json::value& target, const json::value& patch) {
  const json::array* operations = patch.if_array();
  if (operations == nullptr) return bad_patch("a JSON patch must be a list of operations");
  if (operations->size() > kPatchOperationsMax) {
    return bad_patch(fmt::format("a JSON patch may have {} operations, this one has {}", kPatchOperationsMax,
                                 operations->size()));
  }
  JsonPatcher patcher(target);
  for (size_t i = 0; i < operations->size(); ++i) {
    if (std::optional<Error> fault = patcher.apply((*operations)[i])) {
      return Error{fault->kind, fmt::format("operation {}: {}", i, fault->message)};
    }
  }
  return patcher.take();
}

}  // namespace trainyard::kube
