#include "cli/interrupts.h"

#include <fcntl.h>
#include <poll.h>

#include <atomic>
#include <cerrno>
#include <iterator>

namespace trainyard::cli {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};

// What a signal handler may touch.
std::atomic<int> interrupts{0};
std::atomic<int> last_signal{0};
std::atomic<int> wake_fd{-1};
std::atomic<bool> pipe_broke{false};

void on_signal(int signal) {
  int saved = errno;
  interrupts.fetch_add(1);
  last_signal.store(signal);
  char byte = 0;
  if (::write(wake_fd.load(), &byte, 1) < 0) errno = saved;
  errno = saved;
}

// To ignore the signal would be inherited by every program that is started.
void on_broken_pipe(int) { pipe_broke.store(true); }

}  // namespace

Interrupts::Interrupts() {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_NONBLOCK | O_CLOEXEC) == 0) {
    read_end_ = Fd(ends[0]);
    write_end_ = Fd(ends[1]);
  }
  interrupts.store(0);
  last_signal.store(0);
  wake_fd.store(write_end_.get());
  pipe_broke.store(false);
  for (size_t i = 0; i < std::size(kSignals); ++i) {
    struct sigaction action = {};
    action.sa_handler = kSignals[i] == SIGPIPE ? on_broken_pipe : on_signal;
    action.sa_flags = SA_RESTART;
    ::sigaction(kSignals[i], &action, &before_[i]);
  }
}

Interrupts::~Interrupts() {
  for (size_t i = 0; i < std::size(kSignals); ++i) ::sigaction(kSignals[i], &before_[i], nullptr);
  wake_fd.store(-1);
}

int Interrupts::count() const { return interrupts.load(); }

int Interrupts::last() const { return last_signal.load(); }

bool Interrupts::reader_left() const { return pipe_broke.load(); }

void Interrupts::sleep(Duration pause) {
  pollfd wait{read_end_.get(), POLLIN, 0};
  if (::poll(&wait, 1, static_cast<int>(pause.count())) <= 0) return;
  char bytes[64];
  while (::read(read_end_.get(), bytes, sizeof bytes) > 0) {
  }
}

}  // namespace trainyard::cli
