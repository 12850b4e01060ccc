#include "server/objects.h"

#include <algorithm>

#include "kube/access.h"
#include "kube/kept_only.h"
#include "server/body.h"
#include "server/event_versions.h"
#include "server/nulls.h"
#include "server/patched.h"
#include "server/queries.h"
#include "server/validate_fields.h"
#include "server/watch_stream.h"
#include "store/continue_token.h"
#include "store/errors.h"
#include "store/metadata.h"

namespace trainyard::server {
namespace {

constexpr int64_t kWatchLifetimeSeconds = 40 * 60;

bool is_crd(const ApiResource& api) {
  return api.resource.group == "apiextensions.k8s.io" && api.resource.plural == "customresourcedefinitions";
}

bool is_flag_set(const Query& query, std::string_view name) {
  Result<bool> flag = query.flag(name);
  return flag.ok() && *flag;
}

bool names_its_kind(const json::object& body) {
  return !kube::text_at(body, {"apiVersion"}).empty() && !kube::text_at(body, {"kind"}).empty();
}

// A value of a type that its field does not have is refused. Strict refuses what the kind does not
// have, Warn (and nothing said) tells of it; what is neither refused nor of a kind that keeps it
// is dropped.
std::optional<Status> check_fields(const CallRef& call, json::object& body, std::vector<std::string> problems,
                                   const std::string& validation) {
  auto [unknown, refusal] = field_problems(*call->api, body);
  if (refusal) return refusal;
  if (validation == "Ignore") {
    if (!unknown.empty()) drop_unknown_fields(*call->api, body);
    return std::nullopt;
  }
  problems.insert(problems.end(), unknown.begin(), unknown.end());
  if (problems.empty()) return std::nullopt;
  if (validation == "Strict") return strict_decoding_error(*call->api, problems);
  if (!unknown.empty()) drop_unknown_fields(*call->api, body);
  call->warnings.insert(call->warnings.end(), problems.begin(), problems.end());
  return std::nullopt;
}

// As the hub keeps it: events have one form there, and every object its storage version.
json::object stored_form(const ApiResource& api, json::object body) {
  if (api.resource.plural == "events" && api.resource.group == "events.k8s.io") return to_core_event(body);
  if (api.resource.version != api.storage.version) body["apiVersion"] = api.storage.api_version();
  return body;
}

// A patch of the object as it is shown, as one of the object as the hub keeps it.
json::value stored_patch(const ApiResource& api, kube::PatchKind kind, json::value patch) {
  std::string shown = api.resource.api_version();
  if (shown == api.storage.api_version()) return patch;
  if (kind != kube::PatchKind::kJson) return stored_form(api, std::move(patch.get_object()));
  for (json::value& step : patch.get_array()) {
    json::object* operation = step.if_object();
    if (operation == nullptr || kube::text_at(*operation, {"path"}) != "/apiVersion") continue;
    if (kube::text_at(*operation, {"value"}) == shown) (*operation)["value"] = api.storage.api_version();
  }
  return patch;
}

void warn_if_only_kept(const CallRef& call, const json::object& object) {
  const kube::Resource& resource = call->api->resource;
  if (!call->api->built_in) return;
  for (std::string& words : kube::kept_only(resource.group, resource.kind, object)) {
    call->warnings.push_back(std::move(words));
  }
}

// Whether the object that a deletion answered with is no more.
bool is_gone(const json::object& object) {
  return !kube::is_deleting(object) || store::is_ready_to_go(object);
}

// The kinds whose deletion is answered with the object even when it is gone at once: typed
// clients expect it of them, and of others a Status.
bool answers_with_deleted(const kube::Resource& resource) {
  if (resource.group == "storage.k8s.io") return resource.plural == "storageclasses";
  if (!resource.group.empty()) return false;
  for (std::string_view plural : {"pods", "services", "serviceaccounts", "persistentvolumeclaims",
                                  "persistentvolumes", "podtemplates", "resourcequotas"}) {
    if (resource.plural == plural) return true;
  }
  return false;
}

struct Written {
  json::object body;
  kube::WriteOptions options;
};

// The body of a POST or PUT, checked.
OrStatus<Written> written_body(const CallRef& call, std::string_view name) {
  Result<kube::WriteOptions> options = write_options_of(*call);
  if (!options.ok())
    return status_of_query(options.error(), name.empty() ? "CreateOptions" : "UpdateOptions");
  OrStatus<ObjectBody> decoded = object_of_body(call->request);
  if (auto* status = std::get_if<Status>(&decoded)) return *status;
  auto& body = std::get<ObjectBody>(decoded);
  if (!name.empty() && kube::text_at(body.object, {"metadata", "name"}).empty()) {
    return bad_request(fmt::format(
        "the name of the object ({} based on URL) was undeterminable: name must be provided", name));
  }
  if (auto wrong = fit_to_path(call->api->resource, call->path.ns, name, body.object)) return *wrong;
  if (auto wrong = check_fields(call, body.object, std::move(body.duplicates), options->field_validation)) {
    return *wrong;
  }
  if (is_crd(*call->api)) {
    auto served = resources_of_crd(body.object);
    if (!served.ok()) return status_of(served.error(), call->api->resource, kube::name_of(body.object));
  }
  drop_nulls(*call->api, body.object);
  prune_and_default(*call->api, body.object);
  return Written{stored_form(*call->api, std::move(body.object)), std::move(options).value()};
}

// What is wrong with a patch in itself, before it is known what it makes of the object.
std::optional<Status> check_patch(const CallRef& call, PatchBody& body, const kube::WriteOptions& options) {
  if (body.kind == kube::PatchKind::kStrategic) {
    auto wrong = field_problems(*call->api, body.patch.get_object()).refusal;
    return wrong ? std::optional(strict_patch_error(*wrong)) : std::nullopt;
  }
  if (body.kind == kube::PatchKind::kJson) return std::nullopt;
  const bool apply = body.kind == kube::PatchKind::kApply;
  json::object& patch = body.patch.get_object();
  if (apply && !names_its_kind(patch)) {
    return bad_request("apiVersion and kind must be set in what is applied");
  }
  if (apply) {
    if (auto wrong = fit_to_path(call->api->resource, call->path.ns, call->path.name, patch)) return wrong;
  }
  // Nobody can manage a field that a schema does not have, so no apply may name one.
  bool strict = apply && (call->api->schema != nullptr || call->api->built_in);
  auto wrong =
      check_fields(call, patch, std::move(body.duplicates), strict ? "Strict" : options.field_validation);
  if (!wrong && apply && call->api->built_in) drop_nulls(*call->api, patch);
  if (!wrong) return std::nullopt;
  return apply || wrong->code != 400 ? *wrong : strict_patch_error(*wrong);
}

}  // namespace

std::string_view verb_of(const HttpRequest& request, const ResourcePath& path, const Query& query) {
  bool one = !path.name.empty();
  if (request.method == "GET") {
    if (path.subresource.empty() && is_flag_set(query, "watch")) return "watch";
    return one ? "get" : "list";
  }
  if (request.method == "POST") return "create";
  if (request.method == "PUT") return "update";
  if (request.method == "PATCH") return "patch";
  if (request.method == "DELETE") return one ? "delete" : "deletecollection";
  return "";
}

void Objects::handle(const CallRef& call) {
  std::string_view verb = verb_of(call->request, call->path, call->query());
  bool one = !call->path.name.empty();
  bool misplaced = verb == "create" ? one : (verb == "update" || verb == "patch") && !one;
  if (misplaced || !call->api->has_verb(verb)) {
    return refuse(call, method_not_allowed(&call->api->resource, call->request.method));
  }
  if (verb == "get") return read_one(call);
  if (verb == "list") return list(call);
  if (verb == "watch") return watch(call);
  if (verb == "create") return create(call);
  if (verb == "update") return update(call, kube::Part::kMain);
  if (verb == "patch") return patch(call, kube::Part::kMain);
  if (verb == "delete") return remove(call);
  remove_collection(call);
}

void Objects::handle_part(const CallRef& call, kube::Part part) {
  const std::string& method = call->request.method;
  if (method == "GET") return read_one(call);
  if (method == "PUT") return update(call, part);
  if (method == "PATCH") return patch(call, part);
  refuse(call, method_not_allowed(&call->api->resource, method));
}

void Objects::ask(const CallRef& call, kube::Verb verb, kube::WriteOptions options, Then then) {
  // What is wrong with a list is its query (a continue token that we never gave out).
  bool is_list = std::holds_alternative<kube::List>(verb);
  std::string token = is_list ? std::get<kube::List>(verb).continue_token : "";
  kube::Request request{call->api->storage, call->path.ns, std::move(verb), std::move(options)};
  hub_.submit(std::move(request),
              [this, call, is_list, token, then = std::move(then)](Result<hub::Answer> answer) {
                auto shared = std::make_shared<Result<hub::Answer>>(std::move(answer));
                const Run& run = is_list ? run_ : call->run;
                run([call, is_list, token, then, shared] {
                  if (!shared->ok() && is_list && shared->error().kind == ErrorKind::kInvalid) {
                    return refuse(call, bad_request(shared->error().message));
                  }
                  if (!shared->ok()) {
                    Status status = status_of(shared->error(), call->api->resource, call->path.name);
                    if (status.code == 410 && !token.empty())
                      status.continue_token = store::renewed_token(token);
                    return refuse(call, status);
                  }
                  then(call, shared->value());
                });
              });
}

void Objects::get(const CallRef& call, Then then) {
  if (auto ahead = too_new(call->query(), hub_.revision())) {
    return refuse(call, version_too_large(ahead->asked, hub_.revision()));
  }
  ask(call, kube::Get{call->path.name}, {}, std::move(then));
}

void Objects::list_of(const CallRef& call, const kube::Resource& resource, Then then) {
  kube::Request request{resource, call->path.ns, kube::List{}, {}};
  hub_.submit(std::move(request), [this, call, resource, then = std::move(then)](Result<hub::Answer> answer) {
    auto shared = std::make_shared<Result<hub::Answer>>(std::move(answer));
    run_([call, resource, then, shared] {
      if (!shared->ok()) return refuse(call, status_of(shared->error(), resource, ""));
      then(call, shared->value());
    });
  });
}

void Objects::read_one(const CallRef& call) {
  get(call, [](const CallRef& call, const hub::Answer& answer) { answer_object(call, answer.object); });
}

void Objects::list(const CallRef& call) {
  Result<kube::List> query = list_of_query(*call->api, call->query());
  if (!query.ok()) return refuse(call, status_of_query(query.error(), "ListOptions"));
  int64_t revision = hub_.revision();
  if (auto ahead = too_new(call->query(), revision))
    return refuse(call, version_too_large(ahead->asked, revision));
  ask(call, std::move(query).value(), {}, [](const CallRef& call, const hub::Answer& answer) {
    answer_list(call, answer.items, {answer.revision, answer.continue_token, answer.remaining});
  });
}

void Objects::watch(const CallRef& call) {
  int64_t revision = hub_.revision();
  Result<kube::Watch> query = watch_of_query(*call->api, call->query(), revision);
  if (!query.ok()) return refuse(call, status_of_query(query.error(), "ListOptions"));
  if (auto ahead = too_new(call->query(), revision))
    return refuse(call, version_too_large(ahead->asked, revision));
  // A watch of one object by its path is one with a selector.
  if (!call->path.name.empty()) query.value().fields.add("metadata.name", call->path.name);
  if (query->timeout_seconds == 0) query.value().timeout_seconds = kWatchLifetimeSeconds;
  WatchView view{call->api, call->form, call->include, clock_};
  auto stream = open_watch(hub_, lines_, call->path.ns, *query, std::move(view));
  if (!stream.ok()) return refuse(call, status_of(stream.error(), call->api->resource, ""));
  call->respond(StreamResponse{.content_type = std::string(content_type_of(call->form)),
                               .stream = std::move(stream).value(),
                               .lifetime = seconds(query->timeout_seconds)});
}

void Objects::create(const CallRef& call) {
  if (call->api->resource.namespaced && call->path.ns.empty()) {
    return refuse(call, bad_request("an object of this kind is created in a namespace"));
  }
  OrStatus<Written> written = written_body(call, "");
  if (auto* status = std::get_if<Status>(&written)) return refuse(call, *status);
  auto& [body, options] = std::get<Written>(written);
  warn_if_only_kept(call, body);
  call->path.name = kube::name_of(body);
  const bool dry = options.dry_run;
  ask(call, kube::Create{std::move(body)}, std::move(options),
      [this, dry](const CallRef& call, hub::Answer& answer) {
        // Served before its creator hears of it.
        if (is_crd(*call->api) && !dry) (void)registry_.put_crd(*answer.object);
        answer_object(call, answer.object, 201, std::move(answer.text));
      });
}

void Objects::update(const CallRef& call, kube::Part part) {
  OrStatus<Written> written = written_body(call, call->path.name);
  if (auto* refusal = std::get_if<Status>(&written)) return refuse(call, *refusal);
  auto& [body, options] = std::get<Written>(written);
  // The real server updates objects of CRDs only as somebody has seen them.
  if (call->api->from_crd && kube::text_at(body, {"metadata", "resourceVersion"}).empty()) {
    Error blind = store::invalid_object(call->api->resource, call->path.name,
                                        {store::invalid_value("metadata.resourceVersion", json::value(0),
                                                              "must be specified for an update")});
    return refuse(call, status_of(blind, call->api->resource, call->path.name));
  }
  kube::Verb verb = kube::Update{};
  if (part == kube::Part::kStatus) {
    verb = kube::UpdateStatus{std::move(body)};
  } else {
    verb = kube::Update{std::move(body), part};
  }
  ask(call, std::move(verb), std::move(options), [](const CallRef& call, hub::Answer& answer) {
    answer_object(call, answer.object, answer.created ? 201 : 200, std::move(answer.text));
  });
}

void Objects::patch(const CallRef& call, kube::Part part) {
  OrStatus<PatchBody> decoded = patch_of_body(call->request, call->api->built_in);
  if (auto* refusal = std::get_if<Status>(&decoded)) return refuse(call, *refusal);
  auto& body = std::get<PatchBody>(decoded);
  Result<kube::WriteOptions> options = write_options_of(*call, body.kind);
  if (!options.ok()) return refuse(call, status_of_query(options.error(), "PatchOptions"));
  if (auto wrong = check_patch(call, body, *options)) return refuse(call, *wrong);
  kube::Patch verb{call->path.name, body.kind, stored_patch(*call->api, body.kind, std::move(body.patch)),
                   part};
  const bool by_its_result = body.kind == kube::PatchKind::kJson || body.kind == kube::PatchKind::kStrategic;
  if (!by_its_result || options->field_validation == "Ignore") {
    return send_patch(call, std::move(verb), *options);
  }
  auto wanted = std::make_shared<kube::Patch>(std::move(verb));
  ask(call, kube::Get{call->path.name}, {},
      [this, wanted, options = *options](const CallRef& call, const hub::Answer& seen) {
        std::vector<std::string> unknown = unknown_after(*call->api, *seen.object, *wanted);
        if (!unknown.empty() && options.field_validation == "Strict") {
          return refuse(call, strict_patch_error(strict_decoding_error(*call->api, unknown)));
        }
        call->warnings.insert(call->warnings.end(), unknown.begin(), unknown.end());
        send_patch(call, std::move(*wanted), options);
      });
}

void Objects::send_patch(const CallRef& call, kube::Patch verb, kube::WriteOptions options) {
  ask(call, std::move(verb), std::move(options), [](const CallRef& call, hub::Answer& answer) {
    answer_object(call, answer.object, answer.created ? 201 : 200, std::move(answer.text));
  });
}

void Objects::remove(const CallRef& call) {
  OrStatus<ObjectBody> body = ObjectBody{};
  if (!call->request.body.empty()) body = object_of_body(call->request);
  if (auto* status = std::get_if<Status>(&body)) return refuse(call, *status);
  Result<DeleteQuery> query = delete_of_query(call->query(), &std::get<ObjectBody>(body).object);
  if (!query.ok()) return refuse(call, status_of_query(query.error(), "DeleteOptions"));
  kube::WriteOptions options{.dry_run = query->dry_run};
  ask(call, kube::Delete{call->path.name, query->options}, options,
      [this, dry = query->dry_run](const CallRef& call, const hub::Answer& answer) {
        const json::object& object = *answer.object;
        if (!is_gone(object) || answers_with_deleted(call->api->resource))
          return answer_object(call, answer.object);
        if (is_crd(*call->api) && !dry) registry_.remove_crd(call->path.name);
        refuse(call, deleted(call->api->resource, call->path.name, kube::uid_of(object)));
      });
}

void Objects::remove_collection(const CallRef& call) {
  OrStatus<ObjectBody> body = ObjectBody{};
  if (!call->request.body.empty()) body = object_of_body(call->request);
  if (auto* status = std::get_if<Status>(&body)) return refuse(call, *status);
  Result<DeleteQuery> query = delete_of_query(call->query(), &std::get<ObjectBody>(body).object);
  if (!query.ok()) return refuse(call, status_of_query(query.error(), "DeleteOptions"));
  Result<kube::LabelSelector> labels = labels_of_query(call->query());
  if (!labels.ok()) return refuse(call, bad_request(labels.error().message));
  Result<kube::FieldSelector> fields = fields_of_query(call->api->resource, call->query());
  if (!fields.ok()) return refuse(call, bad_request(fields.error().message));
  ask(call, kube::DeleteCollection{*labels, *fields, query->options}, {.dry_run = query->dry_run},
      [](const CallRef& call, const hub::Answer& answer) {
        answer_list(call, answer.items, {.revision = answer.revision});
      });
}

}  // namespace trainyard::server
