#include "dialect/volcano/announce.h"

#include <gtest/gtest.h>

#include "dialect/volcano/testing.h"

namespace trainyard::dialect::vc {
namespace {

using model::Action;
using model::ActionKind;
using model::Note;
using model::NoteKind;
using model::Scope;

TEST(Announce, InVolcanosWords) {
  model::JobSpec spec =
      testing::lowered(testing::usual_job("  volumes: [{mountPath: /a, volumeClaimName: data}]\n"));
  struct Case {
    Note note;
    EventText text;
  };
  auto note = [](NoteKind kind, std::string text = "", std::string object = "", Action action = {},
                 std::optional<Duration> delay = {}) {
    Note made;
    made.kind = kind;
    made.text = std::move(text);
    made.object = std::move(object);
    made.action = action;
    made.delay = delay;
    return made;
  };
  for (
      const Case& c : std::initializer_list<Case>{
          {note(NoteKind::kActionTaken, "", "", {ActionKind::kRestart, Scope::kJob}),
           {false, "ExecuteAction", "Start to execute action RestartJob "}},
          {note(NoteKind::kActionTaken, "", "", {ActionKind::kAbort, Scope::kPod}, seconds(8)),
           {false, "ExecuteAction", "Execute action AbortJob after 8s"}},
          {note(NoteKind::kCommandTaken, "", "", {ActionKind::kResume, Scope::kPod}),
           {false, "CommandIssued",
            "Start to execute command ResumeJob, and clean it up to make sure executed not more than once."}},
          {note(NoteKind::kGangWaiting, "1/3 tasks in gang unschedulable"),
           {true, "PodGroupPending",
            "PodGroup ns:tj unschedulable, reason: 1/3 tasks in gang unschedulable"}},
          {note(NoteKind::kCompanionFailed, "", "data"),
           {true, "PVCError",
            "Failed to create PVC, err: pvc data is not found, the job will be in the Pending state until "
            "the PVC is "
            "created"}},
          {note(NoteKind::kCompanionFailed, "quota", "data"),
           {true, "PVCError", "Failed to create PVC, err: quota"}},
          {note(NoteKind::kCompanionFailed, "quota", "tj-svc"),
           {true, "PluginError", "Execute plugin when job add failed, err: quota"}},
          {note(NoteKind::kPodCreateFailed, "quota"), {true, "FailedCreate", "Error creating pods: [quota]"}},
          {note(NoteKind::kPodDeleteFailed, "no"), {true, "FailedDelete", "Error deleting pods: [no]"}},
          {note(NoteKind::kGangFailed, "no"), {true, "PodGroupError", "Failed to create PodGroup, err: no"}},
      }) {
    EXPECT_EQ(announce(spec, c.note), c.text) << c.text.message;
  }
}

TEST(Announce, VolcanosUsersHearNothingOfTheRest) {
  model::JobSpec spec = testing::lowered(testing::usual_job());
  for (NoteKind kind :
       {NoteKind::kJobCreated, NoteKind::kJobRunning, NoteKind::kJobSucceeded, NoteKind::kJobFailed,
        NoteKind::kPodCreated, NoteKind::kPodDeleted, NoteKind::kReplicaEnded}) {
    Note note;
    note.kind = kind;
    EXPECT_EQ(announce(spec, note), std::nullopt);
  }
}

}  // namespace
}  // namespace trainyard::dialect::vc
