#include "server/subresources.h"

#include <algorithm>

#include "kube/access.h"
#include "kube/meta.h"
#include "kube/patch.h"
#include "server/body.h"
#include "server/queries.h"
#include "server/scale.h"

namespace trainyard::server {
namespace {

using kube::jview;

constexpr int64_t kTokenSecondsDefault = 3600;
constexpr int64_t kTokenSecondsMin = 600;
constexpr int64_t kTokenSecondsMax = 365 * 24 * 3600;

json::object created_status() { return to_json(Status{.code = 201}); }

// A body is of the kind that its path takes and about the object that its path names, or says neither.
std::optional<Status> misfit(const CallRef& call, const json::object& body, std::string_view kind) {
  const std::string_view given = kube::text_at(body, {"kind"});
  if (!given.empty() && given != kind) {
    return bad_request(fmt::format("the kind in the data ({}) does not match the expected kind ({})",
                                   kube::shown(given), kind));
  }
  const std::string_view name = kube::name_of(body);
  if (!name.empty() && name != call->path.name) {
    return bad_request(fmt::format("the name of the {} ({}) does not match the name on the URL ({})", kind,
                                   kube::shown(name), call->path.name));
  }
  return std::nullopt;
}

// The body of a POST, or nullopt after it was refused.
std::optional<json::object> posted(const CallRef& call, std::string_view kind) {
  if (call->request.method != "POST") {
    refuse(call, method_not_allowed(&call->api->resource, call->request.method));
    return std::nullopt;
  }
  OrStatus<ObjectBody> body = object_of_body(call->request);
  if (auto* status = std::get_if<Status>(&body)) {
    refuse(call, *status);
    return std::nullopt;
  }
  json::object& object = std::get<ObjectBody>(body).object;
  if (auto wrong = misfit(call, object, kind)) {
    refuse(call, *wrong);
    return std::nullopt;
  }
  return std::move(object);
}

}  // namespace

bool Subresources::handle(const CallRef& call) {
  const std::string& name = call->path.subresource;
  const Subresource* known = call->api->subresource(name);
  if (known == nullptr || !call->path.rest.empty()) return false;
  if (name == "status") return objects_.handle_part(call, kube::Part::kStatus), true;
  if (name == "resize") return objects_.handle_part(call, kube::Part::kResize), true;
  if (name == "scale") return scale(call), true;
  if (name == "eviction") return evict(call), true;
  if (name == "finalize") return finalize(call), true;
  if (name == "token") return issue_token(call), true;
  if (name == "ephemeralcontainers") {
    const std::string& method = call->request.method;
    if (method != "GET" && method != "PUT" && method != "PATCH") {
      return refuse(call, method_not_allowed(&call->api->resource, method)), true;
    }
    // The pod, of which the store lets nothing be changed but what may be.
    call->path.subresource.clear();
    return objects_.handle(call), true;
  }
  if (name == "binding") {
    if (std::optional<json::object> binding = posted(call, "Binding")) bind(call, *binding);
    return true;
  }
  return false;
}

Result<json::object> patched_scale(const json::object& scale, kube::PatchKind kind,
                                   const json::value& patch) {
  // A Scale has no lists, so every kind of patch but the list of operations merges.
  Result<json::value> after = kind == kube::PatchKind::kJson ? kube::apply_json_patch(scale, patch)
                                                             : kube::apply_merge_patch(scale, patch);
  if (!after.ok()) return after.error();
  if (!after->is_object()) return Error{ErrorKind::kInvalid, "the patch leaves no object"};
  return std::move(after.value().get_object());
}

void Subresources::scale(const CallRef& call) {
  const std::string& method = call->request.method;
  if (method == "GET") {
    return objects_.get(call, [](const CallRef& call, const hub::Answer& answered) {
      Result<json::object> scale = scale_of(*call->api, *answered.object);
      if (!scale.ok()) return refuse(call, status_of(scale.error(), call->api->resource, call->path.name));
      answer(call, std::move(scale).value());
    });
  }
  if (method == "PUT") {
    OrStatus<ObjectBody> body = object_of_body(call->request);
    if (auto* status = std::get_if<Status>(&body)) return refuse(call, *status);
    json::object& object = std::get<ObjectBody>(body).object;
    if (auto wrong = misfit(call, object, "Scale")) return refuse(call, *wrong);
    return write_scale(call, std::move(object));
  }
  if (method != "PATCH") return refuse(call, method_not_allowed(&call->api->resource, method));
  OrStatus<PatchBody> decoded = patch_of_body(call->request, true);
  if (auto* status = std::get_if<Status>(&decoded)) return refuse(call, *status);
  auto body = std::make_shared<PatchBody>(std::move(std::get<PatchBody>(decoded)));
  objects_.get(call, [this, body](const CallRef& call, const hub::Answer& answered) {
    auto fail = [&](const Error& error) {
      refuse(call, status_of(error, call->api->resource, call->path.name));
    };
    Result<json::object> scale = scale_of(*call->api, *answered.object);
    if (!scale.ok()) return fail(scale.error());
    Result<json::object> after = patched_scale(*scale, body->kind, body->patch);
    if (!after.ok()) return fail(after.error());
    write_scale(call, std::move(after).value());
  });
}

void Subresources::write_scale(const CallRef& call, json::object scale) {
  Result<kube::WriteOptions> options = write_options_of(*call);
  if (!options.ok()) return refuse(call, status_of_query(options.error(), "UpdateOptions"));
  auto wanted = std::make_shared<json::object>(std::move(scale));
  objects_.get(call, [this, wanted, options = *options](const CallRef& call, const hub::Answer& answered) {
    Result<json::object> patch = patch_of_scale(*call->api, *answered.object, *wanted);
    if (!patch.ok()) return refuse(call, status_of(patch.error(), call->api->resource, call->path.name));
    kube::Patch verb{call->path.name, kube::PatchKind::kMerge, std::move(patch).value()};
    objects_.ask(call, std::move(verb), options, [](const CallRef& call, const hub::Answer& written) {
      Result<json::object> scale = scale_of(*call->api, *written.object);
      if (!scale.ok()) return refuse(call, status_of(scale.error(), call->api->resource, call->path.name));
      answer(call, std::move(scale).value());
    });
  });
}

void Subresources::bind(const CallRef& call, const json::object& binding) {
  std::string node(kube::text_at(binding, {"target", "name"}));
  std::string uid(kube::text_at(binding, {"metadata", "uid"}));
  if (node.empty()) return refuse(call, bad_request("target.name: a node is wanted"));
  Result<kube::WriteOptions> options = write_options_of(*call);
  if (!options.ok()) return refuse(call, status_of_query(options.error(), "CreateOptions"));
  objects_.get(call, [this, node, uid, options = *options](const CallRef& call, const hub::Answer& answered) {
    const json::object& pod = *answered.object;
    auto conflict = [&](std::string text) {
      refuse(call, status_of({ErrorKind::kConflict, std::move(text)}, call->api->resource, call->path.name));
    };
    if (!uid.empty() && uid != kube::uid_of(pod)) return conflict("the pod is another one of that name");
    std::string_view there = kube::text_at(pod, {"spec", "nodeName"});
    if (!there.empty())
      return conflict(fmt::format("pod {} is already assigned to node {}", call->path.name, there));
    if (kube::is_deleting(pod)) {
      return conflict(fmt::format("pod {} is being deleted, cannot be assigned to a host", call->path.name));
    }
    if (!kube::or_empty(kube::array_at(pod, {"spec", "schedulingGates"})).empty()) {
      return conflict(fmt::format("pod {} has non-empty .spec.schedulingGates", call->path.name));
    }
    json::object patch{
        {"metadata",
         json::object{{"resourceVersion", jview(kube::text_at(pod, {"metadata", "resourceVersion"}))}}},
        {"spec", json::object{{"nodeName", node}}}};
    kube::Patch verb{call->path.name, kube::PatchKind::kMerge, std::move(patch)};
    objects_.ask(call, std::move(verb), options,
                 [](const CallRef& call, const hub::Answer&) { answer(call, created_status(), 201); });
  });
}

void Subresources::evict(const CallRef& call) {
  std::optional<json::object> eviction = posted(call, "Eviction");
  if (!eviction) return;
  const json::object* given = kube::object_at(*eviction, {"deleteOptions"});
  Result<DeleteQuery> query = delete_of_query(call->query(), given);
  if (!query.ok()) return refuse(call, status_of_query(query.error(), "DeleteOptions"));
  objects_.ask(call, kube::Delete{call->path.name, query->options}, {.dry_run = query->dry_run},
               [](const CallRef& call, const hub::Answer&) { answer(call, created_status(), 201); });
}

void Subresources::finalize(const CallRef& call) {
  if (call->request.method != "PUT")
    return refuse(call, method_not_allowed(&call->api->resource, call->request.method));
  OrStatus<ObjectBody> body = object_of_body(call->request);
  if (auto* status = std::get_if<Status>(&body)) return refuse(call, *status);
  json::object& object = std::get<ObjectBody>(body).object;
  if (auto wrong = fit_to_path(call->api->resource, call->path.ns, call->path.name, object)) {
    return refuse(call, *wrong);
  }
  objects_.ask(
      call, kube::Update{std::move(object)}, {},
      [](const CallRef& call, const hub::Answer& answered) { answer_object(call, answered.object); });
}

void Subresources::issue_token(const CallRef& call) {
  std::optional<json::object> body = posted(call, "TokenRequest");
  if (!body) return;
  int64_t lifetime = kube::int_at(*body, {"spec", "expirationSeconds"}).value_or(kTokenSecondsDefault);
  if (lifetime < kTokenSecondsMin || lifetime > kTokenSecondsMax) {
    return refuse(call, invalid(call->api->resource, call->path.name,
                                "spec.expirationSeconds: at least 10 minutes and at most a year"));
  }
  auto asked = std::make_shared<json::object>(std::move(*body));
  objects_.get(call, [this, asked, lifetime](const CallRef& call, const hub::Answer& answered) {
    Time expires = call->now + seconds(lifetime);
    std::string token =
        tokens_.issue(call->path.ns, call->path.name, kube::uid_of(*answered.object), call->now, expires);
    answer(call, answer_token_request(*asked, token, expires), 201);
  });
}

}  // namespace trainyard::server
