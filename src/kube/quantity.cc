#include "kube/quantity.h"

#include <charconv>
#include <limits>

#include "kube/access.h"

namespace trainyard::kube {
namespace {

constexpr __int128 kNanoPerUnit = 1'000'000'000;
constexpr __int128 kNanoPerMilli = 1'000'000;

Error not_a_quantity(std::string_view text) {
  return {ErrorKind::kInvalid, fmt::format("\"{}\" is not a quantity", shown(text))};
}

Error too_large(std::string_view text) {
  return {ErrorKind::kInvalid, fmt::format("quantity \"{}\" is too large", shown(text))};
}

Error overflow() { return {ErrorKind::kInvalid, "the sum of quantities is too large"}; }

struct Suffix {
  int base = 10;
  int exponent = 0;
  Quantity::Format format = Quantity::Format::kDecimalSi;
};

struct NamedSuffix {
  std::string_view text;
  int base;
  int exponent;
};

constexpr NamedSuffix kSuffixes[] = {
    {"n", 10, -9}, {"u", 10, -6}, {"m", 10, -3}, {"", 10, 0},   {"k", 10, 3},  {"M", 10, 6},
    {"G", 10, 9},  {"T", 10, 12}, {"P", 10, 15}, {"E", 10, 18}, {"Ki", 2, 10}, {"Mi", 2, 20},
    {"Gi", 2, 30}, {"Ti", 2, 40}, {"Pi", 2, 50}, {"Ei", 2, 60},
};

std::string_view suffix_text(int base, int exponent) {
  for (const NamedSuffix& known : kSuffixes) {
    if (known.base == base && known.exponent == exponent) return known.text;
  }
  return "";
}

std::optional<Suffix> parse_suffix(std::string_view text) {
  for (const NamedSuffix& known : kSuffixes) {
    if (known.text != text) continue;
    auto format = known.base == 2 ? Quantity::Format::kBinarySi : Quantity::Format::kDecimalSi;
    return Suffix{known.base, known.exponent, format};
  }
  if (text.size() < 2 || (text[0] != 'e' && text[0] != 'E')) return std::nullopt;
  std::string_view digits = text.substr(1);
  if (digits[0] == '+') {
    digits.remove_prefix(1);
    if (digits.empty() || digits[0] == '-') return std::nullopt;
  }
  int exponent = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
  if (end != digits.data() + digits.size()) return std::nullopt;
  if (error == std::errc::result_out_of_range) {
    exponent = digits[0] == '-' ? std::numeric_limits<int>::min() / 2 : std::numeric_limits<int>::max() / 2;
  } else if (error != std::errc{}) {
    return std::nullopt;
  }
  return Suffix{10, exponent, Quantity::Format::kDecimalExponent};
}

// An unsigned number as written: the digits before and after the point.
struct Written {
  std::string_view whole;
  std::string_view fraction;
  size_t length = 0;
};

size_t digits_at(std::string_view text) {
  size_t end = text.find_first_not_of("0123456789");
  return end == text.npos ? text.size() : end;
}

std::optional<Written> read_number(std::string_view text) {
  Written out;
  out.whole = text.substr(0, digits_at(text));
  out.length = out.whole.size();
  if (out.length < text.size() && text[out.length] == '.') {
    std::string_view rest = text.substr(out.length + 1);
    out.fraction = rest.substr(0, digits_at(rest));
    out.length += 1 + out.fraction.size();
  }
  if (out.whole.empty() && out.fraction.empty()) return std::nullopt;
  return out;
}

// n * 10 + digit; false when it does not fit.
bool append_digit(__int128& n, char digit) {
  return !__builtin_mul_overflow(n, __int128{10}, &n) &&
         !__builtin_add_overflow(n, __int128{digit - '0'}, &n);
}

// number * 10^exponent, rounded up; nullopt when it does not fit.
std::optional<__int128> scale_decimal(const Written& number, int64_t exponent) {
  exponent -= static_cast<int64_t>(number.fraction.size());
  int64_t size = static_cast<int64_t>(number.whole.size() + number.fraction.size());
  int64_t kept = exponent < 0 ? std::max<int64_t>(0, size + exponent) : size;
  __int128 n = 0;
  bool rest = false;
  for (int64_t i = 0; i < size; ++i) {
    auto at = static_cast<size_t>(i);
    char digit = at < number.whole.size() ? number.whole[at] : number.fraction[at - number.whole.size()];
    if (i >= kept) {
      rest = rest || digit != '0';
    } else if (!append_digit(n, digit)) {
      return std::nullopt;
    }
  }
  for (; exponent > 0 && n != 0; --exponent) {
    if (!append_digit(n, '0')) return std::nullopt;
  }
  if (rest && __builtin_add_overflow(n, __int128{1}, &n)) return std::nullopt;
  return n;
}

// number * unit, rounded up; nullopt when it does not fit. REQUIRES: 10 * unit fits.
std::optional<__int128> scale_by(const Written& number, __int128 unit) {
  __int128 n = 0;
  for (char digit : number.whole) {
    if (!append_digit(n, digit)) return std::nullopt;
  }
  if (__builtin_mul_overflow(n, unit, &n)) return std::nullopt;
  __int128 part = 0;
  bool rest = false;
  for (size_t i = number.fraction.size(); i > 0; --i) {
    part += unit * (number.fraction[i - 1] - '0');
    rest = rest || part % 10 != 0;
    part /= 10;
  }
  if (rest) ++part;
  if (__builtin_add_overflow(n, part, &n)) return std::nullopt;
  return n;
}

std::optional<__int128> to_nano(const Written& number, const Suffix& suffix) {
  if (suffix.base == 10) return scale_decimal(number, int64_t{suffix.exponent} + 9);
  return scale_by(number, (__int128{1} << suffix.exponent) * kNanoPerUnit);
}

__int128 divide_up(__int128 n, __int128 by) {
  __int128 whole = n / by;
  return n % by > 0 ? whole + 1 : whole;
}

int64_t hold_in_int64(__int128 n) {
  constexpr __int128 kLow = std::numeric_limits<int64_t>::min();
  constexpr __int128 kHigh = std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(std::clamp(n, kLow, kHigh));
}

std::string write_decimal(__int128 nano, Quantity::Format format) {
  int exponent = -9;
  while (nano % 1000 == 0 && (format == Quantity::Format::kDecimalExponent || exponent < 18)) {
    nano /= 1000;
    exponent += 3;
  }
  if (format == Quantity::Format::kDecimalExponent) {
    return exponent == 0 ? fmt::format("{}", nano) : fmt::format("{}e{}", nano, exponent);
  }
  return fmt::format("{}{}", nano, suffix_text(10, exponent));
}

std::string write_binary(__int128 whole) {
  int exponent = 0;
  while (whole % 1024 == 0 && exponent < 60) {
    whole /= 1024;
    exponent += 10;
  }
  return fmt::format("{}{}", whole, exponent == 0 ? "" : suffix_text(2, exponent));
}

}  // namespace

Quantity Quantity::of_whole(int64_t n) { return {n * kNanoPerUnit, Format::kDecimalSi}; }
Quantity Quantity::of_milli(int64_t n) { return {n * kNanoPerMilli, Format::kDecimalSi}; }

Result<Quantity> Quantity::parse(std::string_view text) {
  std::string_view rest = text;
  bool negative = false;
  if (!rest.empty() && (rest[0] == '+' || rest[0] == '-')) {
    negative = rest[0] == '-';
    rest.remove_prefix(1);
  }
  std::optional<Written> number = read_number(rest);
  if (!number) return not_a_quantity(text);
  std::optional<Suffix> suffix = parse_suffix(rest.substr(number->length));
  if (!suffix) return not_a_quantity(text);
  std::optional<__int128> nano = to_nano(*number, *suffix);
  if (!nano) return too_large(text);
  return Quantity(negative ? -*nano : *nano, suffix->format);
}

Result<Quantity> Quantity::from_json(const json::value& value) {
  if (const json::string* text = value.if_string()) return parse(view(*text));
  if (value.is_int64()) return parse(fmt::format("{}", value.get_int64()));
  if (value.is_uint64()) return parse(fmt::format("{}", value.get_uint64()));
  if (value.is_double()) return parse(fmt::format("{}", value.get_double()));
  return Error{ErrorKind::kInvalid, "a quantity is a string such as \"500m\" or a number"};
}

Result<Quantity> Quantity::plus(const Quantity& other) const {
  __int128 sum = 0;
  if (__builtin_add_overflow(nano_, other.nano_, &sum)) return overflow();
  return Quantity(sum, is_zero() ? other.format_ : format_);
}

Result<Quantity> Quantity::minus(const Quantity& other) const {
  __int128 difference = 0;
  if (__builtin_sub_overflow(nano_, other.nano_, &difference)) return overflow();
  return Quantity(difference, is_zero() ? other.format_ : format_);
}

Result<Quantity> Quantity::times(int64_t n) const {
  __int128 product = 0;
  if (__builtin_mul_overflow(nano_, __int128{n}, &product)) return overflow();
  return Quantity(product, format_);
}

std::strong_ordering Quantity::operator<=>(const Quantity& other) const {
  if (nano_ < other.nano_) return std::strong_ordering::less;
  if (nano_ > other.nano_) return std::strong_ordering::greater;
  return std::strong_ordering::equal;
}

int64_t Quantity::value() const { return hold_in_int64(divide_up(nano_, kNanoPerUnit)); }
int64_t Quantity::value_milli() const { return hold_in_int64(divide_up(nano_, kNanoPerMilli)); }

std::string Quantity::to_string() const {
  if (nano_ == 0) return "0";
  // Small or fractional amounts are never shown in binary: Kubernetes keeps them exact instead.
  bool small = nano_ > -1024 * kNanoPerUnit && nano_ < 1024 * kNanoPerUnit;
  if (format_ == Format::kBinarySi && !small && nano_ % kNanoPerUnit == 0) {
    return write_binary(nano_ / kNanoPerUnit);
  }
  return write_decimal(nano_, format_ == Format::kBinarySi ? Format::kDecimalSi : format_);
}

bool is_valid(std::string_view quantity) { return Quantity::parse(quantity).ok(); }

}  // namespace trainyard::kube
