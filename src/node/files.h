// Small files of the node: read whole, written so that a crash leaves the old or the new
// one. Edge: touches the disk; no state.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace trainyard::node {

inline constexpr size_t kSmallFileMax = 16 << 20;

// kNotFound when there is none; kUnavailable with the reason otherwise.
Result<std::string> read_whole(const std::filesystem::path& path);
// On disk when it returns: a temporary file, fsync, rename, fsync of the folder.
Result<Done> write_whole(const std::filesystem::path& path, std::string_view text, unsigned mode = 0600);
// The same without waiting for the disk: a machine that loses power may lose it.
Result<Done> write_soon(const std::filesystem::path& path, std::string_view text, unsigned mode = 0600);
Result<Done> make_folders(const std::filesystem::path& path);

// "open /a/b: No such file or directory" as an error of the kind that fits.
Error error_of(int error_number, std::string_view doing, std::string_view what);

// When that process began, in clock ticks since boot; nullopt when there is none.
std::optional<int64_t> start_ticks_of(int64_t pid);

// What time it is. The one place in this room that asks.
Time wall_clock();

}  // namespace trainyard::node
