#include "node/checks.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>

#include "kube/access.h"
#include "node/grpc_health.h"

namespace trainyard::node {

using kube::text_at;

namespace {

constexpr size_t kWordsMax = 1024;
constexpr size_t kReplyMax = 64 * 1024;  // of what a port answers

std::string request_of(const json::object& http, int port) {
  std::string path(text_at(http, {"path"}));
  if (path.empty()) path = "/";
  if (!path.starts_with('/')) path.insert(0, "/");
  std::string host(text_at(http, {"host"}));
  if (host.empty()) host = fmt::format("127.0.0.1:{}", port);
  std::string headers;
  if (const json::array* list = kube::array_at(http, {"httpHeaders"})) {
    for (const json::value& entry : *list) {
      if (!entry.is_object()) continue;
      std::string_view name = text_at(entry.get_object(), {"name"});
      std::string_view value = text_at(entry.get_object(), {"value"});
      if (name == "Host") {
        host = value;
      } else {
        headers += fmt::format("{}: {}\r\n", name, value);
      }
    }
  }
  return fmt::format(
      "GET {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: kube-probe/trainyard\r\nAccept: */*\r\n"
      "Connection: close\r\n{}\r\n",
      path, host, headers);
}

void append_some(int fd, std::string& to) {
  char buffer[4096];
  for (ssize_t n = 0; fd >= 0 && (n = ::read(fd, buffer, sizeof buffer)) > 0;) {
    if (to.size() < kWordsMax) to.append(buffer, static_cast<size_t>(n));
  }
}

std::vector<std::string> command_of(const json::object& exec) {
  std::vector<std::string> argv;
  if (const json::array* words = kube::array_at(exec, {"command"})) {
    for (const json::value& word : *words) {
      if (word.is_string()) argv.emplace_back(kube::view(word.get_string()));
    }
  }
  return argv;
}

}  // namespace

std::optional<int> probe_port(const json::object& where, const json::object& container) {
  const json::value* port = kube::find(where, {"port"});
  if (port == nullptr) return std::nullopt;
  if (std::optional<int64_t> number = kube::as_whole(*port)) return static_cast<int>(*number);
  if (!port->is_string()) return std::nullopt;
  std::string_view name = kube::view(port->get_string());
  const json::array* ports = kube::array_at(container, {"ports"});
  for (const json::value& entry : kube::or_empty(ports)) {
    if (!entry.is_object() || text_at(entry.get_object(), {"name"}) != name) continue;
    std::optional<int64_t> number = kube::int_at(entry.get_object(), {"containerPort"});
    if (number) return static_cast<int>(*number);
  }
  int number = 0;
  auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return number;
}

std::optional<int> http_status_of(std::string_view reply) {
  size_t end = reply.find("\r\n");
  if (end == std::string_view::npos) return std::nullopt;
  size_t space = reply.find(' ');
  if (!reply.starts_with("HTTP/1.") || space == std::string_view::npos || space + 4 > end) return 0;
  int status = 0;
  std::from_chars(reply.data() + space + 1, reply.data() + space + 4, status);
  return status;
}

void Checks::begin(const ContainerId& id, const RunCheck& check, const json::object& container,
                   Runtime& runtime, Time now) {
  UnderWay& under_way = under_way_.emplace_back();
  under_way.result.id = id;
  under_way.result.kind = check.kind;
  under_way.deadline = now + check.timeout;
  if (const json::object* exec = kube::object_at(check.what, {"exec"})) {
    Result<std::unique_ptr<ExecProcess>> started = runtime.exec(id, {command_of(*exec), false, false});
    if (started.ok()) {
      under_way.command = std::move(started).value();
    } else {
      under_way.decided = true;
      under_way.result.words = started.error().message;
    }
  } else if (const json::object* http = kube::object_at(check.what, {"httpGet"})) {
    begin_http(under_way, *http, container, runtime);
  } else if (const json::object* nap = kube::object_at(check.what, {"sleep"})) {
    under_way.sleeps = true;
    under_way.deadline =
        std::min(under_way.deadline, now + seconds(kube::int_at(*nap, {"seconds"}).value_or(0)));
  } else {
    begin_port(under_way, check.what, container, runtime);
  }
}

void Checks::begin_port(UnderWay& check, const json::object& what, const json::object& container,
                        Runtime& runtime) {
  const json::object* grpc = kube::object_at(what, {"grpc"});
  const json::object* where = grpc != nullptr ? grpc : kube::object_at(what, {"tcpSocket"});
  std::optional<int> port = where != nullptr ? probe_port(*where, container) : std::nullopt;
  Result<Fd> socket =
      port ? runtime.connect(check.result.id.pod_uid, *port) : Error{ErrorKind::kInvalid, "no port"};
  if (!socket.ok()) {
    check.decided = true;
    check.result.words = socket.error().message;
  } else if (grpc != nullptr) {
    check.grpc = true;
    check.socket = std::move(socket).value();
    check.request = grpc_health_request(text_at(*grpc, {"service"}), fmt::format("127.0.0.1:{}", *port));
  } else {
    check.decided = true;
    check.result.ok = true;
  }
}

void Checks::begin_http(UnderWay& check, const json::object& http, const json::object& container,
                        Runtime& runtime) {
  std::optional<int> port = probe_port(http, container);
  Result<Fd> socket = port ? runtime.connect(check.result.id.pod_uid, *port)
                           : Error{ErrorKind::kInvalid, "the port is not one of the container's"};
  if (!socket.ok()) {
    check.decided = true;
    check.result.words = fmt::format("Get \"http://:{}{}\": {}", port.value_or(0), text_at(http, {"path"}),
                                     socket.error().message);
    return;
  }
  check.socket = std::move(socket).value();
  if (text_at(http, {"scheme"}) == "HTTPS") {
    check.tls = std::make_unique<transport::TlsLink>(check.socket.get());
  }
  check.request = request_of(http, *port);
}

void Checks::add_to(std::vector<pollfd>& fds) const {
  for (const UnderWay& check : under_way_) {
    if (check.command) fds.push_back({check.command->exited.get(), POLLIN, 0});
    if (check.socket.valid()) {
      short wants = check.request.empty() ? POLLIN : POLLOUT;
      fds.push_back({check.socket.get(), check.tls ? check.tls->wants() : wants, 0});
    }
  }
}

void Checks::progress_command(UnderWay& check) {
  append_some(check.command->out.get(), check.reply);
  append_some(check.command->err.get(), check.reply);
  std::optional<int> code = check.command->exit_code();
  if (!code) return;
  check.decided = true;
  check.result.ok = *code == 0;
  if (!check.result.ok) {
    check.result.words = check.reply.empty() ? fmt::format("command exited with {}", *code) : check.reply;
  }
}

void Checks::progress_http(UnderWay& check) {
  if (!check.request.empty()) {
    const std::string& request = check.request;
    ssize_t n = check.tls ? check.tls->send(request)
                          : ::send(check.socket.get(), request.data(), request.size(), MSG_NOSIGNAL);
    if (n > 0) check.request.erase(0, static_cast<size_t>(n));
    if (n < 0 && errno != EAGAIN && errno != EINTR) {
      check.decided = true;
      check.result.words = check.tls ? check.tls->why() : "EOF";
    }
    if (check.decided || !check.request.empty()) return;
  }
  // All that is there: TLS may hold some of it back from who asks the socket.
  while (!check.decided) {
    char buffer[4096];
    ssize_t n = check.tls ? check.tls->receive(buffer, sizeof buffer)
                          : ::recv(check.socket.get(), buffer, sizeof buffer, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n > 0) check.reply.append(buffer, static_cast<size_t>(n));
    judge_reply(check, n <= 0 || check.reply.size() > kReplyMax);
  }
}

// `ended`: nothing more will come.
void Checks::judge_reply(UnderWay& check, bool ended) {
  if (check.grpc) {
    std::optional<GrpcVerdict> verdict = grpc_health_verdict(check.reply, ended);
    check.decided = verdict.has_value() || ended;
    if (verdict) check.result.ok = verdict->serving;
    if (verdict) check.result.words = verdict->words;
    return;
  }
  std::optional<int> status = http_status_of(check.reply);
  check.decided = status || ended;
  // A hook has been told when it answers, whatever it answers.
  const bool is_hook = check.result.kind == CheckKind::kPostStart || check.result.kind == CheckKind::kPreStop;
  check.result.ok = status && (is_hook ? *status > 0 : *status >= 200 && *status < 400);
  if (check.decided && !check.result.ok) {
    check.result.words = status ? fmt::format("HTTP probe failed with statuscode: {}", *status) : "EOF";
  }
}

std::vector<CheckResult> Checks::poll(Time now) {
  std::vector<CheckResult> ended;
  for (auto it = under_way_.begin(); it != under_way_.end();) {
    if (!it->decided && it->command) progress_command(*it);
    if (!it->decided && it->socket.valid()) progress_http(*it);
    if (!it->decided && it->deadline <= now) {
      it->decided = true;
      it->result.ok = it->sleeps;
      if (!it->sleeps) it->result.words = "timed out";
    }
    if (!it->decided) {
      ++it;
      continue;
    }
    ended.push_back(std::move(it->result));
    it = under_way_.erase(it);
  }
  return ended;
}

std::optional<Time> Checks::deadline() const {
  std::optional<Time> first;
  for (const UnderWay& check : under_way_) {
    Time due = check.decided ? Time{} : check.deadline;
    if (!first || due < *first) first = due;
  }
  return first;
}

void Checks::drop(const std::string& pod_uid) {
  under_way_.remove_if([&](const UnderWay& check) { return check.result.id.pod_uid == pod_uid; });
}

}  // namespace trainyard::node
