// FdPump: one descriptor of a container, read and written on one thread. Internal to tunnels. What is
// written before it is open waits. After stop() nothing is called any more.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/fd.h"

namespace trainyard::server {

class FdPump {
 public:
  struct Events {
    std::function<void(std::string_view bytes)> on_data;
    std::function<void()> on_end;      // nothing more can be read
    std::function<void()> on_drained;  // everything that was written has gone out
  };
  virtual ~FdPump() = default;
  // REQUIRES: the descriptor is non-blocking and can be polled (no regular file); called once.
  virtual void open(Fd fd) = 0;
  virtual void start_reading() = 0;
  virtual void pause(bool paused) = 0;
  virtual void write(std::string_view bytes) = 0;
  virtual size_t backlog() const = 0;  // bytes that wait to be written
  // No more writes: the other side sees the end after what was written.
  virtual void end_writing() = 0;
  virtual void stop() = 0;

  static std::shared_ptr<FdPump> make(const boost::asio::any_io_executor& executor, Events events);
};

}  // namespace trainyard::server
