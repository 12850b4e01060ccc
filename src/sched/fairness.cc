#include "sched/fairness.h"

#include <algorithm>

namespace trainyard::sched {
namespace {

bool boundless(const Share& share) { return share.of <= 0 && share.amount > 0; }

// One resource shared out: everybody's part grows with its weight until it has what it may
// have at most; what is left over goes round again.
void fill(std::span<const Queue> queues, const std::vector<int64_t>& least, const std::vector<int64_t>& most,
          int64_t total, std::vector<int64_t>& parts) {
  parts = least;
  __int128 left = total;
  for (int64_t part : parts) left -= part;
  std::vector<bool> met(queues.size(), false);
  while (left > 0) {
    __int128 weights = 0;
    for (size_t q = 0; q < queues.size(); ++q) {
      met[q] = met[q] || parts[q] >= most[q];
      if (!met[q]) weights += std::max(queues[q].weight, 1);
    }
    if (weights == 0) return;
    __int128 given = 0;
    for (size_t q = 0; q < queues.size(); ++q) {
      if (met[q]) continue;
      __int128 more = left * std::max(queues[q].weight, 1) / weights;
      more = std::min<__int128>(more, most[q] - parts[q]);
      parts[q] += static_cast<int64_t>(more);
      given += more;
    }
    if (given == 0) return;  // less is left than can be shared
    left -= given;
  }
}

}  // namespace

// By cross-multiplication where that fits; else the whole parts are compared, and then what is left over,
// turned upside down.
bool less(const Share& a, const Share& b) {
  if (boundless(a) || boundless(b)) return !boundless(a) && boundless(b);
  __int128 p = a.amount;
  __int128 q = static_cast<__int128>(std::max<int64_t>(a.of, 1)) * a.weight;
  __int128 r = b.amount;
  __int128 s = static_cast<__int128>(std::max<int64_t>(b.of, 1)) * b.weight;
  __int128 left = 0;
  __int128 right = 0;
  bool too_large = __builtin_mul_overflow(p, s, &left) || __builtin_mul_overflow(r, q, &right);
  if (!too_large) return left < right;
  while (p / q == r / s) {
    p %= q;
    r %= s;
    if (p == 0 || r == 0) return p == 0 && r > 0;
    std::swap(p, s);
    std::swap(q, r);
  }
  return p / q < r / s;
}

Share dominant_share(const Amounts& held, const Amounts& of, int64_t weight) {
  Share most{0, 1, weight};
  for (size_t r = 0; r < held.size(); ++r) {
    if (held[r] <= 0) continue;
    Share share{held[r], amount_at(of, static_cast<int>(r)), weight};
    if (less(most, share)) most = share;
  }
  return most;
}

int dominant_resource(const Amounts& held, const Amounts& of) {
  Share most;
  int resource = kCpu;
  for (size_t r = 0; r < held.size(); ++r) {
    if (held[r] <= 0) continue;
    Share share{held[r], amount_at(of, static_cast<int>(r)), 1};
    if (!less(most, share)) continue;
    most = share;
    resource = static_cast<int>(r);
  }
  return resource;
}

Amounts measure_of(const Queue& queue, const Amounts& total) {
  Amounts out = total;
  for (size_t r = 0; r < out.size(); ++r) {
    int64_t deserved = amount_at(queue.deserved, static_cast<int>(r));
    std::optional<int64_t> most = most_of(queue, static_cast<int>(r));
    if (deserved > 0) {
      out[r] = deserved;
    } else if (most) {
      out[r] = std::min(*most, out[r]);
    }
  }
  return out;
}

std::vector<Amounts> deserved_parts(std::span<const Queue> queues, const std::vector<Amounts>& wanted,
                                    const Amounts& total) {
  std::vector<Amounts> out(queues.size(), Amounts(total.size(), 0));
  std::vector<int64_t> least(queues.size());
  std::vector<int64_t> most(queues.size());
  std::vector<int64_t> parts;
  for (size_t r = 0; r < total.size(); ++r) {
    int resource = static_cast<int>(r);
    for (size_t q = 0; q < queues.size(); ++q) {
      std::optional<int64_t> may_hold = most_of(queues[q], resource);
      int64_t want = std::max<int64_t>(0, amount_at(wanted[q], resource));
      int64_t stated = amount_at(queues[q].deserved, resource);
      int64_t guarantee = amount_at(queues[q].guarantee, resource);
      most[q] = may_hold ? std::min(want, *may_hold) : want;
      if (stated > 0) most[q] = std::min(most[q], std::max(stated, guarantee));
      least[q] = std::min(guarantee, most[q]);
    }
    fill(queues, least, most, total[r], parts);
    for (size_t q = 0; q < queues.size(); ++q) out[q][r] = parts[q];
  }
  return out;
}

}  // namespace trainyard::sched
