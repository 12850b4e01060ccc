#include "cli/operator_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "control/rbac_hint.h"
#include "control/reconciler.h"
#include "control/retry.h"

namespace trainyard::cli {

using control::JobKey;
using control::Pass;
using control::StreamHealth;
using control::StreamState;

namespace {

std::string full_name(const kube::Resource& resource) {
  return resource.group.empty() ? std::string(resource.plural)
                                : fmt::format("{}.{}", resource.plural, resource.group);
}

std::string place(const client::Stream& stream) {
  return fmt::format("{} in {}", full_name(stream.resource),
                     stream.ns.empty() ? "all namespaces" : fmt::format("namespace {}", stream.ns));
}

// The error, and what to do about it where that is known.
std::vector<LogField> about_error(std::vector<LogField> fields, const std::string& message) {
  fields.push_back({"error", message});
  if (std::optional<control::MissingRight> missing = control::missing_right(message)) {
    fields.push_back({"fix", control::what_to_grant(*missing)});
  }
  return fields;
}

}  // namespace

OperatorReport::OperatorReport(Log& log, control::OperatorMetrics& metrics,
                               std::vector<dialect::Dialect> dialects, int streams)
    : log_(log), metrics_(metrics), dialects_(std::move(dialects)), streams_(streams) {}

void OperatorReport::log_transition(const JobKey& key, const Pass& pass) {
  const control::Transition& was = pass.transition;
  std::string what;
  if (was.created > 0) what = "created";
  if (was.running > 0) what = "running";
  if (was.restarted > 0) what = "restarting";
  if (was.succeeded > 0) what = "succeeded";
  if (was.failed > 0) what = "failed";
  if (was.terminated > 0) what = "terminated";
  std::string job = fmt::format("{}/{}", key.ns, key.name);
  std::string kind(dialects_[key.dialect].resource.kind);
  if (!what.empty()) log_.say(LogLevel::kInfo, "job " + what, {{"kind", kind}, {"job", job}});
  if (pass.writes > 0 && log_.says(LogLevel::kDebug)) {
    log_.say(LogLevel::kDebug, "pass",
             {{"kind", kind}, {"job", job}, {"writes", std::to_string(pass.writes)}});
  }
}

void OperatorReport::passed(const JobKey& key, const Pass& pass, Duration queued, Duration took) {
  metrics_.passed(dialects_[key.dialect], key, pass, queued, took);
  log_transition(key, pass);
  if (!pass.invalid.empty()) {
    log_.say(LogLevel::kWarning, "job is not valid, so nothing is made for it",
             {{"kind", std::string(dialects_[key.dialect].resource.kind)},
              {"job", fmt::format("{}/{}", key.ns, key.name)},
              {"problems", pass.invalid}});
  }
  if (!pass.error) {
    last_error_.erase(key);
    return;
  }
  // What passes by itself is nobody's business; the same again is told once.
  bool usual = control::retry_for(pass.error->kind) == control::Retry::kNow;
  if (!usual && last_error_[key] == pass.error->message) return;
  last_error_[key] = pass.error->message;
  log_.say(usual ? LogLevel::kDebug : LogLevel::kWarning, "a pass did not come to its end; it is tried again",
           about_error({{"kind", std::string(dialects_[key.dialect].resource.kind)},
                        {"job", fmt::format("{}/{}", key.ns, key.name)}},
                       pass.error->message));
}

void OperatorReport::leads(bool leads) {
  metrics_.leads(leads);
  log_.say(LogLevel::kInfo, leads ? "leading" : "no longer leading: standing by");
  std::lock_guard lock(mutex_);
  leads_ = leads;
}

void OperatorReport::lease_trouble(const std::optional<Error>& why) {
  if (why) {
    log_.say(why->kind == ErrorKind::kForbidden ? LogLevel::kError : LogLevel::kWarning,
             "the lease can be neither read nor renewed", about_error({}, why->message));
  } else {
    log_.say(LogLevel::kInfo, "the lease can be renewed again");
  }
  std::lock_guard lock(mutex_);
  lease_trouble_ = why ? why->message : "";
}

void OperatorReport::stream_is(int stream, const client::Stream& what, const StreamHealth& health) {
  std::vector<LogField> fields = {{"resource", full_name(what.resource)},
                                  {"namespace", what.ns.empty() ? "*" : what.ns}};
  std::string selector = what.labels.to_string();
  if (!selector.empty()) fields.push_back({"selector", selector});
  bool jobs = std::any_of(dialects_.begin(), dialects_.end(),
                          [&](const dialect::Dialect& dialect) { return dialect.resource == what.resource; });
  switch (health.state) {
    case StreamState::kStarting:
      break;
    case StreamState::kFine:
      log_.say(LogLevel::kDebug, "following", fields);
      break;
    case StreamState::kAbsent:
      fields.push_back(
          {"fix", "'trainyard install' prints the CRDs, or leave the kind out with --enable-scheme"});
      log_.say(jobs ? LogLevel::kWarning : LogLevel::kDebug,
               "the server does not know this kind: it is waited for", fields);
      break;
    case StreamState::kRefused:
      log_.say(LogLevel::kError, "may not list or watch", about_error(fields, health.why));
      break;
    case StreamState::kFailing:
      log_.say(LogLevel::kWarning, "cannot list or watch; it is tried again",
               about_error(fields, health.why));
      break;
  }
  metrics_.stream_is(what, health);
  std::lock_guard lock(mutex_);
  streams_[stream] = {place(what), health, jobs};
}

void OperatorReport::shown(Duration lag) { metrics_.shown(lag); }

Page OperatorReport::ready() const {
  std::lock_guard lock(mutex_);
  std::string waits;
  std::string absent;
  bool some_jobs = false;
  for (const Known& known : streams_) {
    switch (known.health.state) {
      case StreamState::kStarting:
        if (known.name.empty()) waits = "not every kind is listed yet\n" + waits;
        break;
      case StreamState::kFine:
        some_jobs = some_jobs || known.jobs;
        break;
      case StreamState::kAbsent:
        if (known.jobs) absent += fmt::format("waiting for the CRD of {}\n", known.name);
        break;
      case StreamState::kRefused:
        waits += fmt::format("may not list or watch {}: {}\n", known.name, known.health.why);
        break;
      case StreamState::kFailing:
        waits += fmt::format("cannot follow {}: {}\n", known.name, known.health.why);
        some_jobs = some_jobs || known.jobs;
        break;
    }
  }
  if (!lease_trouble_.empty()) waits += fmt::format("cannot renew the lease: {}\n", lease_trouble_);
  if (!waits.empty() || !some_jobs) return {503, waits + absent};
  return {200, fmt::format("ok: {}\n{}", leads_ ? "leading" : "standing by", absent)};
}

}  // namespace trainyard::cli
