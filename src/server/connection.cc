#include "server/connection.h"

#include <fmt/format.h>

#include <atomic>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket/rfc6455.hpp>

#include "base/match.h"
#include "server/call.h"
#include "server/heap_room.h"
#include "server/status.h"
#include "server/text.h"
#include "server/websocket.h"
#include "transport/deadline.h"

namespace trainyard::server {
namespace {

namespace net = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;

constexpr Duration kLinger{1'000};            // for a client that is still sending what we refused
constexpr size_t kLingerBytesMax = 16 << 20;  // and how much of it
constexpr size_t kHeadBytes = 256;            // about what the header of an answer takes
constexpr size_t kReadAtOnceMax = transport::kTlsRecordBytes;
constexpr size_t kWrittenAtOnceMax = kFreeOfRoomBytes;  // larger ones are not copied behind their header

std::string_view view(beast::string_view text) { return {text.data(), text.size()}; }

// Without its body.
HttpRequest head_of_request(const BeastRequest& from, bool client_certificate) {
  HttpRequest request;
  request.method = view(from.method_string());
  request.target = view(from.target());
  for (const auto& field : from) {
    request.headers.push_back({std::string(view(field.name_string())), std::string(view(field.value()))});
  }
  request.client_certificate = client_certificate;
  request.websocket = beast::websocket::is_upgrade(from);
  return request;
}

// Takes the body out of it.
HttpRequest request_of(BeastRequest& from, bool client_certificate) {
  HttpRequest request = head_of_request(from, client_certificate);
  request.body = std::move(from.body());
  return request;
}

std::string head_of(const HttpResponse& response, bool keep) {
  const bool has_body = response.status != 304;
  std::string head;
  head.reserve(kHeadBytes + (response.body.size() > kWrittenAtOnceMax ? 0 : response.body.size()));
  auto out = std::back_inserter(head);
  fmt::format_to(out, "HTTP/1.1 {} {}\r\n", response.status,
                 view(http::obsolete_reason(static_cast<http::status>(response.status))));
  if (has_body) fmt::format_to(out, "Content-Type: {}\r\n", response.content_type);
  head += "X-Content-Type-Options: nosniff\r\n";
  for (const Header& header : response.headers) {
    fmt::format_to(out, "{}: {}\r\n", header.name, header.value);
  }
  if (!keep) head += "Connection: close\r\n";
  if (has_body) fmt::format_to(out, "Content-Length: {}\r\n", response.body.size());
  return head += "\r\n";
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

// Whether where the body ends is not for us to know. Somebody in front of us may think otherwise.
bool is_coded(const http::request_parser<http::string_body>& parser) {
  return parser.get().count(http::field::transfer_encoding) > 0 && !parser.chunked();
}

class Connection final : public LiveConnection, public std::enable_shared_from_this<Connection> {
 public:
  Connection(Socket socket, net::ssl::context& tls, Handler& handler, const ServerLimits& limits)
      : executor_(socket.get_executor()),
        stream_(std::move(socket), tls, TlsStream::Side::kServer),
        deadline_(executor_, [this] { close(); }),
        wake_(executor_),
        handler_(handler),
        limits_(limits) {}

  void start(std::function<void()> done) {
    handler_.counters().open_connections += 1;
    net::co_spawn(
        executor_, [self = shared_from_this()] { return self->run(); },
        [self = shared_from_this(), done = std::move(done)](const std::exception_ptr&) {
          self->handler_.counters().open_connections -= 1;
          done();
        });
  }

  bool is_known() const override { return known_; }

  void cut() override {
    net::post(executor_, [self = shared_from_this()] {
      if (self->websocket_ != nullptr) return self->websocket_->stop();
      self->stopping_ = true;
      self->close();
      self->wake_up();
    });
  }

  void stop() override {
    net::post(executor_, [self = shared_from_this()] {
      self->stopping_ = true;
      if (self->websocket_ != nullptr) return self->websocket_->stop();
      if (self->reading_) self->close();
      self->wake_up();
    });
  }

 private:
  using Want = TlsStream::Want;

  void close() { stream_.close(); }

  Awaitable<void> run() {
    reading_ = true;
    bool is_safe = co_await shake_hands();
    reading_ = false;
    if (is_safe) {
      certificate_ = shows_certificate();
      while (!stopping_) {
        if (!co_await serve_one()) break;
      }
    }
    deadline_.clear();
    if (websocket_ == nullptr) close();
  }

  Awaitable<bool> shake_hands() {
    deadline_.set(limits_.handshake);
    while (true) {
      TlsStream::Tried tried = stream_.try_handshake();
      if (tried.want == Want::kNothing) co_return !tried.error;
      auto [error] = co_await stream_.async_wait(tried.want, kTuple);
      if (error) co_return false;
    }
  }

  // Whether the client has shown one that our authority signed: any other ended the handshake.
  bool shows_certificate() {
    SSL* ssl = stream_.native_handle();
    X509* shown = SSL_get1_peer_certificate(ssl);
    X509_free(shown);
    return shown != nullptr && SSL_get_verify_result(ssl) == X509_V_OK;
  }

  // One request and its answer; false when the connection is of no more use.
  Awaitable<bool> serve_one() {
    http::request_parser<http::string_body> parser;
    parser.header_limit(kHeaderBytesMax);
    parser.body_limit(kBodyBytesMax);
    parser.eager(true);
    reading_ = true;
    beast::error_code error = co_await read(parser);
    reading_ = false;
    if (error) {
      std::optional<Status> status = refused_ ? refused_ : status_of_failure(error);
      if (status) co_await refuse_and_linger(*status);
      co_return false;
    }
    if (is_coded(parser)) {
      co_await refuse_and_linger(bad_request("the Transfer-Encoding is not supported"));
      co_return false;
    }
    deadline_.clear();  // for as long as it takes to answer
    keep_heap_room();
    if (stopping_) co_return false;
    HttpRequest request = request_of(parser.get(), certificate_);
    if (!known_) known_ = handler_.knows(request);
    Outcome outcome = co_await handled(std::move(request));
    body_share_.reset();
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

  // Most requests come whole: then there is one deadline, that of the wait for their first byte.
  Awaitable<beast::error_code> read(http::request_parser<http::string_body>& parser) {
    bool has_begun = buffer_.size() > 0;
    bool is_in_header = false;
    bool is_in_body = false;
    if (!has_begun) deadline_.set(known_ ? limits_.idle : limits_.stranger);
    while (true) {
      beast::error_code error;
      if (buffer_.size() > 0) buffer_.consume(parser.put(buffer_.data(), error));
      if (error && error != http::error::need_more) co_return error;
      if (parser.is_done()) co_return beast::error_code();
      if (has_begun && !std::exchange(is_in_header, has_begun)) deadline_.set(limits_.header);
      if (parser.is_header_done() && !std::exchange(is_in_body, true)) {
        deadline_.set(limits_.body);
        refused_ = refusal_of_body(parser);
        if (refused_) co_return http::error::body_limit;
        static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
        bool is_wanted = beast::iequals(parser.get()[http::field::expect], "100-continue");
        if (is_wanted && !co_await write_all(kContinue)) co_return http::error::end_of_stream;
      }
      if (!co_await read_some()) {
        co_return has_begun ? http::error::partial_message : http::error::end_of_stream;
      }
      has_begun = true;
    }
  }

  // A large body is read when it is known whose it is and that there is room for it.
  std::optional<Status> refusal_of_body(const http::request_parser<http::string_body>& parser) {
    const uint64_t told = parser.content_length().value_or(0);
    const size_t bytes = parser.chunked() ? kBodyBytesMax : static_cast<size_t>(told);
    if (bytes <= kFreeOfRoomBytes) return std::nullopt;
    auto admitted = handler_.admit_body(head_of_request(parser.get(), certificate_), bytes);
    if (auto* status = std::get_if<Status>(&admitted)) return std::move(*status);
    body_share_ = std::move(std::get<Room::Share>(admitted));
    return std::nullopt;
  }

  // Appends to the buffer what has come, at least a byte; false when the client is gone.
  Awaitable<bool> read_some() {
    // What has not come yet is not asked for in vain.
    Want want = stream_.has_pending() ? Want::kNothing : Want::kToRead;
    while (true) {
      if (want != Want::kNothing) {
        auto [error] = co_await stream_.async_wait(want, kTuple);
        if (error) co_return false;
      }
      auto space = buffer_.prepare(kReadAtOnceMax);
      TlsStream::Tried tried = stream_.try_read(space.data(), space.size());
      buffer_.commit(tried.bytes);
      if (tried.want == Want::kNothing) co_return !tried.error;
      want = tried.want;
    }
  }

  Awaitable<bool> write_all(std::string_view text) {
    bool waits = false;
    while (!text.empty()) {
      TlsStream::Tried tried = stream_.try_write(text.data(), text.size());
      if (tried.error) co_return false;
      text.remove_prefix(tried.bytes);
      if (tried.want == Want::kNothing) continue;
      if (!std::exchange(waits, true)) deadline_.set(limits_.write);
      auto [error] = co_await stream_.async_wait(tried.want, kTuple);
      if (error) co_return false;
    }
    co_return true;
  }

  // Waits on its thread for the handler, wherever it answers.
  Awaitable<Outcome> handled(HttpRequest request) {
    auto initiate = [this](auto completion, HttpRequest&& request) {
      auto shared = std::make_shared<decltype(completion)>(std::move(completion));
      auto respond = [shared, executor = executor_](Outcome outcome) {
        net::dispatch(executor, [shared, outcome = std::move(outcome)]() mutable {
          std::move (*shared)(std::move(outcome));
        });
      };
      auto run = [executor = executor_](std::function<void()> step) {
        net::dispatch(executor, std::move(step));
      };
      handler_.handle(std::move(request), std::move(respond), std::move(run));
    };
    using Token = net::use_awaitable_t<Io>;
    Token token;
    co_return co_await net::async_initiate<Token, void(Outcome)>(initiate, token, std::move(request));
  }

  Awaitable<bool> write(HttpResponse response, bool keep, bool head) {
    if (head) response.body.clear();
    std::string text = head_of(response, keep && !stopping_);
    const bool is_large = response.body.size() > kWrittenAtOnceMax;
    if (!is_large) text += response.body;
    if (!co_await write_all(text)) co_return false;
    if (!is_large) co_return true;
    co_return co_await write_all(response.body);
  }

  // Reads a little of what is still being sent, so that the refusal is seen before the reset.
  Awaitable<void> refuse_and_linger(const Status& status) {
    if (!co_await write(response_of(status), false, false)) co_return;
    deadline_.set(kLinger);
    size_t total = 0;
    while (total < kLingerBytesMax && !stopping_) {
      buffer_.clear();
      if (!co_await read_some()) co_return;
      total += buffer_.size();
    }
  }

  Awaitable<void> stream(StreamResponse from) {
    handler_.counters().open_streams += 1;
    bool is_told = co_await write_all(
        fmt::format("HTTP/1.1 200 OK\r\nContent-Type: {}\r\nCache-Control: no-cache, private\r\n"
                    "X-Content-Type-Options: nosniff\r\nConnection: close\r\n"
                    "Transfer-Encoding: chunked\r\n\r\n",
                    from.content_type));
    if (is_told) {
      deadline_.clear();
      watch_for_leaving();
      co_await pump(from);
    }
    from.stream->on_ready({});
    handler_.counters().open_streams -= 1;
  }

  Awaitable<void> pump(StreamResponse& from) {
    // The thread's own objects must outlive a late call from the stream's thread.
    from.stream->on_ready([weak = weak_from_this(), executor = executor_] {
      net::post(executor, [weak] {
        if (auto self = weak.lock()) self->wake_up();
      });
    });
    auto end = std::chrono::steady_clock::now() + from.lifetime.value_or(std::chrono::hours{24 * 365});
    while (!peer_left_) {
      ready_ = false;
      SharedText chunk;
      Stream::State state = from.stream->pull(chunk);
      bool over = stopping_ || std::chrono::steady_clock::now() >= end;
      const bool is_empty = chunk == nullptr || chunk->empty();
      if (!is_empty && !co_await write_chunk(*chunk)) co_return;
      if (state == Stream::State::kBroken) co_return;
      if (state == Stream::State::kEnded || (over && is_empty)) co_return co_await end_stream();
      if (is_empty) co_await wait_for_more(from.stream->poll_every(), end);
    }
  }

  Awaitable<bool> write_chunk(const std::string& chunk) {
    bool is_written = false;
    if (chunk.size() <= kWrittenAtOnceMax) {
      is_written = co_await write_all(fmt::format("{:x}\r\n{}\r\n", chunk.size(), chunk));
    } else {
      is_written = co_await write_all(fmt::format("{:x}\r\n", chunk.size())) && co_await write_all(chunk) &&
                   co_await write_all("\r\n");
    }
    deadline_.clear();
    co_return is_written;
  }

  Awaitable<void> end_stream() {
    if (!co_await write_all("0\r\n\r\n")) co_return;
    beast::error_code ignored;
    stream_.socket().shutdown(Socket::shutdown_send, ignored);
    // The client closes when it has read the end.
    auto end = std::chrono::steady_clock::now() + kLinger;
    while (!peer_left_ && std::chrono::steady_clock::now() < end) {
      ready_ = false;
      co_await wait_for_more(Duration{0}, end);
    }
  }

  Awaitable<void> wait_for_more(Duration poll, std::chrono::steady_clock::time_point end) {
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
    buffer_.clear();
    stream_.async_read_some(buffer_.prepare(kReadAtOnceMax),
                            [self = shared_from_this()](const beast::error_code& error, size_t) {
                              if (!error && !self->stopping_) return self->watch_for_leaving();
                              if (error) self->peer_left_ = true;
                              self->wake_up();
                            });
  }

  Awaitable<void> tunnel(BeastRequest request, UpgradeResponse upgrade) {
    handler_.counters().open_tunnels += 1;
    websocket_ = websocket_session(std::move(stream_), std::move(upgrade));
    co_await websocket_->run(std::move(request));
    handler_.counters().open_tunnels -= 1;
  }

  // Fixed.
  Io executor_;
  TlsStream stream_;
  transport::Deadline deadline_;
  net::steady_timer wake_;
  Handler& handler_;
  const ServerLimits& limits_;
  // State.
  beast::flat_buffer buffer_;
  bool certificate_ = false;
  std::atomic<bool> known_ = false;  // written by its own thread
  Room::Share body_share_;           // of the request that is read or answered
  std::optional<Status> refused_;    // its body, before it was read
  bool reading_ = false;             // nothing is being answered: it may be closed at any time
  bool stopping_ = false;
  bool ready_ = false;  // the stream may have more
  bool peer_left_ = false;
  std::shared_ptr<WebSocketSession> websocket_;
};

}  // namespace

std::shared_ptr<LiveConnection> serve(Socket socket, net::ssl::context& tls, Handler& handler,
                                      const ServerLimits& limits, std::function<void()> done) {
  auto connection = std::make_shared<Connection>(std::move(socket), tls, handler, limits);
  connection->start(std::move(done));
  return connection;
}

}  // namespace trainyard::server
