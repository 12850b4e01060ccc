// Manifests: the documents behind the PATHs of a command, each with where it stands and
// which dialect it is written in. Reading files is the only thing here that is not pure.
//
// A v1 List (what `kubectl get -o yaml` prints) is taken apart into its items, and so is a list of one of
// our kinds (TFJobList, what an API server answers).
#pragma once

#include <istream>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "dialect/shared/dialect.h"
#include "kube/yaml.h"

namespace trainyard::cli {

// The text of one file, or why it could not be read.
struct TextFile {
  std::string label;  // as messages name it: the path, or "<stdin>"
  std::string text;
  std::string fault;
};

// Files of the paths in the order given; directories are walked, their files sorted by
// name. At most what the YAML reader takes is read of each.
std::vector<TextFile> read_paths(const std::vector<std::string>& paths, std::istream& standard_input);

// One object of a file.
struct Object {
  const TextFile* file = nullptr;
  std::shared_ptr<const kube::LineMap> lines;  // of the whole document, which may have many items
  std::string prefix;                          // where the object stands in it: "" or "items[3]"
  json::object body;
  const dialect::Dialect* dialect = nullptr;  // null: not a job

  // "file.yaml:12"; the place of the field or of the nearest thing above it.
  std::string place_of(std::string_view field) const;
  // "TFJob mnist", for messages.
  std::string title() const;
};

// What is wrong before any dialect has looked: "file.yaml:3:1: ...".
using Complaint = std::string;

struct Manifests {
  std::vector<Object> objects;
  std::vector<Complaint> complaints;
};

// REQUIRES: `files` and `dialects` outlive the result.
Manifests take_apart(const std::vector<TextFile>& files, std::span<const dialect::Dialect> dialects);

// That no job is among the objects, and what there is instead.
std::string no_job_in_words(const Manifests& manifests);

}  // namespace trainyard::cli
