#include "client/http_core.h"

#include <fmt/format.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>

#include "client/socks.h"
#include "kube/objects.h"

namespace trainyard::client {
namespace {

constexpr int kProbeAfterSeconds = 30;
constexpr int kProbeEverySeconds = 10;
constexpr int kProbesMax = 3;

// A peer that vanished without a word is noticed within a minute, also on a silent watch.
void keep_alive(asio::ip::tcp::socket& socket) {
  error_code ignored;
  socket.set_option(asio::ip::tcp::no_delay(true), ignored);
  socket.set_option(asio::socket_base::keep_alive(true), ignored);
  int fd = socket.native_handle();
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &kProbeAfterSeconds, sizeof kProbeAfterSeconds);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &kProbeEverySeconds, sizeof kProbeEverySeconds);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &kProbesMax, sizeof kProbesMax);
}

bool is_address(const std::string& host) {
  error_code failed;
  asio::ip::make_address(host, failed);
  return !failed;
}

// What may not stand in the name of a header is written as %2F.
std::string as_header_name(std::string_view text) {
  constexpr std::string_view kTaken = "!#$&'*+-.^_`|~";
  std::string name;
  for (char c : text) {
    bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || kTaken.find(c) != std::string_view::npos;
    name += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return name;
}

Result<Done> use_certificate(ssl::context& context, const Identity& identity) {
  if (identity.certificate.empty()) return Done{};
  error_code failed;
  context.use_certificate_chain(asio::buffer(identity.certificate), failed);
  if (failed) return Error{ErrorKind::kForbidden, "the client certificate is not PEM: " + failed.message()};
  context.use_private_key(asio::buffer(identity.key), ssl::context::pem, failed);
  if (failed) return Error{ErrorKind::kForbidden, "the client key does not fit: " + failed.message()};
  return Done{};
}

}  // namespace

std::string told(const error_code& failed, const HttpOptions& options) {
  if (failed == beast::error::timeout) {
    return fmt::format("no answer within {}", format_duration(options.request_timeout));
  }
  if (failed == http::error::end_of_stream || failed == http::error::partial_message ||
      failed == asio::error::eof || failed == ssl::error::stream_truncated) {
    return "the server closed the connection";
  }
  return failed.message();
}

bool Link::is_quiet() {
  char byte = 0;
  ssize_t got = recv(tcp().socket().native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

HttpClient::Core::Core(Access given, HttpOptions chosen, Endpoint to, std::optional<Endpoint> through)
    : access(std::move(given)),
      options(std::move(chosen)),
      server(std::move(to)),
      proxy(std::move(through)),
      credentials(access),
      io(1),
      keep_running(asio::make_work_guard(io)),
      thread([this] { io.run(); }) {}

HttpClient::Core::~Core() {
  io.stop();
  thread.join();
  helpers.join();
}

Error HttpClient::Core::unreachable(const std::string& why) const {
  return {ErrorKind::kUnavailable, fmt::format("cannot reach {} ({}): {}", access.server, access.where, why)};
}

Result<std::shared_ptr<ssl::context>> HttpClient::Core::context_for(const Identity& identity) {
  std::scoped_lock lock(mutex);
  bool same = context != nullptr && identity.certificate == context_identity.certificate &&
              identity.key == context_identity.key;
  if (same) return context;
  auto made = std::make_shared<ssl::context>(ssl::context::tls_client);
  SSL_CTX_set_min_proto_version(made->native_handle(), TLS1_2_VERSION);
  error_code failed;
  made->set_verify_mode(access.insecure ? ssl::verify_none : ssl::verify_peer, failed);
  Result<std::string> ca = credentials.authorities();
  if (!ca.ok()) return ca.error();
  if (ca->empty()) {
    made->set_default_verify_paths(failed);
  } else {
    made->add_certificate_authority(asio::buffer(*ca), failed);
    if (failed) {
      return Error{ErrorKind::kForbidden,
                   fmt::format("{}: the certificate authority is not PEM", access.where)};
    }
  }
  if (Result<Done> used = use_certificate(*made, identity); !used.ok()) {
    return Error{used.error().kind, fmt::format("{}: {}", access.where, used.error().message)};
  }
  context = made;
  context_identity = identity;
  return context;
}

void HttpClient::Core::forget_context() {
  std::scoped_lock lock(mutex);
  context.reset();
}

asio::awaitable<Result<Identity>> HttpClient::Core::identify() {
  auto ask = [this]() -> asio::awaitable<std::optional<Result<Identity>>> {
    co_return credentials.current();
  };
  std::optional<Result<Identity>> answer = co_await asio::co_spawn(helpers, ask, asio::use_awaitable);
  co_return std::move(*answer);
}

asio::awaitable<Result<Done>> HttpClient::Core::dial_tcp(Link& link, const Endpoint& to) {
  asio::ip::tcp::resolver resolver(link.get_executor());
  auto [unresolved, addresses] = co_await resolver.async_resolve(to.host, to.port, kTuple);
  if (unresolved) co_return unreachable(fmt::format("{}: {}", to.host, unresolved.message()));
  link.expires_after(options.connect_timeout);
  auto [failed, address] = co_await link.tcp().async_connect(addresses, kTuple);
  if (failed == beast::error::timeout) {
    co_return unreachable(fmt::format("no connection within {}", format_duration(options.connect_timeout)));
  }
  if (failed) co_return unreachable(failed.message());
  keep_alive(link.tcp().socket());
  co_return Done{};
}

asio::awaitable<Result<Done>> HttpClient::Core::ask_proxy(Link& link) {
  std::string target = authority_of(server);
  http::request<http::empty_body> ask{http::verb::connect, target, 11};
  ask.set(http::field::host, target);
  ask.set(http::field::user_agent, options.user_agent);
  if (!proxy->user_info.empty()) {
    ask.set(http::field::proxy_authorization, "Basic " + kube::encode_base64(proxy->user_info));
  }
  link.expires_after(options.connect_timeout);
  auto [unsent, sent] = co_await http::async_write(link.tcp(), ask, kTuple);
  if (unsent) co_return unreachable(fmt::format("proxy {}: {}", proxy->host, unsent.message()));
  beast::flat_buffer buffer;
  http::response_parser<http::empty_body> parser;
  parser.skip(true);  // the answer to CONNECT has no body, whatever its head says
  auto [unheard, got] = co_await http::async_read_header(link.tcp(), buffer, parser, kTuple);
  if (unheard) co_return unreachable(fmt::format("proxy {}: {}", proxy->host, unheard.message()));
  const unsigned status = parser.get().result_int();
  if (status != 200) co_return unreachable(fmt::format("proxy {} answered {}", proxy->host, status));
  co_return Done{};
}

asio::awaitable<Result<Done>> HttpClient::Core::ask_socks(Link& link) {
  SocksDialogue dialogue(proxy->user_info, server.host, static_cast<uint16_t>(std::stoi(server.port)));
  Result<std::string> words = dialogue.begin();
  link.expires_after(options.connect_timeout);
  while (words.ok()) {
    auto [unsent, sent] = co_await asio::async_write(link.tcp(), asio::buffer(*words), kTuple);
    if (unsent) co_return unreachable(fmt::format("proxy {}: {}", proxy->host, unsent.message()));
    if (dialogue.is_done()) co_return Done{};
    std::string heard(dialogue.wanted(), '\0');
    auto [unheard, got] = co_await asio::async_read(link.tcp(), asio::buffer(heard), kTuple);
    if (unheard) co_return unreachable(fmt::format("proxy {}: {}", proxy->host, unheard.message()));
    words = dialogue.hear(heard);
  }
  co_return unreachable(fmt::format("proxy {}: {}", proxy->host, words.error().message));
}

asio::awaitable<Result<Done>> HttpClient::Core::greet(Link& link) {
  std::string name = access.tls_server_name.empty() ? server.host : access.tls_server_name;
  if (!is_address(name)) SSL_set_tlsext_host_name(link.secure().native_handle(), name.c_str());
  if (!access.insecure) link.secure().set_verify_callback(ssl::host_name_verification(name));
  link.expires_after(options.connect_timeout);
  auto [failed] = co_await link.secure().async_handshake(ssl::stream_base::client, kTuple);
  if (!failed) co_return Done{};
  long verdict = SSL_get_verify_result(link.secure().native_handle());
  if (verdict != X509_V_OK) {
    forget_context();  // its authorities may have been replaced meanwhile
    co_return unreachable(fmt::format("the server's certificate is not trusted for '{}': {}", name,
                                      X509_verify_cert_error_string(verdict)));
  }
  co_return unreachable("TLS: " + failed.message());
}

asio::awaitable<Result<Done>> HttpClient::Core::dial(Link& link) {
  Result<Done> connected = co_await dial_tcp(link, proxy ? *proxy : server);
  if (!connected.ok()) co_return connected;
  if (proxy && proxy->socks) {
    Result<Done> passed = co_await ask_socks(link);
    if (!passed.ok()) co_return passed;
  } else if (proxy) {
    Result<Done> passed = co_await ask_proxy(link);
    if (!passed.ok()) co_return passed;
  }
  if (link.tls()) {
    Result<Done> greeted = co_await greet(link);
    if (!greeted.ok()) co_return greeted;
  }
  co_return Done{};
}

std::string HttpClient::Core::host_header() const {
  std::string host = authority_of(server);
  bool usual = server.port == (server.tls ? "443" : "80");
  return usual ? host.substr(0, host.rfind(':')) : host;
}

HttpRequest HttpClient::Core::request_for(const RawRequest& raw, const Identity& identity) const {
  HttpRequest request;
  request.version(11);
  request.method_string(raw.method);
  request.target(server.path + raw.path);
  request.set(http::field::host, host_header());
  request.set(http::field::user_agent, options.user_agent);
  request.set(http::field::accept, "application/json");
  if (!identity.token.empty()) request.set(http::field::authorization, "Bearer " + identity.token);
  if (!access.as_user.empty()) request.set("Impersonate-User", access.as_user);
  if (!access.as_uid.empty()) request.set("Impersonate-Uid", access.as_uid);
  for (const std::string& group : access.as_groups) request.insert("Impersonate-Group", group);
  for (const auto& [name, value] : access.as_extra) {
    request.insert("Impersonate-Extra-" + as_header_name(name), value);
  }
  for (const auto& [name, value] : raw.headers) request.set(name, value);
  request.body() = raw.body;
  request.prepare_payload();
  return request;
}

std::unique_ptr<Link> HttpClient::Core::take_idle(const std::shared_ptr<ssl::context>& wanted) {
  std::scoped_lock lock(mutex);
  auto now = std::chrono::steady_clock::now();
  while (!idle.empty()) {
    Idle last = std::move(idle.back());
    idle.pop_back();
    bool usable = now - last.since < options.idle_time_max && last.link->context() == wanted;
    if (usable && last.link->is_quiet()) return std::move(last.link);
  }
  return nullptr;
}

void HttpClient::Core::give_back(std::unique_ptr<Link> link) {
  std::scoped_lock lock(mutex);
  if (static_cast<int>(idle.size()) >= options.idle_connections_max) return;
  link->expires_never();
  idle.push_back({std::move(link), std::chrono::steady_clock::now()});
}

}  // namespace trainyard::client
