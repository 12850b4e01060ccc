#include "cli/operator_http.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cstring>
#include <vector>

namespace trainyard::cli {
namespace {

constexpr size_t kRequestMax = 16 * 1024;
constexpr size_t kCallersMax = 64;
constexpr std::chrono::seconds kPatience{10};
using Clock = std::chrono::steady_clock;

// One connection: first the request comes in, then the answer goes out.
struct Caller {
  Fd socket;
  std::string request;
  std::string answer;
  size_t sent = 0;
  Clock::time_point until;
  bool over = false;
};

std::string_view words_of(int status) {
  if (status == 200) return "OK";
  if (status == 404) return "Not Found";
  return status == 405 ? "Method Not Allowed" : "Service Unavailable";
}

std::string as_answer(const Page& page, bool with_body) {
  return fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}", page.status,
      words_of(page.status), page.type, page.body.size(), with_body ? page.body : "");
}

std::string answer_to(const std::string& request, const OperatorHttp::Answer& answer) {
  bool head = request.starts_with("HEAD ");
  if (!head && !request.starts_with("GET ")) return as_answer({405, "only GET\n"}, true);
  std::string_view path = std::string_view(request).substr(head ? 5 : 4);
  path = path.substr(0, path.find_first_of(" ?\r\n"));
  return as_answer(answer(path), !head);
}

void hear(Caller& caller, const OperatorHttp::Answer& answer) {
  char bytes[4096];
  ssize_t got = ::recv(caller.socket.get(), bytes, sizeof bytes, 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0 || caller.request.size() > kRequestMax) {
    caller.over = true;
    return;
  }
  caller.request.append(bytes, static_cast<size_t>(got));
  if (caller.request.find("\r\n\r\n") != std::string::npos) caller.answer = answer_to(caller.request, answer);
}

void speak(Caller& caller) {
  ssize_t gone = ::send(caller.socket.get(), caller.answer.data() + caller.sent,
                        caller.answer.size() - caller.sent, MSG_NOSIGNAL);
  if (gone < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (gone > 0) caller.sent += static_cast<size_t>(gone);
  caller.over = gone <= 0 || caller.sent == caller.answer.size();
}

Error no_listener(const ListenAddress& address, const std::string& why) {
  return {ErrorKind::kUnavailable, fmt::format("cannot listen on {}:{}: {}",
                                               address.host.empty() ? "*" : address.host, address.port, why)};
}

Result<Fd> listen_on(const ListenAddress& address) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  std::string port = std::to_string(address.port);
  int failed =
      ::getaddrinfo(address.host.empty() ? nullptr : address.host.c_str(), port.c_str(), &hints, &found);
  if (failed != 0) return no_listener(address, ::gai_strerror(failed));
  std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> addresses(found, ::freeaddrinfo);
  std::string why = "no address";
  // "Every address" is one socket that takes both families, where there are both.
  std::vector<const addrinfo*> tries;
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    tries.insert(one->ai_family == AF_INET6 ? tries.begin() : tries.end(), one);
  }
  for (const addrinfo* one : tries) {
    Fd socket(::socket(one->ai_family, one->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, one->ai_protocol));
    int yes = 1;
    int no = 0;
    ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (one->ai_family == AF_INET6) ::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
    if (socket.valid() && ::bind(socket.get(), one->ai_addr, one->ai_addrlen) == 0 &&
        ::listen(socket.get(), 16) == 0) {
      return socket;
    }
    why = std::strerror(errno);
  }
  return no_listener(address, why);
}

int port_of(int socket) {
  sockaddr_storage address = {};
  socklen_t size = sizeof address;
  ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
  char port[NI_MAXSERV] = "0";
  ::getnameinfo(reinterpret_cast<sockaddr*>(&address), size, nullptr, 0, port, sizeof port, NI_NUMERICSERV);
  return std::atoi(port);
}

}  // namespace

Result<ListenAddress> read_listen_address(std::string_view text) {
  size_t colon = text.rfind(':');
  ListenAddress address;
  std::string_view port = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  auto [end, failed] = std::from_chars(port.data(), port.data() + port.size(), address.port);
  bool whole = !port.empty() && failed == std::errc{} && end == port.data() + port.size();
  if (!whole || address.port < 0 || address.port > 65535) {
    return Error{ErrorKind::kInvalid,
                 fmt::format("'{}' is no address such as :8080 or 127.0.0.1:8080", text)};
  }
  std::string_view host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  address.host = host;
  return address;
}

Result<std::unique_ptr<OperatorHttp>> OperatorHttp::start(std::string_view address, Answer answer) {
  Result<ListenAddress> where = read_listen_address(address);
  if (!where.ok()) return where.error();
  Result<Fd> listener = listen_on(*where);
  if (!listener.ok()) return listener.error();
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return no_listener(*where, std::strerror(errno));
  std::unique_ptr<OperatorHttp> made(new OperatorHttp);
  made->answer_ = std::move(answer);
  made->listener_ = std::move(listener).value();
  made->stop_read_ = Fd(ends[0]);
  made->stop_write_ = Fd(ends[1]);
  made->port_ = port_of(made->listener_.get());
  made->thread_ = std::thread([self = made.get()] { self->run(); });
  return made;
}

OperatorHttp::~OperatorHttp() {
  stop_write_.reset();
  if (thread_.joinable()) thread_.join();
}

void OperatorHttp::run() {
  std::vector<Caller> callers;
  while (true) {
    std::vector<pollfd> polled = {
        {stop_read_.get(), POLLIN, 0},
        {listener_.get(), static_cast<short>(callers.size() < kCallersMax ? POLLIN : 0), 0}};
    for (const Caller& caller : callers) {
      polled.push_back(
          {caller.socket.get(), static_cast<short>(caller.answer.empty() ? POLLIN : POLLOUT), 0});
    }
    ::poll(polled.data(), polled.size(), callers.empty() ? -1 : 1000);
    if (polled[0].revents != 0) return;
    for (size_t i = 0; i < callers.size(); ++i) {
      if (polled[i + 2].revents == 0) continue;
      if (callers[i].answer.empty()) {
        hear(callers[i], answer_);
      } else {
        speak(callers[i]);
      }
    }
    Clock::time_point now = Clock::now();
    std::erase_if(callers, [&](const Caller& caller) { return caller.over || now > caller.until; });
    if (polled[1].revents == 0) continue;
    Fd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket.valid()) continue;
    callers.emplace_back();
    callers.back().socket = std::move(socket);
    callers.back().until = now + kPatience;
  }
}

}  // namespace trainyard::cli
