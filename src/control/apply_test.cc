#include "control/apply.h"

#include "control/testing.h"

namespace trainyard::control::testing {
namespace {

json::object bare_pod(std::string_view name) {
  return {{"metadata", json::object{{"name", name}}}, {"spec", json::object{{"nodeName", "n"}}}};
}

TEST(ApplyTest, SomebodyElsesPodIsNeverTouched) {
  Yard yard;
  ASSERT_TRUE(yard.store.create(kube::kPods, "ns", bare_pod("j-worker-0"), yard.now).ok());
  yard.submit("j", {{"workers", 1}});
  yard.pass(seconds(300));
  EXPECT_TRUE(yard.events("PodCreateFailed")
                  .starts_with("pods \"j-worker-0\" already exists and does not belong to this job x"));
  EXPECT_EQ(kube::controller_uid_of(*yard.find(kube::kPods, "j-worker-0")), "");
  ASSERT_TRUE(yard.store.remove(kube::kPods, "ns", "j-worker-0", {.grace_seconds = 0}, yard.now).ok());
  yard.pass(seconds(130));
  EXPECT_NE(kube::controller_uid_of(*yard.find(kube::kPods, "j-worker-0")), "");
}

TEST(ApplyTest, APodOfAnEarlierJobIsWaitedForWithoutFuss) {
  Yard yard;
  yard.submit("j", {{"workers", 1}});
  yard.settle();
  json::object pod = *yard.find(kube::kPods, "j-worker-0");
  pod["spec"].get_object()["nodeName"] = "n";
  ASSERT_TRUE(yard.store.update(kube::kPods, "ns", pod, yard.now).ok());
  yard.set_pod("j-worker-0", "Running");
  yard.settle();
  yard.remove(kToys, "j");
  client::Object second = yard.submit("j", {{"workers", 1}});
  yard.pass(seconds(30));
  EXPECT_TRUE(kube::is_deleting(*yard.find(kube::kPods, "j-worker-0")));
  EXPECT_EQ(yard.events("PodCreateFailed"), "");
  ASSERT_TRUE(yard.store.remove(kube::kPods, "ns", "j-worker-0", {.grace_seconds = 0}, yard.now).ok());
  yard.settle();
  EXPECT_EQ(kube::controller_uid_of(*yard.find(kube::kPods, "j-worker-0")), kube::uid_of(*second));
}

TEST(ApplyTest, StrippedPodsAreTakenBack) {
  for (bool labels : {true, false}) {
    Yard yard;
    client::Object job = yard.submit("j", {{"workers", 1}});
    yard.settle();
    json::object pod = *yard.find(kube::kPods, "j-worker-0");
    std::string uid(kube::uid_of(pod));
    pod["metadata"].get_object().erase(labels ? "labels" : "ownerReferences");
    ASSERT_TRUE(yard.store.update(kube::kPods, "ns", pod, yard.now).ok());
    yard.pass(seconds(60));
    client::Object mended = yard.find(kube::kPods, "j-worker-0");
    EXPECT_EQ(kube::uid_of(*mended), uid);
    EXPECT_EQ(kube::label_of(*mended, "toy"), "j");
    EXPECT_EQ(kube::controller_uid_of(*mended), kube::uid_of(*job));
  }
}

TEST(ApplyTest, OrphansOfAnEarlierJobAreTakenOverWhereTheyCanServeElseLeftAlone) {
  for (bool serves : {true, false}) {
    Yard yard;
    yard.submit("j", {{"workers", 1}, {"group", serves ? "same" : "old"}});
    yard.settle();
    yard.set_pod("j-worker-0", "Running");
    yard.settle();
    std::string uid(kube::uid_of(*yard.find(kube::kPods, "j-worker-0")));
    kube::DeleteOptions options;
    options.propagation = kube::Propagation::kOrphan;
    ASSERT_TRUE(yard.store.remove(kToys, "ns", "j", options, yard.now).ok());
    yard.settle();
    client::Object job = yard.submit("j", {{"workers", 1}, {"group", "same"}});
    yard.pass(seconds(60));
    client::Object pod = yard.find(kube::kPods, "j-worker-0");
    EXPECT_EQ(kube::uid_of(*pod), uid);
    EXPECT_EQ(kube::controller_uid_of(*pod), serves ? kube::uid_of(*job) : "");
  }
}

TEST(ApplyTest, AnOrphanThatHasEndedTellsNothingOfALaterJob) {
  for (const char* phase : {"Succeeded", "Failed"}) {
    Yard yard;
    yard.submit("j", {{"workers", 1}});
    yard.settle();
    kube::DeleteOptions options;
    options.propagation = kube::Propagation::kOrphan;
    ASSERT_TRUE(yard.store.remove(kToys, "ns", "j", options, yard.now).ok());
    yard.settle();
    yard.set_pod("j-worker-0", phase, 1);
    yard.submit("j", {{"workers", 1}});
    yard.pass(seconds(60));
    EXPECT_EQ(kube::controller_uid_of(*yard.find(kube::kPods, "j-worker-0")), "") << phase;
  }
}

TEST(ApplyTest, CompanionsAreMarkedAndBroughtUpToDate) {
  Yard yard;
  yard.submit("j", {{"workers", 1}, {"companion", true}});
  yard.settle();
  json::object secret = *yard.find(kube::kSecrets, "j-keys");
  EXPECT_EQ(kube::label_of(secret, kCompanionLabel), "true");
  EXPECT_EQ(kube::annotation_of(secret, dialect::kDigestAnnotation), "7");
  secret["metadata"].get_object()["annotations"] =
      json::object{{"trainyard.dev/digest", "6"}, {"mine", "stays"}};
  secret["data"] = json::object{{"key", "old"}};
  ASSERT_TRUE(yard.store.update(kube::kSecrets, "ns", secret, yard.now).ok());
  yard.settle();
  client::Object mended = yard.find(kube::kSecrets, "j-keys");
  EXPECT_EQ(kube::annotation_of(*mended, dialect::kDigestAnnotation), "7");
  EXPECT_EQ(kube::annotation_of(*mended, "mine"), "stays");
  EXPECT_NE(kube::text_at(*mended, {"data", "key"}), "old");
}

// A CRD of somebody else's, as after an installation that leaves the old one where it is.
TEST(ApplyTest, WhereTheServerForgetsWhatMustBeRememberedNothingIsBegun) {
  Yard yard;
  yard.tap.pruned = "trainyard";
  yard.submit("j", {{"workers", 1}});
  yard.carry();
  yard.carry();
  std::optional<Turn> turn = yard.op().run_one(yard.now);
  ASSERT_TRUE(turn && turn->pass.error);
  EXPECT_EQ(turn->pass.error->message,
            "the CustomResourceDefinition toys.toys.example.com does not keep status.trainyard, where is "
            "remembered what became of replicas: replace it by that of 'trainyard install --crds-only'");
  yard.pass(seconds(600));
  EXPECT_EQ(yard.names(kube::kPods), "");
  EXPECT_LT(yard.tap.writes, 20);
  yard.tap.pruned.clear();
  yard.pass(seconds(130));
  EXPECT_EQ(yard.names(kube::kPods), "j-worker-0");
}

TEST(ApplyTest, AJobWhoseGangNobodyFollowsIsToldSo) {
  OperatorOptions options;
  options.around = {};
  Yard yard(options);
  yard.submit("j", {{"workers", 2}, {"gang", true}});
  yard.pass(seconds(600));
  EXPECT_TRUE(
      yard.events("GangFailed")
          .starts_with("the operator does not follow PodGroups of scheduling.volcano.sh: it needs "
                       "--gang-scheduler-name, with 'asked' for the jobs alone that ask for a gang x"))
      << yard.events("GangFailed");
  EXPECT_EQ(yard.names(kube::kVolcanoPodGroups), "");
  EXPECT_LT(yard.tap.writes, 5);
}

TEST(ApplyTest, UnknownFieldsOfTheJobSurviveEveryWrite) {
  Yard yard;
  json::object spec{{"workers", 1}, {"hold", true}, {"unheardOf", json::object{{"deep", json::array{1, 2}}}}};
  yard.submit("j", spec);
  yard.settle();
  EXPECT_EQ(yard.find(kToys, "j")->at("spec"), json::value(spec));
}

}  // namespace
}  // namespace trainyard::control::testing
