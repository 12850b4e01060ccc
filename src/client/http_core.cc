#include "client/http_core.h"

#include <fmt/format.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>

#include "base/check.h"
#include "client/socks.h"
#include "kube/objects.h"
#include "transport/connect.h"

namespace trainyard::client {
namespace {

constexpr size_t kHeadBytes = 160;  // about what the head of a request takes besides what all have in common
constexpr int kProbeAfterSeconds = 30;
constexpr int kProbeEverySeconds = 10;
constexpr int kProbesMax = 3;

// A peer that vanished without a word is noticed within a minute, also on a silent watch.
void keep_alive(Socket& socket) {
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

// Whom the other side must be.
void expect_name(SSL* ssl, const std::string& name, bool anybody) {
  if (!is_address(name)) SSL_set_tlsext_host_name(ssl, name.c_str());
  if (anybody) return;
  X509_VERIFY_PARAM* wanted = SSL_get0_param(ssl);
  X509_VERIFY_PARAM_set_hostflags(wanted, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  CHECK((is_address(name) ? X509_VERIFY_PARAM_set1_ip_asc(wanted, name.c_str())
                          : X509_VERIFY_PARAM_set1_host(wanted, name.c_str(), name.size())) == 1);
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

// What a proxy means by 407.
std::string_view unwelcome(std::string_view user_info) {
  return user_info.empty() ? ": it wants a user and a password, as in https://user:password@host:port"
                           : ": it does not take the user and the password that its URL names";
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

Link::Link(asio::io_context& io, std::shared_ptr<Contexts> contexts, bool tls)
    : contexts_(std::move(contexts)), tls_(tls), plain_(io), deadline_(io.get_executor(), [this] {
        expired_ = true;
        close();
      }) {}

TlsStream& Link::secure(ssl::context& context) {
  if (!secured_) return secured_.emplace(std::move(plain_), context, TlsStream::Side::kClient);
  secured_->enter(context);
  return *secured_;
}

error_code Link::cause_of(const error_code& failed) const {
  return failed && expired_ ? error_code(beast::error::timeout) : failed;
}

void Link::close() {
  if (secured_) return secured_->close();
  error_code ignored;
  plain_.close(ignored);
}

bool Link::is_quiet() {
  if (buffer_.size() > 0 || (secured_ && secured_->has_pending())) return false;
  char byte = 0;
  ssize_t got = recv(socket().native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

Awaitable<error_code> Link::write(std::string_view bytes) {
  while (!secured_ && !bytes.empty()) {
    auto [failed, sent] = co_await plain_.async_write_some(asio::buffer(bytes), kTuple);
    if (failed) co_return cause_of(failed);
    bytes.remove_prefix(sent);
  }
  while (!bytes.empty()) {
    TlsStream::Tried tried = secured_->try_write(bytes.data(), bytes.size());
    if (tried.error) co_return cause_of(tried.error);
    bytes.remove_prefix(tried.bytes);
    if (tried.want == TlsStream::Want::kNothing) continue;
    auto [failed] = co_await secured_->async_wait(tried.want, kTuple);
    if (failed) co_return cause_of(failed);
  }
  co_return error_code{};
}

Awaitable<error_code> Link::read_more() {
  asio::mutable_buffer into = buffer_.prepare(transport::kTlsRecordBytes);
  if (!secured_) {
    auto [failed, got] = co_await plain_.async_read_some(into, kTuple);
    buffer_.commit(got);
    co_return cause_of(failed);
  }
  // What has come is read at once; else to wait first saves a try for every answer, which never is there yet.
  if (!secured_->has_pending()) {
    auto [failed] = co_await secured_->async_wait(TlsStream::Want::kToRead, kTuple);
    if (failed) co_return cause_of(failed);
  }
  while (true) {
    TlsStream::Tried tried = secured_->try_read(into.data(), into.size());
    if (tried.want == TlsStream::Want::kNothing) {
      buffer_.commit(tried.bytes);
      co_return cause_of(tried.error);
    }
    auto [failed] = co_await secured_->async_wait(tried.want, kTuple);
    if (failed) co_return cause_of(failed);
  }
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

Result<Done> HttpClient::Core::prepare(ssl::context& made, const Identity& identity,
                                       bool trusts_system) const {
  SSL_CTX_set_min_proto_version(made.native_handle(), TLS1_2_VERSION);
  // An authority that is named is trusted for itself, also where another has signed it: so kubectl has it.
  X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(made.native_handle()), X509_V_FLAG_PARTIAL_CHAIN);
  error_code failed;
  made.set_verify_mode(access.insecure ? ssl::verify_none : ssl::verify_peer, failed);
  Result<std::string> ca = credentials.authorities();
  if (!ca.ok()) return ca.error();
  if (trusts_system || ca->empty()) made.set_default_verify_paths(failed);
  if (!ca->empty()) {
    made.add_certificate_authority(asio::buffer(*ca), failed);
    if (failed) {
      return Error{ErrorKind::kForbidden,
                   fmt::format("{}: the certificate authority is not PEM", access.where)};
    }
  }
  if (Result<Done> used = use_certificate(made, identity); !used.ok()) {
    return Error{used.error().kind, fmt::format("{}: {}", access.where, used.error().message)};
  }
  return Done{};
}

Result<std::shared_ptr<Contexts>> HttpClient::Core::contexts_for(const Identity& identity) {
  std::scoped_lock lock(mutex);
  bool same = contexts != nullptr && identity.certificate == contexts_identity.certificate &&
              identity.key == contexts_identity.key;
  if (same) return contexts;
  auto made = std::make_shared<Contexts>();
  if (Result<Done> done = prepare(made->server, identity, false); !done.ok()) return done.error();
  if (proxy && proxy->tls) {
    made->proxy.emplace(ssl::context::tls_client);
    if (Result<Done> done = prepare(*made->proxy, identity, true); !done.ok()) return done.error();
  }
  contexts = made;
  contexts_identity = identity;
  return contexts;
}

void HttpClient::Core::forget_contexts() {
  std::scoped_lock lock(mutex);
  contexts.reset();
}

Awaitable<Result<Identity>> HttpClient::Core::identify() {
  using Answer = std::optional<Result<Identity>>;
  auto ask = [this]() -> asio::awaitable<Answer, asio::thread_pool::executor_type> {
    co_return credentials.current();
  };
  Answer answer = co_await asio::co_spawn(helpers, ask, asio::use_awaitable_t<Io>{});
  co_return std::move(*answer);
}

Awaitable<Result<Done>> HttpClient::Core::dial_tcp(Link& link, const Endpoint& to) {
  asio::ip::tcp::resolver resolver(link.get_executor());
  auto [unresolved, addresses] = co_await resolver.async_resolve(to.host, to.port, kTuple);
  if (unresolved) co_return unreachable(fmt::format("{}: {}", to.host, unresolved.message()));
  std::vector<asio::ip::tcp::endpoint> endpoints;
  for (const auto& address : addresses) endpoints.push_back(address.endpoint());
  error_code failed =
      co_await transport::connect_to_any(link.socket(), std::move(endpoints), options.connect_timeout);
  if (failed == asio::error::timed_out) {
    co_return unreachable(fmt::format("no connection within {}", format_duration(options.connect_timeout)));
  }
  if (failed) co_return unreachable(failed.message());
  keep_alive(link.socket());
  co_return Done{};
}

Awaitable<Result<Done>> HttpClient::Core::ask_proxy(Link& link) {
  std::string target = authority_of(server);
  std::string ask =
      fmt::format("CONNECT {0} HTTP/1.1\r\nHost: {0}\r\nUser-Agent: {1}\r\n", target, options.user_agent);
  if (!proxy->user_info.empty()) {
    ask += fmt::format("Proxy-Authorization: Basic {}\r\n", kube::encode_base64(proxy->user_info));
  }
  link.expires_after(options.connect_timeout);
  error_code unsent = co_await link.write(ask + "\r\n");
  if (unsent) co_return unreachable(fmt::format("proxy {}: {}", proxy->host, unsent.message()));
  http::response_parser<http::empty_body> parser;
  parser.skip(true);  // the answer to CONNECT has no body, whatever its head says
  error_code unheard = co_await read_whole(link, parser);
  if (unheard) co_return unreachable(fmt::format("proxy {}: {}", proxy->host, unheard.message()));
  const unsigned status = parser.get().result_int();
  if (status == 200) co_return Done{};
  co_return unreachable(fmt::format("proxy {} answered {}{}", proxy->host, status,
                                    status == 407 ? unwelcome(proxy->user_info) : ""));
}

Awaitable<Result<Done>> HttpClient::Core::ask_socks(Link& link) {
  SocksDialogue dialogue(proxy->user_info, server.host, static_cast<uint16_t>(std::stoi(server.port)));
  Result<std::string> words = dialogue.begin();
  link.expires_after(options.connect_timeout);
  while (words.ok()) {
    error_code unsent = co_await link.write(*words);
    if (unsent) co_return unreachable(fmt::format("proxy {}: {}", proxy->host, unsent.message()));
    if (dialogue.is_done()) co_return Done{};
    std::string heard(dialogue.wanted(), '\0');
    auto [unheard, got] = co_await asio::async_read(link.socket(), asio::buffer(heard), kTuple);
    if (unheard) {
      co_return unreachable(fmt::format("proxy {}: {}", proxy->host, link.cause_of(unheard).message()));
    }
    words = dialogue.hear(heard);
  }
  co_return unreachable(fmt::format("proxy {}: {}", proxy->host, words.error().message));
}

Awaitable<Result<Done>> HttpClient::Core::greet(Link& link, ssl::context& context, std::string name,
                                                std::string_view who) {
  TlsStream& stream = link.secure(context);
  expect_name(stream.native_handle(), name, access.insecure);
  link.expires_after(options.connect_timeout);
  TlsStream::Tried tried = stream.try_handshake();
  while (tried.want != TlsStream::Want::kNothing) {
    auto [failed] = co_await stream.async_wait(tried.want, kTuple);
    if (failed)
      co_return unreachable(fmt::format("TLS with the {}: {}", who, link.cause_of(failed).message()));
    tried = stream.try_handshake();
  }
  if (!tried.error) co_return Done{};
  long verdict = SSL_get_verify_result(stream.native_handle());
  if (verdict != X509_V_OK) {
    forget_contexts();  // their authorities may have been replaced meanwhile
    co_return unreachable(fmt::format("the {}'s certificate is not trusted for '{}': {}", who, name,
                                      X509_verify_cert_error_string(verdict)));
  }
  co_return unreachable(fmt::format("TLS with the {}: {}", who, tried.error.message()));
}

Awaitable<Result<Done>> HttpClient::Core::reach_proxy(Link& link) {
  Result<Done> connected = co_await dial_tcp(link, *proxy);
  if (!connected.ok()) co_return connected;
  if (proxy->socks) co_return co_await ask_socks(link);
  if (proxy->tls) {
    Result<Done> greeted = co_await greet(link, *link.contexts()->proxy, proxy->host, "proxy");
    if (!greeted.ok()) co_return greeted;
  }
  co_return co_await ask_proxy(link);
}

Awaitable<Result<Done>> HttpClient::Core::dial(Link& link) {
  if (proxy) {
    Result<Done> reached = co_await reach_proxy(link);
    if (!reached.ok()) co_return reached;
  } else {
    Result<Done> connected = co_await dial_tcp(link, server);
    if (!connected.ok()) co_return connected;
  }
  if (!link.tls()) co_return Done{};
  std::string name = access.tls_server_name.empty() ? server.host : access.tls_server_name;
  co_return co_await greet(link, link.contexts()->server, name, "server");
}

std::string HttpClient::Core::host_header() const {
  std::string host = authority_of(server);
  bool usual = server.port == (server.tls ? "443" : "80");
  return usual ? host.substr(0, host.rfind(':')) : host;
}

void HttpClient::Core::tell_own_headers(const RawRequest& raw, const HeaderSink& tell) {
  auto names_it = [](const auto& header) { return beast::iequals(header.first, "Accept"); };
  if (std::ranges::none_of(raw.headers, names_it)) tell("Accept", "application/json");
  for (const auto& [name, value] : raw.headers) tell(name, value);
}

void HttpClient::Core::tell_who_asks(const Identity& identity, const HeaderSink& tell) const {
  tell("User-Agent", options.user_agent);
  if (!identity.token.empty()) tell("Authorization", "Bearer " + identity.token);
  if (!access.as_user.empty()) tell("Impersonate-User", access.as_user);
  if (!access.as_uid.empty()) tell("Impersonate-Uid", access.as_uid);
  for (const std::string& group : access.as_groups) tell("Impersonate-Group", group);
  for (const auto& [name, value] : access.as_extra) tell("Impersonate-Extra-" + as_header_name(name), value);
}

void HttpClient::Core::tell_headers(const RawRequest& raw, const Identity& identity,
                                    const HeaderSink& tell) const {
  tell_who_asks(identity, tell);
  tell_own_headers(raw, tell);
}

const std::string& HttpClient::Core::head_of_all(const Identity& identity) {
  if (head.empty() || identity.token != head_token) {
    head = fmt::format(" HTTP/1.1\r\nHost: {}\r\n", host_header());
    tell_who_asks(identity, [&](std::string_view name, std::string_view value) {
      head.append(name).append(": ").append(value).append("\r\n");
    });
    head_token = identity.token;
  }
  return head;
}

std::string HttpClient::Core::text_of(const RawRequest& raw, const Identity& identity) {
  const std::string& common = head_of_all(identity);
  std::string text;
  text.reserve(kHeadBytes + common.size() + raw.path.size() + raw.body.size());
  text.append(raw.method).append(1, ' ').append(server.path).append(raw.path).append(common);
  tell_own_headers(raw, [&](std::string_view name, std::string_view value) {
    text.append(name).append(": ").append(value).append("\r\n");
  });
  if (!raw.body.empty() || raw.method != "GET")
    text.append("Content-Length: ").append(std::to_string(raw.body.size())).append("\r\n");
  return text.append("\r\n").append(raw.body);
}

std::unique_ptr<Link> HttpClient::Core::take_idle(const std::shared_ptr<Contexts>& wanted) {
  std::scoped_lock lock(mutex);
  auto now = std::chrono::steady_clock::now();
  while (!idle.empty()) {
    Idle last = std::move(idle.back());
    idle.pop_back();
    bool usable = now - last.since < options.idle_time_max && last.link->contexts() == wanted;
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
