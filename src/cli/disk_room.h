// DiskRoom: says once when the disk that a plane lives on is full, and once when it has room again. On a
// full disk nothing goes on and nothing fails: shims try to write down how their containers ended until
// they can. Pure but for look(), which asks the file system.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace trainyard::cli {

inline constexpr uintmax_t kDiskRoomMin = 64 << 10;  // less is full: a small file does not fit with certainty

class DiskRoom {
 public:
  explicit DiskRoom(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // What there is to say, now that so many bytes are free; nullopt when nothing is new.
  std::optional<std::string> news(uintmax_t bytes_free);
  // The same with what is free now.
  std::optional<std::string> look();

 private:
  std::filesystem::path folder_;
  bool full_ = false;
};

}  // namespace trainyard::cli
