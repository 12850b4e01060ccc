#include "sched/amounts.h"

#include <algorithm>
#include <limits>

namespace trainyard::sched {

int64_t amount_at(const Amounts& amounts, int resource) {
  return static_cast<size_t>(resource) < amounts.size() ? amounts[static_cast<size_t>(resource)] : 0;
}

void add(Amounts& into, const Amounts& what, int64_t times) {
  if (into.size() < what.size()) into.resize(what.size(), 0);
  constexpr __int128 kMost = std::numeric_limits<int64_t>::max();
  for (size_t i = 0; i < what.size(); ++i) {
    __int128 sum = static_cast<__int128>(into[i]) + static_cast<__int128>(what[i]) * times;
    into[i] = static_cast<int64_t>(std::clamp(sum, -kMost, kMost));
  }
}

int64_t within_bounds(int64_t amount) { return std::clamp<int64_t>(amount, 0, kAmountMax); }

int64_t bounded_amount(std::string_view resource, const kube::Quantity& quantity) {
  return within_bounds(kube::to_amount(resource, quantity));
}

int64_t plus(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a > 0 ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min();
}

bool fits_within(const Amounts& what, const Amounts& room) {
  for (size_t i = 0; i < what.size(); ++i) {
    if (what[i] > 0 && what[i] > amount_at(room, static_cast<int>(i))) return false;
  }
  return true;
}

bool any_positive(const Amounts& amounts) {
  return std::any_of(amounts.begin(), amounts.end(), [](int64_t amount) { return amount > 0; });
}

std::string amount_text(std::string_view resource, int64_t amount) {
  if (resource == "cpu") return kube::Quantity::of_milli(amount).to_string();
  bool bytes = resource == "memory" || resource == "storage" || resource == "ephemeral-storage" ||
               resource.starts_with("hugepages-");
  if (!bytes) return std::to_string(amount);
  constexpr std::string_view kSuffixes[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi"};
  size_t suffix = 0;
  while (amount != 0 && amount % 1024 == 0 && suffix + 1 < std::size(kSuffixes)) {
    amount /= 1024;
    ++suffix;
  }
  return std::to_string(amount).append(kSuffixes[suffix]);
}

std::string amount_phrase(std::string_view resource, int64_t amount) {
  std::string text = amount_text(resource, amount);
  bool counted = resource.find('/') != std::string_view::npos;
  return text.append(counted ? " x " : " ").append(resource);
}

}  // namespace trainyard::sched
