#include "cli/run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "cli/convert.h"
#include "cli/explain.h"
#include "cli/simulate.h"
#include "cli/testing.h"
#include "cli/validate.h"

namespace trainyard::cli {
namespace {

using ::testing::HasSubstr;

Ran run_on(const Command& command, const std::string& input) {
  std::istringstream in(input);
  std::ostringstream out;
  std::ostringstream err;
  int status = run(command, Console{in, out, err, false});
  return {status, out.str(), err.str()};
}

constexpr const char* kWithStatus = R"(
apiVersion: kubeflow.org/v1
kind: TFJob
metadata: {name: a, namespace: lab, uid: u-1}
spec:
  tfReplicaSpecs:
    Worker:
      replicas: 2
      template: {spec: {containers: [{name: tensorflow, image: i}]}}
status:
  conditions: []
  trainyard: {phase: Running}
)";

constexpr const char* kPod = R"(
---
apiVersion: v1
kind: Pod
metadata:
  name: a-worker-0
  namespace: lab
  uid: p-0
  labels:
    training.kubeflow.org/job-name: a
    training.kubeflow.org/operator-name: tfjob-controller
    training.kubeflow.org/replica-index: "0"
    training.kubeflow.org/replica-type: worker
  ownerReferences: [{apiVersion: kubeflow.org/v1, kind: TFJob, name: a, uid: u-1, controller: true}]
spec: {containers: [{name: tensorflow, image: i}]}
status:
  phase: Failed
  containerStatuses:
  - name: tensorflow
    state: {terminated: {exitCode: 1, finishedAt: "2026-01-01T00:00:00Z"}}
)";

TEST(Run, ExplainSaysSoWhenNoPodsAreKnown) {
  Ran ran = run_on(Explain{{"-"}, OutputForm::kText, Time{0}, {}}, kWithStatus);
  EXPECT_EQ(ran.status, kFine);
  EXPECT_THAT(ran.out, HasSubstr("No pods of this job were given"));
  EXPECT_THAT(ran.out, HasSubstr("create pod a-worker-0"));
}

TEST(Run, ExplainPlansWithThePodsThatAreGiven) {
  Ran ran = run_on(Explain{{"-"}, OutputForm::kText, Time{0}, {}}, std::string(kWithStatus) + kPod);
  EXPECT_EQ(ran.status, kFine) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("Finished, Failed"));
  EXPECT_THAT(ran.out, HasSubstr("worker-0, exit code 1"));
}

TEST(Run, NoJobInTheInputIsAFault) {
  for (const Command& command :
       {Command(Explain{{"-"}, OutputForm::kText, {}, {}}), Command(Convert{{"-"}, "t9k"})}) {
    Ran ran = run_on(command, "apiVersion: v1\nkind: Pod\n");
    EXPECT_EQ(ran.status, kInputAtFault);
    EXPECT_EQ(ran.err, "there is no training job in the input\n");
  }
}

TEST(Run, SeedsAreRunAndToldOf) {
  Ran story = run_on(Simulate{1, 1, true, 1}, "");
  EXPECT_EQ(story.status, kFine) << story.out;
  EXPECT_THAT(story.out, HasSubstr("seed 1"));
  Ran many = run_on(Simulate{1, 20, false, 2}, "");
  EXPECT_EQ(many.status, kFine) << many.err;
  EXPECT_THAT(many.out, HasSubstr("20 seeds from 1: all fine"));
}

}  // namespace
}  // namespace trainyard::cli
