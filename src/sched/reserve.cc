#include "sched/reserve.h"

#include <algorithm>

#include "base/check.h"

namespace trainyard::sched {
namespace {

// Running gangs: known ends first, the sooner the better; then those that go last in order.
std::vector<int> by_end(const Pass& pass) {
  std::vector<int> out;
  for (int g : pass.by_id) {
    if (pass.pods_held(g) > 0 && pass.is_in(g, kShadow)) out.push_back(g);
  }
  std::stable_sort(out.begin(), out.end(), [&](int a, int b) {
    const std::optional<Time>& x = pass.gang(a).ends_at;
    const std::optional<Time>& y = pass.gang(b).ends_at;
    if (x.has_value() != y.has_value()) return x.has_value();
    if (x && *x != *y) return *x < *y;
    return pass.goes_first(b, a);
  });
  return out;
}

// Where the gang fits once the first `count` of these have ended. Leaves the pass as it was
// unless `keep`.
std::optional<Spots> fits_after(Pass& pass, int g, const std::vector<int>& ending, size_t count, bool keep) {
  size_t mark = pass.state.mark();
  std::vector<unsigned> masks;
  for (size_t i = 0; i < count; ++i) masks.push_back(pass.lift(ending[i], kShadow));
  std::optional<Spots> spots = pass.placer.place_needed(pass.gang(g), pass.needs_of(g), pass.queue_of(g));
  if (spots && keep) return spots;
  pass.state.roll_back(mark);
  for (size_t i = 0; i < count; ++i) pass.undo_lift(ending[i], masks[i]);
  return spots;
}

void note(Pass& pass, int g, const Spots& spots, std::span<const int> ended) {
  Reservation made{pass.gang(g).id, {}, pass.now};
  for (int other : ended) {
    const std::optional<Time>& end = pass.gang(other).ends_at;
    made.from = made.from && end ? std::optional(std::max(*made.from, *end)) : std::nullopt;
  }
  for (const Spot& spot : spots) made.nodes.push_back(pass.tables.node(spot.node).name);
  std::sort(made.nodes.begin(), made.nodes.end());
  pass.out.reservation = std::move(made);
}

}  // namespace

bool reserve(Pass& pass, int g) {
  CHECK(!pass.out.reservation);
  pass.state.ensure(kShadow);
  pass.state.use(kToReserve);
  std::vector<int> ending = by_end(pass);
  bool possible = fits_after(pass, g, ending, ending.size(), false).has_value();
  if (possible) {
    size_t low = 0;
    size_t high = ending.size();
    while (low < high) {
      size_t middle = low + (high - low) / 2;
      if (fits_after(pass, g, ending, middle, false)) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    // The search may have used up its steps since: then there is no reservation this time.
    std::optional<Spots> spots = fits_after(pass, g, ending, high, true);
    possible = spots.has_value();
    if (possible) note(pass, g, *spots, std::span(ending).first(high));
  }
  pass.state.use(kToBind);
  return possible;
}

bool ends_before_reserved(const Pass& pass, int g) {
  const std::optional<Reservation>& reservation = pass.out.reservation;
  const std::optional<Duration>& most = pass.gang(g).runs_at_most;
  return reservation && reservation->from && most && pass.now + *most <= *reservation->from;
}

}  // namespace trainyard::sched
