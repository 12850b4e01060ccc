#include "server/connection.h"

#include <fmt/format.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket/rfc6455.hpp>

#include "base/match.h"
#include "server/call.h"
#include "server/status.h"
#include "server/text.h"
#include "server/websocket.h"

namespace trainyard::server {
namespace {

namespace net = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;

constexpr Duration kLinger{1'000};            // for a client that is still sending what we refused
constexpr size_t kLingerBytesMax = 16 << 20;  // and how much of it

std::string_view view(beast::string_view text) { return {text.data(), text.size()}; }

HttpRequest request_of(const BeastRequest& from, bool client_certificate) {
  HttpRequest request;
  request.method = view(from.method_string());
  request.target = view(from.target());
  for (const auto& field : from) {
    request.headers.push_back({std::string(view(field.name_string())), std::string(view(field.value()))});
  }
  request.body = from.body();
  request.client_certificate = client_certificate;
  request.websocket = beast::websocket::is_upgrade(from);
  return request;
}

// What a request that could not be read is told; nullopt when nobody listens any more.
std::optional<Status> status_of_failure(const beast::error_code& error) {
  if (error == http::error::body_limit) return body_too_large(kBodyBytesMax);
  if (error == http::error::header_limit) {
    return Status{.code = 431, .reason = "BadRequest", .message = "the header is too large"};
  }
  if (error == http::error::end_of_stream || error == http::error::partial_message) return std::nullopt;
  if (error.category() == http::make_error_code(http::error::bad_method).category()) {
    return bad_request("not an HTTP request: " + error.message());
  }
  return std::nullopt;
}

class Connection final : public LiveConnection, public std::enable_shared_from_this<Connection> {
 public:
  Connection(net::ip::tcp::socket socket, net::ssl::context& tls, Handler& handler,
             const ServerLimits& limits)
      : executor_(socket.get_executor()),
        stream_(std::move(socket), tls),
        wake_(executor_),
        handler_(handler),
        limits_(limits) {
    buffer_.reserve(kStreamChunkBytes);
  }

  void start(std::function<void()> done) {
    handler_.counters().open_connections += 1;
    net::co_spawn(
        executor_, [self = shared_from_this()] { return self->run(); },
        [self = shared_from_this(), done = std::move(done)](const std::exception_ptr&) {
          self->handler_.counters().open_connections -= 1;
          done();
        });
  }

  void stop() override {
    net::post(executor_, [self = shared_from_this()] {
      self->stopping_ = true;
      if (self->websocket_ != nullptr) return self->websocket_->stop();
      if (self->reading_) self->lowest().close();
      self->wake_up();
    });
  }

 private:
  using Tcp = beast::tcp_stream;
  Tcp& lowest() { return beast::get_lowest_layer(stream_); }

  net::awaitable<void> run() {
    lowest().expires_after(limits_.handshake);
    reading_ = true;
    auto [error] = co_await stream_.async_handshake(net::ssl::stream_base::server, kTuple);
    reading_ = false;
    if (error) co_return;
    certificate_ = shows_certificate();
    while (!stopping_) {
      if (!co_await serve_one()) break;
    }
    if (websocket_ == nullptr) lowest().close();
  }

  // Whether the client has shown one that our authority signed: any other ended the handshake.
  bool shows_certificate() {
    SSL* ssl = stream_.native_handle();
    X509* shown = SSL_get1_peer_certificate(ssl);
    X509_free(shown);
    return shown != nullptr && SSL_get_verify_result(ssl) == X509_V_OK;
  }

  // One request and its answer; false when the connection is of no more use.
  net::awaitable<bool> serve_one() {
    http::request_parser<http::string_body> parser;
    parser.header_limit(kHeaderBytesMax);
    parser.body_limit(kBodyBytesMax);
    reading_ = true;
    beast::error_code error = co_await read(parser);
    reading_ = false;
    if (error) {
      if (std::optional<Status> status = status_of_failure(error)) co_await refuse_and_linger(*status);
      co_return false;
    }
    if (stopping_) co_return false;
    Outcome outcome = co_await handled(request_of(parser.get(), certificate_));
    bool keep = parser.get().keep_alive();
    if (auto* response = std::get_if<HttpResponse>(&outcome)) {
      co_return co_await write(std::move(*response), keep, parser.get().method() == http::verb::head) && keep;
    }
    if (auto* streaming = std::get_if<StreamResponse>(&outcome)) {
      co_await stream(std::move(*streaming));
    } else {
      co_await tunnel(parser.release(), std::move(std::get<UpgradeResponse>(outcome)));
    }
    co_return false;
  }

  net::awaitable<beast::error_code> read(http::request_parser<http::string_body>& parser) {
    if (buffer_.size() == 0) {
      lowest().expires_after(limits_.idle);
      auto [error, count] = co_await stream_.async_read_some(buffer_.prepare(kStreamChunkBytes), kTuple);
      if (error) co_return http::error::end_of_stream;
      buffer_.commit(count);
    }
    lowest().expires_after(limits_.header);
    auto [header_error, header_bytes] = co_await http::async_read_header(stream_, buffer_, parser, kTuple);
    if (header_error) co_return header_error;
    lowest().expires_after(limits_.body);
    if (beast::iequals(parser.get()[http::field::expect], "100-continue")) {
      static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
      auto [error, count] = co_await net::async_write(stream_, net::buffer(kContinue), kTuple);
      if (error) co_return error;
    }
    auto [error, bytes] = co_await http::async_read(stream_, buffer_, parser, kTuple);
    co_return error;
  }

  // Waits on the strand for the handler, wherever it answers.
  net::awaitable<Outcome> handled(HttpRequest request) {
    auto initiate = [this](auto completion, HttpRequest&& request) {
      auto shared = std::make_shared<decltype(completion)>(std::move(completion));
      handler_.handle(std::move(request), [shared, executor = executor_](Outcome outcome) {
        net::dispatch(executor, [shared, outcome = std::move(outcome)]() mutable {
          std::move (*shared)(std::move(outcome));
        });
      });
    };
    co_return co_await net::async_initiate<const net::use_awaitable_t<>, void(Outcome)>(
        initiate, net::use_awaitable, std::move(request));
  }

  net::awaitable<bool> write(HttpResponse from, bool keep, bool head) {
    http::response<http::string_body> response{static_cast<http::status>(from.status), 11};
    if (from.status != 304) response.set(http::field::content_type, from.content_type);
    response.set("X-Content-Type-Options", "nosniff");
    for (const Header& header : from.headers) response.insert(header.name, header.value);
    response.keep_alive(keep && !stopping_);
    response.body() = head ? "" : std::move(from.body);
    if (from.status != 304) response.prepare_payload();
    lowest().expires_after(limits_.write);
    auto [error, count] = co_await http::async_write(stream_, response, kTuple);
    co_return !error;
  }

  // Reads a little of what is still being sent, so that the refusal is seen before the reset.
  net::awaitable<void> refuse_and_linger(const Status& status) {
    if (!co_await write(response_of(status), false, false)) co_return;
    lowest().expires_after(kLinger);
    size_t total = 0;
    while (total < kLingerBytesMax && !stopping_) {
      buffer_.clear();
      auto [error, count] = co_await stream_.async_read_some(buffer_.prepare(kStreamChunkBytes), kTuple);
      if (error) co_return;
      total += count;
    }
  }

  net::awaitable<void> stream(StreamResponse from) {
    handler_.counters().open_streams += 1;
    http::response<http::empty_body> response{http::status::ok, 11};
    response.set(http::field::content_type, from.content_type);
    response.set(http::field::cache_control, "no-cache, private");
    response.set("X-Content-Type-Options", "nosniff");
    response.keep_alive(false);
    response.chunked(true);
    http::response_serializer<http::empty_body> serializer{response};
    lowest().expires_after(limits_.write);
    auto [error, count] = co_await http::async_write_header(stream_, serializer, kTuple);
    if (!error) {
      watch_for_leaving();
      co_await pump(from);
    }
    from.stream->on_ready({});
    handler_.counters().open_streams -= 1;
  }

  net::awaitable<void> pump(StreamResponse& from) {
    // The strand's own objects must outlive a late call from the stream's thread.
    from.stream->on_ready([weak = weak_from_this(), executor = executor_] {
      net::post(executor, [weak] {
        if (auto self = weak.lock()) self->wake_up();
      });
    });
    auto end = std::chrono::steady_clock::now() + from.lifetime.value_or(std::chrono::hours{24 * 365});
    while (!peer_left_) {
      ready_ = false;
      std::string chunk;
      Stream::State state = from.stream->pull(chunk);
      bool over = stopping_ || std::chrono::steady_clock::now() >= end;
      if (!chunk.empty() && !co_await write_chunk(chunk)) co_return;
      if (state == Stream::State::kBroken) co_return;
      if (state == Stream::State::kEnded || (over && chunk.empty())) co_return co_await end_stream();
      if (chunk.empty()) co_await wait_for_more(from.stream->poll_every(), end);
    }
  }

  net::awaitable<bool> write_chunk(const std::string& chunk) {
    lowest().expires_after(limits_.write);
    auto [error, count] = co_await net::async_write(stream_, http::make_chunk(net::buffer(chunk)), kTuple);
    co_return !error;
  }

  net::awaitable<void> end_stream() {
    lowest().expires_after(limits_.write);
    auto [error, count] = co_await net::async_write(stream_, http::make_chunk_last(), kTuple);
    if (error) co_return;
    beast::error_code ignored;
    lowest().socket().shutdown(net::ip::tcp::socket::shutdown_send, ignored);
    // The client closes when it has read the end.
    auto end = std::chrono::steady_clock::now() + kLinger;
    while (!peer_left_ && std::chrono::steady_clock::now() < end) {
      ready_ = false;
      co_await wait_for_more(Duration{0}, end);
    }
  }

  net::awaitable<void> wait_for_more(Duration poll, std::chrono::steady_clock::time_point end) {
    if (ready_) co_return;
    auto until = end;
    if (poll.count() > 0) until = std::min(until, std::chrono::steady_clock::now() + poll);
    wake_.expires_at(until);
    (void)co_await wake_.async_wait(kTuple);
  }

  void wake_up() {
    ready_ = true;
    wake_.cancel();
  }

  // A client that reads a stream says nothing; when reading fails it is gone.
  void watch_for_leaving() {
    lowest().expires_never();
    buffer_.clear();
    stream_.async_read_some(buffer_.prepare(kStreamChunkBytes),
                            [self = shared_from_this()](const beast::error_code& error, size_t) {
                              if (!error && !self->stopping_) return self->watch_for_leaving();
                              if (error) self->peer_left_ = true;
                              self->wake_up();
                            });
  }

  net::awaitable<void> tunnel(BeastRequest request, UpgradeResponse upgrade) {
    handler_.counters().open_tunnels += 1;
    lowest().expires_never();
    websocket_ = websocket_session(std::move(stream_), std::move(upgrade));
    co_await websocket_->run(std::move(request));
    handler_.counters().open_tunnels -= 1;
  }

  // Fixed.
  net::any_io_executor executor_;
  TlsStream stream_;
  net::steady_timer wake_;
  Handler& handler_;
  const ServerLimits& limits_;
  // State.
  beast::flat_buffer buffer_;
  bool certificate_ = false;
  bool reading_ = false;  // nothing is being answered: it may be closed at any time
  bool stopping_ = false;
  bool ready_ = false;  // the stream may have more
  bool peer_left_ = false;
  std::shared_ptr<WebSocketSession> websocket_;
};

}  // namespace

std::shared_ptr<LiveConnection> serve(net::ip::tcp::socket socket, net::ssl::context& tls, Handler& handler,
                                      const ServerLimits& limits, std::function<void()> done) {
  auto connection = std::make_shared<Connection>(std::move(socket), tls, handler, limits);
  connection->start(std::move(done));
  return connection;
}

}  // namespace trainyard::server
