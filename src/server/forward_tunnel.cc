#include "server/forward_tunnel.h"

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
    pumps_.resize(ports_.size());
    for (size_t i = 0; i < ports_.size(); ++i) {
      peer.send(framed(data_channel(i), port_bytes(ports_[i])));
      peer.send(framed(error_channel(i), port_bytes(ports_[i])));
    }
    for (size_t i = 0; i < ports_.size(); ++i) open(i, executor);
    close_if_done();
  }

  void on_message(std::string_view message) override {
    std::optional<Frame> frame = frame_of(message);
    if (!frame || frame->channel % 2 != 0 || frame->channel / 2 >= pumps_.size()) return;
    FdPump* pump = pumps_[frame->channel / 2].get();
    if (pump == nullptr) return;
    pump->write(frame->data);
    if (pump->backlog() > kTunnelBacklogMax) peer_->pause();
  }

  void on_drained() override { pause_all(false); }

  void stop() override {
    peer_ = nullptr;
    for (auto& pump : pumps_) {
      if (pump != nullptr) pump->stop();
      pump = nullptr;
    }
  }

 private:
  static unsigned char data_channel(size_t i) { return static_cast<unsigned char>(2 * i); }
  static unsigned char error_channel(size_t i) { return static_cast<unsigned char>(2 * i + 1); }

  void open(size_t i, const boost::asio::any_io_executor& executor) {
    Result<Fd> fd = connect_(ports_[i]);
    if (!fd.ok()) {
      peer_->send(framed(error_channel(i), fd.error().message));
      return;
    }
    ++open_;
    auto weak = weak_from_this();
    pumps_[i] = FdPump::make(executor, std::move(fd).value(),
                             {.on_data =
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
    pumps_[i]->start_reading();
  }

  void told(size_t i, std::string_view bytes) {
    if (peer_ == nullptr) return;
    peer_->send(framed(data_channel(i), bytes));
    if (peer_->backlog() > kTunnelBacklogMax) pause_all(true);
  }

  void ended(size_t i) {
    if (peer_ == nullptr) return;
    pumps_[i]->stop();
    pumps_[i] = nullptr;
    --open_;
    close_if_done();
  }

  void close_if_done() {
    if (open_ == 0 && peer_ != nullptr) peer_->close();
  }

  void pause_all(bool paused) {
    for (auto& pump : pumps_) {
      if (pump != nullptr) pump->pause(paused);
    }
  }

  void resume_client() {
    if (peer_ != nullptr) peer_->resume();
  }

  // Fixed.
  Connect connect_;
  std::vector<int> ports_;
  // State.
  TunnelPeer* peer_ = nullptr;
  std::vector<std::shared_ptr<FdPump>> pumps_;  // null: ended, or could not be opened
  int open_ = 0;
};

}  // namespace

std::shared_ptr<Tunnel> forward_tunnel(Connect connect, std::vector<int> ports) {
  return std::make_shared<ForwardTunnel>(std::move(connect), std::move(ports));
}

}  // namespace trainyard::server
