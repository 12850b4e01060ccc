#include "cli/disk_room.h"

#include <fmt/format.h>

#include <system_error>
#include <utility>

namespace trainyard::cli {

std::optional<std::string> DiskRoom::news(uintmax_t bytes_free) {
  const bool is_full = bytes_free < kDiskRoomMin;
  if (is_full == std::exchange(full_, is_full)) return std::nullopt;
  if (!is_full) return fmt::format("the disk of {} has room again", folder_.string());
  return fmt::format(
      "the disk of {} is full: until it has room, what replicas print is lost and nobody hears that they "
      "have "
      "ended",
      folder_.string());
}

std::optional<std::string> DiskRoom::look() {
  std::error_code unknown;
  const std::filesystem::space_info space = std::filesystem::space(folder_, unknown);
  return unknown ? std::nullopt : news(space.available);
}

}  // namespace trainyard::cli
