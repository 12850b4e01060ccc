#include "cli/run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <streambuf>

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
    EXPECT_EQ(ran.err, "there is no TFJob, TensorFlowTrainingJob or Volcano Job in the input, only Pod\n");
  }
}

constexpr std::string_view kOneWorker = R"(
spec:
  tfReplicaSpecs:
    Worker:
      replicas: {}
      template: {{spec: {{containers: [{{name: tensorflow, image: i}}]}}}}
)";

TEST(Run, OfThousandsOfProblemsSomeAreToldAndTheOthersCounted) {
  std::string job = "apiVersion: kubeflow.org/v1\nkind: TFJob\nmetadata:\n  name: a\n  labels:\n";
  for (int i = 0; i < 5'000; ++i) job += fmt::format("    k{}: not a label\n", i);
  Ran ran = run_on(Validate{{"-"}, {}}, job + fmt::format(kOneWorker, 1));
  EXPECT_EQ(ran.status, kInputAtFault);
  EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), int64_t{kProblemsPrintedMax} + 1);
  EXPECT_THAT(ran.err, HasSubstr("<stdin>:6: metadata.labels.k0: Invalid value"));
  EXPECT_TRUE(ran.err.ends_with("<stdin>:1: and 4000 more problems\n"))
      << ran.err.substr(ran.err.size() - 80);
}

// Counts what it is given, and how much of it comes at once.
class Measure final : public std::streambuf {
 public:
  std::streamsize total = 0;
  std::streamsize largest = 0;

 protected:
  std::streamsize xsputn(const char*, std::streamsize size) override {
    total += size;
    largest = std::max(largest, size);
    return size;
  }
  int_type overflow(int_type c) override { return c; }
};

TEST(Run, ObjectsAreExplainedOneByOne) {
  std::string job = "apiVersion: kubeflow.org/v1\nkind: TFJob\nmetadata: {name: a, namespace: lab}\n";
  for (OutputForm form : {OutputForm::kYaml, OutputForm::kJson}) {
    std::istringstream in(job + fmt::format(kOneWorker, 200));
    Measure measure;
    std::ostream out(&measure);
    std::ostringstream err;
    EXPECT_EQ(run(Explain{{"-"}, form, Time{0}, {}}, Console{in, out, err, false}), kFine);
    EXPECT_LT(measure.largest * 100, measure.total);
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
