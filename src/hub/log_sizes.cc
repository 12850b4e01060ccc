#include "hub/log_sizes.h"

namespace trainyard::hub {

void LogSizes::add(size_t bytes) {
  sizes_.push_back(bytes);
  total_ += bytes;
}

size_t LogSizes::of(int64_t revision) const {
  const bool is_known = revision >= first_ && revision - first_ < static_cast<int64_t>(sizes_.size());
  return is_known ? sizes_[static_cast<size_t>(revision - first_)] : 0;
}

std::optional<int64_t> LogSizes::excess_over(size_t bytes_max) const {
  if (total_ <= bytes_max) return std::nullopt;
  size_t left = total_;
  int64_t revision = first_ - 1;
  for (size_t size : sizes_) {
    if (left <= bytes_max) break;
    left -= size;
    ++revision;
  }
  return revision;
}

void LogSizes::forget(int64_t up_to) {
  while (!sizes_.empty() && first_ <= up_to) {
    total_ -= sizes_.front();
    sizes_.pop_front();
    ++first_;
  }
}

}  // namespace trainyard::hub
