#include <charconv>

#include "kube/yaml.h"

namespace trainyard::kube {
namespace {

// What follows `part` at the start of a path, when the path does start with that part.
std::optional<std::string_view> after(std::string_view path, std::string_view part) {
  if (!path.starts_with(part)) return std::nullopt;
  path.remove_prefix(part.size());
  if (path.empty() || path[0] == '[') return path;
  if (path[0] == '.') return path.substr(1);
  return std::nullopt;
}

std::optional<std::string_view> after_key(std::string_view path, std::string_view key) {
  if (std::optional<std::string_view> rest = after(path, key)) return rest;
  if (path.empty() || path[0] != '[' || !path.substr(1).starts_with(key)) return std::nullopt;
  return path.substr(1 + key.size()).starts_with(']') ? after(path.substr(1 + key.size()), "]")
                                                      : std::nullopt;
}

std::optional<std::string_view> after_index(std::string_view path, int index) {
  if (path.empty() || path[0] != '[') return std::nullopt;
  int n = -1;
  auto [end, error] = std::from_chars(path.data() + 1, path.data() + path.size(), n);
  if (error != std::errc{} || n != index) return std::nullopt;
  return after(path.substr(static_cast<size_t>(end - path.data())), "]");
}

}  // namespace

int LineMap::add(int parent, std::string_view key, int index, Position at) {
  int added = static_cast<int>(nodes_.size());
  nodes_.push_back({std::string(key), index, at, {}});
  if (parent >= 0) nodes_[static_cast<size_t>(parent)].children.push_back(added);
  return added;
}

int LineMap::add_copy(int from, int parent, std::string_view key, int index, Position at) {
  int root = add(parent, key, index, at);
  // By index: adding may move the nodes.
  for (size_t i = 0; i < nodes_[static_cast<size_t>(from)].children.size(); ++i) {
    int child = nodes_[static_cast<size_t>(from)].children[i];
    Node copied = nodes_[static_cast<size_t>(child)];
    add_copy(child, root, copied.key, copied.index, copied.at);
  }
  return root;
}

int LineMap::walk(int node, std::string_view rest, bool& whole) const {
  whole = rest.empty();
  if (whole) return node;
  int best = node;
  for (int child : nodes_[static_cast<size_t>(node)].children) {
    const Node& next = nodes_[static_cast<size_t>(child)];
    std::optional<std::string_view> left =
        next.index >= 0 ? after_index(rest, next.index) : after_key(rest, next.key);
    if (!left) continue;
    int found = walk(child, *left, whole);
    if (whole) return found;
    best = found;
  }
  // A field may have come in by a merge key, from a map or from one of a list of maps.
  for (int child : nodes_[static_cast<size_t>(node)].children) {
    if (nodes_[static_cast<size_t>(child)].key != "<<") continue;
    int found = walk(child, rest, whole);
    if (whole) return found;
    for (int element : nodes_[static_cast<size_t>(child)].children) {
      if (nodes_[static_cast<size_t>(element)].index < 0) continue;
      found = walk(element, rest, whole);
      if (whole) return found;
    }
  }
  return best;
}

std::optional<Position> LineMap::find(std::string_view path) const {
  if (nodes_.empty()) return std::nullopt;
  bool whole = false;
  int node = walk(0, path, whole);
  if (!whole) return std::nullopt;
  return nodes_[static_cast<size_t>(node)].at;
}

Position LineMap::nearest(std::string_view path) const {
  if (nodes_.empty()) return {};
  bool whole = false;
  return nodes_[static_cast<size_t>(walk(0, path, whole))].at;
}

}  // namespace trainyard::kube
