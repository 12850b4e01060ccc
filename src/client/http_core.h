// The inside of HttpClient, for its own files alone: a connection that may or may not be
// encrypted, and the loop that drives all of them. Heavy: includes Asio and Beast.
//
// Everything that touches a Link runs on the one I/O thread.
#pragma once

#include <boost/asio.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

#include "client/credentials.h"
#include "client/http_client.h"
#include "transport/deadline.h"
#include "transport/tls_stream.h"

namespace trainyard::client {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
namespace ssl = boost::asio::ssl;
using boost::system::error_code;

using transport::Awaitable;
using transport::Io;
using transport::kTuple;
using transport::Socket;
using transport::TlsStream;

// How others are greeted: whom to trust, and who we are.
struct Contexts {
  ssl::context server{ssl::context::tls_client};
  std::optional<ssl::context> proxy;  // where there is one that speaks TLS
};

// One connection, plain until secure() was called, TLS from then on; and what has come and was not read yet.
// Beast can read and write it as a stream too.
class Link {
 public:
  using executor_type = Io;

  Link(asio::io_context& io, std::shared_ptr<Contexts> contexts, bool tls);
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  executor_type get_executor() { return plain_.get_executor(); }
  Socket& socket() { return secured_ ? secured_->socket() : plain_; }
  bool tls() const { return tls_; }
  const std::shared_ptr<Contexts>& contexts() const { return contexts_; }

  // The handshake is next. For a second time: with the server, within the TLS of the proxy.
  // REQUIRES: connected; the context is one of contexts().
  TlsStream& secure(ssl::context& context);

  // What is under way then fails, and cause_of() says why.
  void expires_after(Duration limit) { deadline_.set(limit); }
  void expires_never() { deadline_.clear(); }
  // beast::error::timeout when it has expired, else the error as it is.
  error_code cause_of(const error_code& failed) const;
  // Ends whatever is under way.
  void close();
  // Whether nothing has come and nobody has hung up since the last answer.
  bool is_quiet();

  // Sends all of it.
  Awaitable<error_code> write(std::string_view bytes);
  // Waits for more, and puts it behind what is in buffer().
  Awaitable<error_code> read_more();
  beast::flat_buffer& buffer() { return buffer_; }

  template <typename Buffers, typename Token>
  auto async_read_some(const Buffers& buffers, Token&& token) {
    if (secured_) return secured_->async_read_some(buffers, std::forward<Token>(token));
    return plain_.async_read_some(buffers, std::forward<Token>(token));
  }
  template <typename Buffers, typename Token>
  auto async_write_some(const Buffers& buffers, Token&& token) {
    if (secured_) return secured_->async_write_some(buffers, std::forward<Token>(token));
    return plain_.async_write_some(buffers, std::forward<Token>(token));
  }

 private:
  // Fixed.
  std::shared_ptr<Contexts> contexts_;
  bool tls_;
  // State.
  Socket plain_;
  std::optional<TlsStream> secured_;
  beast::flat_buffer buffer_;
  bool expired_ = false;
  transport::Deadline deadline_;
};

// One step of reading an answer: takes what has come, waits for more when that is not enough for a step.
// http::error::end_of_stream: the server hung up before it said anything.
template <typename Parser>
Awaitable<error_code> read_some(Link& link, Parser& parser) {
  error_code failed;
  while (true) {
    if (link.buffer().size() > 0) {
      link.buffer().consume(parser.put(link.buffer().data(), failed));
      if (failed != http::error::need_more) co_return failed;
    }
    failed = co_await link.read_more();
    if (failed == asio::error::eof) {
      if (!parser.got_some()) co_return http::error::end_of_stream;
      failed = {};
      parser.put_eof(failed);
      co_return failed;
    }
    if (failed) co_return failed;
  }
}

// Until all of it is there.
template <typename Parser>
Awaitable<error_code> read_whole(Link& link, Parser& parser) {
  while (!parser.is_done()) {
    if (error_code failed = co_await read_some(link, parser)) co_return failed;
  }
  co_return error_code{};
}

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

// (co_spawn wants a result that can be made from nothing; a Result cannot.)
template <typename T>
Awaitable<std::optional<T>> as_optional(Awaitable<T> work) {
  co_return co_await std::move(work);
}

// Runs coroutines to their ends, from another thread: begin(0) to begin(count - 1), called on the I/O thread.
// Both threads are woken once, however many there are.
template <typename T, typename Begin>
std::vector<std::optional<T>> wait_for_all(asio::io_context& io, size_t count, const Begin& begin) {
  struct Ended {
    std::vector<std::optional<T>> results;
    std::exception_ptr thrown;
    size_t left;
    // (A semaphore of the standard library yields the processor several times before it waits.)
    std::mutex mutex;
    std::condition_variable changed;
    bool all = false;
  };
  auto ended = std::make_shared<Ended>();  // the I/O thread may still be at it when the last has been told
  ended->results.resize(count);
  ended->left = count;
  asio::post(io, [&io, count, &begin, ended] {
    for (size_t i = 0; i < count; ++i) {
      asio::co_spawn(io, as_optional<T>(begin(i)),
                     [ended, i](const std::exception_ptr& thrown, std::optional<T> result) {
                       if (thrown) ended->thrown = thrown;
                       ended->results[i] = std::move(result);
                       if (--ended->left > 0) return;
                       std::lock_guard lock(ended->mutex);
                       ended->all = true;
                       ended->changed.notify_one();
                     });
    }
  });
  if (count > 0) {
    std::unique_lock lock(ended->mutex);
    ended->changed.wait(lock, [&] { return ended->all; });
  }
  if (ended->thrown) std::rethrow_exception(ended->thrown);
  return std::move(ended->results);
}
template <typename T, typename Begin>
T wait_for(asio::io_context& io, const Begin& begin) {
  return std::move(*wait_for_all<T>(io, 1, [&](size_t) { return begin(); }).front());
}

using Timer =
    asio::basic_waitable_timer<std::chrono::steady_clock, asio::wait_traits<std::chrono::steady_clock>, Io>;

inline Awaitable<void> sleep_for(asio::io_context& io, Duration pause) {
  Timer timer(io, pause);
  co_await timer.async_wait(kTuple);
}

// Gate: lets so many through at once; the others wait in line. Used on the I/O thread.
class Gate {
 public:
  Gate(asio::io_context& io, int most) : io_(io), most_(most) {}

  // REQUIRES: leave() for each.
  Awaitable<void> enter() {
    if (inside_ < most_) {
      ++inside_;
      co_return;
    }
    auto turn = std::make_shared<Timer>(io_, Timer::time_point::max());
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
  std::deque<std::shared_ptr<Timer>> waiting_;
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
  std::shared_ptr<Contexts> contexts;
  Identity contexts_identity;  // whose certificate they carry
  struct Idle {
    std::unique_ptr<Link> link;
    std::chrono::steady_clock::time_point since;
  };
  std::vector<Idle> idle;

  // State of the I/O thread: the last answer of head_of_all(), and for whose token it was.
  std::string head;
  std::string head_token;

  std::thread thread;

  // The contexts for this identity; made anew when its certificate is another, or when forgotten.
  Result<std::shared_ptr<Contexts>> contexts_for(const Identity& identity);
  void forget_contexts();
  // Credentials, asked for without holding up the I/O thread.
  Awaitable<Result<Identity>> identify();
  // Connects, through the proxy if there is one, and greets.
  Awaitable<Result<Done>> dial(Link& link);
  // The whole request, as it is sent. On the I/O thread.
  std::string text_of(const RawRequest& raw, const Identity& identity);
  // The headers of a request besides Host and Content-Length, in turn.
  using HeaderSink = std::function<void(std::string_view name, std::string_view value)>;
  void tell_headers(const RawRequest& raw, const Identity& identity, const HeaderSink& tell) const;
  std::string host_header() const;

  std::unique_ptr<Link> take_idle(const std::shared_ptr<Contexts>& wanted);
  void give_back(std::unique_ptr<Link> link);

  Error unreachable(const std::string& why) const;

 private:
  // Those that are the same in all requests of an identity, and the others.
  void tell_who_asks(const Identity& identity, const HeaderSink& tell) const;
  static void tell_own_headers(const RawRequest& raw, const HeaderSink& tell);
  // What follows the path in each request of the identity.
  const std::string& head_of_all(const Identity& identity);
  Awaitable<Result<Done>> dial_tcp(Link& link, const Endpoint& to);
  Awaitable<Result<Done>> ask_proxy(Link& link);
  Awaitable<Result<Done>> ask_socks(Link& link);
  Awaitable<Result<Done>> reach_proxy(Link& link);
  // `who` is "server" or "proxy".
  Awaitable<Result<Done>> greet(Link& link, ssl::context& context, std::string name, std::string_view who);
  Result<Done> prepare(ssl::context& context, const Identity& identity, bool trusts_system) const;
};

std::string told(const error_code& failed, const HttpOptions& options);

}  // namespace trainyard::client
