#include "dialect/t9k/announce.h"

#include <gtest/gtest.h>

#include "dialect/t9k/name.h"
#include "dialect/t9k/testing.h"

namespace trainyard::t9k {
namespace {

using model::Cause;
using model::CauseKind;
using model::Note;
using model::NoteKind;
using testing::job;
using testing::lowered;
using testing::replica_spec;

const std::string kPod = child_prefix("train", "3f1c") + "-worker-0";

struct Case {
  Note note;
  std::string expected;  // "Normal Reason: message", "" when nothing is told
};

Note with_cause(NoteKind kind, Cause cause) {
  Note note{.kind = kind};
  note.cause = std::move(cause);
  return note;
}

TEST(T9kAnnounce, Words) {
  model::JobSpec spec = lowered(job(replica_spec("worker", 2)));
  Cause killed{.kind = CauseKind::kReplicaFailed, .role = "worker", .index = 0, .exit_code = 137};
  Cause evicted{.kind = CauseKind::kReplicaDisrupted, .role = "worker", .index = 0, .detail = "Evicted"};
  Note again{.kind = NoteKind::kPodCreated, .object = kPod};
  again.attempt = 2;
  Note runs{.kind = NoteKind::kJobRunning};
  runs.at = *parse_rfc3339("2024-08-02T07:03:59.69Z");
  const Case cases[] = {
      {{.kind = NoteKind::kJobCreated}, "Normal Created: A TensorFlowTrainingJob has been created: train"},
      {{.kind = NoteKind::kPodCreated, .object = kPod},
       "Normal NewReplica: Create the replica[" + kPod + "] for the first time."},
      {again, "Normal RecreateReplica: Create the replica[" + kPod + "] again."},
      {{.kind = NoteKind::kJobInitialized}, "Normal Start: The job has been initialized successfully."},
      {runs, "Normal Running: The job began running at 2024-08-02 07:03:59.69 UTC"},
      {{.kind = NoteKind::kJobRunning}, "Normal Running: The job began running."},
      {{.kind = NoteKind::kJobSucceeded}, "Normal Succeeded: The job has finished successfully."},
      {with_cause(NoteKind::kJobFailed, killed),
       "Warning Failed: TensorFlowTrainingJob train has failed: " + kPod + " failed with exit code 137"},
      {with_cause(NoteKind::kJobRestarting, killed),
       "Warning Restarting: Pod[" + kPod + "] exited with error code 137; it is started again."},
      {with_cause(NoteKind::kJobRestarting, evicted),
       "Warning Restarting: Pod[" + kPod + "] was disrupted: Evicted; it is started again."},
      {{.kind = NoteKind::kReplicaFailed, .replica = model::ReplicaId{0, 0}, .exit_code = 1},
       "Warning ReplicaFailure: Pod[" + kPod + "] exited with error code 1; it is not started again."},
      {{.kind = NoteKind::kReplicaDisrupted, .replica = model::ReplicaId{0, 0}, .text = "low on memory"},
       "Warning ReplicaDisrupted: Pod[" + kPod + "] was disrupted: low on memory"},
      {{.kind = NoteKind::kJobPaused}, "Normal Paused: The job is paused."},
      {{.kind = NoteKind::kJobResumed}, "Normal Resumed: The job is resumed."},
      {{.kind = NoteKind::kInvalidSpec, .text = "spec.a: Required value: b"},
       "Warning InvalidSpec: spec.a: Required value: b"},
      {{.kind = NoteKind::kAdvice, .reason = "DeprecatedField", .text = "x"}, "Warning DeprecatedField: x"},
      {{.kind = NoteKind::kPodCreateFailed, .object = kPod, .text = "exceeded quota"},
       "Warning FailedCreateReplica: Cannot create the replica[" + kPod + "]: exceeded quota"},
      {{.kind = NoteKind::kPodDeleted, .object = kPod},
       "Normal DeleteReplica: Delete the replica[" + kPod + "]."},
      {{.kind = NoteKind::kTensorBoardCreated, .object = "tb"},
       "Normal NewTensorBoard: Create the TensorBoard[tb]."},
      {{.kind = NoteKind::kServiceCreated, .object = kPod}, ""},
      {{.kind = NoteKind::kReplicaEnded, .object = kPod}, ""},
  };
  for (const Case& c : cases) {
    std::optional<dialect::EventText> text = announce(spec, c.note);
    std::string found =
        text ? fmt::format("{} {}: {}", text->warning ? "Warning" : "Normal", text->reason, text->message)
             : "";
    EXPECT_EQ(found, c.expected) << to_string(c.note.kind);
  }
}

TEST(T9kAnnounce, ANoteAboutAReplicaThatTheSpecHasNoMoreIsStillTold) {
  model::JobSpec spec = lowered(job(replica_spec("worker", 1)));
  Note note{.kind = NoteKind::kReplicaFailed, .replica = model::ReplicaId{5, 0}, .exit_code = 1};
  EXPECT_EQ(announce(spec, note)->message, "A pod has failed; it is not started again.");
}

}  // namespace
}  // namespace trainyard::t9k
