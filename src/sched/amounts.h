// Amounts: how much of each resource, as a small vector of integers over the resource
// names of one Cluster. Pure values. cpu is counted in thousandths, everything else whole.
// A vector may be shorter than the table: what it does not name is zero.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kube/pod_requests.h"
#include "kube/quantity.h"

namespace trainyard::sched {

using Amounts = std::vector<int64_t>;

// These come first in every table of resource names; the others follow sorted.
inline constexpr int kCpu = 0;
inline constexpr int kMemory = 1;
inline constexpr int kPodCount = 2;
inline constexpr int kNamedResources = 3;

int64_t amount_at(const Amounts& amounts, int resource);
// into += what * times; `into` grows as needed. Sums stay within int64.
void add(Amounts& into, const Amounts& what, int64_t times = 1);
bool fits_within(const Amounts& what, const Amounts& room);
bool any_positive(const Amounts& amounts);

// The most that one pod, node or queue is believed to ask for or have (4 Pi): sums of such stay far from the
// end of int64, and what asks for more fits nowhere either way.
inline constexpr int64_t kAmountMax = int64_t{1} << 52;
// In the unit the resource is counted in, within 0 and kAmountMax.
int64_t bounded_amount(std::string_view resource, const kube::Quantity& quantity);
int64_t within_bounds(int64_t amount);
// The sum, held at the ends of int64.
int64_t plus(int64_t a, int64_t b);
// For people and documents: "1500m", "4", "8Gi".
std::string amount_text(std::string_view resource, int64_t amount);
// With the name where people say it so: "4 cpu", "8Gi memory", "4 x nvidia.com/gpu".
std::string amount_phrase(std::string_view resource, int64_t amount);

}  // namespace trainyard::sched
