// What is to be seen of a Volcano Job, ours and theirs, brought to the same few words so
// that they can be compared. A recording shows only what changed; VolcanoSight remembers
// the rest. A difference is told where it begins or changes, not at every step after.
//
// Not compared, because it says nothing about what we decide:
//  - what the scheduler wrote (PodGroup status, bindings) and its words, which Volcano
//    repeats as PodGroupPending events: they are what is put in;
//  - the mark controller-out-of-sync on pods that go: our attempts tell old from new;
//  - `version` once a job has been stopped or has ended: theirs grows with every pass then;
//  - keys of our own (trainyard.dev/...).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness.h"
#include "world.h"

namespace trainyard::recorded {

class VolcanoSight {
 public:
  VolcanoSight(std::string file, std::string job, World& world)
      : file_(std::move(file)), job_(std::move(job)), world_(world) {}

  // `see` is the step's entry in the recording.
  void compare(int step, const json::object& see);
  std::vector<Difference> take() { return std::exchange(found_, {}); }

 private:
  using Facts = std::map<std::string, std::string>;

  void learn(const json::object& see);
  void learn_job(const json::value& job);
  void compare_facts(int step, const Facts& ours, const Facts& theirs);
  Facts our_facts();
  Facts their_facts(const json::object& see) const;
  // What a step shows of the stored spec: fields that a schema or the controller filled in.
  void add_spec(const json::object& see, Facts& ours, Facts& theirs) const;
  bool was_stopped() const;

  // Fixed.
  std::string file_;
  std::string job_;
  World& world_;
  // State: theirs, as of now.
  bool their_job_ = false;
  json::object their_status_;
  json::object their_pods_;
  json::object their_details_;
  json::object their_groups_;
  json::object their_others_;
  std::string our_phase_;
  std::string their_phase_;
  std::map<std::string, std::pair<std::string, std::string>> told_;
  std::vector<Difference> found_;
};

}  // namespace trainyard::recorded
