// SchedulerReport: what a scheduler tells of its work, as log lines, metrics and answers to
// probes. Resource: told on the scheduler's thread, asked on any.
#pragma once

#include <mutex>
#include <string>
#include <string_view>

#include "cli/operator_http.h"
#include "cli/operator_log.h"
#include "control/scheduler.h"

namespace trainyard::cli {

// The metrics as Prometheus reads them. Pure.
std::string metrics_text(const control::SchedulerHealth& health);

class SchedulerReport {
 public:
  // The log outlives it.
  explicit SchedulerReport(Log& log) : log_(log) {}

  void see(const control::SchedulerHealth& health);
  // /healthz, /livez, /readyz, /metrics.
  Page answer(std::string_view path) const;

 private:
  Log& log_;
  mutable std::mutex mutex_;
  control::SchedulerHealth health_;
};

}  // namespace trainyard::cli
