// Quantity: an exact amount of a resource ("500m", "192Mi", "1e3"). Pure value.
// Kept as whole nano-units in 128 bits: everything Kubernetes can write fits, and
// what does not (beyond about 1.7e29 whole units) is an error, never a wrap-around.
// Fractions finer than a nano-unit are rounded away from zero, as Kubernetes does.
//
// Comparison is by amount alone: "1024Ki" == "1Mi" == "1048576".
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "kube/json.h"

namespace trainyard::kube {

class Quantity {
 public:
  // How it was written, which decides how it is written again.
  enum class Format { kDecimalSi, kBinarySi, kDecimalExponent };

  Quantity() = default;  // zero
  static Quantity of_whole(int64_t n);
  static Quantity of_milli(int64_t n);

  // kInvalid, with the text in the message, when it is not a quantity or too large.
  static Result<Quantity> parse(std::string_view text);
  // A quantity in a document may be a string or a bare number (cpu: 2, cpu: 0.5).
  static Result<Quantity> from_json(const json::value& value);

  // The format is the first operand's unless that is zero. kInvalid on overflow.
  Result<Quantity> plus(const Quantity& other) const;
  Result<Quantity> minus(const Quantity& other) const;
  Result<Quantity> times(int64_t n) const;

  std::strong_ordering operator<=>(const Quantity& other) const;
  bool operator==(const Quantity& other) const { return nano_ == other.nano_; }
  bool is_zero() const { return nano_ == 0; }
  bool is_negative() const { return nano_ < 0; }

  // Whole units and thousandths, rounded up; held at the ends of int64 when beyond them.
  int64_t value() const;
  int64_t value_milli() const;
  Format format() const { return format_; }

  // Canonical, as Kubernetes writes it: no fraction, the largest suffix that keeps it exact.
  std::string to_string() const;

 private:
  Quantity(__int128 nano, Format format) : nano_(nano), format_(format) {}

  __int128 nano_ = 0;
  Format format_ = Format::kDecimalSi;
};

bool is_valid(std::string_view quantity);

}  // namespace trainyard::kube
