// Reconciler: one pass for one job: look it up, lower it, recall its state, observe,
// plan, apply. Resource: owned by one operator, used by one thread.
//
// A job that is gone costs nothing; a job that is steady or finished costs no write; a
// job that is invalid is told so once and then left alone until it changes.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "control/apply.h"
#include "control/key.h"
#include "control/recorder.h"
#include "control/retry.h"
#include "control/transition.h"
#include "control/view.h"
#include "dialect/shared/dialect.h"

namespace trainyard::control {

class Writer;

struct Pass {
  std::optional<Time> wake;  // look again then, even if nothing changes
  std::optional<Error> error;
  std::vector<client::Expected> expected;
  Transition transition;
  int writes = 0;
  bool job_gone = false;
};

class Reconciler {
 public:
  // `view` and `client` outlive it.
  Reconciler(client::Client& client, View& view, std::span<const dialect::Dialect> dialects,
             const dialect::Settings& settings, MakeKeys make_keys);
  Reconciler(const Reconciler&) = delete;
  Reconciler& operator=(const Reconciler&) = delete;

  Pass run(const JobKey& key, Time now);

 private:
  struct Told {
    std::string uid;
    int64_t generation = 0;
    bool operator==(const Told&) const = default;
  };
  ApplyContext context_for(const JobKey& key, const client::Object& job);
  Pass run_valid(const JobKey& key, const client::Object& job, model::JobSpec spec, Time now);
  Pass run_invalid(const JobKey& key, const client::Object& job,
                   const std::vector<dialect::Problem>& problems, Time now);
  std::optional<Error> let_go_invalid(Writer& writer, const JobKey& key, const json::object& job);
  std::optional<Pass> recover_vanished(const JobKey& key, const client::Object& job, Time now);
  void release_tombstones(const JobKey& key, const model::Observation& seen);

  // Fixed.
  client::Client& client_;
  View& view_;
  std::vector<dialect::Dialect> dialects_;
  dialect::Settings settings_;
  MakeKeys make_keys_;
  // State; losing it costs at most a repeated Event.
  Recorder recorder_;
  std::map<JobKey, Told> told_invalid_;
};

}  // namespace trainyard::control
