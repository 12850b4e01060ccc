#include "server/spdy_tunnel.h"

#include <fmt/format.h>

#include <boost/asio/post.hpp>
#include <charconv>
#include <map>

#include "base/match.h"
#include "server/fd_pump.h"
#include "server/spdy.h"
#include "server/tunnel.h"

namespace trainyard::server {
namespace {

constexpr size_t kForwardsMax = 512;

// One forwarded connection. A stream is 0 until the client has opened it.
struct Forward {
  uint32_t error_stream = 0;
  uint32_t data_stream = 0;
  std::shared_ptr<FdPump> pump;
  bool is_begun = false;  // it is being connected, or is
};

std::optional<int> port_of(std::string_view text) {
  int port = 0;
  auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), port);
  bool good = failed == std::errc() && end == text.data() + text.size() && port > 0 && port <= 65535;
  return good ? std::optional<int>(port) : std::nullopt;
}

class SpdyTunnel final : public Tunnel, public std::enable_shared_from_this<SpdyTunnel> {
 public:
  explicit SpdyTunnel(Connect connect) : connect_(std::move(connect)) {}

  void start(TunnelPeer& peer, boost::asio::any_io_executor executor) override {
    peer_ = &peer;
    executor_ = std::move(executor);
  }

  // Its messages have no meaning of their own.
  void on_message(std::string_view bytes, bool) override {
    Result<std::vector<spdy::Frame>> frames = decoder_.feed(bytes);
    if (!frames.ok()) return peer_->close();
    for (const spdy::Frame& frame : *frames) {
      if (peer_ != nullptr) take(frame);
    }
  }

  void on_drained() override { pause_all(false); }

  void stop() override {
    peer_ = nullptr;
    for (auto& [id, forward] : forwards_) forward.pump->stop();
    forwards_.clear();
  }

 private:
  void send(const spdy::Frame& frame) {
    if (peer_ != nullptr) peer_->send(encoder_.encode(frame));
  }

  void take(const spdy::Frame& frame) {
    std::visit(Match{
                   [&](const spdy::SynStream& syn) { opened(syn); },
                   [&](const spdy::Data& data) { told(data); },
                   [&](const spdy::RstStream& reset) { dropped(reset.stream); },
                   // Odd ones are the client's; the others would be answers to ours.
                   [&](const spdy::Ping& ping) {
                     if (ping.id % 2 == 1) send(ping);
                   },
                   [&](const spdy::SynReply&) {},
                   [&](const spdy::GoAway&) {},
               },
               frame);
  }

  void opened(const spdy::SynStream& syn) {
    std::string id(spdy::header_of(syn.headers, "requestid"));
    std::string_view type = spdy::header_of(syn.headers, "streamtype");
    std::optional<int> port = port_of(spdy::header_of(syn.headers, "port"));
    bool full = forwards_.size() >= kForwardsMax && !forwards_.contains(id);
    if ((type != "error" && type != "data") || !port || full) {
      return send(spdy::RstStream{syn.stream, spdy::kCancel});
    }
    send(spdy::SynReply{syn.stream, false, {}});
    Forward& forward = forwards_[id];
    if (forward.pump == nullptr) forward.pump = pump_of(id);
    (type == "error" ? forward.error_stream : forward.data_stream) = syn.stream;
    if (forward.error_stream == 0 || forward.data_stream == 0) return;
    if (!std::exchange(forward.is_begun, true)) connect(id, *port, forward.data_stream);
  }

  std::shared_ptr<FdPump> pump_of(const std::string& id) {
    auto weak = weak_from_this();
    return FdPump::make(executor_, {.on_data =
                                        [weak, id](std::string_view bytes) {
                                          if (auto self = weak.lock()) self->answered(id, bytes);
                                        },
                                    .on_end =
                                        [weak, id] {
                                          if (auto self = weak.lock()) self->finish(id);
                                        },
                                    .on_drained =
                                        [weak] {
                                          if (auto self = weak.lock()) self->resume_client();
                                        }});
  }

  void connect(const std::string& id, int port, uint32_t stream) {
    connect_(port, [weak = weak_from_this(), executor = executor_, id, port, stream](Result<Fd> fd) {
      boost::asio::post(executor, [weak, id, port, stream, fd = std::move(fd)]() mutable {
        auto self = weak.lock();
        if (self == nullptr) return;
        // The client may have dropped it, and begun another of that name.
        auto found = self->forwards_.find(id);
        if (found != self->forwards_.end() && found->second.data_stream == stream) {
          self->connected(id, port, std::move(fd));
        }
      });
    });
  }

  void connected(const std::string& id, int port, Result<Fd> fd) {
    Forward& forward = forwards_[id];
    if (!fd.ok()) {
      std::string why = fmt::format("error forwarding port {}: {}", port, fd.error().message);
      send(spdy::Data{forward.error_stream, false, std::move(why)});
      return finish(id);
    }
    forward.pump->open(std::move(fd).value());
    forward.pump->start_reading();
    resume_client();
  }

  // Takes more of the client's bytes, unless many wait already.
  void resume_client() {
    if (peer_ != nullptr && waiting() <= kTunnelBacklogMax) peer_->resume();
  }

  // Bytes of the client that the pod has not taken.
  size_t waiting() const {
    size_t bytes = 0;
    for (const auto& [id, forward] : forwards_) bytes += forward.pump->backlog();
    return bytes;
  }

  // Bytes of the client.
  void told(const spdy::Data& data) {
    for (auto& [id, forward] : forwards_) {
      if (forward.data_stream != data.stream) continue;
      if (!data.bytes.empty()) forward.pump->write(data.bytes);
      if (data.fin) forward.pump->end_writing();
      if (waiting() > kTunnelBacklogMax) peer_->pause();
      return;
    }
  }

  // Bytes of the pod.
  void answered(const std::string& id, std::string_view bytes) {
    auto found = forwards_.find(id);
    if (found == forwards_.end() || peer_ == nullptr) return;
    send(spdy::Data{found->second.data_stream, false, std::string(bytes)});
    if (peer_->backlog() > kTunnelBacklogMax) pause_all(true);
  }

  // Ends both streams: the pod's side is over.
  void finish(const std::string& id) {
    auto found = forwards_.find(id);
    if (found == forwards_.end()) return;
    send(spdy::Data{found->second.data_stream, true, ""});
    send(spdy::Data{found->second.error_stream, true, ""});
    found->second.pump->stop();
    forwards_.erase(found);
    resume_client();
  }

  void dropped(uint32_t stream) {
    for (auto& [id, forward] : forwards_) {
      if (forward.data_stream != stream && forward.error_stream != stream) continue;
      forward.pump->stop();
      forwards_.erase(id);
      return resume_client();
    }
  }

  void pause_all(bool paused) {
    for (auto& [id, forward] : forwards_) forward.pump->pause(paused);
  }

  // Fixed.
  Connect connect_;
  boost::asio::any_io_executor executor_;
  // State.
  TunnelPeer* peer_ = nullptr;
  spdy::Decoder decoder_;
  spdy::Encoder encoder_;
  std::map<std::string, Forward> forwards_;  // by requestID
};

}  // namespace

std::shared_ptr<Tunnel> spdy_tunnel(Connect connect) {
  return std::make_shared<SpdyTunnel>(std::move(connect));
}

}  // namespace trainyard::server
