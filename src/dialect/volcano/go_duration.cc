#include "dialect/volcano/go_duration.h"

#include <fmt/format.h>

namespace trainyard::dialect::vc {
namespace {

using Wide = __int128;

constexpr int64_t kNanosPerMilli = 1'000'000;
constexpr Wide kNanosMax = Wide{INT64_MAX};

// Takes a unit off the front and answers its length in nanoseconds; 0 when there is none.
int64_t take_unit(std::string_view& text) {
  struct Unit {
    std::string_view name;
    int64_t nanos;
  };
  static constexpr Unit kUnits[] = {
      {"ns", 1},         {"us", 1'000},        {"\xC2\xB5s", 1'000},  {"\xCE\xBCs", 1'000},
      {"ms", 1'000'000}, {"s", 1'000'000'000}, {"m", 60'000'000'000}, {"h", 3'600'000'000'000},
  };
  for (const Unit& unit : kUnits) {
    if (!text.starts_with(unit.name)) continue;
    text.remove_prefix(unit.name.size());
    return unit.nanos;
  }
  return 0;
}

// Takes "12", "1.5" or ".5" and its unit off the front; nullopt when it is not there.
std::optional<Wide> take_part(std::string_view& text) {
  Wide whole = 0;
  Wide fraction = 0;
  Wide scale = 1;
  bool digits = false;
  bool after_point = false;
  while (!text.empty()) {
    char c = text.front();
    if (c == '.' && !after_point) {
      after_point = true;
    } else if (c >= '0' && c <= '9') {
      digits = true;
      if (!after_point) {
        whole = whole * 10 + (c - '0');
        if (whole > kNanosMax) return std::nullopt;
      } else if (scale < 1'000'000'000'000) {  // finer digits than that change nothing
        fraction = fraction * 10 + (c - '0');
        scale *= 10;
      }
    } else {
      break;
    }
    text.remove_prefix(1);
  }
  if (!digits) return std::nullopt;
  int64_t unit = take_unit(text);
  if (unit == 0) return std::nullopt;
  return whole * unit + fraction * unit / scale;
}

}  // namespace

std::optional<Duration> parse_go_duration(std::string_view text) {
  bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text == "0") return Duration{0};
  if (text.empty()) return std::nullopt;
  Wide nanos = 0;
  while (!text.empty()) {
    std::optional<Wide> part = take_part(text);
    if (!part) return std::nullopt;
    nanos += *part;
    if (nanos > kNanosMax) return std::nullopt;
  }
  auto millis = static_cast<int64_t>((nanos + kNanosPerMilli - 1) / kNanosPerMilli);
  return Duration{negative ? -millis : millis};
}

std::string format_go_duration(Duration duration) {
  int64_t millis = duration.count();
  if (millis == 0) return "0s";
  if (millis < 0) return "-" + format_go_duration(Duration{-millis});
  if (millis < 1000) return fmt::format("{}ms", millis);
  std::string seconds = fmt::to_string(millis / 1000 % 60);
  if (int64_t rest = millis % 1000; rest != 0) {
    std::string fraction = fmt::format("{:03}", rest);
    fraction.erase(fraction.find_last_not_of('0') + 1);
    seconds += "." + fraction;
  }
  int64_t minutes = millis / 60'000;
  if (minutes == 0) return seconds + "s";
  if (minutes < 60) return fmt::format("{}m{}s", minutes, seconds);
  return fmt::format("{}h{}m{}s", minutes / 60, minutes % 60, seconds);
}

}  // namespace trainyard::dialect::vc
