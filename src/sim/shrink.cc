#include "sim/shrink.h"

#include "base/check.h"

namespace trainyard::sim {

namespace {

class Shrinker {
 public:
  explicit Shrinker(const Options& failing) : smallest_(failing) {
    const RunReport report = run_seed({.seed = failing.seed, .options = failing});
    CHECK(!report.ok());
    invariant_ = report.violations.front().invariant;
    ++runs_;
  }

  // Takes the candidate when it still fails in the same way.
  bool accept(const Options& candidate) {
    if (candidate == smallest_) return false;
    ++runs_;
    const RunReport report = run_seed({.seed = candidate.seed, .options = candidate});
    if (report.ok() || report.violations.front().invariant != invariant_) return false;
    smallest_ = candidate;
    return true;
  }

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
    bool smaller = false;
    for (int value = least; value < smallest_.*field; ++value) {
      Options candidate = smallest_;
      candidate.*field = value;
      if (accept(candidate)) return true;
    }
    return smaller;
  }

  bool shorten() {
    Options candidate = smallest_;
    candidate.trouble = candidate.trouble / 2;
    return candidate.trouble >= seconds(1) && accept(candidate);
  }

  const Options& smallest() const { return smallest_; }
  int runs() const { return runs_; }

 private:
  Options smallest_;
  int invariant_ = 0;
  int runs_ = 0;
};

}  // namespace

Shrunk shrink(const Options& failing) {
  Shrinker shrinker(failing);
  bool smaller = true;
  while (smaller) {
    smaller = shrinker.drop_faults();
    smaller = shrinker.lower(&Options::user_actions, 0) || smaller;
    smaller = shrinker.lower(&Options::jobs, 1) || smaller;
    smaller = shrinker.lower(&Options::replicas_max, 1) || smaller;
    smaller = shrinker.lower(&Options::nodes, 1) || smaller;
    smaller = shrinker.shorten() || smaller;
  }
  Shrunk shrunk;
  shrunk.options = shrinker.smallest();
  shrunk.runs = shrinker.runs();
  shrunk.report = run_seed({.seed = failing.seed, .trace = true, .options = shrunk.options});
  return shrunk;
}

}  // namespace trainyard::sim
