#include "client/http_wire.h"

#include <fmt/format.h>

#include <charconv>
#include <span>

#include "base/match.h"
#include "client/document_arena.h"
#include "client/skim.h"
#include "kube/access.h"
#include "kube/parse_into.h"
#include "kube/yaml.h"

namespace trainyard::client {
namespace {

constexpr size_t kShownBodyMax = 300;
constexpr size_t kDocumentBytes = 512;

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

// One document, of an object at the path. Not for lists: of those somebody keeps some items.
Result<json::value> parse_document(std::string_view whole, std::span<const std::string_view> path = {}) {
  std::string room;
  std::string_view text = without_managers(whole, path, room);
  DocumentArena::Made together = DocumentArena::make(2 * text.size() + kDocumentBytes);
  Result<json::value> parsed = kube::parse_json_into(together.storage, text);
  together.arena->freeze();
  return parsed;
}

Object shared(json::object object) { return std::make_shared<const json::object>(std::move(object)); }

Object named(json::value& item, const kube::Resource& resource) {
  if (!item.is_object()) return shared({});
  json::object& object = item.get_object();
  if (object.contains("kind")) return shared(std::move(object));
  json::object whole{{"apiVersion", resource.api_version()}, {"kind", kube::jview(resource.kind)}};
  for (json::key_value_pair& pair : object) whole[pair.key()] = std::move(pair.value());
  return shared(std::move(whole));
}

Reply list_of(const kube::Resource& resource, json::object body) {
  Reply reply;
  reply.revision = kube::version_of(body);
  reply.continue_token = kube::text_at(body, {"metadata", "continue"});
  json::value* items = body.if_contains("items");
  if (items == nullptr || !items->is_array()) return reply;  // Go writes an empty list as null
  reply.items.reserve(items->get_array().size());
  for (json::value& item : items->get_array()) reply.items.push_back(named(item, resource));
  return reply;
}

// A list item by item: each is a document with memory of its own. nullopt: it has to be read in one piece.
std::optional<Reply> list_by_items(const kube::Resource& resource, std::string_view body) {
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
    Result<json::value> parsed = is_whole ? parse_document(item) : json::value();
    is_whole = is_whole && parsed.ok();
    if (is_whole) items.push_back(named(parsed.value(), resource));
  });
  if (!frame || !is_whole) return std::nullopt;
  Result<json::value> parsed = kube::parse_json(*frame);
  if (!parsed.ok() || !parsed->is_object()) return std::nullopt;
  Reply reply = list_of(resource, std::move(parsed.value().get_object()));
  reply.items = std::move(items);
  return reply;
}

// Who it is that a server has made, as a document. nullopt: it is not written as servers of Kubernetes write.
std::optional<json::object> identity_in(const kube::Resource& resource, std::string_view body) {
  auto top = skim<1>(body, {"metadata"});
  if (!top) return std::nullopt;
  auto parts = skim<4>((*top)[0], {"name", "namespace", "uid", "resourceVersion"});
  if (!parts || std::ranges::any_of(*parts, &std::string_view::empty)) return std::nullopt;
  const auto& [name, ns, uid, version] = *parts;
  Result<json::value> parsed = parse_document(
      fmt::format(R"({{"name":{},"namespace":{},"uid":{},"resourceVersion":{}}})", name, ns, uid, version));
  if (!parsed.ok()) return std::nullopt;
  return json::object{{"apiVersion", resource.api_version()},
                      {"kind", kube::jview(resource.kind)},
                      {"metadata", std::move(parsed).value()}};
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
    if (std::optional<json::object> made = identity_in(request.resource, body)) {
      Reply reply;
      reply.object = shared(std::move(*made));
      return reply;
    }
  }
  if (is_list(request)) {
    if (std::optional<Reply> list = list_by_items(request.resource, body)) return std::move(*list);
  }
  Result<json::value> parsed = is_list(request) ? kube::parse_json(body) : parse_document(body);
  if (!parsed.ok() || !parsed->is_object()) {
    return Error{writes ? ErrorKind::kUnknown : ErrorKind::kUnavailable,
                 fmt::format("{}: what the server answered is no JSON object", kube::to_string(request))};
  }
  json::object object = std::move(parsed.value().get_object());
  if (is_list(request)) return list_of(request.resource, std::move(object));
  Reply reply;
  bool status_alone = kube::text_at(object, {"kind"}) == "Status" && !object.contains("spec");
  if (!status_alone) reply.object = shared(std::move(object));
  return reply;
}

Result<WatchEvent> event_of(std::string_view line) {
  static constexpr std::string_view kPath[] = {"object"};
  Result<json::value> parsed = parse_document(line, kPath);
  if (!parsed.ok() || !parsed->is_object()) {
    return Error{ErrorKind::kUnavailable, "a line of the watch is no JSON object"};
  }
  json::object& event = parsed.value().get_object();
  std::string_view type = kube::text_at(event, {"type"});
  json::value* object = event.if_contains("object");
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
  return WatchEvent{*kind, shared(std::move(object->get_object()))};
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
