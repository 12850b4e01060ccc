// keep_heap_room: for threads that make what is kept, once for each of these things. What a thread but
// the first asks of the C library's heap beyond what that has makes it grow by a page or two, with a
// system call each time: a server that keeps what it is sent did that with every request. This lets it
// grow by many pages now and then; they take no memory until they are used. Any thread.
#pragma once

#include <cstddef>
#include <cstdlib>

namespace trainyard::server {

inline void keep_heap_room() {
  // More than 64 KB would be tidied up when it is given back, and the room with it.
  constexpr size_t kRoomBytes = 60 * 1024;
  constexpr unsigned kThingsPerRoom = 8;
  static thread_local unsigned things = 0;
  if (things++ % kThingsPerRoom != 0) return;
  void* volatile room = std::malloc(kRoomBytes);
  std::free(room);
}

}  // namespace trainyard::server
