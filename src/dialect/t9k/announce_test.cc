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

const std::string kPodName = child_prefix("train", "3f1c") + "-worker-0";

struct NoteCase {
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
  Note again{.kind = NoteKind::kPodCreated, .object = kPodName};
  again.attempt = 2;
  Note runs{.kind = NoteKind::kJobRunning};
  runs.at = *parse_rfc3339("2024-08-02T07:03:59.69Z");
  const NoteCase cases[] = {
      {{.kind = NoteKind::kJobCreated}, "Normal Created: A TensorFlowTrainingJob has been created: train"},
      {{.kind = NoteKind::kPodCreated, .object = kPodName},
       "Normal NewReplica: Create the replica[" + kPodName + "] for the first time."},
      {again, "Normal RecreateReplica: Create the replica[" + kPodName + "] again."},
      {{.kind = NoteKind::kJobInitialized}, "Normal Start: The job has been initialized successfully."},
      {runs, "Normal Running: The job began running at 2024-08-02 07:03:59.69 UTC"},
      {{.kind = NoteKind::kJobRunning}, "Normal Running: The job began running."},
      {{.kind = NoteKind::kJobSucceeded}, "Normal Succeeded: The job has finished successfully."},
      {with_cause(NoteKind::kJobFailed, killed),
       "Warning Failed: TensorFlowTrainingJob train has failed: " + kPodName + " failed with exit code 137"},
      {with_cause(NoteKind::kJobRestarting, killed),
       "Warning Restarting: Pod[" + kPodName + "] exited with error code 137; it is started again."},
      {with_cause(NoteKind::kJobRestarting, evicted),
       "Warning Restarting: Pod[" + kPodName + "] was disrupted: Evicted; it is started again."},
      {{.kind = NoteKind::kReplicaFailed, .replica = model::ReplicaId{0, 0}, .exit_code = 1},
       "Warning ReplicaFailure: Pod[" + kPodName + "] exited with error code 1; it is not started again."},
      {{.kind = NoteKind::kReplicaDisrupted, .replica = model::ReplicaId{0, 0}, .text = "low on memory"},
       "Warning ReplicaDisrupted: Pod[" + kPodName + "] was disrupted: low on memory"},
      {{.kind = NoteKind::kJobPaused}, "Normal Paused: The job is paused."},
      {{.kind = NoteKind::kJobResumed}, "Normal Resumed: The job is resumed."},
      {{.kind = NoteKind::kInvalidSpec, .text = "spec.a: Required value: b"},
       "Warning InvalidSpec: spec.a: Required value: b"},
      {{.kind = NoteKind::kAdvice, .reason = "DeprecatedField", .text = "x"}, "Warning DeprecatedField: x"},
      {{.kind = NoteKind::kPodCreateFailed, .object = kPodName, .text = "exceeded quota"},
       "Warning FailedCreateReplica: Cannot create the replica[" + kPodName + "]: exceeded quota"},
      {{.kind = NoteKind::kPodDeleted, .object = kPodName},
       "Normal DeleteReplica: Delete the replica[" + kPodName + "]."},
      {{.kind = NoteKind::kTensorBoardCreated, .object = "tb"},
       "Normal NewTensorBoard: Create the TensorBoard[tb]."},
      {{.kind = NoteKind::kServiceCreated, .object = kPodName}, ""},
      {{.kind = NoteKind::kReplicaEnded, .object = kPodName}, ""},
  };
  for (const NoteCase& c : cases) {
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
