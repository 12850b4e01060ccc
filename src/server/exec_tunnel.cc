#include "server/exec_tunnel.h"

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include "server/channels.h"
#include "server/fd_pump.h"
#include "server/status.h"
#include "server/tunnel.h"

namespace trainyard::server {
namespace {

namespace net = boost::asio;

// A process that the command left behind may hold its output open for ever.
constexpr Duration kDrainAfterExit{1'000};

class ExecTunnel final : public Tunnel, public std::enable_shared_from_this<ExecTunnel> {
 public:
  ExecTunnel(std::unique_ptr<ExecSession> session, ChannelProtocol protocol)
      : session_(std::move(session)), protocol_(protocol) {}

  void start(TunnelPeer& peer, net::any_io_executor executor) override {
    peer_ = &peer;
    drain_ = std::make_unique<net::steady_timer>(executor);
    auto weak = weak_from_this();
    if (session_->in.valid()) {
      in_ = FdPump::make(executor, {.on_drained = [weak] {
                           if (auto self = weak.lock()) self->resume_client();
                         }});
      in_->open(std::move(session_->in));
    }
    out_ = open_reader(executor, std::move(session_->out), kStdoutChannel);
    err_ = open_reader(executor, std::move(session_->err), kStderrChannel);
    session_->on_exit([weak, executor](Result<int> code) {
      net::post(executor, [weak, code = std::move(code)] {
        if (auto self = weak.lock()) self->exited(code);
      });
    });
  }

  void on_message(std::string_view bytes, bool begins) override {
    std::optional<Frame> frame = frames_.next(bytes, begins);
    if (!frame || session_ == nullptr) return;
    if (frame->channel == kStdinChannel && in_ != nullptr) {
      in_->write(frame->data);
      if (in_->backlog() > kTunnelBacklogMax) peer_->pause();
    } else if (frame->channel == kResizeChannel) {
      if (std::optional<TerminalSize> size = terminal_size_of(frame->data))
        session_->resize(size->columns, size->rows);
    } else if (frame->channel == kCloseChannel && protocol_ == ChannelProtocol::kV5 && in_ != nullptr) {
      if (frame->data == std::string_view("\0", 1)) in_->end_writing();
    }
  }

  void on_drained() override {
    for (FdPump* pump : {out_.get(), err_.get()}) {
      if (pump != nullptr) pump->pause(false);
    }
  }

  void stop() override {
    peer_ = nullptr;
    if (drain_ != nullptr) drain_->cancel();
    for (FdPump* pump : {in_.get(), out_.get(), err_.get()}) {
      if (pump != nullptr) pump->stop();
    }
    session_.reset();
  }

 private:
  std::shared_ptr<FdPump> open_reader(const net::any_io_executor& executor, Fd fd, unsigned char channel) {
    if (!fd.valid()) return nullptr;
    ++open_;
    auto weak = weak_from_this();
    auto pump = FdPump::make(executor, {.on_data =
                                            [weak, channel](std::string_view bytes) {
                                              if (auto self = weak.lock()) self->told(channel, bytes);
                                            },
                                        .on_end =
                                            [weak] {
                                              if (auto self = weak.lock()) self->ended();
                                            }});
    pump->open(std::move(fd));
    pump->start_reading();
    return pump;
  }

  void told(unsigned char channel, std::string_view bytes) {
    if (peer_ == nullptr) return;
    peer_->send(framed(channel, bytes));
    if (peer_->backlog() <= kTunnelBacklogMax) return;
    for (FdPump* pump : {out_.get(), err_.get()}) {
      if (pump != nullptr) pump->pause(true);
    }
  }

  void ended() {
    --open_;
    finish_if_done();
  }

  void exited(const Result<int>& code) {
    code_ = std::make_unique<Result<int>>(code);
    if (open_ > 0 && drain_ != nullptr) {
      drain_->expires_after(kDrainAfterExit);
      drain_->async_wait([weak = weak_from_this()](auto error) {
        auto self = weak.lock();
        if (error || self == nullptr) return;
        self->open_ = 0;
        self->finish_if_done();
      });
    }
    finish_if_done();
  }

  void finish_if_done() {
    if (open_ > 0 || code_ == nullptr || peer_ == nullptr || finished_) return;
    finished_ = true;
    Status status = code_->ok() ? exit_status(**code_) : internal_error(code_->error().message);
    peer_->send(framed(kErrorChannel, json::serialize(to_json(status))));
    peer_->close();
  }

  void resume_client() {
    if (peer_ != nullptr) peer_->resume();
  }

  // Fixed.
  std::unique_ptr<ExecSession> session_;
  ChannelProtocol protocol_;
  // State.
  TunnelPeer* peer_ = nullptr;
  FrameReader frames_;
  std::shared_ptr<FdPump> in_;
  std::shared_ptr<FdPump> out_;
  std::shared_ptr<FdPump> err_;
  std::unique_ptr<net::steady_timer> drain_;
  int open_ = 0;                       // outputs that have not ended
  std::unique_ptr<Result<int>> code_;  // once it has exited
  bool finished_ = false;
};

}  // namespace

std::shared_ptr<Tunnel> exec_tunnel(std::unique_ptr<ExecSession> session, ChannelProtocol protocol) {
  return std::make_shared<ExecTunnel>(std::move(session), protocol);
}

}  // namespace trainyard::server
