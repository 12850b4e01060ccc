// Time: a point in time, in milliseconds since 1970 UTC. A value: nothing in a pure
// room ever asks what time it is, it is told. On the wire Kubernetes keeps whole
// seconds (RFC 3339), so a Time that was written and read back has lost its millis.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace trainyard {

using Duration = std::chrono::milliseconds;

struct Time {
  int64_t ms = 0;

  auto operator<=>(const Time&) const = default;
  Time operator+(Duration d) const { return {ms + d.count()}; }
  Time operator-(Duration d) const { return {ms - d.count()}; }
  Duration operator-(Time other) const { return Duration{ms - other.ms}; }
  // The time as the wire keeps it.
  Time whole_seconds() const { return {ms / 1000 * 1000}; }
};

inline Duration seconds(int64_t n) { return std::chrono::seconds{n}; }

// "2026-11-15T23:40:00Z".
std::string format_rfc3339(Time time);
// Takes fractions and offsets as well; nullopt when it is not an RFC 3339 time.
std::optional<Time> parse_rfc3339(std::string_view text);
// For people: "3s", "4m10s", "2h5m", "7d".
std::string format_duration(Duration d);

}  // namespace trainyard
