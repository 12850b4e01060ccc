// Perturbation: one thing done on purpose to one write of one process, in an otherwise healthy world.
// Pure values.
#pragma once

#include <optional>
#include <string_view>

#include "base/result.h"
#include "kube/request.h"

namespace trainyard::sim {

enum class Blow { kNone, kCrashBefore, kCrashAfter, kConflict, kServerError, kLost, kLostApplied };
std::string_view to_string(Blow blow);

// Whose writes are counted and struck.
enum class Struck { kOperator, kScheduler };
std::string_view to_string(Struck who);

struct Perturbation {
  Blow blow = Blow::kNone;
  int write = 0;  // at which write, counted from 1
  Struck who = Struck::kOperator;

  bool operator==(const Perturbation&) const = default;
  bool hits(Struck whose, int nth) const { return blow != Blow::kNone && who == whose && write == nth; }
};

// Thrown out of a request at which its process dies.
struct Died {};

// A create has nothing to conflict with, and a delete only when the uid is another.
bool can_conflict(const kube::Request& request);

// What the sender hears instead of an answer: before the request is carried out, which then it is not, or
// after. Nothing: all is well. Throws Died.
std::optional<Error> strike_before(Blow blow, const kube::Request& request);
std::optional<Error> strike_after(Blow blow);

}  // namespace trainyard::sim
