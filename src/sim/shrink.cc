#include "sim/shrink.h"

#include "base/check.h"

namespace trainyard::sim {

namespace {

class Shrinker {
 public:
  Shrinker(const Options& failing, const std::function<bool(const Options&)>& fails)
      : smallest_(failing), fails_(fails) {}

  // Each takes away what it can and says whether it could.
  bool drop_faults() {
    bool smaller = false;
    for (int i = 0; i < kFaultCount; ++i) {
      Options candidate = smallest_;
      candidate.faults.remove(static_cast<Fault>(i));
      smaller = accept(candidate) || smaller;
    }
    return smaller;
  }
  bool lower(int Options::*field, int least) {
    for (int value = least; value < smallest_.*field; ++value) {
      Options candidate = smallest_;
      candidate.*field = value;
      if (accept(candidate)) return true;
    }
    return false;
  }
  bool shorten() {
    Options candidate = smallest_;
    candidate.trouble = candidate.trouble / 2;
    return candidate.trouble >= seconds(1) && accept(candidate);
  }
  // Room for everybody.
  bool clear() {
    Options candidate = smallest_;
    candidate.crowded = false;
    return accept(candidate);
  }
  const Options& smallest() const { return smallest_; }

 private:
  bool accept(const Options& candidate) {
    if (candidate == smallest_ || !fails_(candidate)) return false;
    smallest_ = candidate;
    return true;
  }

  Options smallest_;
  const std::function<bool(const Options&)>& fails_;
};

}  // namespace

Options shrink_options(const Options& options, const std::function<bool(const Options&)>& fails) {
  Shrinker shrinker(options, fails);
  bool smaller = true;
  while (smaller) {
    smaller = shrinker.drop_faults();
    smaller = shrinker.lower(&Options::user_actions, 0) || smaller;
    smaller = shrinker.lower(&Options::jobs, 1) || smaller;
    smaller = shrinker.lower(&Options::replicas_max, 1) || smaller;
    smaller = shrinker.lower(&Options::nodes, 1) || smaller;
    smaller = shrinker.shorten() || smaller;
    smaller = shrinker.clear() || smaller;
  }
  return shrinker.smallest();
}

Shrunk shrink(const Options& failing) {
  const RunReport first = run_seed({.seed = failing.seed, .options = failing});
  CHECK(!first.ok());
  const int invariant = first.violations.front().invariant;
  Shrunk shrunk;
  const Options smallest = shrink_options(failing, [&](const Options& candidate) {
    ++shrunk.runs;
    const RunReport report = run_seed({.seed = candidate.seed, .options = candidate});
    return !report.ok() && report.violations.front().invariant == invariant;
  });
  shrunk.report = run_seed({.seed = failing.seed, .trace = true, .options = smallest});
  return shrunk;
}

}  // namespace trainyard::sim
