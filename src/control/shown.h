// Shown: what jobs looked like when their statuses last said so. Of the same sight, the same state and the
// status that says it, the same status is projected, whatever the time (a law of dialect.h): it need not be
// made and compared once more. After most writes of a status that is all its echo asks for. A cache and
// nothing else: with it or without it every pass does the same. Resource; one thread.
#pragma once

#include <cstdint>
#include <map>

#include "control/key.h"
#include "model/observation.h"

namespace trainyard::control {

// Jobs kept at most: enough for those that are looked at over and over.
inline constexpr size_t kShownMax = 64;

class Shown {
 public:
  Shown() = default;
  Shown(const Shown&) = delete;
  Shown& operator=(const Shown&) = delete;

  // Whether the status of this version of the job is known to say this.
  bool holds(const JobKey& key, int64_t version, const model::Observation& seen,
             const model::JobState& state) const;
  // It does: the state was projected on it, and it is that projection.
  void keep(const JobKey& key, int64_t version, model::Observation&& seen, const model::JobState& state);
  void forget(const JobKey& key) { jobs_.erase(key); }
  size_t size() const { return jobs_.size(); }

 private:
  struct Sight {
    int64_t version = 0;
    model::Observation seen;
    model::JobState state;
  };
  std::map<JobKey, Sight> jobs_;
};

}  // namespace trainyard::control
