// SeenPods: what the pods of jobs were read to, so that a pass over a job reads only those of its pods
// that changed since the last one. A cache and nothing else: with it or without it every answer is the
// same, because reading is a pure function of the object, and a version of an object never changes.
// Resource; one thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "client/cache.h"
#include "control/key.h"
#include "dialect/shared/dialect.h"
#include "model/observation.h"

namespace trainyard::control {

// Pods remembered at most, beside those of the job that was looked at last.
inline constexpr size_t kSeenPodsMax = 4096;

// A pod as it was read. Which replica it is depends on the job's manifest too: `pod.id` is not set.
struct PodRead {
  client::ObjectKey key;
  int64_t version = 0;
  std::optional<dialect::PodIdentity> identity;
  model::PodSeen pod;
};

PodRead read_by(const dialect::Dialect& dialect, const json::object& object);

class SeenPods {
 public:
  SeenPods() = default;
  SeenPods(const SeenPods&) = delete;
  SeenPods& operator=(const SeenPods&) = delete;

  // The pods in `pods` whose controller has this uid, by namespace and name; good until the next call.
  const std::vector<PodRead>& of(const JobKey& key, const client::Cache& pods, std::string_view job_uid,
                                 const dialect::Dialect& dialect);
  void forget(const JobKey& key);
  size_t size() const { return size_; }  // pods, of all jobs

 private:
  std::map<JobKey, std::vector<PodRead>> jobs_;
  size_t size_ = 0;
};

}  // namespace trainyard::control
