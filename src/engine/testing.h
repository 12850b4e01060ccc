// Yard: a toy world for engine tests. It holds a spec, the remembered state and pods,
// runs plan() until nothing changes, and does what the plan says at once. Replicas are
// named as in the plan: "worker-0". show() gives the world as one line of text.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/match.h"
#include "engine/engine.h"

namespace trainyard::engine::testing {

using namespace trainyard::model;  // NOLINT: test files speak the model's words

enum class Policy { kNever, kOnFailure, kAlways, kExitCode };

// A role as TFJob lowers it.
inline Role role(const std::string& name, int replicas, Policy policy = Policy::kNever,
                 Scope scope = Scope::kPod) {
  Role role;
  role.name = name;
  role.title = name;
  role.replicas = replicas;
  role.otherwise = {ActionKind::kFail};
  Action again{ActionKind::kRestart, scope};
  std::vector<Trigger> disrupted{Trigger::kDisrupted};
  if (scope != Scope::kPod) disrupted.push_back(Trigger::kDeleted);
  switch (policy) {
    case Policy::kNever:
      return role;
    case Policy::kOnFailure:
    case Policy::kAlways:
      role.restarts_in_place = true;
      role.rules.push_back({{Trigger::kFailed}, {}, again, {}});
      break;
    case Policy::kExitCode:
      role.rules.push_back({{Trigger::kFailed}, {{42, 42}, {129, 138}, {140, 255}}, again, {}});
      break;
  }
  role.rules.push_back({disrupted, {}, again, {}});
  return role;
}

inline JobSpec job(std::vector<Role> roles) {
  JobSpec spec;
  spec.dialect = "test";
  spec.name_space = "ns";
  spec.name = "j";
  spec.pod_prefix = "j";
  spec.uid = "job-uid";
  spec.roles = std::move(roles);
  spec.cleanup = Cleanup::kUnfinished;
  spec.running_min = spec.total_replicas();
  int chief = spec.role_named("chief");
  int worker = spec.role_named("worker");
  if (chief >= 0) {
    spec.success = WholeRole{chief};
  } else {
    spec.success = MainReplica{{worker, 0}, true};
  }
  return spec;
}

class Yard {
 public:
  explicit Yard(JobSpec wanted) { seen.spec = std::move(wanted); }

  Observation seen;
  Time now{1'700'000'000'000};
  std::vector<std::string> log;  // every step done, in order
  std::vector<NoteKind> notes;
  Plan last;
  bool lingering = false;  // deleted pods stay, terminating, until vanish()
  bool job_deleted = false;

  // One pass; returns whether it changed anything.
  bool pass() {
    seen.state.roles.resize(seen.spec.roles.size());
    last = plan(seen, now);
    bool changed = !(last.state == seen.state);
    if (changed) log.push_back("write");
    seen.state = last.state;
    for (const Note& note : last.notes) notes.push_back(note.kind);
    for (const Step& step : last.steps) {
      if (std::holds_alternative<WriteState>(step)) continue;
      log.push_back(to_string(seen.spec, step));
      apply(step);
      changed = true;
    }
    std::erase_if(seen.pods, [](const PodSeen& pod) { return pod.gone; });
    return changed;
  }
  // Passes until quiet.
  Yard& settle() {
    for (int i = 0; i < 50; ++i) {
      if (!pass()) return *this;
    }
    ADD_FAILURE() << "the world does not come to rest: " << show();
    return *this;
  }
  Yard& after(Duration d) {
    now = now + d;
    return settle();
  }

  PodSeen& pod(const std::string& label) {
    for (PodSeen& pod : seen.pods) {
      if (pod.name == "j-" + label && !pod.gone) return pod;
    }
    ADD_FAILURE() << "no pod " << label << " in " << show();
    static PodSeen none;
    return none;
  }
  bool has(const std::string& label) {
    for (PodSeen& pod : seen.pods) {
      if (pod.name == "j-" + label) return true;
    }
    return false;
  }
  Yard& run_all() {
    for (PodSeen& pod : seen.pods) {
      if (pod.phase == PodPhase::kPending && !pod.terminating) {
        pod.phase = PodPhase::kRunning;
        pod.ready = true;
      }
    }
    return settle();
  }
  Yard& running(const std::string& label) {
    pod(label).phase = PodPhase::kRunning;
    pod(label).ready = true;
    return settle();
  }
  void ends(const std::string& label, int code) {
    PodSeen& ended = pod(label);
    ended.phase = code == 0 ? PodPhase::kSucceeded : PodPhase::kFailed;
    ended.exit_code = code;
    ended.finished_at = now;
    ended.reason = code == 0 ? "Completed" : "Error";
  }
  Yard& end(const std::string& label, int code) {
    ends(label, code);
    return settle();
  }
  Yard& evict(const std::string& label) {
    PodSeen& victim = pod(label);
    victim.phase = PodPhase::kFailed;
    victim.disrupted = true;
    victim.reason = "Evicted";
    victim.finished_at = now;
    return settle();
  }
  // Somebody deletes the pod; its last state is still told once.
  Yard& remove(const std::string& label) {
    pod(label).gone = true;
    return settle();
  }
  Yard& vanish() {
    std::erase_if(seen.pods, [](const PodSeen& pod) { return pod.terminating; });
    return settle();
  }

  // "Running r=1 | worker-0 Running, worker-1 Pending@1"
  std::string show() const {
    std::string text(to_string(seen.state.phase));
    if (seen.state.result) text += fmt::format(" {}", to_string(*seen.state.result));
    if (seen.state.restarts) text += fmt::format(" r={}", seen.state.restarts);
    std::string pods;
    for (const PodSeen& pod : seen.pods) {
      static constexpr const char* kNames[] = {"Pending", "Running", "Succeeded", "Failed", "Unknown"};
      pods += fmt::format("{}{} {}{}", pods.empty() ? "" : ", ", pod.name.substr(2),
                          kNames[static_cast<int>(pod.phase)], pod.terminating ? " leaving" : "");
      if (pod.attempt) pods += fmt::format("@{}", pod.attempt);
    }
    return pods.empty() ? text : text + " | " + pods;
  }
  bool told(NoteKind kind) const { return std::find(notes.begin(), notes.end(), kind) != notes.end(); }
  bool waits(WaitKind kind) const {
    for (const Wait& wait : last.waits) {
      if (wait.kind == kind && !wait.text.empty()) return true;
    }
    return false;
  }

 private:
  void apply(const Step& step) {
    std::visit(Match{
                   [&](const AddFinalizer&) { seen.has_finalizer = true; },
                   [](const WriteState&) {},
                   [&](const DeletePod& s) { drop_pod(s.uid); },
                   [&](const DeleteService& s) {
                     std::erase_if(seen.services, [&](const ServiceSeen& seen) { return seen.uid == s.uid; });
                   },
                   [&](const DeleteCompanion& s) {
                     std::erase_if(seen.companions,
                                   [&](const CompanionSeen& seen) { return seen.uid == s.uid; });
                   },
                   [&](const DeleteGang&) { seen.gang.reset(); },
                   [&](const DeleteCommand& s) {
                     std::erase_if(seen.commands, [&](const CommandSeen& seen) { return seen.uid == s.uid; });
                   },
                   [&](const UpsertGang& s) { put_gang(s); },
                   [&](const UpsertCompanion& s) { put_companion(s); },
                   [&](const UpsertTensorBoard&) {
                     seen.tensorboard = TensorBoardSeen{*seen.spec.tensorboard, fresh_uid(), false};
                   },
                   [&](const CreateService& s) {
                     seen.services.push_back({s.id, seen.spec.pod_name(s.id), fresh_uid()});
                     std::sort(seen.services.begin(), seen.services.end(),
                               [](const ServiceSeen& a, const ServiceSeen& b) { return a.id < b.id; });
                   },
                   [&](const CreatePod& s) { make_pod(s); },
                   [&](const DropFinalizer&) { seen.has_finalizer = false; },
                   [&](const DeleteJob&) { job_deleted = true; },
               },
               step);
  }
  void make_pod(const CreatePod& step) {
    std::string name = seen.spec.pod_name(step.id);
    for (const PodSeen& pod : seen.pods) EXPECT_FALSE(pod.name == name && !pod.gone) << name << " exists";
    PodSeen made;
    made.id = step.id;
    made.name = name;
    made.uid = fresh_uid();
    made.attempt = step.attempt;
    made.created_at = now;
    seen.pods.push_back(made);
    std::sort(seen.pods.begin(), seen.pods.end(),
              [](const PodSeen& a, const PodSeen& b) { return a.id < b.id; });
  }
  void drop_pod(const std::string& uid) {
    for (PodSeen& pod : seen.pods) {
      if (pod.uid == uid) pod.terminating = true;
    }
    if (!lingering) std::erase_if(seen.pods, [&](const PodSeen& pod) { return pod.uid == uid; });
  }
  void put_gang(const UpsertGang& step) {
    std::string uid = seen.gang ? seen.gang->uid : fresh_uid();
    GangPhase phase = seen.gang ? seen.gang->phase : GangPhase::kPending;
    seen.gang = GangSeen{uid, true, phase, step.gang, ""};
  }
  void put_companion(const UpsertCompanion& step) {
    uint64_t digest = 0;
    for (const Companion& wanted : seen.spec.companions) {
      if (wanted.kind == step.kind && wanted.name == step.name) digest = wanted.digest;
    }
    std::erase_if(seen.companions, [&](const CompanionSeen& seen) { return seen.uid == step.uid; });
    seen.companions.push_back({step.kind, step.name, fresh_uid(), digest, true});
  }
  std::string fresh_uid() { return fmt::format("u{}", ++uids_); }

  int uids_ = 0;
};

}  // namespace trainyard::engine::testing
