// Fairness: shares as exact fractions and the part of the cluster each queue deserves. Pure,
// integers only: fractions are compared exactly, whatever their size.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sched/cluster.h"

namespace trainyard::sched {

// amount / (of * weight); of == 0 with something held is more than any other share.
struct Share {
  int64_t amount = 0;
  int64_t of = 1;
  int64_t weight = 1;
};
bool less(const Share& a, const Share& b);

// The largest of the shares over all resources. A resource of which there is none and none is
// held does not count. `of` may be shorter than `held`.
Share dominant_share(const Amounts& held, const Amounts& of, int64_t weight);
// The resource it comes from; cpu when nothing is held.
int dominant_resource(const Amounts& held, const Amounts& of);

// What a queue's share is measured against: what it deserves, may hold, or the whole
// cluster, whichever is stated first, resource by resource.
Amounts measure_of(const Queue& queue, const Amounts& total);

// The part of `total` each queue deserves: its own `deserved` where stated, else by weight, no
// queue more than it wants or may hold, none less than its guarantee (as far as it wants it).
// `wanted`: by queue, what it holds and asks for.
std::vector<Amounts> deserved_parts(std::span<const Queue> queues, const std::vector<Amounts>& wanted,
                                    const Amounts& total);

}  // namespace trainyard::sched
