#include "server/websocket.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket.hpp>
#include <deque>

#include "server/tunnel.h"

namespace trainyard::server {
namespace {

namespace net = boost::asio;
namespace beast = boost::beast;
namespace websocket = beast::websocket;

constexpr size_t kMessageBytesMax = 4 * 1024 * 1024;
// Who does not read what it is told is not listened to: it may be what it asks for.
constexpr size_t kUnreadMax = 4 * kTunnelBacklogMax;
constexpr Duration kCloseTimeout{5'000};
constexpr Duration kStopTimeout{1'000};    // for what was sent to be read, when the server goes down
constexpr Duration kIdleTimeout{600'000};  // pings keep a quiet session alive
// Some versions of kubectl lose a frame that comes together with the end of the handshake.
constexpr Duration kFirstFrameDelay{20};

class Session final : public WebSocketSession,
                      public TunnelPeer,
                      public std::enable_shared_from_this<Session> {
 public:
  Session(TlsStream stream, UpgradeResponse upgrade)
      : ws_(std::move(stream)),
        writable_(ws_.get_executor()),
        readable_(ws_.get_executor()),
        patience_(ws_.get_executor()),
        subprotocol_(std::move(upgrade.subprotocol)),
        tunnel_(std::move(upgrade.tunnel)) {}

  Awaitable<void> run(BeastRequest request) override {
    auto self = shared_from_this();
    set_options();
    auto [error] = co_await ws_.async_accept(request, kTuple);
    if (error) {
      tunnel_->stop();
      co_return;
    }
    ws_.binary(true);
    ws_.auto_fragment(false);
    tunnel_->start(*this, ws_.get_executor());
    net::co_spawn(
        ws_.get_executor(), [self] { return self->write_all(); }, net::detached);
    co_await read_all();
    over_ = true;
    tunnel_->stop();
    writable_.cancel();
    while (writing_) {
      readable_.expires_after(kCloseTimeout);
      (void)co_await readable_.async_wait(kTuple);
    }
    patience_.cancel();
  }

  void stop() override {
    closing_ = true;
    writable_.cancel();
    resume();
    // A client that does not read holds up whatever is being sent, a pong for instance, and a close waits
    // for that to be over.
    patience_.expires_after(kStopTimeout);
    patience_.async_wait([self = shared_from_this()](const beast::error_code& error) {
      if (!error) self->ws_.next_layer().close();
    });
  }

  void send(std::string message) override {
    if (over_ || closing_) return;
    backlog_ += message.size();
    queue_.push_back(std::move(message));
    writable_.cancel();
  }
  size_t backlog() const override { return backlog_; }
  void pause() override { paused_ = true; }
  void resume() override {
    paused_ = false;
    readable_.cancel();
  }
  void close() override {
    closing_ = true;
    writable_.cancel();
  }

 private:
  void set_options() {
    websocket::stream_base::timeout timeout{
        .handshake_timeout = kCloseTimeout, .idle_timeout = kIdleTimeout, .keep_alive_pings = true};
    ws_.set_option(timeout);
    ws_.read_message_max(kMessageBytesMax);
    ws_.set_option(websocket::stream_base::decorator([this](websocket::response_type& response) {
      response.set(beast::http::field::sec_websocket_protocol, subprotocol_);
    }));
  }

  Awaitable<void> read_all() {
    beast::flat_buffer buffer;
    bool begins = true;
    while (true) {
      while ((paused_ || backlog_ > kUnreadMax) && !closing_ && writing_) {
        readable_.expires_at(net::steady_timer::time_point::max());
        (void)co_await readable_.async_wait(kTuple);
      }
      auto [error, count] = co_await ws_.async_read_some(buffer, kTunnelPieceBytes, kTuple);
      if (error) co_return;
      const bool ends = ws_.is_message_done();
      if (!ends && buffer.size() < kTunnelPieceBytes) continue;
      auto data = buffer.cdata();
      if (!closing_) tunnel_->on_message({static_cast<const char*>(data.data()), data.size()}, begins);
      buffer.clear();
      begins = ends;
    }
  }

  Awaitable<void> write_all() {
    writing_ = true;
    writable_.expires_after(kFirstFrameDelay);
    while (writable_.expiry() > std::chrono::steady_clock::now()) (void)co_await writable_.async_wait(kTuple);
    while (!over_) {
      if (queue_.empty()) {
        if (closing_) break;
        writable_.expires_at(net::steady_timer::time_point::max());
        (void)co_await writable_.async_wait(kTuple);
        continue;
      }
      std::string message = std::move(queue_.front());
      queue_.pop_front();
      auto [error, count] = co_await ws_.async_write(net::buffer(message), kTuple);
      if (error) break;
      backlog_ -= message.size();
      if (backlog_ <= kUnreadMax) readable_.cancel();
      if (!over_ && backlog_ < kTunnelBacklogMax) tunnel_->on_drained();
    }
    if (!over_) (void)co_await ws_.async_close(websocket::close_code::normal, kTuple);
    writing_ = false;
    readable_.cancel();
  }

  // Fixed.
  websocket::stream<TlsStream> ws_;
  net::steady_timer writable_;  // cancelled when there is something to write
  net::steady_timer readable_;  // cancelled when reading may go on, and when writing has ended
  net::steady_timer patience_;  // how long a stop waits
  std::string subprotocol_;
  std::shared_ptr<Tunnel> tunnel_;
  // State.
  std::deque<std::string> queue_;
  size_t backlog_ = 0;
  bool paused_ = false;
  bool closing_ = false;  // after what is queued
  bool over_ = false;
  bool writing_ = false;
};

}  // namespace

std::shared_ptr<WebSocketSession> websocket_session(TlsStream stream, UpgradeResponse upgrade) {
  return std::make_shared<Session>(std::move(stream), std::move(upgrade));
}

}  // namespace trainyard::server
