#include "client/http_wire.h"

#include <fmt/format.h>

#include <charconv>
#include <span>

#include "base/match.h"
#include "client/document_arena.h"
#include "client/keep.h"
#include "client/skim.h"
#include "kube/access.h"
#include "kube/parse_into.h"
#include "kube/yaml.h"

namespace trainyard::client {
namespace {

constexpr size_t kShownBodyMax = 300;
constexpr size_t kDocumentBytes = 512;
constexpr std::string_view kTypeFirst = R"({"type":")";

ErrorKind kind_of(int status, std::string_view reason, bool writes) {
  switch (status) {
    case 401:
    case 403:
      return ErrorKind::kForbidden;
    case 404:
      return ErrorKind::kNotFound;
    case 409:
      return reason == "AlreadyExists" ? ErrorKind::kAlreadyExists : ErrorKind::kConflict;
    case 410:
      return ErrorKind::kGone;
    case 429:
    case 503:
      return ErrorKind::kUnavailable;
    default:
      break;
  }
  if (status >= 400 && status < 500) return ErrorKind::kInvalid;
  return writes ? ErrorKind::kUnknown : ErrorKind::kUnavailable;
}

// The Status in a body; null when it is none.
const json::object* status_in(const Result<json::value>& parsed) {
  if (!parsed.ok()) return nullptr;
  const json::object* body = parsed->if_object();
  return body != nullptr && kube::text_at(*body, {"kind"}) == "Status" ? body : nullptr;
}

std::string plain_message(int status, std::string_view body) {
  std::string shown(body.substr(0, kShownBodyMax));
  for (char& c : shown) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  while (shown.ends_with(' ')) shown.pop_back();
  return fmt::format("the server answered {}{}{}", status, shown.empty() ? "" : ": ", shown);
}

// What somebody reads of an object in a list or of a watch; none: all of it.
std::span<const Wanted> wanted_by(kube::Heed heed) {
  if (heed == kube::Heed::kPod) return wanted_of_pod();
  if (heed == kube::Heed::kIdentity) return wanted_of_identity();
  return {};
}

// One document as it is read, of an object at the path, and of that what is wanted. Not for lists: of those
// somebody keeps some items.
class ReadDocument {
 public:
  explicit ReadDocument(std::string_view whole, std::span<const std::string_view> path = {},
                        std::span<const Wanted> wanted = {})
      : text_(wanted.empty() ? without_managers(whole, path, room_) : with_only(whole, wanted, room_)),
        arena_(2 * text_.size() + kDocumentBytes),
        value_(kube::parse_json_into(DocumentArena::storage(), text_)) {}

  // Null when it is none.
  json::object* object() { return value_.ok() ? value_.value().if_object() : nullptr; }
  // What somebody keeps of it: it, or a part of it. Once.
  Object take(json::object& part) { return arena_.whole(std::move(part)); }

 private:
  std::string room_;
  std::string_view text_;
  DocumentArena arena_;
  Result<json::value> value_;
};

Object shared(json::object object) { return std::make_shared<const json::object>(std::move(object)); }

Object named(json::object& item, const kube::Resource& resource) {
  if (item.contains("kind")) return shared(std::move(item));
  json::object whole{{"apiVersion", resource.api_version()}, {"kind", kube::jview(resource.kind)}};
  for (json::key_value_pair& pair : item) whole[pair.key()] = std::move(pair.value());
  return shared(std::move(whole));
}

Reply list_of(const kube::Resource& resource, json::object body) {
  Reply reply;
  reply.revision = kube::version_of(body);
  reply.continue_token = kube::text_at(body, {"metadata", "continue"});
  json::value* items = body.if_contains("items");
  if (items == nullptr || !items->is_array()) return reply;  // Go writes an empty list as null
  reply.items.reserve(items->get_array().size());
  for (json::value& item : items->get_array()) {
    json::object* object = item.if_object();
    reply.items.push_back(object == nullptr ? shared({}) : named(*object, resource));
  }
  return reply;
}

// A list item by item: each is a document with memory of its own. nullopt: it has to be read in one piece.
std::optional<Reply> list_by_items(const kube::Request& request, std::string_view body) {
  const kube::Resource& resource = request.resource;
  std::vector<Object> items;
  bool is_whole = true;
  const std::string kind =
      fmt::format(R"({{"apiVersion":"{}","kind":"{}",)", resource.api_version(), resource.kind);
  std::string with_kind;
  std::optional<std::string> frame = skim_list(body, [&](std::string_view item) {
    if (item.starts_with(R"({"metadata":)")) {  // should its kind come later after all, that one counts
      with_kind.assign(kind).append(item.substr(1));
      item = with_kind;
    }
    if (!is_whole) return;
    ReadDocument read(item, {}, wanted_by(request.heed));
    json::object* object = read.object();
    is_whole = object != nullptr && object->contains("kind");
    if (is_whole) items.push_back(read.take(*object));
  });
  if (!frame || !is_whole) return std::nullopt;
  Result<json::value> parsed = kube::parse_json(*frame);
  if (!parsed.ok() || !parsed->is_object()) return std::nullopt;
  Reply reply = list_of(resource, std::move(parsed.value().get_object()));
  reply.items = std::move(items);
  return reply;
}

// Who it is that a server has made, as a document. Null: it is not written as servers of Kubernetes write.
Object identity_in(const kube::Resource& resource, std::string_view body) {
  auto top = skim<1>(body, {"metadata"});
  if (!top) return nullptr;
  auto parts = skim<4>((*top)[0], {"name", "namespace", "uid", "resourceVersion"}, Rest::kIsFine);
  if (!parts || std::ranges::any_of(*parts, &std::string_view::empty)) return nullptr;
  const auto& [name, ns, uid, version] = *parts;
  ReadDocument read(fmt::format(
      R"({{"apiVersion":"{}","kind":"{}","metadata":{{"name":{},"namespace":{},"uid":{},"resourceVersion":{}}}}})",
      resource.api_version(), resource.kind, name, ns, uid, version));
  json::object* identity = read.object();
  return identity == nullptr ? nullptr : read.take(*identity);
}

bool is_list(const kube::Request& request) {
  return std::holds_alternative<kube::List>(request.verb) ||
         std::holds_alternative<kube::DeleteCollection>(request.verb);
}

std::optional<EventKind> event_kind_of(std::string_view type) {
  if (type == "ADDED") return EventKind::kAdded;
  if (type == "MODIFIED") return EventKind::kModified;
  if (type == "DELETED") return EventKind::kDeleted;
  if (type == "BOOKMARK") return EventKind::kBookmark;
  return std::nullopt;
}

}  // namespace

Error error_of(int status, std::string_view body, bool writes) {
  Result<json::value> parsed = kube::parse_json(body);
  const json::object* told = status_in(parsed);
  std::string_view reason = told == nullptr ? "" : kube::text_at(*told, {"reason"});
  std::string_view message = told == nullptr ? "" : kube::text_at(*told, {"message"});
  Error error{kind_of(status, reason, writes), std::string(message)};
  if (error.message.empty()) error.message = plain_message(status, told == nullptr ? body : "");
  if (status == 401)
    error.message = fmt::format("the server does not take these credentials ({})", error.message);
  return error;
}

Result<Reply> reply_of(const kube::Request& request, int status, std::string_view body) {
  bool writes = is_write(request);
  if (status < 200 || status >= 300) return error_of(status, body, writes);
  if (writes && request.heed == kube::Heed::kNothing) return Reply{};
  if (writes && request.heed == kube::Heed::kIdentity) {
    Reply reply;
    reply.object = identity_in(request.resource, body);
    if (reply.object != nullptr) return reply;
  }
  if (is_list(request)) {
    if (std::optional<Reply> list = list_by_items(request, body)) return std::move(*list);
  }
  auto no_object = [&] {
    return Error{writes ? ErrorKind::kUnknown : ErrorKind::kUnavailable,
                 fmt::format("{}: what the server answered is no JSON object", kube::to_string(request))};
  };
  if (is_list(request)) {
    Result<json::value> parsed = kube::parse_json(body);
    if (!parsed.ok() || !parsed->is_object()) return no_object();
    return list_of(request.resource, std::move(parsed.value().get_object()));
  }
  ReadDocument read(body);
  json::object* object = read.object();
  if (object == nullptr) return no_object();
  Reply reply;
  bool status_alone = kube::text_at(*object, {"kind"}) == "Status" && !object->contains("spec");
  if (!status_alone) reply.object = read.take(*object);
  return reply;
}

Result<WatchEvent> event_of(std::string_view line, kube::Heed heed) {
  static constexpr std::string_view kPath[] = {"object"};
  const Wanted of_event[] = {{"type"}, {"object", wanted_by(heed)}};
  // What went wrong is told in words that no object has.
  const bool is_of_object =
      line.starts_with(kTypeFirst) && !line.substr(kTypeFirst.size()).starts_with("ERROR\"");
  const bool wants_all = heed == kube::Heed::kAll || !is_of_object;
  ReadDocument read(line, kPath, wants_all ? std::span<const Wanted>() : of_event);
  json::object* event = read.object();
  if (event == nullptr) return Error{ErrorKind::kUnavailable, "a line of the watch is no JSON object"};
  std::string_view type = kube::text_at(*event, {"type"});
  json::value* object = event->if_contains("object");
  if (object == nullptr || !object->is_object()) {
    return Error{ErrorKind::kUnavailable, "an event of the watch has no object"};
  }
  if (type == "ERROR") {
    const json::object& status = object->get_object();
    int code = static_cast<int>(kube::int_at(status, {"code"}).value_or(500));
    return error_of(code, json::serialize(status), false);
  }
  std::optional<EventKind> kind = event_kind_of(type);
  if (!kind) {
    return Error{ErrorKind::kUnavailable, fmt::format("the watch told of '{}'", kube::shown(type))};
  }
  return WatchEvent{*kind, read.take(object->get_object())};
}

Result<int> exit_code_of(std::string_view status) {
  Result<json::value> parsed = kube::parse_json(status);
  const json::object* told = status_in(parsed);
  if (told == nullptr) {
    return Error{ErrorKind::kUnknown, fmt::format("the server ended with '{}'", kube::shown(status))};
  }
  if (kube::text_at(*told, {"status"}) == "Success") return 0;
  if (const json::array* causes = kube::array_at(*told, {"details", "causes"})) {
    for (const json::value& value : *causes) {
      const json::object* cause = value.if_object();
      if (cause == nullptr || kube::text_at(*cause, {"reason"}) != "ExitCode") continue;
      std::string_view text = kube::text_at(*cause, {"message"});
      int code = 0;
      auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), code);
      if (failed == std::errc() && end == text.data() + text.size()) return code;
    }
  }
  int code = static_cast<int>(kube::int_at(*told, {"code"}).value_or(500));
  return error_of(code, status, true);
}

std::optional<Duration> retry_after_of(std::string_view header) {
  int64_t count = 0;
  auto [end, failed] = std::from_chars(header.data(), header.data() + header.size(), count);
  bool whole = failed == std::errc() && end == header.data() + header.size();
  if (header.empty() || !whole || count < 0 || count > 86'400) return std::nullopt;
  return seconds(count);
}

bool LineSplitter::feed(std::string_view bytes, const std::function<bool(std::string_view)>& line) {
  while (true) {
    size_t end = bytes.find('\n');
    if (end == std::string_view::npos) break;
    std::string_view whole = bytes.substr(0, end);
    bytes.remove_prefix(end + 1);
    bool more = true;
    if (rest_.empty()) {
      more = line(whole);
    } else {
      rest_ += whole;
      std::string joined = std::move(rest_);
      rest_.clear();
      more = line(joined);
    }
    if (!more) return false;
  }
  rest_ += bytes;
  return true;
}

}  // namespace trainyard::client
