// What `trainyard run` shows of a job: its replicas, what each does, and why. Pure: from
// the job and its pods as seen to rows, from rows to the block on a terminal or, for pipes,
// to a line for each thing that changed.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "dialect/shared/dialect.h"
#include "kube/json.h"
#include "model/job_state.h"

namespace trainyard::cli {

struct ReplicaRow {
  std::string name;    // "worker-0"
  std::string pod;     // the pod that runs it now, "" when there is none
  std::string state;   // "waiting", "starting", "running", "stopping", "succeeded", "failed 137", ...
  std::string detail;  // why it waits, how long it may still stop
  int restarts = 0;
  std::optional<Time> since;  // in this state; of one that ended: from its start ...
  std::optional<Time> until;  // ... to its end
  std::optional<int64_t> cpu_millis;
  std::optional<int64_t> memory_bytes;

  bool operator==(const ReplicaRow&) const = default;
};

// The newest that the job's event files say.
struct Progress {
  int64_t step = 0;
  std::string name;  // "loss"
  double value = 0;

  bool operator==(const Progress&) const = default;
};

struct JobView {
  std::string title;  // "TFJob mnist"
  model::Phase phase = model::Phase::kNew;
  std::optional<model::ResultKind> result;
  bool is_going = false;         // it was deleted: by the user's Ctrl-C, or by somebody else
  std::string why;               // what a person should know about the phase; "" when nothing
  std::string failed_by;         // the replica that failed the job; "" when none did
  std::optional<int> exit_code;  // its
  int restarts = 0;              // that the budget was charged for
  int disruptions = 0;           // starts after an eviction or a loss, at no charge
  std::optional<Time> started;
  std::optional<Time> finished;
  std::vector<ReplicaRow> replicas;  // by role, then index
  std::optional<Progress> progress;

  bool operator==(const JobView&) const = default;
};

struct PodUsage {
  int64_t cpu_millis = 0;
  int64_t memory_bytes = 0;
};

// `pods` are those of the job's namespace; `usage` by pod uid.
JobView view_of(const dialect::Dialect& dialect, const dialect::Settings& settings, const json::object& job,
                const std::vector<const json::object*>& pods, const std::map<std::string, PodUsage>& usage,
                Time now);

struct Screen {
  int columns = 80;
  int rows = 24;
  bool color = false;
};

// The block at the bottom of a terminal, at most half of it high (but for two lines, which the
// lowest terminal has): jobs and replicas that do not fit are counted.
std::vector<std::string> block_of(const std::vector<const JobView*>& views, const Screen& screen, Time now);

// What to say on a pipe: one line per change between two views. `whose` goes before the names
// of replicas.
std::vector<std::string> changes_between(const JobView& before, const JobView& after,
                                         std::string_view whose = "");

// A replica that had ended and whose pod was then removed has not merely stopped, and not without its reason.
void keep_ends(const JobView& before, JobView& after);

// The last words: what happened and why.
std::string ending_of(const JobView& view);
// Those of a job that the user stopped before its end.
std::string stopped_words(const JobView& view, bool killed, Time now);

// "worker-0 | " in a colour of its own, padded to `width`.
std::string log_prefix(std::string_view replica, size_t position, size_t width, bool color);

}  // namespace trainyard::cli
