#include "base/time.h"

#include <fmt/format.h>

#include <charconv>

namespace trainyard {
namespace {

using std::chrono::day;
using std::chrono::month;
using std::chrono::sys_days;
using std::chrono::year;
using std::chrono::year_month_day;

// Reads exactly `digits` decimal digits at `at` and moves on.
std::optional<int> take_digits(std::string_view text, size_t& at, size_t digits) {
  if (at + digits > text.size()) return std::nullopt;
  int n = 0;
  for (size_t i = 0; i < digits; ++i) {
    char c = text[at + i];
    if (c < '0' || c > '9') return std::nullopt;
    n = n * 10 + (c - '0');
  }
  at += digits;
  return n;
}

bool take_char(std::string_view text, size_t& at, char c) {
  if (at >= text.size() || text[at] != c) return false;
  ++at;
  return true;
}

// ".5" -> 500; digits beyond the third are dropped.
std::optional<int> take_fraction(std::string_view text, size_t& at) {
  if (!take_char(text, at, '.')) return 0;
  int ms = 0;
  int scale = 100;
  size_t begin = at;
  while (at < text.size() && text[at] >= '0' && text[at] <= '9') {
    ms += (text[at] - '0') * scale;
    scale /= 10;
    ++at;
  }
  if (at == begin) return std::nullopt;
  return ms;
}

// "Z" or "+08:00", in minutes.
std::optional<int> take_offset(std::string_view text, size_t& at) {
  if (take_char(text, at, 'Z') || take_char(text, at, 'z')) return 0;
  int sign = take_char(text, at, '+') ? 1 : take_char(text, at, '-') ? -1 : 0;
  if (sign == 0) return std::nullopt;
  auto h = take_digits(text, at, 2);
  if (!h || *h > 23 || !take_char(text, at, ':')) return std::nullopt;
  auto m = take_digits(text, at, 2);
  if (!m || *m > 59) return std::nullopt;
  return sign * (*h * 60 + *m);
}

// Two decimal digits.
void put_digits(std::string& text, size_t at, int n) {
  text[at] = static_cast<char>('0' + n / 10);
  text[at + 1] = static_cast<char>('0' + n % 10);
}

}  // namespace

std::string format_rfc3339(Time time) {
  using namespace std::chrono;
  int64_t whole = time.ms >= 0 ? time.ms / 1000 : -((-time.ms + 999) / 1000);
  sys_seconds point{std::chrono::seconds{whole}};
  auto date_point = floor<days>(point);
  year_month_day date{date_point};
  int64_t rest = (point - date_point).count();
  const int year = static_cast<int>(date.year());
  if (year < 0 || year > 9999) {
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", year, static_cast<unsigned>(date.month()),
                       static_cast<unsigned>(date.day()), rest / 3600, rest / 60 % 60, rest % 60);
  }
  // Every object and status has a handful of these: digits in place are ten times faster than a format.
  std::string text = "0000-00-00T00:00:00Z";
  put_digits(text, 0, year / 100);
  put_digits(text, 2, year % 100);
  put_digits(text, 5, static_cast<int>(static_cast<unsigned>(date.month())));
  put_digits(text, 8, static_cast<int>(static_cast<unsigned>(date.day())));
  put_digits(text, 11, static_cast<int>(rest / 3600));
  put_digits(text, 14, static_cast<int>(rest / 60 % 60));
  put_digits(text, 17, static_cast<int>(rest % 60));
  return text;
}

std::optional<Time> parse_rfc3339(std::string_view text) {
  size_t at = 0;
  auto y = take_digits(text, at, 4);
  if (!y || !take_char(text, at, '-')) return std::nullopt;
  auto mo = take_digits(text, at, 2);
  if (!mo || !take_char(text, at, '-')) return std::nullopt;
  auto d = take_digits(text, at, 2);
  if (!d || !(take_char(text, at, 'T') || take_char(text, at, 't'))) return std::nullopt;
  auto h = take_digits(text, at, 2);
  if (!h || *h > 23 || !take_char(text, at, ':')) return std::nullopt;
  auto mi = take_digits(text, at, 2);
  if (!mi || *mi > 59 || !take_char(text, at, ':')) return std::nullopt;
  auto s = take_digits(text, at, 2);
  if (!s || *s > 60) return std::nullopt;
  auto ms = take_fraction(text, at);
  if (!ms) return std::nullopt;
  auto offset = take_offset(text, at);
  if (!offset || at != text.size()) return std::nullopt;
  year_month_day date{year{*y}, month{static_cast<unsigned>(*mo)}, day{static_cast<unsigned>(*d)}};
  if (!date.ok()) return std::nullopt;
  int64_t days = sys_days{date}.time_since_epoch().count();
  int64_t total = ((days * 24 + *h) * 60 + *mi - *offset) * 60 + *s;
  return Time{total * 1000 + *ms};
}

std::string format_duration(Duration d) {
  int64_t s = d.count() / 1000;
  if (s < 0) return "0s";
  if (s < 120) return fmt::format("{}s", s);
  if (s < 3600) return s % 60 ? fmt::format("{}m{}s", s / 60, s % 60) : fmt::format("{}m", s / 60);
  if (s < 48 * 3600) {
    return s / 60 % 60 ? fmt::format("{}h{}m", s / 3600, s / 60 % 60) : fmt::format("{}h", s / 3600);
  }
  return fmt::format("{}d", s / 86400);
}

}  // namespace trainyard
