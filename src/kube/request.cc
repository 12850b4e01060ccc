#include "kube/request.h"

#include "base/match.h"
#include "kube/access.h"

namespace trainyard::kube {
namespace {

// The query part of a URL, in the order things were added.
class Query {
 public:
  void add(std::string_view name, std::string_view value) {
    text_ += text_.empty() ? '?' : '&';
    text_ += fmt::format("{}={}", name, percent_encode(value));
  }
  void add_if(std::string_view name, std::string_view value) {
    if (!value.empty()) add(name, value);
  }
  void add_selectors(const LabelSelector& labels, const FieldSelector& fields) {
    add_if("labelSelector", labels.to_string());
    add_if("fieldSelector", fields.to_string());
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

std::string collection_path(const Request& request) {
  const Resource& resource = request.resource;
  std::string path = resource.group.empty() ? fmt::format("/api/{}", resource.version)
                                            : fmt::format("/apis/{}/{}", resource.group, resource.version);
  if (resource.namespaced && !request.ns.empty()) path += "/namespaces/" + percent_encode(request.ns);
  return path + "/" + std::string(resource.plural);
}

std::string object_path(const Request& request, std::string_view name) {
  return collection_path(request) + "/" + percent_encode(name);
}

std::string list_query(const List& list) {
  Query query;
  query.add_selectors(list.labels, list.fields);
  if (list.limit > 0) query.add("limit", fmt::format("{}", list.limit));
  query.add_if("continue", list.continue_token);
  query.add_if("resourceVersion", list.version);
  return query.text();
}

std::string watch_query(const Watch& watch) {
  Query query;
  query.add("watch", "1");
  query.add_selectors(watch.labels, watch.fields);
  query.add_if("resourceVersion", watch.version);
  if (watch.bookmarks) query.add("allowWatchBookmarks", "true");
  if (watch.send_initial_events) {
    query.add("sendInitialEvents", "true");
    query.add("resourceVersionMatch", "NotOlderThan");
  }
  if (watch.timeout_seconds > 0) query.add("timeoutSeconds", fmt::format("{}", watch.timeout_seconds));
  return query.text();
}

json::value to_json(const DeleteOptions& options) {
  json::object out{{"kind", "DeleteOptions"}, {"apiVersion", "v1"}};
  if (!options.uid.empty() || !options.version.empty()) {
    json::object& preconditions = out["preconditions"].emplace_object();
    if (!options.uid.empty()) preconditions["uid"] = options.uid;
    if (!options.version.empty()) preconditions["resourceVersion"] = options.version;
  }
  std::string_view propagation = name_of(options.propagation);
  out["propagationPolicy"] = json::string_view(propagation.data(), propagation.size());
  if (options.grace_seconds) out["gracePeriodSeconds"] = *options.grace_seconds;
  return out;
}

const char* patching(Part part) {
  switch (part) {
    case Part::kMain:
      return "patch";
    case Part::kStatus:
      return "patch the status of";
    case Part::kResize:
      return "resize";
  }
  return "";
}

// The end of the path of a part: "/status".
std::string below(Part part) {
  std::string_view name = name_of(part);
  return name.empty() ? "" : fmt::format("/{}", name);
}

std::string_view verb_of(const Request& request) {
  return std::visit(
      Match{
          [](const Get&) { return "get"; },
          [](const List&) { return "list"; },
          [](const Watch&) { return "watch"; },
          [](const Create&) { return "create"; },
          [](const Update& update) { return update.part == Part::kResize ? "resize" : "update"; },
          [](const UpdateStatus&) { return "update the status of"; },
          [](const Patch& patch) { return patching(patch.part); },
          [](const Delete&) { return "delete"; },
          [](const DeleteCollection&) { return "delete all"; },
      },
      request.verb);
}

// The name of the object a request is about; "" for a whole collection.
std::string object_name(const Request& request) {
  return std::visit(Match{
                        [](const Get& get) { return get.name; },
                        [](const List&) { return std::string(); },
                        [](const Watch&) { return std::string(); },
                        [](const Create& create) { return std::string(name_of(create.body)); },
                        [](const Update& update) { return std::string(name_of(update.body)); },
                        [](const UpdateStatus& update) { return std::string(name_of(update.body)); },
                        [](const Patch& patch) { return patch.name; },
                        [](const Delete& del) { return del.name; },
                        [](const DeleteCollection&) { return std::string(); },
                    },
                    request.verb);
}

}  // namespace

namespace {

std::string path_without_options(const Request& request) {
  return std::visit(
      Match{
          [&](const Get& get) { return object_path(request, get.name); },
          [&](const List& list) { return collection_path(request) + list_query(list); },
          [&](const Watch& watch) { return collection_path(request) + watch_query(watch); },
          [&](const Create&) { return collection_path(request); },
          [&](const Update& update) {
            return object_path(request, name_of(update.body)) + below(update.part);
          },
          [&](const UpdateStatus& update) { return object_path(request, name_of(update.body)) + "/status"; },
          [&](const Patch& patch) { return object_path(request, patch.name) + below(patch.part); },
          [&](const Delete& del) { return object_path(request, del.name); },
          [&](const DeleteCollection& del) {
            Query query;
            query.add_selectors(del.labels, del.fields);
            return collection_path(request) + query.text();
          },
      },
      request.verb);
}

bool is_write(const Verb& verb) {
  return !std::holds_alternative<Get>(verb) && !std::holds_alternative<List>(verb) &&
         !std::holds_alternative<Watch>(verb);
}

}  // namespace

std::string path_of(const Request& request) {
  std::string path = path_without_options(request);
  const WriteOptions& options = request.options;
  if (!is_write(request.verb) || options == WriteOptions{}) return path;
  Query query;
  if (options.dry_run) query.add("dryRun", "All");
  query.add_if("fieldManager", options.field_manager);
  query.add_if("fieldValidation", options.field_validation);
  if (options.force) query.add("force", "true");
  std::string text = query.text();
  if (path.find('?') != std::string::npos && !text.empty()) text[0] = '&';
  return path + text;
}

std::string_view method_of(const Request& request) {
  return std::visit(Match{
                        [](const Get&) { return "GET"; },
                        [](const List&) { return "GET"; },
                        [](const Watch&) { return "GET"; },
                        [](const Create&) { return "POST"; },
                        [](const Update&) { return "PUT"; },
                        [](const UpdateStatus&) { return "PUT"; },
                        [](const Patch&) { return "PATCH"; },
                        [](const Delete&) { return "DELETE"; },
                        [](const DeleteCollection&) { return "DELETE"; },
                    },
                    request.verb);
}

std::string body_of(const Request& request) {
  return std::visit(Match{
                        [](const Get&) { return std::string(); },
                        [](const List&) { return std::string(); },
                        [](const Watch&) { return std::string(); },
                        [](const Create& create) { return json::serialize(create.body); },
                        [](const Update& update) { return json::serialize(update.body); },
                        [](const UpdateStatus& update) { return json::serialize(update.body); },
                        [](const Patch& patch) { return json::serialize(patch.body); },
                        [](const Delete& del) { return json::serialize(to_json(del.options)); },
                        [](const DeleteCollection& del) { return json::serialize(to_json(del.options)); },
                    },
                    request.verb);
}

std::string_view content_type_of(const Request& request) {
  if (const auto* patch = std::get_if<Patch>(&request.verb)) {
    switch (patch->kind) {
      case PatchKind::kJson:
        return "application/json-patch+json";
      case PatchKind::kMerge:
        return "application/merge-patch+json";
      case PatchKind::kStrategic:
        return "application/strategic-merge-patch+json";
      case PatchKind::kApply:
        return "application/apply-patch+yaml";
    }
  }
  return method_of(request) == "GET" ? "" : "application/json";
}

std::string to_string(const Request& request) {
  std::string name = object_name(request);
  std::string out = fmt::format("{} {}", verb_of(request), request.resource.plural);
  if (name.empty()) return request.ns.empty() ? out : fmt::format("{} in {}", out, request.ns);
  return request.ns.empty() ? fmt::format("{} {}", out, name)
                            : fmt::format("{} {}/{}", out, request.ns, name);
}

UpdateStatus status_update(const Resource& resource, const json::object& seen, json::object status) {
  json::object metadata{{"name", jview(name_of(seen))}};
  auto add = [&](std::string_view key, std::string_view text) {
    if (!text.empty()) metadata.emplace(jview(key), jview(text));
  };
  add("namespace", namespace_of(seen));
  add("uid", uid_of(seen));
  add("resourceVersion", text_at(seen, {"metadata", "resourceVersion"}));
  json::object body;
  body.reserve(4);
  body.emplace("apiVersion", resource.api_version());
  body.emplace("kind", jview(resource.kind));
  body.emplace("metadata", std::move(metadata));
  body.emplace("status", std::move(status));
  return {std::move(body)};
}

std::string_view name_of(Propagation propagation) {
  switch (propagation) {
    case Propagation::kBackground:
      return "Background";
    case Propagation::kForeground:
      return "Foreground";
    case Propagation::kOrphan:
      return "Orphan";
  }
  return "Background";
}

std::string_view name_of(Part part) {
  switch (part) {
    case Part::kMain:
      return "";
    case Part::kStatus:
      return "status";
    case Part::kResize:
      return "resize";
  }
  return "";
}

std::string percent_encode(std::string_view text) {
  std::string out;
  for (char c : text) {
    bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-' ||
                 c == '.' || c == '_' || c == '~';
    if (plain) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

}  // namespace trainyard::kube
