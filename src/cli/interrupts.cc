#include "cli/interrupts.h"

#include <fcntl.h>
#include <poll.h>

#include <atomic>
#include <cerrno>

namespace trainyard::cli {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};

// What a signal handler may touch.
std::atomic<int> interrupts{0};
std::atomic<int> last_signal{0};
std::atomic<int> wake_fd{-1};

void on_signal(int signal) {
  int saved = errno;
  interrupts.fetch_add(1);
  last_signal.store(signal);
  char byte = 0;
  if (::write(wake_fd.load(), &byte, 1) < 0) errno = saved;
  errno = saved;
}

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
  struct sigaction action = {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  for (int i = 0; i < 3; ++i) ::sigaction(kSignals[i], &action, &before_[i]);
}

Interrupts::~Interrupts() {
  for (int i = 0; i < 3; ++i) ::sigaction(kSignals[i], &before_[i], nullptr);
  wake_fd.store(-1);
}

int Interrupts::count() const { return interrupts.load(); }

int Interrupts::last() const { return last_signal.load(); }

void Interrupts::sleep(Duration pause) {
  pollfd wait{read_end_.get(), POLLIN, 0};
  if (::poll(&wait, 1, static_cast<int>(pause.count())) <= 0) return;
  char bytes[64];
  while (::read(read_end_.get(), bytes, sizeof bytes) > 0) {
  }
}

}  // namespace trainyard::cli
