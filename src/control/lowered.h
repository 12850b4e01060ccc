// Lowered: what the manifests of jobs were lowered to, and what was recalled from their statuses, so that
// a pass over a job that did not change does not read it again. A cache and nothing else: with it or
// without it every answer is the same, because lowering and recalling are pure functions of what is
// compared here. Resource; calls of any number of threads.
#pragma once

#include <map>
#include <mutex>
#include <optional>

#include "client/client.h"
#include "control/key.h"
#include "dialect/shared/dialect.h"

namespace trainyard::control {

// Manifests kept at most: enough for the jobs that are looked at over and over. One takes as much
// memory as all the pods and services of a small job.
inline constexpr size_t kLoweredMax = 64;

class Lowered {
 public:
  // What `dialect` makes of the job. `settings` are the same in every call.
  dialect::LowerResult of(const JobKey& key, const client::Object& job, const dialect::Dialect& dialect,
                          const dialect::Settings& settings);
  // What `dialect` recalls of it. REQUIRES: of() made this spec of this job.
  model::JobState recall(const JobKey& key, const client::Object& job, const model::JobSpec& spec,
                         const dialect::Dialect& dialect);
  // `before`, of which of() made a spec, became `after` by a write of its status alone, and the state was
  // projected on that. As recalling gives what was projected (a law of dialect.h), nothing is read again.
  void wrote(const JobKey& key, const client::Object& before, const client::Object& after,
             const model::JobState& state);
  // The job as it was last given to of() or wrote(), when this is its version still; null when it is not
  // known.
  client::Object known(const JobKey& key, int64_t version) const;
  void forget(const JobKey& key);
  size_t size() const;

 private:
  struct Entry {
    client::Object job;
    model::JobSpec spec;
    std::optional<model::JobState> state;  // recalled from `job`, once somebody has asked
  };

  mutable std::mutex mutex_;
  std::map<JobKey, Entry> entries_;
};

// Whether two states of a job are the same manifest: all but the status and the server's
// own record of versions and managers.
bool is_same_manifest(const json::object& a, const json::object& b);

}  // namespace trainyard::control
