#include "server/proxy_calls.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>

#include "kube/access.h"
#include "kube/selector.h"
#include "server/proxy_http.h"

namespace trainyard::server {
namespace {

constexpr size_t kProxyThreads = 4;
constexpr size_t kProxyWaitingMax = 100;
constexpr std::chrono::seconds kProxyPatience{30};

// Waits until the socket is ready; false when time is up or we go.
bool await_socket(int socket, short events, int stop, std::chrono::steady_clock::time_point until) {
  while (true) {
    auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    pollfd fds[] = {{socket, events, 0}, {stop, POLLIN, 0}};
    int ready = ::poll(fds, 2, static_cast<int>(left.count()));
    if (ready < 0 && errno == EINTR) continue;
    return ready > 0 && fds[1].revents == 0;
  }
}

// The first pod that a service selects and that runs; null for none.
const json::object* pod_behind(const json::object& service, const std::vector<ObjectRef>& pods) {
  const json::object* selector = kube::object_at(service, {"spec", "selector"});
  if (selector == nullptr || selector->empty()) return nullptr;
  for (const ObjectRef& pod : pods) {
    bool fits = kube::text_at(*pod, {"status", "phase"}) == "Running" && !kube::is_deleting(*pod);
    for (const auto& label : *selector) {
      bool same = label.value().is_string() &&
                  kube::label_of(*pod, kube::view(label.key())) == kube::view(label.value().get_string());
      fits = fits && same;
    }
    if (fits) return pod.get();
  }
  return nullptr;
}

}  // namespace

ProxyCalls::ProxyCalls(Objects& objects, PodAccess* pods)
    : objects_(objects),
      pods_(pods),
      stop_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      threads_(kProxyThreads, kProxyWaitingMax) {}

// What waits is answered all the same: at once, with an error.
ProxyCalls::~ProxyCalls() {
  uint64_t one = 1;
  [[maybe_unused]] ssize_t n = ::write(stop_.get(), &one, sizeof one);
}

bool ProxyCalls::handle(const CallRef& call) {
  const std::string& plural = call->path.plural;
  bool ours = call->path.group.empty() && (plural == "pods" || plural == "services") &&
              call->path.subresource == "proxy";
  if (!ours) return false;
  if (pods_ == nullptr) return refuse(call, unavailable("no node runs pods here")), true;
  if (call->request.websocket || !call->request.header("upgrade").empty())
    return refuse(call, bad_request("an upgrade is not proxied: use port-forward")), true;
  Result<ProxyTarget> target = proxy_target_of(call->path.name);
  if (!target.ok()) return refuse(call, bad_request(target.error().message)), true;
  if (path_behind_proxy(call->request.target, plural).empty()) {
    HttpResponse moved{.status = 301, .headers = {{"Location", call->request.target + "/"}}};
    return answer(call, std::move(moved)), true;
  }
  call->path.name = target->name;
  objects_.get(call, [this, port = target->port](const CallRef& call, const hub::Answer& answered) {
    if (call->path.plural == "services") return to_service(call, *answered.object, port);
    to_pod(call, *answered.object, port);
  });
  return true;
}

void ProxyCalls::to_service(const CallRef& call, const json::object& service, const std::string& port) {
  std::optional<std::string> target = service_target_port(service, port);
  if (!target) {
    return refuse(call, unavailable(fmt::format("no port \"{}\" of service \"{}\"", kube::shown(port),
                                                call->path.name)));
  }
  objects_.list_of(call, kube::kPods,
                   [this, kept = std::make_shared<json::object>(service), target = *target](
                       const CallRef& call, const hub::Answer& answered) {
                     const json::object* pod = pod_behind(*kept, answered.items);
                     if (pod != nullptr) return to_pod(call, *pod, target);
                     refuse(call, unavailable(fmt::format("no pod of service \"{}\" runs", call->path.name)));
                   });
}

void ProxyCalls::to_pod(const CallRef& call, const json::object& pod, std::string_view port) {
  std::optional<int> number = pod_port_of(pod, port);
  if (!number) return refuse(call, bad_request(fmt::format("no port \"{}\" in the pod", kube::shown(port))));
  const json::array* containers = kube::array_at(pod, {"spec", "containers"});
  PodRef ref{std::string(kube::namespace_of(pod)), std::string(kube::name_of(pod)),
             std::string(kube::uid_of(pod)), ""};
  // A port is the pod's; whichever container is asked about it gives the same.
  if (containers != nullptr && !containers->empty() && containers->front().is_object())
    ref.container = kube::text_at(containers->front().get_object(), {"name"});
  if (!threads_.submit([this, call, ref, number = *number] { exchange(call, ref, number); })) {
    refuse(call, too_many_requests("too many proxied requests", 1));
  }
}

void ProxyCalls::exchange(const CallRef& call, const PodRef& pod, int port) {
  auto failed = [&](std::string_view why) {
    refuse(call,
           unavailable(fmt::format("error trying to reach pod \"{}\" at port {}: {}", pod.name, port, why)));
  };
  Result<Fd> socket = pods_->connect(pod, port);
  if (!socket.ok()) return failed(socket.error().message);
  auto until = std::chrono::steady_clock::now() + kProxyPatience;
  std::string_view path = path_behind_proxy(call->request.target, call->path.plural);
  std::string request = proxied_request(call->request, path, fmt::format("{}:{}", pod.name, port));
  for (size_t sent = 0; sent < request.size();) {
    if (!await_socket(socket->get(), POLLOUT, stop_.get(), until)) return failed("it takes too long");
    ssize_t n =
        ::send(socket->get(), request.data() + sent, request.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && errno != EAGAIN && errno != EINTR) return failed(std::strerror(errno));
    if (n > 0) sent += static_cast<size_t>(n);
  }
  std::string bytes;
  while (true) {
    if (!await_socket(socket->get(), POLLIN, stop_.get(), until)) return failed("it takes too long");
    char buffer[64 << 10];
    ssize_t n = ::recv(socket->get(), buffer, sizeof buffer, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (n > 0) bytes.append(buffer, static_cast<size_t>(n));
    if (bytes.size() > kProxiedBytesMax) return failed("its answer is too long");
    Result<std::optional<HttpResponse>> response =
        proxied_response(bytes, n <= 0, call->request.method == "HEAD");
    if (!response.ok()) return failed(response.error().message);
    if (response->has_value()) return call->respond(std::move(*response.value()));
  }
}

}  // namespace trainyard::server
