// Quota: an admission that has had enough. While it lasts, pods beyond a number are refused,
// as by a quota that is spent, a webhook that says no, or an object that is too large; then
// they are let in again as if nothing had been. Whoever makes pods must come back for them.
#pragma once

#include <optional>

#include "base/rng.h"
#include "sim/cluster.h"
#include "sim/options.h"
#include "sim/trace.h"

namespace trainyard::sim {

class Quota {
 public:
  Quota(Cluster& cluster, Trace& trace, const Options& options);
  Quota(const Quota&) = delete;
  Quota& operator=(const Quota&) = delete;

  // Puts its moods on the agenda, in worlds that have this fault.
  void start();
  // From now on everybody is let in.
  void settle();
  // By hand, for scripts: no more than so many pods, or as many as anybody likes.
  void close(int pods_max);
  void open();

 private:
  Result<Done> judge(const json::object* before);

  // Fixed.
  Cluster& cluster_;
  Trace& trace_;
  const Options& options_;
  // State.
  Rng rng_;
  bool guards_ = false;  // the store asks us
  bool trouble_ = true;
  std::optional<int> pods_max_;
  ErrorKind answer_ = ErrorKind::kForbidden;
};

}  // namespace trainyard::sim
