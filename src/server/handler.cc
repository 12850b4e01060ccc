#include "server/handler.h"

#include "base/match.h"
#include "server/patched.h"

namespace trainyard::server {
namespace {

bool is_health(const Route& route) {
  const auto* page = std::get_if<PagePath>(&route);
  return page != nullptr && page->page == Page::kHealth;
}

int code_of(const Outcome& outcome) {
  return std::visit(Match{
                        [](const HttpResponse& response) { return response.status; },
                        [](const StreamResponse&) { return 200; },
                        [](const UpgradeResponse&) { return 101; },
                    },
                    outcome);
}

std::string verb_for_counting(const Call& call, const Route& route) {
  if (std::holds_alternative<PagePath>(route)) return "page";
  const auto& path = std::get<ResourcePath>(route);
  if (!path.subresource.empty() && (call.request.websocket || path.subresource == "log")) return "connect";
  std::string_view verb = verb_of(call.request, path, call.query());
  return verb.empty() ? "other" : std::string(verb);
}

Run or_at_once(Run run) {
  if (run) return run;
  return [](const std::function<void()>& step) { step(); };
}

}  // namespace

Handler::Handler(HandlerOptions options, hub::Hub& hub, Registry& registry, PodAccess* pods)
    : options_(std::move(options)),
      registry_(registry),
      gate_(options_.token, options_.names),
      bodies_(options_.bodies_bytes_max),
      unsent_(options_.unsent_bytes_max),
      lines_(unsent_),
      pages_(registry, hub, counters_, options_.git_version),
      objects_(hub, registry, lines_, options_.clock, or_at_once(options_.run)),
      subresources_(objects_, gate_.tokens()),
      pod_calls_(objects_, pods),
      proxy_calls_(objects_, pods),
      node_metrics_(hub, pods, options_.node_name, or_at_once(options_.run)) {
  shape_patches(hub, registry);
}

void Handler::handle(HttpRequest request, Respond respond, Run run) {
  Result<Uri> uri = parse_target(request.target);
  if (!uri.ok()) {
    counters_.count_request("other", 400);
    return respond(response_of(bad_request(uri.error().message)));
  }
  auto call = std::make_shared<Call>();
  call->request = std::move(request);
  call->uri = std::move(uri).value();
  call->now = options_.clock();
  call->run = or_at_once(std::move(run));
  std::optional<Route> route = route_of(call->uri.segments);
  std::string verb = route ? verb_for_counting(*call, *route) : "other";
  counters_.in_flight += 1;
  call->respond = [this, verb, method = call->request.method, respond = std::move(respond)](Outcome outcome) {
    hold(method, outcome);
    counters_.in_flight -= 1;
    counters_.count_request(verb, code_of(outcome));
    respond(std::move(outcome));
  };
  if (auto wrong = gate_.check_address(call->request)) return refuse(call, *wrong);
  if (route && is_health(*route)) {
    return call->respond(pages_.handle(call->request, std::get<PagePath>(*route)));
  }
  std::optional<User> user = gate_.who(call->request, call->now);
  if (!user) return refuse(call, unauthorized());
  call->user = std::move(*user);
  if (!route) return refuse(call, path_not_found());
  if (counters_.in_flight > options_.in_flight_max) {
    return refuse(call, too_many_requests("too many requests at once, try again", 1));
  }
  admit(call, *route);
}

bool Handler::knows(const HttpRequest& request) const {
  return gate_.who(request, options_.clock()).has_value();
}

OrStatus<Room::Share> Handler::admit_body(const HttpRequest& head, size_t bytes) {
  if (auto wrong = gate_.check_address(head)) return *wrong;
  if (!knows(head)) return unauthorized();
  if (Room::Share share = bodies_.take(bytes)) return share;
  return too_many_requests("too many large requests at once, try again", 1);
}

void Handler::hold(const std::string& method, Outcome& outcome) {
  auto* response = std::get_if<HttpResponse>(&outcome);
  if (response == nullptr || response->body.size() <= kFreeOfRoomBytes) return;
  response->held = unsent_.take(response->body.size());
  if (response->held != nullptr) return;
  // Nothing but a question may simply be asked again.
  const bool asks = method == "GET" || method == "HEAD";
  outcome = response_of(
      asks ? too_many_requests("too much is being sent at once, try again", 1)
           : timeout("there is no room for the answer; what was asked for may have been carried out", 0));
}

void Handler::admit(const CallRef& call, const Route& route) {
  if (const auto* page = std::get_if<PagePath>(&route)) {
    return call->respond(pages_.handle(call->request, *page));
  }
  call->path = std::get<ResourcePath>(route);
  const ResourcePath& path = call->path;
  call->api = registry_.find(path.group, path.version, path.plural);
  if (call->api == nullptr) return refuse(call, path_not_found());
  const kube::Resource& resource = call->api->resource;
  if (!resource.namespaced && !path.ns.empty()) return refuse(call, path_not_found());
  if (resource.namespaced && path.ns.empty() && !path.name.empty()) return refuse(call, path_not_found());
  std::optional<ObjectForm> form = pick_object_form(call->request.header("accept"));
  // A log, a tunnel and what a pod says are whatever they are.
  bool any_form = path.subresource == "log" || path.subresource == "proxy" || call->request.websocket;
  if (!form && !any_form) return refuse(call, not_acceptable(acceptable_types()));
  call->form = form.value_or(ObjectForm{});
  std::optional<IncludeObject> include = include_object_of(call->query().get("includeObject"));
  if (!include) return refuse(call, bad_request("includeObject: None, Metadata or Object is wanted"));
  call->include = *include;
  handle_resource(call);
}

void Handler::handle_resource(const CallRef& call) {
  switch (call->api->backing) {
    case Backing::kReview:
      return review(call);
    case Backing::kMetrics:
      return node_metrics_.handle(call);
    case Backing::kStored:
      break;
  }
  if (call->path.subresource.empty()) return objects_.handle(call);
  if (pod_calls_.handle(call) || proxy_calls_.handle(call) || subresources_.handle(call)) return;
  refuse(call, path_not_found());
}

void Handler::review(const CallRef& call) {
  if (call->request.method != "POST" || !call->path.name.empty()) {
    return refuse(call, method_not_allowed(&call->api->resource, call->request.method));
  }
  OrStatus<ObjectBody> body = object_of_body(call->request);
  if (auto* status = std::get_if<Status>(&body)) return refuse(call, *status);
  json::object& object = std::get<ObjectBody>(body).object;
  if (auto wrong = fit_to_path(call->api->resource, call->path.ns, "", object)) return refuse(call, *wrong);
  if (call->api->resource.kind == "Binding") {
    call->api = registry_.find("", "v1", "pods");
    call->path.plural = "pods";
    call->path.name = kube::name_of(object);
    call->path.subresource = "binding";
    return handle_resource(call);
  }
  auto find_user = [&](std::string_view token) { return gate_.tokens().user_of(token, call->now); };
  Result<json::object> answered =
      answer_review(*call->api, std::move(object), call->user, find_user, call->now);
  if (!answered.ok()) return refuse(call, status_of(answered.error(), call->api->resource, ""));
  answer(call, std::move(answered).value(), 201);
}

}  // namespace trainyard::server
