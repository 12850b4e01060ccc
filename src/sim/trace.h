// Trace: the story of one world, line by line, for a person. Costs nothing when off:
// whoever tells something asks on() before putting words together.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace trainyard::sim {

inline constexpr size_t kTraceLinesMax = 100'000;

class Trace {
 public:
  Trace(bool on, Time start) : on_(on), start_(start) {}

  bool on() const { return on_; }
  void say(Time at, std::string_view who, std::string_view what) {
    if (!on_ || lines_.size() >= kTraceLinesMax) return;
    const Duration since = at - start_;
    lines_.push_back(
        fmt::format("{:9.3f}  {:<11} {}", static_cast<double>(since.count()) / 1000.0, who, what));
  }
  std::vector<std::string> take() { return std::move(lines_); }

 private:
  bool on_;
  Time start_;
  std::vector<std::string> lines_;
};

}  // namespace trainyard::sim
