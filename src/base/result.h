// Result: a value, or the Error that stands in its place. The error's kind decides
// what the caller does next; the mapping from kind to retry lives once, in control.
//
// REQUIRES: value() only after ok(), error() only after !ok(); both are CHECKed.
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/check.h"

namespace trainyard {

enum class ErrorKind {
  kInvalid,        // the input is at fault: the same input fails again
  kNotFound,       // no such object
  kAlreadyExists,  // an object of that name is there
  kConflict,       // a precondition (version, uid) did not hold: look again, plan again
  kGone,           // the version asked for is no longer kept: list again
  kForbidden,      // quota, RBAC: retry later, tell the user
  kUnavailable,    // not done: back off and try again
  kUnknown,        // may or may not have been done: look before trying again
};

// One of the things that are wrong, as the causes of a Kubernetes Status tell it.
struct Cause {
  std::string reason;  // "FieldValueRequired", "FieldManagerConflict", ...
  std::string message;
  std::string field;  // "" when it is about no field

  bool operator==(const Cause&) const = default;
};

struct Error {
  ErrorKind kind = ErrorKind::kInvalid;
  std::string message;
  std::vector<Cause> causes = {};  // where they are known one by one

  bool operator==(const Error&) const = default;
};

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : body_(std::move(value)) {}      // NOLINT: a value is a Result
  Result(Error error) : body_(std::move(error)) {}  // NOLINT: so is an Error

  bool ok() const { return body_.index() == 0; }
  const T& value() const& {
    CHECK(ok());
    return std::get<0>(body_);
  }
  T& value() & {
    CHECK(ok());
    return std::get<0>(body_);
  }
  T&& value() && {
    CHECK(ok());
    return std::get<0>(std::move(body_));
  }
  const Error& error() const {
    CHECK(!ok());
    return std::get<1>(body_);
  }
  const T* operator->() const { return &value(); }
  const T& operator*() const& { return value(); }

 private:
  std::variant<T, Error> body_;
};

// For operations that give nothing back.
struct Done {
  bool operator==(const Done&) const = default;
};

}  // namespace trainyard
