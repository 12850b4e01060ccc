// Jobs as people read them: one line in a list, a page of everything known. Pure. What a
// status says is read whichever operator wrote it, ours or another.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "cli/output_table.h"
#include "cli/run_view.h"
#include "dialect/shared/dialect.h"
#include "kube/json.h"

namespace trainyard::cli {

// Where a job is on its way, in words of all three dialects.
enum class Standing { kPending, kRunning, kPaused, kSucceeded, kFailed };

struct JobStatus {
  std::string word;  // as the dialect says it: "Running", "Aborted"
  Standing standing = Standing::kPending;
  std::string why;  // the status' own message, "" for none
  std::optional<Time> started;
  std::optional<Time> finished;

  bool finished_now() const { return standing == Standing::kSucceeded || standing == Standing::kFailed; }
  bool operator==(const JobStatus&) const = default;
};
JobStatus status_of(const dialect::Dialect& dialect, const json::object& job);

// A job with its replicas.
struct JobSummary {
  const dialect::Dialect* dialect = nullptr;
  const json::object* job = nullptr;
  JobStatus status;
  JobView view;
};
// `pods` may hold those of other jobs.
JobSummary summary_of(const dialect::Dialect& dialect, const json::object& job,
                      const std::vector<const json::object*>& pods, Time now);

struct ListLook {
  bool namespaces = false;
  bool wide = false;
};
Cells list_heading(const ListLook& look);
Cells list_row(const JobSummary& summary, const ListLook& look, Time now);

// Everything about one job but its events. `waits`: what the next step waits for.
std::string describe_text(const JobSummary& summary, const std::vector<const json::object*>& pods,
                          const std::vector<std::string>& waits, Time now);

// The document for people and files: without what the server keeps for itself.
json::object shown_object(const json::object& object);

// --- events ---

// Those about the job or about a pod that it has or had, oldest first.
std::vector<const json::object*> events_about(const std::vector<const json::object*>& events,
                                              const dialect::Dialect& dialect, const json::object& job,
                                              const std::vector<const json::object*>& pods);
// The one that was seen last is last.
std::vector<const json::object*> by_last_seen(std::vector<const json::object*> events);
std::string events_text(const std::vector<const json::object*>& events, Time now);

}  // namespace trainyard::cli
