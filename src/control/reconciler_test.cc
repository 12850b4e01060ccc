#include "control/reconciler.h"

#include "control/testing.h"

namespace trainyard::control::testing {
namespace {

struct HeardProblems final : Observer {
  std::vector<std::string> told;
  void passed(const JobKey&, const Pass& pass, Duration, Duration) override {
    if (!pass.invalid.empty()) told.push_back(pass.invalid);
  }
  void leads(bool) override {}
  void lease_trouble(const std::optional<Error>&) override {}
  void stream_is(int, const client::Stream&, const StreamHealth&) override {}
  void shown(Duration) override {}
};

TEST(ReconcilerTest, AnInvalidJobIsToldOnceAndRecovers) {
  Yard yard;
  HeardProblems heard;
  yard.observer = &heard;
  yard.start();
  json::object job = *yard.submit("j", {{"workers", -1}});
  yard.pass(seconds(600));
  EXPECT_EQ(yard.events("InvalidSpec"), "spec.workers: Invalid value: -1: must not be negative x1");
  EXPECT_EQ(heard.told, std::vector<std::string>{"spec.workers: Invalid value: -1: must not be negative"});
  EXPECT_EQ(yard.tap.writes, 0);
  job["spec"].get_object()["workers"] = 1;
  ASSERT_TRUE(yard.store.update(kToys, "ns", job, yard.now).ok());
  yard.settle();
  EXPECT_EQ(yard.names(kube::kPods), "j-worker-0");
}

TEST(ReconcilerTest, AnInvalidJobCanBeDeleted) {
  Yard yard;
  yard.submit("j", {{"workers", 1}, {"hold", true}});
  yard.settle();
  json::object job = *yard.find(kToys, "j");
  job["spec"].get_object()["workers"] = -1;
  ASSERT_TRUE(yard.store.update(kToys, "ns", job, yard.now).ok());
  yard.settle();
  yard.remove(kToys, "j");
  yard.pass(seconds(60));
  EXPECT_EQ(yard.phase(), "gone");
}

TEST(ReconcilerTest, AnInvalidJobThatHoldsItsDeletionStillLetsItsPodsGoFirst) {
  Yard yard;
  yard.submit("j", {{"workers", 1}, {"hold", true}});
  yard.settle();
  json::object pod = *yard.find(kube::kPods, "j-worker-0");
  pod["spec"].get_object()["nodeName"] = "n";
  ASSERT_TRUE(yard.store.update(kube::kPods, "ns", pod, yard.now).ok());
  yard.set_pod("j-worker-0", "Running");
  yard.settle();
  json::object job = *yard.find(kToys, "j");
  job["spec"].get_object()["workers"] = -1;
  ASSERT_TRUE(yard.store.update(kToys, "ns", job, yard.now).ok());
  yard.remove(kToys, "j");
  yard.pass(seconds(20));
  EXPECT_TRUE(kube::is_deleting(*yard.find(kube::kPods, "j-worker-0")));
  EXPECT_NE(yard.phase(), "gone");
  ASSERT_TRUE(yard.store.remove(kube::kPods, "ns", "j-worker-0", {.grace_seconds = 0}, yard.now).ok());
  yard.pass(seconds(20));
  EXPECT_EQ(yard.phase(), "gone");
}

TEST(ReconcilerTest, APodThatLostItsLabelsIsNotTakenForDeleted) {
  for (bool labels : {true, false}) {
    Yard yard;
    client::Object job = yard.submit("j", {{"workers", 1}});
    yard.settle();
    yard.set_pod("j-worker-0", "Running");
    yard.settle();
    json::object pod = *yard.find(kube::kPods, "j-worker-0");
    pod["metadata"].get_object().erase(labels ? "labels" : "ownerReferences");
    pod["metadata"].get_object().erase("resourceVersion");
    ASSERT_TRUE(yard.store.update(kube::kPods, "ns", pod, yard.now).ok());
    size_t before = yard.tap.log.size();
    yard.pass(seconds(60));
    client::Object mended = yard.find(kube::kPods, "j-worker-0");
    EXPECT_EQ(kube::uid_of(*mended), kube::uid_of(pod));
    EXPECT_EQ(kube::label_of(*mended, "toy"), "j");
    EXPECT_EQ(kube::controller_uid_of(*mended), kube::uid_of(*job));
    ASSERT_EQ(yard.tap.log.size(), before + 1) << ::testing::PrintToString(yard.tap.log);
    EXPECT_EQ(yard.tap.log.back(), "update pods ns/j-worker-0");
    EXPECT_EQ(yard.phase(), "Running");
  }
}

}  // namespace
}  // namespace trainyard::control::testing
