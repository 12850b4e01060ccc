// Room: how many bytes of one sort may be kept at once, whoever keeps them. Thread-safe.
//
// Who wants to keep something that may be large takes a share first and gives it back by dropping it.
// When there is no room the answer is no, at once: nobody waits here. One share is let in whatever its
// size when nothing else is kept, so that nothing is too large for ever.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

namespace trainyard::server {

class Room {
 public:
  // Somebody's part; dropping the last copy gives it back. REQUIRES: the room outlives it.
  using Share = std::shared_ptr<const void>;

  explicit Room(size_t bytes_max) : bytes_max_(bytes_max) {}
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;

  // Null when there is no room.
  Share take(size_t bytes);
  size_t used() const { return used_; }

 private:
  const size_t bytes_max_;
  std::atomic<size_t> used_ = 0;
};

}  // namespace trainyard::server
