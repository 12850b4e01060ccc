#include "cli/manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <system_error>

#include "dialect/shared/reader.h"
#include "kube/access.h"
#include "kube/meta.h"

namespace trainyard::cli {
namespace {

namespace fs = std::filesystem;

// No more than the YAML reader takes; what is larger is not read to its end.
TextFile read_stream(std::string label, std::istream& in) {
  constexpr size_t kMax = kube::YamlLimits{}.bytes_max;
  std::string text;
  char piece[16 * 1024];
  while (text.size() <= kMax && (in.read(piece, sizeof piece), in.gcount() > 0)) {
    text.append(piece, static_cast<size_t>(in.gcount()));
  }
  if (text.size() > kMax) {
    return {std::move(label), "",
            fmt::format("is larger than {} bytes, the most that an API server takes", kMax)};
  }
  // The beginning of a manifest may be one.
  if (in.bad())
    return {std::move(label), "", "cannot be read to its end: " + std::generic_category().message(errno)};
  return {std::move(label), std::move(text), ""};
}

std::string unreadable(std::string_view path, int why) {
  std::string text = "cannot be read: " + std::generic_category().message(why);
  bool is_url = path.starts_with("http://") || path.starts_with("https://");
  return is_url ? text + "; what is elsewhere comes by standard input: curl -L URL | trainyard ... -" : text;
}

TextFile read_file(const fs::path& path) {
  std::error_code failed;
  if (fs::is_directory(path, failed)) return {path.string(), "", "is a directory"};
  std::ifstream in(path, std::ios::binary);
  if (!in) return {path.string(), "", unreadable(path.string(), errno)};
  return read_stream(path.string(), in);
}

bool is_manifest_name(const fs::path& path) {
  std::string extension = path.extension();
  return extension == ".yaml" || extension == ".yml" || extension == ".json";
}

// A link to what is not there: reading it will tell.
bool leads_nowhere(const fs::directory_entry& entry) {
  std::error_code unknown;
  return entry.is_symlink(unknown) && !entry.exists(unknown);
}

// Appends the manifests below `directory`, and each folder there that cannot be read with the reason. Links
// to folders are not followed.
void walk(const fs::path& directory, std::vector<fs::path>& manifests, std::vector<TextFile>& faults) {
  std::error_code failed;
  for (fs::directory_iterator at(directory, failed), end; at != end && !failed; at.increment(failed)) {
    std::error_code unknown;  // gone meanwhile: neither a file nor a folder
    if (at->is_directory(unknown) && !at->is_symlink(unknown)) {
      walk(at->path(), manifests, faults);
    } else if (is_manifest_name(at->path()) && (at->is_regular_file(unknown) || leads_nowhere(*at))) {
      manifests.push_back(at->path());
    }
  }
  if (failed) faults.push_back({directory.string(), "", "cannot be read: " + failed.message()});
}

std::vector<TextFile> read_directory(const fs::path& directory) {
  std::vector<fs::path> paths;
  std::vector<TextFile> files;
  walk(directory, paths, files);
  if (paths.empty() && files.empty()) {
    return {{directory.string(), "", "has no .yaml, .yml or .json file in it"}};
  }
  std::sort(paths.begin(), paths.end());
  for (const fs::path& path : paths) files.push_back(read_file(path));
  return files;
}

// "line 3, column 5: what" as "file:3:5: what".
Complaint located(const TextFile& file, const std::string& message) {
  static const std::regex kPlace(R"(^line (\d+), column (\d+): )");
  std::smatch found;
  if (!std::regex_search(message, found, kPlace)) return fmt::format("{}: {}", file.label, message);
  return fmt::format("{}:{}:{}: {}", file.label, found[1].str(), found[2].str(), found.suffix().str());
}

bool same_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) == std::tolower(static_cast<unsigned char>(y));
  });
}

// The fields by which a manifest without a kind gives itself away.
struct Telltale {
  std::string_view field;  // of spec
  std::string_view meant;
};
constexpr Telltale kTelltales[] = {
    {"tfReplicaSpecs", "kubeflow.org/v1 TFJob"},
    {"replicaSpecs", "batch.tensorstack.dev/v1beta1 TensorFlowTrainingJob"},
    {"runMode", "batch.tensorstack.dev/v1beta1 TensorFlowTrainingJob"},
    {"tensorboardSpec", "batch.tensorstack.dev/v1beta1 TensorFlowTrainingJob"},
    {"scheduler", "batch.tensorstack.dev/v1beta1 TensorFlowTrainingJob"},
    {"tasks", "batch.volcano.sh/v1alpha1 Job"},
};

std::string hint_for(const json::object& body) {
  for (const Telltale& telltale : kTelltales) {
    if (kube::find(body, {"spec", telltale.field}) != nullptr) {
      return fmt::format("; spec.{} belongs to a {}", telltale.field, telltale.meant);
    }
  }
  return "";
}

// The versions of its kind that a dialect reads, newest first: "a/v1", "a/v1beta1".
std::string versions_of(const dialect::Dialect& dialect) {
  std::string list;
  for (const char* version : {"v1", "v1beta2", "v1beta1", "v1alpha2", "v1alpha1"}) {
    std::string full = fmt::format("{}/{}", dialect.resource.group, version);
    if (!dialect.recognises(full, dialect.resource.kind)) continue;
    list += fmt::format("{}\"{}\"", list.empty() ? "" : ", ", full);
  }
  return list;
}

constexpr std::string_view kListEnd = "List";

class Sorter {
 public:
  Sorter(std::span<const dialect::Dialect> dialects, Manifests& out) : dialects_(dialects), out_(out) {}

  void take(const TextFile& file, kube::Document& document) {
    if (!document.body.is_object()) {
      out_.complaints.push_back(fmt::format(
          "{}:{}: a manifest is an object with apiVersion, kind and metadata", file.label, document.line));
      return;
    }
    auto lines = std::make_shared<const kube::LineMap>(std::move(document.lines));
    take_body(file, lines, "", document.body.get_object());
  }

 private:
  // A list may hold lists; documents are not nested deeper than a reader of YAML lets them be.
  void take_body(const TextFile& file, const std::shared_ptr<const kube::LineMap>& lines,
                 const std::string& path, const json::object& body) {
    std::vector<dialect::Problem> problems;
    const json::array* items =
        is_list(body) ? dialect::Reader(&body, path, problems).array("items") : nullptr;
    for (const dialect::Problem& problem : problems) {
      out_.complaints.push_back(fmt::format("{}:{}: {}", file.label, lines->nearest(problem.path).line,
                                            dialect::to_string(problem)));
    }
    if (!problems.empty()) return;
    if (items == nullptr) {
      take_object(file, lines, path, body);
      return;
    }
    for (size_t i = 0; i < items->size(); ++i) {
      std::string prefix = fmt::format("{}{}items[{}]", path, path.empty() ? "" : ".", i);
      if (const json::object* item = (*items)[i].if_object()) {
        take_body(file, lines, prefix, *item);
      } else {
        out_.complaints.push_back(
            fmt::format("{}:{}: {}: must be an object", file.label, lines->nearest(prefix).line, prefix));
      }
    }
  }

  bool is_list(const json::object& body) const {
    std::string_view api_version = kube::text_at(body, {"apiVersion"});
    std::string_view kind = kube::text_at(body, {"kind"});
    if (!kind.ends_with(kListEnd)) return false;
    kind.remove_suffix(kListEnd.size());
    if (kind.empty()) return api_version == "v1";
    return std::any_of(dialects_.begin(), dialects_.end(), [&](const dialect::Dialect& dialect) {
      return dialect.recognises(api_version, kind);
    });
  }

  void take_object(const TextFile& file, std::shared_ptr<const kube::LineMap> lines, std::string prefix,
                   const json::object& body) {
    Object object{&file, std::move(lines), std::move(prefix), body, dialect::find_dialect(dialects_, body)};
    if (object.dialect == nullptr && complain(object)) return;
    out_.objects.push_back(std::move(object));
  }

  // Whether something is wrong with what the object says it is.
  bool complain(const Object& object) {
    size_t before = out_.complaints.size();
    auto absent = [&](const char* field) {
      const json::value* found = object.body.if_contains(field);
      return found == nullptr || found->is_null();
    };
    if (absent("apiVersion") && absent("kind")) {
      add(object, "apiVersion",
          "Required value: neither apiVersion nor kind is there" + hint_for(object.body));
      return true;
    }
    for (const char* field : {"apiVersion", "kind"}) {
      const json::value* found = object.body.if_contains(field);
      if (absent(field)) {
        add(object, field,
            "Required value: every object names its apiVersion and kind" + hint_for(object.body));
      } else if (!found->is_string() || found->get_string().empty()) {
        add(object, field, fmt::format("Invalid value: {}: must be a word", json::serialize(*found)));
      }
    }
    if (out_.complaints.size() == before) complain_of_near_miss(object);
    return out_.complaints.size() != before;
  }

  // Almost one of ours: a version that we do not read, a kind in other letters.
  void complain_of_near_miss(const Object& object) {
    std::string_view api_version = kube::text_at(object.body, {"apiVersion"});
    std::string_view kind = kube::text_at(object.body, {"kind"});
    std::string_view group = api_version.substr(0, api_version.find('/'));
    for (const dialect::Dialect& dialect : dialects_) {
      if (!same_ignoring_case(kind, dialect.resource.kind)) continue;
      bool our_group = group == dialect.resource.group;
      if (!our_group && same_ignoring_case(kind, "Job")) return;  // Kubernetes itself has a kind of that name
      if (kind != dialect.resource.kind) {
        add(object, "kind",
            fmt::format("Unsupported value: \"{}\": did you mean \"{}\"?", kind, dialect.resource.kind));
      } else {
        add(object, "apiVersion",
            fmt::format("Unsupported value: \"{}\": supported values: {}", api_version,
                        versions_of(dialect)));
      }
      return;
    }
  }

  void add(const Object& object, std::string_view field, const std::string& text) {
    std::string path =
        object.prefix.empty() ? std::string(field) : fmt::format("{}.{}", object.prefix, field);
    out_.complaints.push_back(fmt::format("{}: {}: {}", object.place_of(field), path, text));
  }

  std::span<const dialect::Dialect> dialects_;
  Manifests& out_;
};

}  // namespace

std::vector<TextFile> read_paths(const std::vector<std::string>& paths, std::istream& standard_input) {
  std::vector<TextFile> files;
  for (const std::string& path : paths) {
    std::error_code failed;
    if (path == "-") {
      files.push_back(read_stream("<stdin>", standard_input));
    } else if (fs::is_directory(path, failed)) {
      std::vector<TextFile> inside = read_directory(path);
      files.insert(files.end(), inside.begin(), inside.end());
    } else {
      files.push_back(read_file(path));
    }
  }
  return files;
}

std::string Object::place_of(std::string_view field) const {
  std::string path = prefix;
  if (!field.empty()) path += fmt::format("{}{}", path.empty() ? "" : ".", field);
  return fmt::format("{}:{}", file->label, lines->nearest(path).line);
}

std::string Object::title() const {
  std::string_view name = kube::name_of(body);
  if (name.empty()) name = kube::text_at(body, {"metadata", "generateName"});
  std::string_view kind = kube::text_at(body, {"kind"});
  return name.empty() ? std::string(kind) : fmt::format("{} {}", kind, name);
}

Manifests take_apart(const std::vector<TextFile>& files, std::span<const dialect::Dialect> dialects) {
  Manifests manifests;
  Sorter sorter(dialects, manifests);
  for (const TextFile& file : files) {
    if (!file.fault.empty()) {
      manifests.complaints.push_back(fmt::format("{}: {}", file.label, file.fault));
      continue;
    }
    Result<std::vector<kube::Document>> documents = kube::parse_yaml(file.text);
    if (!documents.ok()) {
      manifests.complaints.push_back(located(file, documents.error().message));
      continue;
    }
    if (documents->empty()) manifests.complaints.push_back(fmt::format("{}: is empty", file.label));
    for (kube::Document& document : documents.value()) sorter.take(file, document);
  }
  return manifests;
}

std::string no_job_in_words(const Manifests& manifests) {
  constexpr size_t kKindsShown = 5;
  std::vector<std::string_view> kinds;
  for (const Object& object : manifests.objects) {
    std::string_view kind = kube::text_at(object.body, {"kind"});
    if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) kinds.push_back(kind);
  }
  std::string list;
  for (size_t i = 0; i < std::min(kinds.size(), kKindsShown); ++i) {
    list += fmt::format("{}{}", list.empty() ? ", only " : ", ", kinds[i]);
  }
  if (kinds.size() > kKindsShown) list += " and others";
  return fmt::format("there is no TFJob, TensorFlowTrainingJob or Volcano Job in the input{}", list);
}

}  // namespace trainyard::cli
