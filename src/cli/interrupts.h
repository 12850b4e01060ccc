// Interrupts: how often the user asked this process to stop (Ctrl-C, SIGTERM, SIGHUP).
// One at a time in a process; the signals mean what they meant before once it is gone.
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

 private:
  Fd read_end_;
  Fd write_end_;
  struct sigaction before_[3];
};

}  // namespace trainyard::cli
