#include "control/metrics.h"

#include <fmt/format.h>

#include <array>

#include "base/check.h"

namespace trainyard::control {
namespace {

// Upper bounds of a histogram's buckets, in milliseconds.
constexpr std::array<int64_t, 14> kBoundsMs = {1,   2,   5,     10,    20,     50,     100,
                                               250, 500, 1'000, 2'500, 10'000, 60'000, 600'000};

std::string_view name_of_kind(MetricKind kind) {
  switch (kind) {
    case MetricKind::kCounter:
      return "counter";
    case MetricKind::kGauge:
      return "gauge";
    case MetricKind::kHistogram:
      return "histogram";
  }
  return "";
}

void append_escaped(std::string& text, std::string_view value) {
  for (size_t at = value.find_first_of("\\\"\n"); at != std::string_view::npos;
       at = value.find_first_of("\\\"\n")) {
    text.append(value.substr(0, at));
    text.append(value[at] == '\n' ? " " : value[at] == '"' ? "\\\"" : "\\\\");
    value.remove_prefix(at + 1);
  }
  text.append(value);
}

void write_labels(const Metrics::Labels& labels, std::string& text) {
  text.clear();
  for (const auto& [name, value] : labels) {
    if (!text.empty()) text += ',';
    text.append(name).append("=\"");
    append_escaped(text, value);
    text += '"';
  }
}

std::string seconds_of(int64_t ms) { return fmt::format("{}", static_cast<double>(ms) / 1000.0); }

std::string sample(std::string_view name, std::string_view labels, std::string_view value) {
  if (labels.empty()) return fmt::format("{} {}\n", name, value);
  return fmt::format("{}{{{}}} {}\n", name, labels, value);
}

}  // namespace

void Metrics::declare(std::string_view name, MetricKind kind, std::string_view help) {
  std::lock_guard lock(mutex_);
  Family& family = families_[std::string(name)];
  family.kind = kind;
  family.help = help;
}

Metrics::Series& Metrics::at(std::string_view name, const Labels& labels) {
  auto family = families_.find(name);
  CHECK(family != families_.end());
  write_labels(labels, written_);
  return family->second.series[written_];
}

void Metrics::add(std::string_view name, const Labels& labels, int64_t by) {
  std::lock_guard lock(mutex_);
  at(name, labels).value += by;
}

void Metrics::set(std::string_view name, const Labels& labels, int64_t value) {
  std::lock_guard lock(mutex_);
  at(name, labels).value = value;
}

void Metrics::forget(std::string_view name) {
  std::lock_guard lock(mutex_);
  auto family = families_.find(name);
  CHECK(family != families_.end());
  family->second.series.clear();
}

void Metrics::observe(std::string_view name, const Labels& labels, Duration value) {
  std::lock_guard lock(mutex_);
  Series& series = at(name, labels);
  series.buckets.resize(kBoundsMs.size());
  for (size_t i = 0; i < kBoundsMs.size(); ++i) series.buckets[i] += value.count() <= kBoundsMs[i];
  series.sum_ms += value.count();
  ++series.value;
}

std::string Metrics::text() const {
  std::lock_guard lock(mutex_);
  std::string text;
  for (const auto& [name, family] : families_) {
    text += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, family.help, name, name_of_kind(family.kind));
    for (const auto& [labels, series] : family.series) {
      if (family.kind != MetricKind::kHistogram) {
        text += sample(name, labels, std::to_string(series.value));
        continue;
      }
      std::string before = labels.empty() ? "" : labels + ",";
      for (size_t i = 0; i < kBoundsMs.size(); ++i) {
        text += sample(name + "_bucket", fmt::format("{}le=\"{}\"", before, seconds_of(kBoundsMs[i])),
                       std::to_string(series.buckets[i]));
      }
      text += sample(name + "_bucket", before + "le=\"+Inf\"", std::to_string(series.value));
      text += sample(name + "_sum", labels, seconds_of(series.sum_ms));
      text += sample(name + "_count", labels, std::to_string(series.value));
    }
  }
  return text;
}

// ---- of an operator ------------------------------------------------------------------

namespace {

constexpr std::string_view kJobs = "trainyard_jobs";
constexpr std::string_view kTransitions = "trainyard_job_transitions_total";
constexpr std::string_view kRestarts = "trainyard_replica_restarts_total";
constexpr std::string_view kDisruptions = "trainyard_replica_disruptions_total";
constexpr std::string_view kPasses = "trainyard_reconcile_total";
constexpr std::string_view kPassTime = "trainyard_reconcile_duration_seconds";
constexpr std::string_view kQueueTime = "trainyard_queue_duration_seconds";
constexpr std::string_view kWrites = "trainyard_writes_total";
constexpr std::string_view kRequests = "trainyard_api_requests_total";
constexpr std::string_view kRequestTime = "trainyard_api_request_duration_seconds";
constexpr std::string_view kLag = "trainyard_watch_lag_seconds";
constexpr std::string_view kStream = "trainyard_watch_healthy";
constexpr std::string_view kLeader = "trainyard_leader";
constexpr std::string_view kEventsTold = "trainyard_events_told_total";
constexpr std::string_view kEventsSent = "trainyard_events_sent_total";
constexpr std::string_view kEventsLost = "trainyard_events_lost_total";
// As Kubeflow's operator names them; labels job_namespace and framework.
constexpr std::string_view kTheirs[] = {
    "training_operator_jobs_created_total",    "training_operator_jobs_deleted_total",
    "training_operator_jobs_successful_total", "training_operator_jobs_failed_total",
    "training_operator_jobs_restarted_total",
};
enum Their { kCreated, kDeleted, kSuccessful, kFailed, kRestarted };

std::string state_of(const model::JobState& state) {
  if (state.phase != model::Phase::kFinished || !state.result) {
    std::string text(model::to_string(state.phase));
    text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
    return text;
  }
  switch (*state.result) {
    case model::ResultKind::kSucceeded:
      return "succeeded";
    case model::ResultKind::kFailed:
      return "failed";
    case model::ResultKind::kTerminated:
      return "terminated";
  }
  return "";
}

}  // namespace

OperatorMetrics::OperatorMetrics() {
  auto counter = [this](std::string_view name, std::string_view help) {
    metrics_.declare(name, MetricKind::kCounter, help);
  };
  metrics_.declare(kJobs, MetricKind::kGauge, "Jobs by kind, namespace and state.");
  counter(kTransitions, "Jobs that came into a state.");
  counter(kRestarts, "Replicas that were started again and charged for it.");
  counter(kDisruptions, "Replicas that were lost through no fault of their own.");
  counter(kPasses, "Passes by their outcome.");
  metrics_.declare(kPassTime, MetricKind::kHistogram, "From the beginning of a pass to its end.");
  metrics_.declare(kQueueTime, MetricKind::kHistogram, "How long a job was due before its pass began.");
  counter(kWrites, "Writes of passes, Events aside.");
  counter(kRequests, "Requests to the API server by verb, resource and HTTP status; 0: no answer.");
  metrics_.declare(kRequestTime, MetricKind::kHistogram, "How long the API server took to answer.");
  metrics_.declare(kLag, MetricKind::kHistogram, "How long until a watch showed what was written.");
  metrics_.declare(kStream, MetricKind::kGauge, "1 while a kind is followed, 0 while it cannot be.");
  metrics_.declare(kLeader, MetricKind::kGauge, "1 while this operator leads.");
  counter(kEventsTold, "Words about jobs that were to become Events.");
  counter(kEventsSent, "Events written, new ones and risen counts.");
  counter(kEventsLost, "Words that could not be written as Events.");
  counter(kTheirs[kCreated], "TFJobs taken up.");
  counter(kTheirs[kDeleted], "TFJobs that are gone.");
  counter(kTheirs[kSuccessful], "TFJobs that succeeded.");
  counter(kTheirs[kFailed], "TFJobs that failed.");
  counter(kTheirs[kRestarted], "Restarts of TFJobs' replicas.");
  metrics_.set(kLeader, {}, 0);
}

void OperatorMetrics::passed(const dialect::Dialect& dialect, const JobKey& key, const Pass& pass,
                             Duration queued, Duration took) {
  std::string_view kind = dialect.resource.kind;
  std::string_view result = "success";
  if (pass.error) result = retry_for(pass.error->kind) == Retry::kNow ? "conflict" : "error";
  metrics_.add(kPasses, {{"kind", kind}, {"result", result}});
  if (pass.writes > 0) metrics_.add(kWrites, {{"kind", kind}}, pass.writes);
  metrics_.observe(kPassTime, {{"kind", kind}}, took);
  metrics_.observe(kQueueTime, {{"kind", kind}}, queued);
  count_jobs(dialect, key, pass);
  count_transition(dialect, key, pass.transition);
}

void OperatorMetrics::count_jobs(const dialect::Dialect& dialect, const JobKey& key, const Pass& pass) {
  std::string_view kind = dialect.resource.kind;
  auto move = [&](const std::string& state, int by) {
    int64_t& count = jobs_[{key.dialect, key.ns, state}];
    count += by;
    metrics_.set(kJobs, {{"kind", kind}, {"namespace", key.ns}, {"state", state}}, count);
  };
  auto known = states_.find(key);
  if (pass.job_gone) {
    if (known == states_.end()) return;
    move(known->second, -1);
    states_.erase(known);
    if (dialect.name == "tfjob") {
      metrics_.add(kTheirs[kDeleted], {{"job_namespace", key.ns}, {"framework", "tensorflow"}});
    }
    return;
  }
  if (!pass.state) return;
  std::string state = state_of(*pass.state);
  if (known != states_.end() && known->second == state) return;
  if (known != states_.end()) move(known->second, -1);
  move(state, 1);
  states_[key] = state;
}

void OperatorMetrics::count_transition(const dialect::Dialect& dialect, const JobKey& key,
                                       const Transition& was) {
  if (was == Transition{}) return;
  std::string_view kind = dialect.resource.kind;
  auto came_to = [&](std::string_view state, int times, std::optional<Their> their) {
    if (times <= 0) return;
    metrics_.add(kTransitions, {{"kind", kind}, {"namespace", key.ns}, {"to", state}}, times);
    if (their && dialect.name == "tfjob") {
      metrics_.add(kTheirs[*their], {{"job_namespace", key.ns}, {"framework", "tensorflow"}}, times);
    }
  };
  came_to("created", was.created, kCreated);
  came_to("running", was.running, std::nullopt);
  came_to("succeeded", was.succeeded, kSuccessful);
  came_to("failed", was.failed, kFailed);
  came_to("terminated", was.terminated, kFailed);
  came_to("restarting", was.restarted, kRestarted);
  if (was.restarted > 0) metrics_.add(kRestarts, {{"kind", kind}, {"namespace", key.ns}}, was.restarted);
  if (was.disrupted > 0) metrics_.add(kDisruptions, {{"kind", kind}, {"namespace", key.ns}}, was.disrupted);
}

// Who leads tells how many jobs there are; two that tell it would be added up.
void OperatorMetrics::leads(bool leads) {
  metrics_.set(kLeader, {}, leads ? 1 : 0);
  if (leads) return;
  metrics_.forget(kJobs);
  jobs_.clear();
  states_.clear();
}

void OperatorMetrics::stream_is(const client::Stream& stream, const StreamHealth& health) {
  std::string selector = stream.labels.to_string();
  metrics_.set(kStream,
               {{"group", stream.resource.group},
                {"resource", stream.resource.plural},
                {"namespace", stream.ns},
                {"selector", selector}},
               health.state == StreamState::kFine ? 1 : 0);
}

void OperatorMetrics::shown(Duration lag) { metrics_.observe(kLag, {}, lag); }

void OperatorMetrics::answered(std::string_view verb, std::string_view resource, int status, Duration took) {
  std::string code = std::to_string(status);
  metrics_.add(kRequests, {{"verb", verb}, {"resource", resource}, {"code", code}});
  metrics_.observe(kRequestTime, {{"verb", verb}}, took);
}

void OperatorMetrics::events_are(const EventQueueCounts& counts) {
  metrics_.set(kEventsTold, {}, counts.told);
  metrics_.set(kEventsSent, {}, counts.sent);
  metrics_.set(kEventsLost, {}, counts.lost);
}

}  // namespace trainyard::control
