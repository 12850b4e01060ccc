#include "server/fd_pump.h"

#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cerrno>

namespace trainyard::server {
namespace {

namespace net = boost::asio;

constexpr size_t kReadBytes = 32 * 1024;

// A write to a pipe that nobody reads would end the whole process by SIGPIPE.
ssize_t write_quietly(int fd, std::string_view bytes) {
  ssize_t count = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  if (count >= 0 || errno != ENOTSOCK) return count;
  sigset_t pipe;
  sigset_t before;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe, &before);
  count = ::write(fd, bytes.data(), bytes.size());
  int error = errno;
  if (count < 0 && error == EPIPE) {
    timespec now{};
    sigtimedwait(&pipe, nullptr, &now);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return count;
}

class Pump final : public FdPump, public std::enable_shared_from_this<Pump> {
 public:
  Pump(const net::any_io_executor& executor, Events events)
      : descriptor_(executor), events_(std::move(events)) {}

  void open(Fd fd) override {
    descriptor_.assign(fd.release());
    flush();
  }

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
  size_t backlog() const override { return waiting_.size(); }

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
    if (!descriptor_.is_open() || stopped_ || paused_ || reading_ || ended_) return;
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
    if (!descriptor_.is_open()) return;
    while (!stopped_ && !waiting_.empty()) {
      ssize_t count = write_quietly(descriptor_.native_handle(), waiting_);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0 && errno == EAGAIN) return wait_to_write();
      // Whoever reads it has gone: what is written goes nowhere.
      waiting_.erase(0, count < 0 ? waiting_.size() : static_cast<size_t>(count));
    }
    if (ending_ && !stopped_) finish_writing();
  }

  void wait_to_write() {
    if (blocked_) return;
    blocked_ = true;
    descriptor_.async_wait(net::posix::stream_descriptor::wait_write,
                           [self = shared_from_this()](auto error) {
                             self->blocked_ = false;
                             if (self->stopped_) return;
                             if (error) self->waiting_.clear();
                             self->flush();
                             if (self->waiting_.empty() && self->events_.on_drained)
                               self->events_.on_drained();
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
  bool paused_ = false;
  bool reading_ = false;
  bool ended_ = false;
  bool blocked_ = false;  // waits until it can be written again
  bool ending_ = false;
  bool stopped_ = false;
};

}  // namespace

std::shared_ptr<FdPump> FdPump::make(const net::any_io_executor& executor, Events events) {
  return std::make_shared<Pump>(executor, std::move(events));
}

}  // namespace trainyard::server
