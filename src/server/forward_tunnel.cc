#include "server/forward_tunnel.h"

#include <boost/asio/post.hpp>

#include "server/channels.h"
#include "server/fd_pump.h"
#include "server/tunnel.h"

namespace trainyard::server {
namespace {

std::string port_bytes(int port) {
  return {static_cast<char>(port & 0xff), static_cast<char>((port >> 8) & 0xff)};
}

class ForwardTunnel final : public Tunnel, public std::enable_shared_from_this<ForwardTunnel> {
 public:
  ForwardTunnel(Connect connect, std::vector<int> ports)
      : connect_(std::move(connect)), ports_(std::move(ports)) {}

  void start(TunnelPeer& peer, boost::asio::any_io_executor executor) override {
    peer_ = &peer;
    for (size_t i = 0; i < ports_.size(); ++i) {
      peer.send(framed(data_channel(i), port_bytes(ports_[i])));
      peer.send(framed(error_channel(i), port_bytes(ports_[i])));
      forwards_.push_back(pump_of(executor, i));
    }
    open_ = ports_.size();
    for (size_t i = 0; i < ports_.size(); ++i) open(executor, i);
    close_if_done();
  }

  void on_message(std::string_view bytes, bool begins) override {
    std::optional<Frame> frame = frames_.next(bytes, begins);
    if (!frame || frame->channel % 2 != 0 || frame->channel / 2 >= forwards_.size()) return;
    FdPump* pump = forwards_[frame->channel / 2].get();
    if (pump == nullptr) return;
    pump->write(frame->data);
    if (waiting() > kTunnelBacklogMax) peer_->pause();
  }

  void on_drained() override { pause_all(false); }

  void stop() override {
    peer_ = nullptr;
    for (size_t i = 0; i < forwards_.size(); ++i) drop(i);
  }

 private:
  static unsigned char data_channel(size_t i) { return static_cast<unsigned char>(2 * i); }
  static unsigned char error_channel(size_t i) { return static_cast<unsigned char>(2 * i + 1); }

  std::shared_ptr<FdPump> pump_of(const boost::asio::any_io_executor& executor, size_t i) {
    auto weak = weak_from_this();
    return FdPump::make(executor, {.on_data =
                                       [weak, i](std::string_view bytes) {
                                         if (auto self = weak.lock()) self->told(i, bytes);
                                       },
                                   .on_end =
                                       [weak, i] {
                                         if (auto self = weak.lock()) self->ended(i);
                                       },
                                   .on_drained =
                                       [weak] {
                                         if (auto self = weak.lock()) self->resume_client();
                                       }});
  }

  void open(const boost::asio::any_io_executor& executor, size_t i) {
    connect_(ports_[i], [weak = weak_from_this(), executor, i](Result<Fd> fd) {
      boost::asio::post(executor, [weak, i, fd = std::move(fd)]() mutable {
        if (auto self = weak.lock()) self->connected(i, std::move(fd));
      });
    });
  }

  void connected(size_t i, Result<Fd> fd) {
    if (peer_ == nullptr) return;
    if (!fd.ok()) {
      peer_->send(framed(error_channel(i), fd.error().message));
      return ended(i);
    }
    forwards_[i]->open(std::move(fd).value());
    forwards_[i]->start_reading();
    resume_client();
  }

  void told(size_t i, std::string_view bytes) {
    if (peer_ == nullptr) return;
    peer_->send(framed(data_channel(i), bytes));
    if (peer_->backlog() > kTunnelBacklogMax) pause_all(true);
  }

  void ended(size_t i) {
    if (peer_ == nullptr) return;
    drop(i);
    resume_client();
    --open_;
    close_if_done();
  }

  void drop(size_t i) {
    if (std::shared_ptr<FdPump> pump = std::exchange(forwards_[i], nullptr)) pump->stop();
  }

  void close_if_done() {
    if (open_ == 0 && peer_ != nullptr) peer_->close();
  }

  void pause_all(bool paused) {
    for (const std::shared_ptr<FdPump>& pump : forwards_) {
      if (pump != nullptr) pump->pause(paused);
    }
  }

  // Takes more of the client's bytes, unless many wait already.
  void resume_client() {
    if (peer_ != nullptr && waiting() <= kTunnelBacklogMax) peer_->resume();
  }

  // Bytes of the client that the pod has not taken.
  size_t waiting() const {
    size_t bytes = 0;
    for (const std::shared_ptr<FdPump>& pump : forwards_) bytes += pump == nullptr ? 0 : pump->backlog();
    return bytes;
  }

  // Fixed.
  Connect connect_;
  std::vector<int> ports_;
  // State.
  TunnelPeer* peer_ = nullptr;
  FrameReader frames_;
  std::vector<std::shared_ptr<FdPump>> forwards_;  // null: ended, or could not be opened
  size_t open_ = 0;                                // that are being connected, or are
};

}  // namespace

std::shared_ptr<Tunnel> forward_tunnel(Connect connect, std::vector<int> ports) {
  return std::make_shared<ForwardTunnel>(std::move(connect), std::move(ports));
}

}  // namespace trainyard::server
