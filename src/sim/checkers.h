// Checkers: what must be true of a world whatever happens to it (invariants 1 to 18 of
// the reliability notes, numbered here as there). They watch the store's history and
// the operators' requests, know nothing of the engine, the dialects or the control loop,
// and read objects with eyes of their own (facts.h).
//
//   1, 2, 3, 7, 10   when a pod or service is made             check_pods.cc
//   4, 5, 6, 14, 17  when a job changes or goes                check_status.cc
//   3, 5, 11, 12     when an operator asks for something       check_requests.cc
//   13               at every revision                         checkers.cc
//   1, 2, 11, 15     Secrets and TensorBoards of jobs          check_companions.cc
//   5                what a status shows of the pods           check_counts.cc
//   18               who is told of an invalid job             check_invalid.cc
//   5, 14 - 18       when the world is at rest, and silent     check_rest.cc, world.cc
//
// Of gangs 7 says here that no pod of a gated gang is made before the gang is let in, 16 that
// at rest no gang waits and none wants more members than its job makes; what a scheduler does
// to gangs, 10 for ports of hosts among it, is judged by gang_checks.h. 18 is, besides what
// check_invalid.cc says, 15 in worlds with invalid edits, which users take back.
//
// Safety is judged at every revision. An operator may act on an old view, so a rule that
// depends on what somebody else did binds it from the pass that began after it: the
// job itself is proved fresh before every pass acts; pods count once the operator's
// stream has shown them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/request.h"
#include "sim/cluster.h"
#include "sim/facts.h"
#include "sim/options.h"

namespace trainyard::sim {

struct Violation {
  int invariant = 0;
  std::string checker;
  std::string text;
  Time at;
  int64_t revision = 0;
};
std::string to_string(const Violation& violation);

// What an operator could know when a pass of its began.
struct Sight {
  int64_t revision = 0;     // of the store: the job is read afresh
  int64_t pods_seen = 0;    // its stream of pods had come so far
  int64_t pods_listed = 0;  // and left nothing out since
};

inline constexpr size_t kViolationsMax = 10;

class Checkers {
 public:
  Checkers(const Options& options, const Cluster& cluster);
  Checkers(const Checkers&) = delete;
  Checkers& operator=(const Checkers&) = delete;

  // A listener of the cluster; must be the first.
  void on_change(const Change& change);
  void boots(int operator_id);
  void pass_begins(int operator_id, const Sight& sight) { sights_[operator_id] = sight; }
  // Every request of an operator that asks for a change, before it is carried out.
  void on_request(int operator_id, const kube::Request& request);

  // From now on the world is healthy.
  void settle(Time now) { healthy_since_ = now; }
  // Everything that can happen has happened: what is there must be what was asked for.
  void at_rest();
  // Somebody wrote although nothing had changed.
  // What is invalid has been so for long: somebody must have been told.
  void invalid_at_rest();
  void not_silent(int64_t writes, std::string_view what);
  void not_converged(std::string_view what);
  // What a checker of its own found (gang_checks.h).
  void found(int invariant, std::string_view checker, std::string text);

  const std::vector<Violation>& violations() const { return violations_; }

 private:
  struct Success {
    int attempt = 0;
    int64_t revision = 0;
    int64_t removed = 0;
    bool stripped = false;
  };
  struct PodHistory {
    PodFacts facts;
    int64_t created = 0;
    bool stripped = false;       // somebody took its labels or owner away
    bool failed_itself = false;  // counted in JobHistory::failures
    bool always_again = false;   // ended well under the policy Always, and is counted there too
    bool ended_freely = false;   // nobody had asked it to stop
    std::string cluster;         // of TF_CONFIG
    int64_t job_generation = 0;
  };
  using Replica = std::pair<std::string, int>;
  struct JobHistory {
    Kind kind = Kind::kTfJob;
    std::string name;
    std::string uid;
    Wish wish;
    StatusFacts status;
    int64_t generation = 0;
    int64_t observed_generation = 0;
    int64_t spec_changed = 0;           // revision
    std::optional<Time> valid_since{};  // when it had been invalid
    int64_t told_invalid = 0;           // the generation of which an Event says that it is invalid
    int64_t no_pods_since = 0;          // revision; 0: pods may be made
    std::optional<Time> ended_at;       // when the status first said so
    bool deleting = false;
    bool orphaning = false;  // being deleted, and what it made is to stay
    bool gone = false;
    bool scaled = false;
    bool edited = false;
    bool commanded = false;
    int64_t pods_changed = 0;  // revision
    bool ever_stopped = false;
    int failures = 0;  // pods that failed by themselves
    int in_place = 0;  // restarts of containers
    int disruptions = 0;
    std::set<std::string> replaced;  // uids of failed pods that an operator deleted to start again
    std::map<Replica, Success> successes;
    std::set<Replica> ended_well;  // in any attempt: what stops for a while keeps its successes
    std::map<std::string, int> in_place_by_pod;
  };

  // One file each: pods, status, requests, the end.
  void pod_changed(const Change& change);
  void pod_created(const Change& change, const PodHistory& pod);
  void check_tf_config(const JobHistory& job, PodHistory& pod, const Change& change);
  void check_gang_gate(const PodHistory& pod);
  void check_old_pods(const JobHistory& job, const PodHistory& pod);
  void note_pod_end(JobHistory& job, PodHistory& pod, const PodFacts& before, int64_t revision);
  static void note_always(JobHistory& job, PodHistory& pod);
  void service_created(const Change& change);
  void event_written(const json::object& event);
  bool is_told_invalid(const JobHistory& job) const;
  void secret_changed(const Change& change);
  void board_changed(const Change& change);

  void job_changed(const Change& change, Kind kind);
  void status_changed(const Change& change, JobHistory& job, const StatusFacts& before,
                      const StatusFacts& after);
  void check_counters(const JobHistory& job, const StatusFacts& before, const StatusFacts& after);
  void check_counts(const Change& change, const JobHistory& job, bool had_ended);
  void judge_counts(const JobHistory& job, const json::object& object, const json::object* at_the_end);
  void counts_at_rest(const JobHistory& job);
  void check_recorded(const JobHistory& job);
  void check_failure(const JobHistory& job, const StatusFacts& after, Time now);
  void finalizers_changed(const Change& change, const JobHistory& job);
  void job_gone(const Change& change, JobHistory& job);

  void check_delete(int operator_id, const kube::Request& request, const kube::Delete& order);
  void check_pod_delete(const PodHistory& pod, JobHistory& job);
  void check_fence(int operator_id, const kube::Request& request);
  void check_create(int operator_id, const kube::Request& request, const kube::Create& create);

  void job_at_rest(const JobHistory& job);
  void gangs_at_rest(const JobHistory& job);
  void services_at_rest(const JobHistory& job);
  void companions_at_rest(const JobHistory& job);
  void ended_job_at_rest(const JobHistory& job, const std::vector<const PodHistory*>& pods);
  void running_job_at_rest(const JobHistory& job, const std::vector<const PodHistory*>& pods);

  JobHistory* job_of(const std::string& uid);
  std::vector<const PodHistory*> pods_of(const std::string& uid) const;
  // Else it was made for another job and given to this one.
  static bool is_made_for(const JobHistory& job, const PodHistory& pod) {
    return pod.facts.name.starts_with(job.name + "-");
  }
  Sight sight_of(int operator_id) const;
  bool clocks_are_right() const { return !options_.faults.has(Fault::kClockStep); }
  void violate(int invariant, std::string_view checker, std::string text);

  // Fixed.
  const Options& options_;
  const Cluster& cluster_;
  // State.
  std::map<std::string, JobHistory> jobs_;   // by uid, gone ones too
  std::map<std::string, PodHistory> pods_;   // by uid, those that are there
  std::map<std::string, int64_t> orphaned_;  // by uid: the revision at which the collector let it go
  std::map<int, Sight> sights_;
  std::map<int, std::set<std::string>> made_;  // what each operator made since it booted, and is there
  std::set<std::string> let_in_;               // uids of Volcano's PodGroups that have been let in
  std::string lease_holder_;
  std::optional<Time> healthy_since_;
  int64_t revision_ = 0;
  Time now_;
  std::vector<Violation> violations_;
};

}  // namespace trainyard::sim
