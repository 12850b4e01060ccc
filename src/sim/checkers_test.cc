// Checkers that never speak prove nothing: each is shown a history in which its
// invariant is broken, and one in which it is not.
#include "sim/checkers.h"

#include <gtest/gtest.h>

#include "kube/access.h"
#include "sim/blueprint.h"

namespace trainyard::sim {
namespace {

constexpr Author kUser{Hand::kUser, -1};
constexpr Author kKubelet{Hand::kKubelet, -1};
constexpr Author kOperator{Hand::kOperator, 0};

class CheckersTest : public ::testing::Test {
 protected:
  CheckersTest() {
    cluster_.listen([this](const Change& change) { checkers_.on_change(change); });
  }

  std::string make_job(std::string_view text) {
    const Blueprint blueprint = parse_blueprint(text);
    resource_ = &resource_of(blueprint.kind);
    const store::Object job = cluster_.create(kUser, *resource_, manifest_of(blueprint));
    uid_ = kube::uid_of(*job);
    look();
    return uid_;
  }
  // A new pass of the operator, which sees everything.
  void look() {
    const int64_t revision = cluster_.store().revision();
    checkers_.pass_begins(0, {revision, revision, 0});
  }
  json::object pod_body(std::string_view name, int attempt = 0) {
    json::object metadata{{"name", kube::jview(name)}, {"namespace", "default"}};
    if (attempt > 0) {
      metadata["annotations"] = json::object{{"trainyard.dev/attempt", std::to_string(attempt)}};
    }
    metadata["ownerReferences"] =
        json::array{kube::owner_reference(resource_->api_version(), resource_->kind, "train", uid_)};
    return {{"apiVersion", "v1"},
            {"kind", "Pod"},
            {"metadata", std::move(metadata)},
            {"spec", json::object{{"containers", json::array{json::object{{"name", "tensorflow"}}}}}}};
  }
  std::string make_pod(std::string_view name, int attempt = 0) {
    const store::Object pod = cluster_.create(kOperator, kube::kPods, pod_body(name, attempt));
    return std::string(kube::uid_of(*pod));
  }
  // A worker that is told of these, in TF_CONFIG.
  void make_worker(int index, std::string_view workers) {
    json::object body = pod_body(fmt::format("train-worker-{}", index));
    body["spec"].as_object()["containers"].as_array()[0].as_object()["env"] = json::array{json::object{
        {"name", "TF_CONFIG"},
        {"value", fmt::format(R"({{"cluster":{{"worker":[{}]}},"task":{{"type":"worker","index":{}}}}})",
                              workers, index)}}};
    cluster_.create(kOperator, kube::kPods, std::move(body));
  }
  void pod_phase(std::string_view name, std::string_view phase) {
    cluster_.write_status(kKubelet, kube::kPods, name, {{"phase", kube::jview(phase)}});
  }
  void write_status(std::string_view status) {
    cluster_.write_status(kOperator, *resource_, "train", json::parse(kube::jview(status)).as_object());
  }
  void make_service(std::string_view name) {
    json::object body = pod_body(name);
    body["kind"] = "Service";
    body["spec"] = json::object{{"clusterIP", "None"}};
    cluster_.create(kOperator, kube::kServices, std::move(body));
  }
  void set_finalizers(json::array finalizers) {
    json::object job = *cluster_.find(*resource_, "train");
    job["metadata"].as_object()["finalizers"] = std::move(finalizers);
    cluster_.update(kOperator, *resource_, std::move(job));
  }
  void ask(kube::Verb verb, const kube::Resource& resource = kube::kPods) {
    checkers_.on_request(0, {resource, "default", std::move(verb)});
  }
  // "" when nothing is broken.
  std::string broken() const {
    if (checkers_.violations().empty()) return "";
    return checkers_.violations().front().checker;
  }

  void TearDown() override {
    if (!HasFailure()) return;
    for (const Violation& violation : checkers_.violations()) ADD_FAILURE() << to_string(violation);
  }

  Options options_;
  Agenda agenda_{Time{1'800'000'000'000}};
  Cluster cluster_{1, agenda_};
  Checkers checkers_{options_, cluster_};
  const kube::Resource* resource_ = nullptr;
  std::string uid_;
};

constexpr std::string_view kFailedStatus =
    R"({"conditions":[{"type":"Failed","status":"True"}],"trainyard":{"cause":{"kind":"ReplicaFailed"}}})";

TEST_F(CheckersTest, AHealthyLifeBreaksNothing) {
  make_job("tfjob train worker=2 clean=None");
  make_pod("train-worker-0");
  make_pod("train-worker-1");
  pod_phase("train-worker-0", "Running");
  pod_phase("train-worker-1", "Running");
  write_status(R"({"conditions":[{"type":"Running","status":"True"}]})");
  pod_phase("train-worker-0", "Succeeded");
  write_status(R"({"conditions":[{"type":"Succeeded","status":"True"}]})");
  checkers_.at_rest();
  EXPECT_EQ(broken(), "");
}

TEST_F(CheckersTest, PodWithoutJob) {
  make_job("tfjob train worker=2");
  uid_ = "nobody";
  make_pod("train-worker-0");
  EXPECT_EQ(broken(), "no-pod-without-job");
}

TEST_F(CheckersTest, PodAfterEnd) {
  make_job("tfjob train worker=2");
  make_pod("train-worker-0");
  pod_phase("train-worker-0", "Failed");
  write_status(kFailedStatus);
  make_pod("train-worker-1");
  EXPECT_EQ(broken(), "") << "the pass began before";
  look();
  cluster_.remove(kKubelet, kube::kPods, "train-worker-1", {.grace_seconds = 0});
  make_pod("train-worker-1");
  EXPECT_EQ(broken(), "no-pod-after-end");
}

TEST_F(CheckersTest, PodThatIsNotNamedAfterItsJob) {
  make_job("tfjob train worker=2");
  make_pod("other-worker-0");
  EXPECT_EQ(broken(), "pod-name");
}

TEST_F(CheckersTest, ServiceWithoutJob) {
  make_job("tfjob train worker=2");
  uid_ = "nobody";
  make_service("train-worker-0");
  EXPECT_EQ(broken(), "no-service-without-job");
}

TEST_F(CheckersTest, ServiceAfterEnd) {
  make_job("tfjob train worker=2");
  make_pod("train-worker-0");
  pod_phase("train-worker-0", "Failed");
  write_status(kFailedStatus);
  make_service("train-worker-0");
  EXPECT_EQ(broken(), "") << "the pass began before";
  look();
  make_service("train-worker-1");
  EXPECT_EQ(broken(), "no-service-after-end");
}

TEST_F(CheckersTest, MoreThanDesired) {
  make_job("tfjob train worker=2");
  make_pod("train-worker-2");
  EXPECT_EQ(broken(), "never-more-than-desired");
}

TEST_F(CheckersTest, TwoOfOneReplica) {
  make_job("tfjob train worker=2");
  make_pod("train-worker-1");
  make_pod("train-x-worker-1");
  EXPECT_EQ(broken(), "one-pod-per-replica");
}

TEST_F(CheckersTest, SucceededReplicaAgain) {
  make_job("tfjob train worker=2");
  make_pod("train-worker-1");
  pod_phase("train-worker-1", "Succeeded");
  look();
  cluster_.remove(kUser, kube::kPods, "train-worker-1", {.grace_seconds = 0});
  make_pod("train-worker-1", 1);
  EXPECT_EQ(broken(), "") << "a new attempt may run it again";
  cluster_.remove(kUser, kube::kPods, "train-worker-1", {.grace_seconds = 0});
  make_pod("train-worker-1");
  EXPECT_EQ(broken(), "succeeded-stays");
}

TEST_F(CheckersTest, NewAttemptBesideTheOldOne) {
  make_job("tfjob train worker=2 scope=job restart=ExitCode");
  make_pod("train-worker-1");
  make_pod("train-worker-0", 1);
  EXPECT_EQ(broken(), "old-attempt-first");
}

TEST_F(CheckersTest, GangGate) {
  make_job("volcano train worker=1");
  make_pod("train-worker-0");
  EXPECT_EQ(broken(), "gang-gate");
}

constexpr std::string_view kTwoWorkers = R"("train-worker-0.a","train-worker-1.a")";

TEST_F(CheckersTest, TfConfigsThatDisagree) {
  make_job("tfjob train worker=2");
  make_worker(0, kTwoWorkers);
  make_worker(1, kTwoWorkers);
  EXPECT_EQ(broken(), "");
  cluster_.remove(kUser, kube::kPods, "train-worker-1", {.grace_seconds = 0});
  make_worker(1, R"("train-worker-0.b","train-worker-1.b")");
  EXPECT_EQ(broken(), "tf-config");
}

TEST_F(CheckersTest, TfConfigOfMoreThanAreAskedFor) {
  make_job("tfjob train worker=2");
  make_worker(0, R"("train-worker-0.a","train-worker-1.a","train-worker-2.a")");
  EXPECT_EQ(broken(), "tf-config");
}

TEST_F(CheckersTest, TfConfigInWhichAReplicaDoesNotFindItself) {
  make_job("tfjob train worker=2");
  make_worker(0, R"("train-worker-1.a","train-worker-0.a")");
  EXPECT_EQ(broken(), "tf-config");
}

TEST_F(CheckersTest, TfConfigWithTwoAtOneAddress) {
  make_job("tfjob train worker=2 dynamic");
  make_worker(0, R"("train-worker-0.a","train-worker-0.a")");
  EXPECT_EQ(broken(), "tf-config");
}

TEST_F(CheckersTest, TerminalIsTerminal) {
  make_job("tfjob train worker=1");
  make_pod("train-worker-0");
  pod_phase("train-worker-0", "Failed");
  write_status(kFailedStatus);
  write_status(R"({"conditions":[{"type":"Failed","status":"False"}]})");
  EXPECT_EQ(broken(), "terminal-is-terminal");
}

TEST_F(CheckersTest, TwoEnds) {
  make_job("tfjob train worker=1");
  make_pod("train-worker-0");
  pod_phase("train-worker-0", "Failed");
  write_status(R"({"conditions":[{"type":"Failed","status":"True"},{"type":"Succeeded","status":"True"}]})");
  EXPECT_EQ(broken(), "one-end");
}

TEST_F(CheckersTest, ConditionThatGoesBackInTime) {
  make_job("tfjob train worker=1");
  write_status(
      R"({"conditions":[{"type":"Created","status":"True","lastTransitionTime":"2027-01-15T08:00:10Z"}]})");
  write_status(
      R"({"conditions":[{"type":"Created","status":"True","lastTransitionTime":"2027-01-15T08:00:00Z"}]})");
  EXPECT_EQ(broken(), "condition-times");
}

TEST_F(CheckersTest, RestartsThatFall) {
  make_job("tfjob train worker=1 restart=ExitCode");
  make_pod("train-worker-0");
  pod_phase("train-worker-0", "Failed");
  write_status(R"({"trainyard":{"restarts":1}})");
  write_status(R"({"trainyard":{"phase":"Running"}})");
  EXPECT_EQ(broken(), "restarts-never-fall");
}

TEST_F(CheckersTest, RestartsWithoutFailures) {
  make_job("tfjob train worker=1 restart=ExitCode");
  write_status(R"({"trainyard":{"restarts":1}})");
  EXPECT_EQ(broken(), "restarts-have-causes");
}

TEST_F(CheckersTest, MoreRestartsThanAllowed) {
  make_job("tfjob train worker=2 restart=ExitCode backoff=1");
  for (const char* name : {"train-worker-0", "train-worker-1"}) {
    make_pod(name);
    pod_phase(name, "Failed");
  }
  write_status(R"({"trainyard":{"restarts":2}})");
  EXPECT_EQ(broken(), "budget");
}

TEST_F(CheckersTest, FailureBeforeTheBudgetIsSpent) {
  make_job("tfjob train worker=1 restart=ExitCode backoff=3");
  make_pod("train-worker-0");
  pod_phase("train-worker-0", "Failed");
  write_status(
      R"({"conditions":[{"type":"Failed","status":"True"}],"trainyard":{"cause":{"kind":"BudgetSpent"}}})");
  EXPECT_EQ(broken(), "budget-not-spent");
}

TEST_F(CheckersTest, RestartsThatAreNotShown) {
  make_job("t9k train worker=1 restart=ExitCode");
  make_pod("train-05ddd-worker-0");
  pod_phase("train-05ddd-worker-0", "Failed");
  write_status(R"({"backoffCount":1,"trainyard":{"restarts":1}})");
  EXPECT_EQ(broken(), "");
  write_status(R"({"backoffCount":2,"trainyard":{"restarts":1}})");
  EXPECT_EQ(broken(), "shown-restarts");
}

TEST_F(CheckersTest, FailureWithoutCause) {
  make_job("tfjob train worker=1");
  write_status(kFailedStatus);
  EXPECT_EQ(broken(), "failure-has-cause");
}

TEST_F(CheckersTest, DeadlineTooEarly) {
  make_job("tfjob train worker=1 deadline=60");
  write_status(
      R"({"conditions":[{"type":"Failed","status":"True"}],
          "trainyard":{"cause":{"kind":"Deadline"},"startedAt":"2027-01-15T08:00:00Z"}})");
  EXPECT_EQ(broken(), "deadline");
}

TEST_F(CheckersTest, GenerationThatWasNeverThere) {
  make_job("tfjob train worker=1");
  write_status(R"({"trainyard":{"observedGeneration":9}})");
  EXPECT_EQ(broken(), "observed-generation");
}

TEST_F(CheckersTest, DeleteWithoutUid) {
  make_job("tfjob train worker=1");
  make_pod("train-worker-0");
  ask(kube::Delete{"train-worker-0", {}});
  EXPECT_EQ(broken(), "deletes-name-uids");
}

TEST_F(CheckersTest, DeleteOfSomebodyElses) {
  make_job("tfjob train worker=1");
  json::object body = pod_body("train-worker-0");
  body["metadata"].as_object().erase("ownerReferences");
  const store::Object pod = cluster_.create(kUser, kube::kPods, std::move(body));
  ask(kube::Delete{"train-worker-0", {.uid = std::string(kube::uid_of(*pod))}});
  EXPECT_EQ(broken(), "foreign-objects");
}

TEST_F(CheckersTest, DeleteBeforeTheJobSaysWhy) {
  make_job("tfjob train worker=1 restart=ExitCode");
  const std::string uid = make_pod("train-worker-0");
  pod_phase("train-worker-0", "Failed");
  look();
  ask(kube::Delete{"train-worker-0", {.uid = uid}});
  EXPECT_EQ(broken(), "intent-first");
}

TEST_F(CheckersTest, RestartThatIsNotCharged) {
  make_job("tfjob train worker=1 restart=ExitCode");
  const std::string uid = make_pod("train-worker-0");
  pod_phase("train-worker-0", "Failed");
  write_status(R"({"trainyard":{"roles":{"worker":{"replicas":{"0":{"attempt":1}}}}}})");
  look();
  ask(kube::Delete{"train-worker-0", {.uid = uid}});
  EXPECT_EQ(broken(), "restarts-are-charged");
}

TEST_F(CheckersTest, StatusWriteWithoutVersion) {
  make_job("tfjob train worker=1");
  ask(kube::UpdateStatus{json::object{{"metadata", json::object{{"name", "train"}}}}}, kube::kTfJobs);
  EXPECT_EQ(broken(), "versioned-writes");
}

TEST_F(CheckersTest, WriteWithoutTheLease) {
  options_.faults.add(Fault::kRival);
  make_job("tfjob train worker=1");
  ask(kube::Create{pod_body("train-worker-0")});
  EXPECT_EQ(broken(), "fence");
}

TEST_F(CheckersTest, AskingAgainForWhatItMade) {
  make_job("tfjob train worker=1");
  make_pod("train-worker-0");
  ask(kube::Create{pod_body("train-worker-0")});
  EXPECT_EQ(broken(), "read-your-writes");
}

TEST_F(CheckersTest, JobThatIsLetGoBeforeItsPods) {
  make_job("tfjob train worker=1 hold");
  set_finalizers({"trainyard.dev/pods-first"});
  make_pod("train-worker-0");
  look();
  set_finalizers({});
  EXPECT_EQ(broken(), "pods-first");
}

TEST_F(CheckersTest, DeletionThatDoesNotEnd) {
  make_job("tfjob train worker=1 hold");
  set_finalizers({"trainyard.dev/pods-first"});
  cluster_.remove(kUser, kube::kTfJobs, "train");
  EXPECT_EQ(broken(), "");
  checkers_.at_rest();
  EXPECT_EQ(broken(), "deletion-ends");
}

TEST_F(CheckersTest, FailureThatNobodyAnswers) {
  make_job("tfjob train worker=1");
  make_pod("train-worker-0");
  pod_phase("train-worker-0", "Failed");
  checkers_.at_rest();
  EXPECT_EQ(broken(), "failures-are-answered");
}

TEST_F(CheckersTest, JobThatGoesOnWithoutPods) {
  make_job("tfjob train worker=1");
  make_pod("train-worker-0");
  pod_phase("train-worker-0", "Succeeded");
  checkers_.at_rest();
  EXPECT_EQ(broken(), "ends-when-all-ended");
}

TEST_F(CheckersTest, RunThatIsNotShown) {
  make_job("tfjob train worker=1");
  make_pod("train-worker-0");
  pod_phase("train-worker-0", "Running");
  write_status(R"({"replicaStatuses":{"Worker":{"active":1}}})");
  checkers_.at_rest();
  EXPECT_EQ(broken(), "running-is-shown");
}

TEST_F(CheckersTest, ReplicaThatIsMissingInTheEnd) {
  make_job("tfjob train worker=1");
  checkers_.at_rest();
  EXPECT_EQ(broken(), "replicas-run");
}

TEST_F(CheckersTest, CountsThatAreNotTrue) {
  make_job("tfjob train worker=1");
  make_pod("train-worker-0");
  pod_phase("train-worker-0", "Running");
  write_status(
      R"({"conditions":[{"type":"Running","status":"True"}],"replicaStatuses":{"Worker":{"active":2}}})");
  make_service("train-worker-0");
  checkers_.at_rest();
  EXPECT_EQ(broken(), "shown-counts");
}

TEST_F(CheckersTest, CountsOfAWriterThatHadSeenBetter) {
  make_job("volcano train worker=1");
  cluster_.create(kUser, kube::kPods, pod_body("train-worker-0"));
  pod_phase("train-worker-0", "Running");
  write_status(R"({"state":{"phase":"Running"},"pending":1})");
  EXPECT_EQ(broken(), "") << "it may not have seen that the pod runs";
  look();
  write_status(R"({"state":{"phase":"Running"},"pending":1,"version":1})");
  EXPECT_EQ(broken(), "shown-counts");
}

TEST_F(CheckersTest, SuccessThatWasNone) {
  make_job("tfjob train worker=1");
  make_pod("train-worker-0");
  pod_phase("train-worker-0", "Running");
  cluster_.remove(kUser, kube::kPods, "train-worker-0", {.grace_seconds = 30});
  pod_phase("train-worker-0", "Succeeded");
  write_status(R"({"trainyard":{"roles":{"worker":{"succeeded":"0"}}}})");
  EXPECT_EQ(broken(), "recorded-successes");
}

TEST_F(CheckersTest, InvalidJobOfWhichNobodyIsTold) {
  make_job("tfjob train worker=1");
  json::object job = *cluster_.find(*resource_, "train");
  job["spec"] = manifest_of(parse_blueprint("tfjob train worker=1 invalid"))["spec"];
  cluster_.update(kUser, *resource_, std::move(job));
  json::object event{{"metadata", json::object{{"name", "train.1"}, {"namespace", "default"}}},
                     {"involvedObject", json::object{{"uid", uid_}}},
                     {"reason", "TFJobFailedValidation"},
                     {"message", "spec.tfReplicaSpecs: no"}};
  cluster_.create(kOperator, kube::kEvents, event);
  checkers_.invalid_at_rest();
  EXPECT_EQ(broken(), "");
  job = *cluster_.find(*resource_, "train");
  job["spec"] = manifest_of(parse_blueprint("tfjob train worker=1 backoff=1 invalid"))["spec"];
  cluster_.update(kUser, *resource_, std::move(job));
  checkers_.invalid_at_rest();
  EXPECT_EQ(broken(), "invalid-is-told") << "it was told of another generation";
}

TEST_F(CheckersTest, ValidJobThatIsSaidToBeInvalid) {
  make_job("t9k train worker=1");
  write_status(
      R"({"conditions":[{"type":"Failed","status":"True","reason":"InvalidSpec","message":"spec.x: no"}],
          "tasks":[{"type":"worker","replicas":[{"phase":"Creating"}]}],"aggregate":{"creating":1}})");
  checkers_.at_rest();
  EXPECT_EQ(broken(), "valid-is-told");
}

TEST_F(CheckersTest, ServiceThatIsMissingInTheEnd) {
  make_job("tfjob train worker=1");
  make_pod("train-worker-0");
  pod_phase("train-worker-0", "Running");
  write_status(
      R"({"conditions":[{"type":"Running","status":"True"}],"replicaStatuses":{"Worker":{"active":1}}})");
  json::object service = pod_body("train-worker-0");
  service["kind"] = "Service";
  service["spec"] = json::object{{"clusterIP", "None"}};
  cluster_.create(kOperator, kube::kServices, service);
  checkers_.at_rest();
  EXPECT_EQ(broken(), "");
  cluster_.remove(kUser, kube::kServices, "train-worker-0");
  service["metadata"].as_object()["name"] = "other-worker-0";
  cluster_.create(kOperator, kube::kServices, service);
  checkers_.at_rest();
  EXPECT_EQ(broken(), "one-service-per-replica");
}

TEST_F(CheckersTest, APodOfAnotherJobThatStays) {
  make_job("tfjob train worker=1");
  json::object given = pod_body("other-worker-0");
  cluster_.create(kUser, kube::kPods, given);
  checkers_.at_rest();
  EXPECT_EQ(broken(), "nothing-extra");
}

TEST_F(CheckersTest, PodsThatOutliveTheCleanup) {
  make_job("tfjob train worker=1 clean=All");
  make_pod("train-worker-0");
  pod_phase("train-worker-0", "Succeeded");
  write_status(R"({"conditions":[{"type":"Succeeded","status":"True"}]})");
  checkers_.at_rest();
  EXPECT_EQ(broken(), "cleanup");
}

TEST_F(CheckersTest, GangThatWaitsForMoreThanItsJobMakes) {
  make_job("volcano train worker=1");
  json::object metadata{{"name", "gang"}};
  metadata["ownerReferences"] =
      json::array{kube::owner_reference(resource_->api_version(), resource_->kind, "train", uid_)};
  cluster_.create(kOperator, kube::kVolcanoPodGroups,
                  {{"metadata", std::move(metadata)}, {"spec", json::object{{"minMember", 2}}}});
  checkers_.at_rest();
  EXPECT_EQ(broken(), "gang-size");
}

TEST_F(CheckersTest, GangThatIsNeverLetIn) {
  make_job("volcano train worker=1");
  json::object metadata{{"name", "gang"}};
  metadata["ownerReferences"] =
      json::array{kube::owner_reference(resource_->api_version(), resource_->kind, "train", uid_)};
  cluster_.create(kOperator, kube::kVolcanoPodGroups,
                  {{"metadata", std::move(metadata)}, {"spec", json::object{{"minMember", 1}}}});
  checkers_.at_rest();
  EXPECT_EQ(broken(), "gang-starts");
}

TEST_F(CheckersTest, StopThatIsNotShown) {
  make_job("tfjob train worker=1 suspended");
  checkers_.at_rest();
  EXPECT_EQ(broken(), "stop-is-shown");
}

TEST_F(CheckersTest, ResumeThatIsNotShown) {
  make_job("tfjob train worker=1");
  write_status(R"({"conditions":[{"type":"Suspended","status":"True"}]})");
  checkers_.at_rest();
  EXPECT_EQ(broken(), "resume-is-shown");
}

TEST_F(CheckersTest, StopThatDoesNotStop) {
  make_job("tfjob train worker=1 suspended");
  write_status(R"({"conditions":[{"type":"Suspended","status":"True"}]})");
  cluster_.create(kUser, kube::kPods, pod_body("train-worker-0"));
  checkers_.at_rest();
  EXPECT_EQ(broken(), "stop-stops");
}

TEST_F(CheckersTest, TimeToLiveThatIsForgotten) {
  make_job("tfjob train worker=1 ttl=10 clean=None");
  write_status(
      R"({"conditions":[{"type":"Succeeded","status":"True"}],"trainyard":{"finishedAt":"2027-01-15T08:00:00Z"}})");
  agenda_.pass_to(agenda_.now() + seconds(60));
  checkers_.at_rest();
  EXPECT_EQ(broken(), "time-to-live");
}

TEST_F(CheckersTest, PodsThatOutliveTheirJob) {
  make_job("tfjob train worker=1");
  make_pod("train-worker-0");
  cluster_.remove(kUser, kube::kTfJobs, "train");
  checkers_.at_rest();
  EXPECT_EQ(broken(), "no-leaks");
}

}  // namespace
}  // namespace trainyard::sim
