#include "server/call.h"

#include <fmt/format.h>

#include "kube/access.h"
#include "kube/yaml.h"
#include "server/event_versions.h"
#include "server/queries.h"

namespace trainyard::server {
namespace {

using kube::jview;

std::string encoded(const json::value& body, Encoding encoding) {
  switch (encoding) {
    case Encoding::kJson:
      return json::serialize(body);
    case Encoding::kYaml:
      return kube::to_yaml(body);
  }
  return {};
}

HttpResponse formed(const Call& call, const json::value& body, int status) {
  HttpResponse response;
  response.status = status;
  response.content_type = content_type_of(call.form);
  response.body = encoded(body, call.form.encoding);
  return response;
}

TableOptions table_options(const Call& call) {
  return {.include = call.include, .v1beta1 = call.form.shape == Shape::kTableV1Beta1, .now = call.now};
}

// A list is written item by item: the documents are shared and need no copy.
std::string list_text(const ApiResource& api, const std::vector<ObjectRef>& items, const ListMeta& meta) {
  std::string text = fmt::format(R"({{"kind":"{}","apiVersion":"{}","metadata":{},"items":[)", api.list_kind,
                                 api.resource.api_version(), json::serialize(to_json(meta)));
  bool first = true;
  for (const ObjectRef& item : items) {
    if (!first) text += ',';
    first = false;
    text += json::serialize(*item);
  }
  return text + "]}";
}

json::value list_body(const Call& call, const std::vector<ObjectRef>& items, const ListMeta& meta) {
  switch (call.form.shape) {
    case Shape::kObject:
      return list_of(*call.api, items, meta);
    case Shape::kTable:
    case Shape::kTableV1Beta1:
      return table_of(*call.api, items, meta, table_options(call));
    case Shape::kPartialMetadata:
    case Shape::kPartialMetadataList:
      return partial_metadata_list(items, meta);
  }
  return nullptr;
}

// What stands before the version: "kubectl" of "kubectl/v1.33 (linux/amd64)".
std::string program_of(std::string_view user_agent) {
  std::string program;
  for (char letter : user_agent.substr(0, user_agent.find('/'))) {
    if (letter >= ' ' && letter <= '~') program += letter;
  }
  return program.empty() ? "unknown" : program;
}

}  // namespace

Result<kube::WriteOptions> write_options_of(const Call& call, std::optional<kube::PatchKind> patch) {
  Result<kube::WriteOptions> options = write_options_of_query(call.query(), patch);
  if (options.ok()) options.value().program = program_of(call.request.header("User-Agent"));
  return options;
}

HttpResponse response_of(const Status& status) {
  HttpResponse response = response_of(json::value(to_json(status)), status.code);
  if (status.retry_after_seconds > 0) {
    response.headers.push_back({"Retry-After", std::to_string(status.retry_after_seconds)});
  }
  return response;
}

HttpResponse response_of(const json::value& body, int status) {
  HttpResponse response;
  response.status = status;
  response.body = json::serialize(body);
  return response;
}

void answer(const CallRef& call, HttpResponse response) {
  size_t count = std::min(call->warnings.size(), kWarningsMax);
  for (size_t i = 0; i < count; ++i) {
    response.headers.push_back({"Warning", "299 - " + quoted_warning(call->warnings[i])});
  }
  call->respond(std::move(response));
}

void answer(const CallRef& call, const json::value& body, int status) {
  answer(call, response_of(body, status));
}

void refuse(const CallRef& call, const Status& status) { answer(call, response_of(status)); }

void answer_object(const CallRef& call, const ObjectRef& object, int status, std::string text) {
  ObjectRef shown = presented(*call->api, object);
  switch (call->form.shape) {
    case Shape::kObject:
      if (call->form.encoding == Encoding::kJson) {
        if (text.empty() || shown != object) text = json::serialize(*shown);
        return answer(call, {.status = status, .body = std::move(text)});
      }
      return answer(call, formed(*call, *shown, status));
    case Shape::kTable:
    case Shape::kTableV1Beta1: {
      ListMeta meta{.revision = kube::version_of(*shown)};
      std::vector<ObjectRef> one{shown};
      return answer(call, formed(*call, table_of(*call->api, one, meta, table_options(*call)), status));
    }
    case Shape::kPartialMetadata:
    case Shape::kPartialMetadataList:
      return answer(call, formed(*call, partial_metadata(*shown), status));
  }
}

void answer_list(const CallRef& call, const std::vector<ObjectRef>& items, const ListMeta& meta) {
  std::vector<ObjectRef> shown;
  shown.reserve(items.size());
  for (const ObjectRef& item : items) shown.push_back(presented(*call->api, item));
  if (call->form == ObjectForm{}) {
    return answer(call, HttpResponse{.body = list_text(*call->api, shown, meta)});
  }
  answer(call, formed(*call, list_body(*call, shown, meta), 200));
}

ObjectRef presented(const ApiResource& api, const ObjectRef& object) {
  const kube::Resource& resource = api.resource;
  if (resource.plural == "events" && resource.group == "events.k8s.io") {
    return std::make_shared<const json::object>(to_new_event(*object));
  }
  std::string version = resource.api_version();
  if (kube::text_at(*object, {"apiVersion"}) == version) return object;
  json::object copy = *object;
  copy["apiVersion"] = version;
  copy["kind"] = jview(resource.kind);
  return std::make_shared<const json::object>(std::move(copy));
}

std::string quoted_warning(std::string_view text) {
  std::string out = "\"";
  for (char c : text.substr(0, kWarningLengthMax)) {
    auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte >= 0x7f) {
      out += '?';
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

}  // namespace trainyard::server
