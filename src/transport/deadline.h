// Deadline: when a connection is over unless something comes. Moving it on costs nothing: its timer stays
// as it is and looks again when it fires. Includes Asio; used on the one thread of its executor.
#pragma once

#include <boost/asio/basic_waitable_timer.hpp>
#include <chrono>
#include <functional>
#include <memory>

#include "base/time.h"
#include "transport/awaitable.h"

namespace trainyard::transport {

class Deadline {
 public:
  // `on_over` is called once for each time that it passes, never after the deadline is gone.
  Deadline(const Io& executor, std::function<void()> on_over)
      : timer_(executor), on_over_(std::move(on_over)) {}

  void set(Duration from_now) {
    at_ = Clock::now() + from_now;
    if (!armed_ || at_ < timer_.expiry()) arm();
  }
  void clear() { at_ = Clock::time_point::max(); }

 private:
  using Clock = std::chrono::steady_clock;

  void arm() {
    armed_ = true;
    timer_.expires_at(at_);
    timer_.async_wait([this, alive = std::weak_ptr<bool>(alive_)](const boost::system::error_code& error) {
      if (error || alive.expired()) return;  // it was armed anew, or nobody waits any more
      armed_ = false;
      if (at_ == Clock::time_point::max()) return;
      if (at_ <= Clock::now()) return on_over_();
      arm();
    });
  }

  boost::asio::basic_waitable_timer<Clock, boost::asio::wait_traits<Clock>, Io> timer_;
  std::function<void()> on_over_;
  Clock::time_point at_ = Clock::time_point::max();
  bool armed_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trainyard::transport
