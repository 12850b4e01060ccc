// Reconciler: one pass for one job: look it up, lower it, recall its state, observe,
// plan, apply. Resource: owned by one operator.
//
// A pass has three parts. begin() looks and plans, settle() remembers: both on the operator's
// thread. carry_out() in between does all the talking to the server; it touches its Errand,
// the client and the events alone, so several may be carried out at once on other threads.
// run() is the three in a row.
//
// A job that is gone costs nothing; a job that is steady or finished costs no write; a
// job that is invalid is told so once and then left alone until it changes.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "base/result.h"
#include "control/apply.h"
#include "control/event_sink.h"
#include "control/key.h"
#include "control/lowered.h"
#include "control/put_off.h"
#include "control/retry.h"
#include "control/seen.h"
#include "control/shown.h"
#include "control/transition.h"
#include "control/view.h"
#include "dialect/shared/dialect.h"

namespace trainyard::control {

class Writer;

// The outcome of a pass.
struct Pass {
  std::optional<Time> wake;  // look again then, even if nothing changes
  std::optional<Error> error;
  std::string invalid;  // what is wrong with the job, in the pass that tells it; "" in all others
  std::vector<client::Expected> expected;
  Transition transition;
  int writes = 0;
  bool job_gone = false;
  std::optional<model::JobState> state;  // as it is on the server now; none of a job that is invalid
};

// What one pass is going to do, with everything it needs for it.
struct Errand {
  // Nothing to do: the job is gone.
  struct Nothing {};
  // Look whether pods that left the watch are really gone.
  struct LookFor {
    std::vector<client::Object> vanished;
  };
  struct Refuse {
    std::vector<dialect::Problem> problems;
    std::vector<client::Object> pods;  // those that keep a deletion waiting
    bool untold = false;
    bool told = false;  // when it is carried out
  };
  struct Work {
    model::Observation seen;
    model::Plan plan;
    Stored stored;
    bool shown = false;          // the status says already what the plan would write
    bool state_current = false;  // when it is carried out
    bool state_written = false;  // likewise
    int64_t shown_in = 0;        // likewise, as Applied has it
    client::Object written;      // likewise
  };

  JobKey key;
  Time now;
  client::Object job;
  std::variant<Nothing, LookFor, Refuse, Work> what;
  Pass pass;  // filled in on the way
};

class Reconciler {
 public:
  // `view`, `client` and `events` outlive it.
  Reconciler(client::Client& client, EventSink& events, View& view,
             std::span<const dialect::Dialect> dialects, const dialect::Settings& settings,
             MakeKeys make_keys);
  Reconciler(const Reconciler&) = delete;
  Reconciler& operator=(const Reconciler&) = delete;

  Pass run(const JobKey& key, Time now);

  Errand begin(const JobKey& key, Time now);
  void carry_out(Errand& errand) const;
  // The outcome; nullopt when the pass must begin once more, on what was found out.
  std::optional<Pass> settle(Errand& errand);

 private:
  struct Told {
    std::string uid;
    int64_t generation = 0;
    bool operator==(const Told&) const = default;
  };
  Errand::Refuse begin_refusal(const JobKey& key, const json::object& job,
                               std::vector<dialect::Problem> problems);
  void begin_work(Errand& errand, model::JobSpec&& spec);
  void put_off_write(const JobKey& key, const json::object& job, const model::JobState& written,
                     Errand::Work& work, Time now);
  Stored stored_for(const JobKey& key, const model::JobSpec& spec, const model::Plan& plan) const;
  ApplyContext context_for(const Errand& errand) const;
  void do_work(Errand& errand, Errand::Work& work) const;
  void refuse(Errand& errand, Errand::Refuse& refusal) const;
  std::optional<Error> let_go_invalid(Writer& writer, const Errand& errand,
                                      const std::vector<client::Object>& pods) const;
  void look_for(Errand& errand, const Errand::LookFor& lost) const;
  void release_tombstones(const JobKey& key, const model::Observation& seen);

  // Fixed.
  client::Client& client_;
  EventSink& events_;
  View& view_;
  std::vector<dialect::Dialect> dialects_;
  dialect::Settings settings_;
  MakeKeys make_keys_;
  // State; losing it costs at most a repeated Event and a second reading of manifests and of what jobs made.
  Lowered lowered_;
  Seen seen_;
  Shown shown_;
  std::map<JobKey, Told> told_invalid_;
  PutOff put_off_;
};

}  // namespace trainyard::control
