// YAML in and out, as Kubernetes reads it: YAML 1.1 scalars (yes/no/on/off, 0777,
// 0x1f, 1_000), anchors, aliases, merge keys, block scalars, many documents; JSON is
// accepted because it is YAML. Pure functions; nothing that is put in crashes them or
// takes long: what is over a limit is refused.
//
// Every refusal is kInvalid with the message "line L, column C: what is wrong", both
// counted from 1, columns in characters.
#pragma once

#include <compare>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kube/json.h"

namespace trainyard::kube {

struct YamlLimits {
  size_t bytes_max = 3 * 1024 * 1024;  // the whole text; what the API server takes in one request
  size_t nodes_max = 500'000;          // values and keys, aliases written out in full
  int depth_max = 100;
};

struct Position {
  int line = 0;
  int column = 0;

  auto operator<=>(const Position&) const = default;
};

// LineMap: where each field of a document was written. A value.
class LineMap {
 public:
  // The place of a field path, "spec.tasks[0].name"; keys with dots may be written plain
  // ("metadata.labels.a.b/c") or in brackets ("metadata.labels[a.b/c]"). nullopt when absent.
  std::optional<Position> find(std::string_view path) const;
  // The place of the field or of the closest thing above it that is there.
  Position nearest(std::string_view path) const;

  // For whoever builds the map: nodes are added parents first; the first is the document.
  // `key` is "" and `index` is >= 0 for an element of a list.
  int add(int parent, std::string_view key, int index, Position at);
  // Adds a copy of the subtree `from` under `parent`; its root is placed at `at`.
  int add_copy(int from, int parent, std::string_view key, int index, Position at);

 private:
  struct Node {
    std::string key;
    int index = -1;
    Position at;
    std::vector<int> children;
  };
  // Walks as far as the path goes; `whole` says whether it went to the end.
  int walk(int node, std::string_view rest, bool& whole) const;

  std::vector<Node> nodes_;
};

struct Document {
  json::value body;
  int line = 1;  // where the document's first value is
  LineMap lines;
};

// Every document of the text; empty ones (and ones of comments alone) are left out.
Result<std::vector<Document>> parse_yaml(std::string_view text, const YamlLimits& limits = {});

// Block style, keys in document order, multi-line text as literals, quotes exactly where a
// YAML 1.1 or 1.2 reader would otherwise see something else. Ends with a newline.
// parse_yaml(to_yaml(v)) gives v back, but for a document that is null alone (an empty one)
// and doubles that are whole (3.0 comes back as the integer Kubernetes would see).
std::string to_yaml(const json::value& value);
// The documents joined by "---".
std::string to_yaml_documents(const std::vector<json::value>& documents);

// Strict JSON text to a document, nested at most `depth_max` deep, with numbers that can be written again.
// kInvalid otherwise.
Result<json::value> parse_json(std::string_view text, int depth_max = 100);

}  // namespace trainyard::kube
