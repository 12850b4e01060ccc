// From the spec of a TensorBoard to the logs that it shows.
#include <algorithm>

#include "control/tensorboard_plan.h"
#include "dialect/shared/log_places.h"
#include "kube/access.h"
#include "kube/objects.h"

namespace trainyard::control {

using kube::text_at;

namespace {

Error board_invalid(std::string_view field, std::string_view words) {
  return Error{ErrorKind::kInvalid, fmt::format("{}: {}", field, words)};
}

// A relative path without empty parts and "."; nullopt when it has "..", or what a list of
// sources on a command line cannot hold.
std::optional<std::string> clean_log_path(std::string_view path) {
  std::string out;
  for (size_t at = 0; at <= path.size();) {
    size_t end = std::min(path.find('/', at), path.size());
    std::string_view part = path.substr(at, end - at);
    at = end + 1;
    if (part.empty() || part == ".") continue;
    auto odd = [](char c) { return c == ',' || c == ':' || static_cast<unsigned char>(c) < 0x20; };
    if (part == ".." || std::any_of(part.begin(), part.end(), odd)) return std::nullopt;
    if (!out.empty()) out += '/';
    out += part;
  }
  return out;
}

class BoardReader {
 public:
  explicit BoardReader(BoardSpec& spec) : spec_(spec) {}

  std::optional<Error> add_claim(const std::string& field, std::string_view claim, std::string_view path) {
    if (claim.empty()) return board_invalid(field, "names no claim");
    std::optional<std::string> clean = clean_log_path(path);
    if (!clean || claim.find('/') != std::string_view::npos || claim == "..") {
      return board_invalid(field, fmt::format("\"{}\" is not a path in a claim", kube::shown(path)));
    }
    std::string name(claim);
    if (!clean->empty()) name += "/" + *clean;
    add_source(name, "/logs/" + name);
    if (std::find(spec_.claims.begin(), spec_.claims.end(), claim) == spec_.claims.end())
      spec_.claims.emplace_back(claim);
    return std::nullopt;
  }

  std::optional<Error> add_s3(const std::string& field, std::string_view secret, std::string_view place) {
    if (secret.empty()) return board_invalid(field, "names no secret to read it with");
    if (!spec_.s3_secret.empty() && spec_.s3_secret != secret) {
      return board_invalid(field, "one TensorBoard reads S3 with one secret only");
    }
    spec_.s3_secret = secret;
    if (place.starts_with("s3://")) place.remove_prefix(5);
    std::optional<std::string> clean = clean_log_path(place);
    if (!clean || clean->empty()) {
      return board_invalid(field, fmt::format("\"{}\" is not a place in S3", kube::shown(place)));
    }
    add_source(*clean, "s3://" + *clean + (place.ends_with('/') ? "/" : ""));
    return std::nullopt;
  }

  void add_source(std::string name, std::string location) {
    LogSource source{std::move(name), std::move(location)};
    if (std::find(spec_.logs.begin(), spec_.logs.end(), source) == spec_.logs.end())
      spec_.logs.push_back(std::move(source));
  }

  // "t9k://pvc/<claim>/<path>" or "t9k://minio/<secret>/<bucket>/<path>".
  std::optional<Error> add_fileset(const std::string& field, std::string_view uri) {
    std::string fault = dialect::fileset_fault(uri);
    if (!fault.empty()) return board_invalid(field, fault);
    bool pvc = uri.starts_with(dialect::kFilesetInClaim);
    uri.remove_prefix(pvc ? dialect::kFilesetInClaim.size() : dialect::kFilesetInStore.size());
    size_t slash = std::min(uri.find('/'), uri.size());
    std::string_view path = uri.substr(std::min(slash + 1, uri.size()));
    return pvc ? add_claim(field, uri.substr(0, slash), path) : add_s3(field, uri.substr(0, slash), path);
  }

 private:
  BoardSpec& spec_;
};

// What is text in a list, each with the path of its field.
std::vector<std::pair<std::string, std::string_view>> texts_of(const json::object& from,
                                                               std::initializer_list<std::string_view> path,
                                                               std::string_view field) {
  std::vector<std::pair<std::string, std::string_view>> out;
  const json::array* list = kube::array_at(from, path);
  for (size_t i = 0; list != nullptr && i < list->size(); ++i) {
    const json::value& entry = (*list)[i];
    if (entry.is_string()) out.emplace_back(fmt::format("{}[{}]", field, i), kube::view(entry.get_string()));
  }
  return out;
}

std::optional<Error> read_log_dir(const json::object& dir, BoardReader& reader) {
  const json::array* claims = kube::array_at(dir, {"pvc"});
  for (size_t i = 0; claims != nullptr && i < claims->size(); ++i) {
    const json::object* entry = (*claims)[i].if_object();
    std::string field = fmt::format("spec.logDir.pvc[{}]", i);
    if (entry == nullptr) return board_invalid(field, "is not an object");
    std::string_view claim = text_at(*entry, {"name"});
    auto paths = texts_of(*entry, {"subPath"}, field + ".subPath");
    if (paths.empty()) paths.emplace_back(field, "");
    for (const auto& [where, path] : paths) {
      if (auto wrong = reader.add_claim(where, claim, path)) return wrong;
    }
  }
  for (const auto& [field, uri] : texts_of(dir, {"s3", "uri"}, "spec.logDir.s3.uri")) {
    if (auto wrong = reader.add_s3(field, text_at(dir, {"s3", "secretRef", "name"}), uri)) return wrong;
  }
  for (const auto& [field, url] : texts_of(dir, {"http", "url"}, "spec.logDir.http.url")) {
    std::string fault = dialect::log_url_fault(url);
    if (!fault.empty()) return board_invalid(field, fault);
    reader.add_source(std::string(url.substr(url.find("//") + 2)), std::string(url));
  }
  return std::nullopt;
}

}  // namespace

Result<BoardSpec> read_board(const json::object& board, const BoardSettings& settings) {
  kube::TensorBoard object = kube::decode_tensor_board(board);
  BoardSpec spec;
  spec.image = object.image.empty() ? settings.image : object.image;
  spec.suspended = object.suspended;
  spec.queue = text_at(board, {"spec", "scheduler", "t9kScheduler", "queue"});
  BoardReader reader(spec);
  for (const auto& [field, uri] :
       texts_of(board, {"spec", "trainingLogFilesets"}, "spec.trainingLogFilesets")) {
    if (auto wrong = reader.add_fileset(field, uri)) return *wrong;
  }
  if (const json::object* dir = kube::object_at(board, {"spec", "logDir"})) {
    if (auto wrong = read_log_dir(*dir, reader)) return *wrong;
  }
  if (spec.logs.empty()) {
    return board_invalid("spec.logDir", "no logs are named, here or in spec.trainingLogFilesets");
  }
  return spec;
}

}  // namespace trainyard::control
