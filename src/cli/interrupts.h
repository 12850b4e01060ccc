// Interrupts: how often the user asked this process to stop (Ctrl-C, SIGTERM, SIGHUP), and whether
// somebody who read what it prints has left (SIGPIPE): that ends the process no more, because
// replicas would be left behind. One at a time in a process; the signals mean what they meant before
// once it is gone, and to programs that are started.
#pragma once

#include <csignal>

#include "base/fd.h"
#include "base/time.h"

namespace trainyard::cli {

class Interrupts {
 public:
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  int count() const;
  // Sleeps, at most until the next interrupt.
  void sleep(Duration pause);
  // Which signal came last; 0 when none did.
  int last() const;
  // Something was written to a pipe that nobody reads.
  bool reader_left() const;

 private:
  Fd read_end_;
  Fd write_end_;
  struct sigaction before_[4];
};

}  // namespace trainyard::cli
