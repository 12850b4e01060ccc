// PutOff: what a job's status need not say at once. That all pods of an attempt have existed is
// written down so that one deleted later is known to have been; nobody reads it but us. It is kept
// here for a while, and goes with the next write that is due anyway, most often that the job runs:
// one write less for most jobs. Lost with the process, it is as if the write had not been reached.
// Value; one thread.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "control/key.h"
#include "model/job_state.h"

namespace trainyard::control {

inline constexpr Duration kPutOffMax{20'000};

class PutOff {
 public:
  // Adds what is not written down yet to the state as it was.
  void remind(const JobKey& key, std::string_view uid, model::JobState& state) const;
  // Whether there is nothing else in `planned`, and that is news.
  static bool may_wait(const model::JobState& written, const model::JobState& planned);
  // Keeps what `planned` knows beyond `written` and says when it must be written at the latest;
  // nullopt: it must be now, or there is more to write than that.
  std::optional<Time> keep(const JobKey& key, std::string_view uid, const model::JobState& written,
                           const model::JobState& planned, Time now);
  void forget(const JobKey& key) { kept_.erase(key); }
  size_t size() const { return kept_.size(); }

 private:
  struct Kept {
    std::string uid;
    Time due;
    int attempt = 0;
    std::vector<int> made;  // of each role
    bool initialized = false;
  };
  std::map<JobKey, Kept> kept_;
};

}  // namespace trainyard::control
