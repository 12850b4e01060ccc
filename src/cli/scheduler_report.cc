#include "cli/scheduler_report.h"

#include <fmt/format.h>

namespace trainyard::cli {

std::string metrics_text(const control::SchedulerHealth& health) {
  std::string out;
  auto put = [&](std::string_view name, std::string_view type, std::string_view help, double value) {
    out += fmt::format(
        "# HELP trainyard_scheduler_{0} {1}\n# TYPE trainyard_scheduler_{0} {2}\n"
        "trainyard_scheduler_{0} {3}\n",
        name, help, type, value);
  };
  const control::SchedulerCounts& counts = health.counts;
  auto number = [](int64_t value) { return static_cast<double>(value); };
  put("passes_total", "counter", "Times that decisions were taken.", number(counts.passes));
  put("bound_pods_total", "counter", "Pods that were given a node.", number(counts.bound));
  put("evicted_pods_total", "counter", "Pods that were made to leave.", number(counts.evicted));
  put("writes_total", "counter", "Requests that change something, events aside.", number(counts.writes));
  put("errors_total", "counter", "Writes that failed.", number(counts.errors));
  put("waiting_gangs", "gauge", "Gangs that wait for nodes.", number(counts.waiting));
  put("infeasible_gangs", "gauge", "Gangs that fit no node of the cluster as it is.",
      number(counts.infeasible));
  put("last_pass_seconds", "gauge", "How long the last decision took.",
      static_cast<double>(counts.last_pass.count()) / 1000);
  put("leads", "gauge", "Whether this process holds the lease.", health.leads ? 1 : 0);
  return out;
}

void SchedulerReport::see(const control::SchedulerHealth& health) {
  std::lock_guard lock(mutex_);
  if (health.leads != health_.leads) {
    log_.say(LogLevel::kInfo, health.leads ? "leading" : "standing by: another leads");
  }
  if (health.synced && !health_.synced) log_.say(LogLevel::kInfo, "everything has been seen");
  if (health.troubles != health_.troubles) {
    for (const std::string& trouble : health.troubles) {
      log_.say(LogLevel::kWarning, "cannot follow", {{"what", trouble}});
    }
  }
  if (health.counts.errors != health_.counts.errors &&
      health.counts.last_error != health_.counts.last_error) {
    log_.say(LogLevel::kWarning, "a write failed", {{"error", health.counts.last_error}});
  }
  if (health.counts.bound != health_.counts.bound || health.counts.evicted != health_.counts.evicted) {
    log_.say(
        LogLevel::kDebug, "wrote",
        {{"bound", std::to_string(health.counts.bound)}, {"evicted", std::to_string(health.counts.evicted)}});
  }
  health_ = health;
}

Page SchedulerReport::answer(std::string_view path) const {
  if (path == "/healthz" || path == "/livez") return {200, "ok\n"};
  std::lock_guard lock(mutex_);
  if (path == "/metrics") return {200, metrics_text(health_), "text/plain; version=0.0.4; charset=utf-8"};
  if (path != "/readyz") return {404, "there are /healthz, /readyz and /metrics\n"};
  std::string words = fmt::format("{}\n", fmt::join(health_.troubles, "\n"));
  if (!health_.synced) return {503, "not everything has been seen yet\n" + words};
  return {200, health_.leads ? "ok, leading\n" : "ok, standing by\n"};
}

}  // namespace trainyard::cli
