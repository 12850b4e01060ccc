// The inside of HttpClient, for its own files alone: a connection that may or may not be
// encrypted, and the loop that drives all of them. Heavy: includes Asio and Beast.
//
// Everything that touches a Link runs on the one I/O thread.
#pragma once

#include <boost/asio.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <deque>
#include <memory>
#include <thread>

#include "client/credentials.h"
#include "client/http_client.h"

namespace trainyard::client {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
namespace ssl = boost::asio::ssl;
using boost::system::error_code;

inline constexpr auto kTuple = asio::as_tuple(asio::use_awaitable);

// One connection, plain or TLS, as a stream that Beast reads and writes.
class Link {
 public:
  using executor_type = beast::tcp_stream::executor_type;

  Link(asio::io_context& io, const std::shared_ptr<ssl::context>& context, bool tls)
      : context_(context), stream_(io.get_executor(), *context), tls_(tls) {}

  executor_type get_executor() { return stream_.get_executor(); }
  beast::tcp_stream& tcp() { return stream_.next_layer(); }
  beast::ssl_stream<beast::tcp_stream>& secure() { return stream_; }
  bool tls() const { return tls_; }
  const std::shared_ptr<ssl::context>& context() const { return context_; }

  void expires_after(Duration limit) { tcp().expires_after(limit); }
  void expires_never() { tcp().expires_never(); }
  // Ends whatever is under way.
  void close() {
    error_code ignored;
    tcp().socket().close(ignored);
  }
  // Whether nothing has come and nobody has hung up since the last answer.
  bool is_quiet();

  template <typename Buffers, typename Token>
  auto async_read_some(const Buffers& buffers, Token&& token) {
    if (tls_) return stream_.async_read_some(buffers, std::forward<Token>(token));
    return tcp().async_read_some(buffers, std::forward<Token>(token));
  }
  template <typename Buffers, typename Token>
  auto async_write_some(const Buffers& buffers, Token&& token) {
    if (tls_) return stream_.async_write_some(buffers, std::forward<Token>(token));
    return tcp().async_write_some(buffers, std::forward<Token>(token));
  }

 private:
  std::shared_ptr<ssl::context> context_;
  beast::ssl_stream<beast::tcp_stream> stream_;
  bool tls_;
};

// How Beast's WebSocket hangs up.
inline void beast_close_socket(Link& link) { link.close(); }
inline void teardown(beast::role_type, Link& link, error_code& failed) {
  failed = {};
  link.close();
}
template <typename Handler>
void async_teardown(beast::role_type, Link& link, Handler&& handler) {
  link.close();
  asio::post(link.get_executor(), beast::bind_front_handler(std::forward<Handler>(handler), error_code{}));
}

// Runs a coroutine to its end, from another thread. (co_spawn wants a result that can be
// made from nothing; a Result cannot.)
template <typename T>
asio::awaitable<std::optional<T>> as_optional(asio::awaitable<T> work) {
  co_return co_await std::move(work);
}
template <typename T>
T wait_for(asio::io_context& io, asio::awaitable<T> work) {
  return *asio::co_spawn(io, as_optional(std::move(work)), asio::use_future).get();
}

using HttpRequest = http::request<http::string_body>;

// Gate: lets so many through at once; the others wait in line. Used on the I/O thread.
class Gate {
 public:
  Gate(asio::io_context& io, int most) : io_(io), most_(most) {}

  // REQUIRES: leave() for each.
  asio::awaitable<void> enter() {
    if (inside_ < most_) {
      ++inside_;
      co_return;
    }
    auto turn = std::make_shared<asio::steady_timer>(io_, asio::steady_timer::time_point::max());
    waiting_.push_back(turn);
    co_await turn->async_wait(kTuple);
  }
  // Whoever waits longest takes the place.
  void leave() {
    if (waiting_.empty()) {
      --inside_;
      return;
    }
    waiting_.front()->cancel();
    waiting_.pop_front();
  }

 private:
  asio::io_context& io_;
  int most_;
  int inside_ = 0;
  std::deque<std::shared_ptr<asio::steady_timer>> waiting_;
};

struct HttpClient::Core {
  Core(Access access, HttpOptions options, Endpoint server, std::optional<Endpoint> proxy);
  ~Core();

  // Fixed.
  Access access;
  HttpOptions options;
  Endpoint server;
  std::optional<Endpoint> proxy;
  Credentials credentials;
  asio::io_context io;
  Gate gate{io, options.requests_max};
  asio::executor_work_guard<asio::io_context::executor_type> keep_running;
  asio::thread_pool helpers{1};  // for what blocks: files, plugins

  // State, protected by `mutex`.
  std::mutex mutex;
  std::shared_ptr<ssl::context> context;
  Identity context_identity;  // whose certificate the context carries
  struct Idle {
    std::unique_ptr<Link> link;
    std::chrono::steady_clock::time_point since;
  };
  std::vector<Idle> idle;

  std::thread thread;

  // The context for this identity; made anew when its certificate is another, or when forgotten.
  Result<std::shared_ptr<ssl::context>> context_for(const Identity& identity);
  void forget_context();
  // Credentials, asked for without holding up the I/O thread.
  asio::awaitable<Result<Identity>> identify();
  // Connects, through the proxy if there is one, and greets.
  asio::awaitable<Result<Done>> dial(Link& link);
  HttpRequest request_for(const RawRequest& raw, const Identity& identity) const;
  std::string host_header() const;

  std::unique_ptr<Link> take_idle(const std::shared_ptr<ssl::context>& wanted);
  void give_back(std::unique_ptr<Link> link);

  Error unreachable(const std::string& why) const;

 private:
  asio::awaitable<Result<Done>> dial_tcp(Link& link, const Endpoint& to);
  asio::awaitable<Result<Done>> ask_proxy(Link& link);
  asio::awaitable<Result<Done>> ask_socks(Link& link);
  asio::awaitable<Result<Done>> greet(Link& link);
};

std::string told(const error_code& failed, const HttpOptions& options);

}  // namespace trainyard::client
