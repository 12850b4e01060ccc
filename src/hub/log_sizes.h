// LogSizes: how large the changes of a log are, as text: what tells how much of it may be kept. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

namespace trainyard::hub {

class LogSizes {
 public:
  // `after`: the revision before the first that will be added. What is older has no known size.
  explicit LogSizes(int64_t after) : first_(after + 1) {}

  // The size of the next revision.
  void add(size_t bytes);
  // 0 where it is not known.
  size_t of(int64_t revision) const;
  size_t total() const { return total_; }
  // Up to which revision the log has to go so that no more than so many bytes remain; nullopt when
  // that is so already.
  std::optional<int64_t> excess_over(size_t bytes_max) const;
  void forget(int64_t up_to);

 private:
  int64_t first_;  // the revision of the first size
  std::deque<size_t> sizes_;
  size_t total_ = 0;
};

}  // namespace trainyard::hub
