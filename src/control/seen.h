// Seen: what the pods, services and gangs of jobs were read to, so that a pass over a job reads only
// what changed since the last one. A cache and nothing else: with it or without it every answer is the
// same, because reading is a pure function of the object, and a version of an object never changes.
// Resource; one thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/cache.h"
#include "control/key.h"
#include "dialect/shared/dialect.h"
#include "model/observation.h"

namespace trainyard::control {

// Of each of the three remembered at most, beside those of the job that was looked at last.
inline constexpr size_t kSeenMax = 4096;

// A pod as it was read. Which replica it is depends on the job's manifest too: `pod.id` is not set.
struct PodRead {
  client::ObjectKey key;
  int64_t version = 0;
  std::optional<dialect::PodIdentity> identity;
  model::PodSeen pod;

  static PodRead by(const dialect::Dialect& dialect, const json::object& object);
};

// The same of a service.
struct ServiceRead {
  client::ObjectKey key;
  int64_t version = 0;
  std::optional<dialect::PodIdentity> identity;
  std::string uid;
  bool deleting = false;

  static ServiceRead by(const dialect::Dialect& dialect, const json::object& object);
};

template <typename Read>
class SeenOf {
 public:
  SeenOf() = default;
  SeenOf(const SeenOf&) = delete;
  SeenOf& operator=(const SeenOf&) = delete;

  // The objects in `cache` whose controller has this uid, by namespace and name; good until the next call.
  const std::vector<Read>& of(const JobKey& key, const client::Cache& cache, std::string_view job_uid,
                              const dialect::Dialect& dialect);
  void forget(const JobKey& key);
  size_t size() const { return size_; }  // objects, of all jobs

 private:
  std::map<JobKey, std::vector<Read>> jobs_;
  size_t size_ = 0;
};

// The gangs: of each job one at most.
class SeenGangs {
 public:
  SeenGangs() = default;
  SeenGangs(const SeenGangs&) = delete;
  SeenGangs& operator=(const SeenGangs&) = delete;

  // What the object is read to; good until the next call.
  const model::GangSeen& of(const JobKey& key, model::GangScheduler scheduler, const json::object& object);
  void forget(const JobKey& key) { jobs_.erase(key); }
  size_t size() const { return jobs_.size(); }

 private:
  struct Gang {
    std::string uid;
    int64_t version = 0;
    model::GangSeen gang;
  };
  std::map<JobKey, Gang> jobs_;
};

struct Seen {
  SeenOf<PodRead> pods;
  SeenOf<ServiceRead> services;
  SeenGangs gangs;

  void forget(const JobKey& key) {
    pods.forget(key);
    services.forget(key);
    gangs.forget(key);
  }
};

}  // namespace trainyard::control
