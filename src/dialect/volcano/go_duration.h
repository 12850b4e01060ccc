// Durations as Go writes and reads them, which is how a Volcano Job spells a timeout:
// "8s", "1m30s", "1.5h", "250ms". Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace trainyard::dialect::vc {

inline constexpr std::string_view kDurationRule = R"(must be a duration such as "30s", "5m" or "1h30m")";

// nullopt when it is no duration, or one that milliseconds in 64 bits cannot hold.
// What is finer than a millisecond is rounded up, so that a short wait stays a wait.
std::optional<Duration> parse_go_duration(std::string_view text);

// "1m30s", "8s", "1.5s", "250ms", "0s".
std::string format_go_duration(Duration duration);

}  // namespace trainyard::dialect::vc
