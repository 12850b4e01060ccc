#include "server/fd_pump.h"

#include <sys/socket.h>

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/write.hpp>

namespace trainyard::server {
namespace {

namespace net = boost::asio;

constexpr size_t kReadBytes = 32 * 1024;

class Pump final : public FdPump, public std::enable_shared_from_this<Pump> {
 public:
  Pump(net::any_io_executor executor, Fd fd, Events events)
      : descriptor_(std::move(executor), fd.release()), events_(std::move(events)) {}

  void start_reading() override { read(); }

  void pause(bool paused) override {
    paused_ = paused;
    if (!paused_) read();
  }

  void write(std::string_view bytes) override {
    if (stopped_ || ending_) return;
    waiting_ += bytes;
    flush();
  }
  size_t backlog() const override { return waiting_.size() + writing_.size(); }

  void end_writing() override {
    ending_ = true;
    flush();
  }

  void stop() override {
    stopped_ = true;
    events_ = {};
    boost::system::error_code ignored;
    descriptor_.close(ignored);
  }

 private:
  void read() {
    if (stopped_ || paused_ || reading_ || ended_) return;
    reading_ = true;
    descriptor_.async_read_some(net::buffer(buffer_), [self = shared_from_this()](auto error, size_t count) {
      self->reading_ = false;
      if (self->stopped_) return;
      if (error) {
        self->ended_ = true;
        if (auto told = self->events_.on_end) told();
        return;
      }
      if (auto told = self->events_.on_data) told({self->buffer_.data(), count});
      self->read();
    });
  }

  void flush() {
    if (stopped_ || !writing_.empty()) return;
    if (waiting_.empty()) {
      if (ending_) finish_writing();
      return;
    }
    writing_.swap(waiting_);
    net::async_write(descriptor_, net::buffer(writing_), [self = shared_from_this()](auto error, size_t) {
      self->writing_.clear();
      if (self->stopped_) return;
      // Whoever reads it has gone: what else is written goes nowhere.
      if (error) self->waiting_.clear();
      self->flush();
      if (self->backlog() == 0 && self->events_.on_drained) self->events_.on_drained();
    });
  }

  void finish_writing() {
    // A socket ends in one direction; a pipe that is only written is closed.
    if (::shutdown(descriptor_.native_handle(), SHUT_WR) == 0 || reading_) return;
    boost::system::error_code ignored;
    descriptor_.close(ignored);
    stopped_ = true;
  }

  // Fixed.
  net::posix::stream_descriptor descriptor_;
  // State.
  Events events_;
  std::array<char, kReadBytes> buffer_;
  std::string waiting_;
  std::string writing_;
  bool paused_ = false;
  bool reading_ = false;
  bool ended_ = false;
  bool ending_ = false;
  bool stopped_ = false;
};

}  // namespace

std::shared_ptr<FdPump> FdPump::make(net::any_io_executor executor, Fd fd, Events events) {
  return std::make_shared<Pump>(std::move(executor), std::move(fd), std::move(events));
}

}  // namespace trainyard::server
