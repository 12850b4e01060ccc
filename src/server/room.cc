#include "server/room.h"

namespace trainyard::server {

Room::Share Room::take(size_t bytes) {
  size_t before = used_;
  do {
    if (before > 0 && (bytes > bytes_max_ || before > bytes_max_ - bytes)) return nullptr;
  } while (!used_.compare_exchange_weak(before, before + bytes));
  return Share(this, [this, bytes](const void*) { used_ -= bytes; });
}

}  // namespace trainyard::server
