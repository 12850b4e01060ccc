#include "model/plan.h"

#include <gtest/gtest.h>

namespace trainyard::model {
namespace {

JobSpec job() {
  JobSpec spec;
  spec.pod_prefix = "train";
  spec.roles.emplace_back().name = "worker";
  spec.gang.emplace().name = "train-gang";
  spec.tensorboard = "train-board";
  return spec;
}

struct StepRow {
  Step step;
  const char* text;
};

TEST(PlanText, EachStepIsOneLineThatNamesItsObject) {
  JobSpec spec = job();
  for (const StepRow& row : {
           StepRow{AddFinalizer{}, "add finalizer"},
           StepRow{WriteState{}, "write state"},
           StepRow{DeletePod{"train-worker-0", "u"}, "delete pod train-worker-0"},
           StepRow{DeleteService{"train-worker-0", "u"}, "delete service train-worker-0"},
           StepRow{DeleteCompanion{CompanionKind::kSecret, "keys", "u"}, "delete secret keys"},
           StepRow{DeleteGang{"train-gang", "u"}, "delete gang train-gang"},
           StepRow{DeleteCommand{"stop", "u"}, "delete command stop"},
           StepRow{UpsertGang{""}, "create gang train-gang"},
           StepRow{UpsertGang{"u"}, "update gang train-gang"},
           StepRow{UpsertCompanion{CompanionKind::kConfigMap, "hosts", ""}, "create configmap hosts"},
           StepRow{UpsertTensorBoard{""}, "create tensorboard train-board"},
           StepRow{CreateService{{0, 1}}, "create service train-worker-1"},
           StepRow{CreatePod{{0, 1}, 0}, "create pod train-worker-1"},
           StepRow{CreatePod{{0, 1}, 2}, "create pod train-worker-1 (attempt 2)"},
           StepRow{DropFinalizer{}, "drop finalizer"},
           StepRow{DeleteJob{"u"}, "delete job"},
       }) {
    EXPECT_EQ(to_string(spec, row.step), row.text);
  }
}

}  // namespace
}  // namespace trainyard::model
