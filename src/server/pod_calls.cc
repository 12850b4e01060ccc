#include "server/pod_calls.h"

#include "kube/access.h"
#include "server/exec_tunnel.h"
#include "server/forward_tunnel.h"
#include "server/log_stream.h"
#include "server/pod_queries.h"
#include "server/spdy_tunnel.h"
#include "server/text.h"

namespace trainyard::server {
namespace {

constexpr size_t kCommandThreads = 16;
constexpr size_t kOtherThreads = 8;
constexpr size_t kCallsWaitingMax = 64;

PodRef ref_of(const json::object& pod, std::string container) {
  return {.ns = std::string(kube::namespace_of(pod)),
          .name = std::string(kube::name_of(pod)),
          .uid = std::string(kube::uid_of(pod)),
          .container = std::move(container)};
}

std::string first_container(const json::object& pod) {
  const json::array* containers = kube::array_at(pod, {"spec", "containers"});
  if (containers == nullptr || containers->empty() || !containers->front().is_object()) return "";
  return std::string(kube::text_at(containers->front().get_object(), {"name"}));
}

// What is wrong with a question about a pod is a bad request, not an invalid object.
Status pod_status(const Call& call, const Error& error) {
  if (error.kind == ErrorKind::kInvalid) return bad_request(error.message);
  return status_of(error, call.api->resource, call.path.name);
}

// The node does not know every pod: those that it has not been given have no containers yet.
bool is_not_begun(const json::object& pod) {
  std::string_view phase = kube::text_at(pod, {"status", "phase"});
  return phase == "Pending" || phase.empty();
}

Status too_many_calls() { return too_many_requests("too many requests wait for the node, try again", 1); }

Status waiting_to_start(const PodRef& pod) {
  return bad_request(fmt::format("container \"{}\" in pod \"{}\" is waiting to start: ContainerCreating",
                                 pod.container, pod.name));
}

// `is_new`: the pod has not begun.
Status no_log(const Call& call, const PodRef& ref, bool is_new, const Error& error) {
  if (is_new && error.kind == ErrorKind::kNotFound) return waiting_to_start(ref);
  return pod_status(call, error);
}

// Why nobody can go into a container. The pod itself was found.
Status not_inside(const Call& call, const PodRef& ref, bool is_new, const Error& error) {
  if (error.kind != ErrorKind::kNotFound) return pod_status(call, error);
  return is_new ? waiting_to_start(ref) : bad_request(error.message);
}

// Why a request that wants a tunnel cannot have one; nullopt when it is a WebSocket.
std::optional<Status> check_websocket(const CallRef& call) {
  if (call->request.websocket) return std::nullopt;
  if (!call->request.header("upgrade").empty()) {
    return bad_request(
        fmt::format("an upgrade to {} is not served: use a client that speaks WebSocket, such as "
                    "kubectl 1.31 or later",
                    kube::shown(call->request.header("upgrade"))));
  }
  return bad_request("Upgrade request required");
}

// What the pod's status says against going into the container, for who cannot have a tunnel anyway: kubectl
// asks again for SPDY when a WebSocket is refused, and shows what it is told then.
std::optional<Status> check_container(const json::object& pod, const PodRef& ref) {
  for (std::string_view list : {"containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"}) {
    for (const json::value& entry : kube::or_empty(kube::array_at(pod, {"status", list}))) {
      const json::object* status = entry.if_object();
      if (status == nullptr || kube::text_at(*status, {"name"}) != ref.container) continue;
      if (kube::object_at(*status, {"state", "running"}) != nullptr) return std::nullopt;
      if (is_not_begun(pod)) return waiting_to_start(ref);
      return bad_request(
          fmt::format("container {} of pod {}/{} does not run", ref.container, ref.ns, ref.name));
    }
  }
  return std::nullopt;
}

std::optional<Status> check_running(const json::object& pod) {
  std::string_view phase = kube::text_at(pod, {"status", "phase"});
  if (phase != "Succeeded" && phase != "Failed") return std::nullopt;
  return bad_request(
      fmt::format("cannot exec into a container in a completed pod; current phase is {}", phase));
}

}  // namespace

PodCalls::PodCalls(Objects& objects, PodAccess* pods)
    : objects_(objects),
      pods_(pods),
      commands_(kCommandThreads, kCallsWaitingMax),
      others_(kOtherThreads, kCallsWaitingMax) {}

bool PodCalls::handle(const CallRef& call) {
  if (!call->path.group.empty() || call->path.plural != "pods" || !call->path.rest.empty()) return false;
  const std::string& name = call->path.subresource;
  bool ours = name == "log" || name == "exec" || name == "attach" || name == "portforward";
  if (!ours) return false;
  if (pods_ == nullptr) return refuse(call, unavailable("no node runs pods here")), true;
  bool fits = call->request.method == "GET" || (name != "log" && call->request.method == "POST");
  if (!fits) return refuse(call, method_not_allowed(&call->api->resource, call->request.method)), true;
  if (name == "log") return log(call), true;
  if (name == "portforward") return port_forward(call), true;
  return exec(call, name == "attach"), true;
}

void PodCalls::log(const CallRef& call) {
  Result<LogQuery> query = log_of_query(call->query(), call->now);
  if (!query.ok()) return refuse(call, bad_request(query.error().message));
  objects_.get(call, [this, query = *query](const CallRef& call, const hub::Answer& answered) {
    const json::object& pod = *answered.object;
    Result<std::string> container = container_of(pod, call->query().get("container"));
    if (!container.ok()) return refuse(call, bad_request(container.error().message));
    PodRef ref = ref_of(pod, *container);
    auto open = [this, call, ref, query, is_new = is_not_begun(pod)] {
      Result<std::unique_ptr<LogReader>> reader = pods_->logs(ref, query);
      if (!reader.ok()) return refuse(call, no_log(*call, ref, is_new, reader.error()));
      call->respond(StreamResponse{.content_type = "text/plain; charset=utf-8",
                                   .stream = log_stream(std::move(reader).value())});
    };
    if (!others_.submit(std::move(open))) refuse(call, too_many_calls());
  });
}

void PodCalls::exec(const CallRef& call, bool attach) {
  Result<ExecQuery> query = exec_of_query(call->query(), attach);
  if (!query.ok()) return refuse(call, bad_request(query.error().message));
  std::optional<ChosenChannel> channel = pick_channel(call->request.header("sec-websocket-protocol"));
  objects_.get(call, [this, query = *query, channel](const CallRef& call, const hub::Answer& answered) {
    const json::object& pod = *answered.object;
    Result<std::string> container = container_of(pod, call->query().get("container"));
    if (!container.ok()) return refuse(call, bad_request(container.error().message));
    if (std::optional<Status> wrong = check_running(pod)) return refuse(call, *wrong);
    PodRef ref = ref_of(pod, *container);
    if (std::optional<Status> no_tunnel = check_websocket(call)) {
      return refuse(call, check_container(pod, ref).value_or(*no_tunnel));
    }
    if (!channel) return refuse(call, bad_request("v5.channel.k8s.io or v4.channel.k8s.io must be offered"));
    auto begin = [this, call, ref, query, channel = *channel, is_new = is_not_begun(pod)] {
      Result<std::unique_ptr<ExecSession>> session = pods_->exec(ref, query);
      if (!session.ok()) return refuse(call, not_inside(*call, ref, is_new, session.error()));
      call->respond(UpgradeResponse{.subprotocol = channel.name,
                                    .tunnel = exec_tunnel(std::move(session).value(), channel.protocol)});
    };
    if (!commands_.submit(std::move(begin))) refuse(call, too_many_calls());
  });
}

void PodCalls::port_forward(const CallRef& call) {
  std::string_view offered = call->request.header("sec-websocket-protocol");
  bool tunnelled = offers(offered, kTunnelledPortForward);
  std::optional<ChosenChannel> channel = pick_channel(offered);
  Result<std::vector<int>> ports = std::vector<int>();
  if (!tunnelled && channel) ports = ports_of_query(call->query());
  if (!ports.ok()) return refuse(call, bad_request(ports.error().message));
  objects_.get(call, [this, tunnelled, channel, ports = *ports](const CallRef& call,
                                                                const hub::Answer& answered) {
    const json::object& pod = *answered.object;
    if (std::optional<Status> wrong = check_running(pod)) return refuse(call, *wrong);
    if (std::optional<Status> no_tunnel = check_websocket(call)) return refuse(call, *no_tunnel);
    if (!tunnelled && !channel) {
      return refuse(call, bad_request("SPDY/3.1+portforward.k8s.io or v4.channel.k8s.io must be offered"));
    }
    // A port is the pod's; whichever container is asked about it gives the same.
    Result<std::string> container = container_of(pod, "");
    PodRef ref = ref_of(pod, container.ok() ? *container : first_container(pod));
    Connect connect = connect_to(std::move(ref));
    if (tunnelled) {
      return call->respond(
          UpgradeResponse{std::string(kTunnelledPortForward), spdy_tunnel(std::move(connect))});
    }
    call->respond(UpgradeResponse{channel->name, forward_tunnel(std::move(connect), ports)});
  });
}

Connect PodCalls::connect_to(PodRef pod) {
  return [this, pod = std::move(pod)](int port, const Connected& connected) {
    auto connect = [this, pod, port, connected] { connected(pods_->connect(pod, port)); };
    if (others_.submit(std::move(connect))) return;
    connected(Error{ErrorKind::kUnavailable, "too many connections are being made"});
  };
}

}  // namespace trainyard::server
