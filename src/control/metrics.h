// Metrics: counts and measures as Prometheus reads them (text format 0.0.4), and those of an
// operator by name. Resource; thread-safe. No clock: durations are given.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "control/event_queue.h"
#include "control/key.h"
#include "control/observer.h"
#include "control/reconciler.h"
#include "dialect/shared/dialect.h"

namespace trainyard::control {

enum class MetricKind { kCounter, kGauge, kHistogram };

class Metrics {
 public:
  using Labels = std::vector<std::pair<std::string_view, std::string_view>>;

  // REQUIRES: declared once, before it is used. A counter without labels is there from the start.
  void declare(std::string_view name, MetricKind kind, std::string_view help);
  void add(std::string_view name, const Labels& labels, int64_t by = 1);
  void set(std::string_view name, const Labels& labels, int64_t value);
  void observe(std::string_view name, const Labels& labels, Duration value);
  // Every series of it is gone until it is told of again.
  void forget(std::string_view name);

  // Every family in order of its name, every series in order of its labels.
  std::string text() const;

 private:
  struct Series {
    int64_t value = 0;  // of a counter, a gauge; of a histogram the count
    int64_t sum_ms = 0;
    std::vector<int64_t> buckets;
  };
  struct Family {
    MetricKind kind = MetricKind::kCounter;
    std::string help;
    std::map<std::string, Series> series;  // by labels as they are written
  };
  Series& at(std::string_view name, const Labels& labels);

  mutable std::mutex mutex_;
  std::map<std::string, Family, std::less<>> families_;
  std::string written_;  // the labels that at() looks for
};

// What an operator counts, under names of ours and, where Kubeflow's operator has one for the
// same, under that too.
class OperatorMetrics {
 public:
  OperatorMetrics();

  void passed(const dialect::Dialect& dialect, const JobKey& key, const Pass& pass, Duration queued,
              Duration took);
  void leads(bool leads);
  void stream_is(const client::Stream& stream, const StreamHealth& health);
  void shown(Duration lag);
  void answered(std::string_view verb, std::string_view resource, int status, Duration took);
  void events_are(const EventQueueCounts& counts);

  std::string text() const { return metrics_.text(); }

 private:
  void count_jobs(const dialect::Dialect& dialect, const JobKey& key, const Pass& pass);
  void count_transition(const dialect::Dialect& dialect, const JobKey& key, const Transition& transition);

  Metrics metrics_;
  std::map<JobKey, std::string> states_;
  std::map<std::tuple<int, std::string, std::string>, int64_t> jobs_;  // dialect, namespace, state
};

}  // namespace trainyard::control
