#include "control/observe.h"

#include "control/testing.h"

namespace trainyard::control::testing {
namespace {

model::Observation look(Yard& yard) {
  yard.carry();
  yard.carry();
  client::Object job = yard.find(kToys, "j");
  model::JobSpec spec = std::get<model::JobSpec>(toy().lower(*job, {}));
  model::JobState state = toy().recall(spec, *job);
  return observe(yard.op().view(), {0, "ns", "j"}, toy(), *job, std::move(spec), std::move(state));
}

TEST(ObserveTest, SeesWhatBelongsToTheJobAndNothingElse) {
  Yard yard;
  yard.submit("j", {{"workers", 2}, {"companion", true}, {"gang", true}, {"hold", true}});
  yard.submit("other", {{"workers", 1}});
  yard.settle();
  model::Observation seen = look(yard);
  ASSERT_EQ(seen.pods.size(), 2u);
  EXPECT_EQ(seen.pods[1].id, (model::ReplicaId{0, 1}));
  ASSERT_EQ(seen.services.size(), 2u);
  EXPECT_EQ(seen.services[1].id, (model::ReplicaId{0, 1}));
  ASSERT_EQ(seen.companions.size(), 1u);
  EXPECT_EQ(seen.companions[0].digest, 7u);
  EXPECT_TRUE(seen.companions[0].owned);
  ASSERT_TRUE(seen.gang.has_value());
  EXPECT_TRUE(seen.gang->owned);
  EXPECT_TRUE(seen.has_finalizer);
  EXPECT_FALSE(seen.deleting);
}

TEST(ObserveTest, SeesEndedPodsThatAreGone) {
  Yard yard;
  yard.submit("j", {{"workers", 1}});
  yard.settle();
  yard.set_pod("j-worker-0", "Failed", 137);
  yard.remove(kube::kPods, "j-worker-0");
  model::Observation seen = look(yard);
  ASSERT_EQ(seen.pods.size(), 1u);
  EXPECT_TRUE(seen.pods[0].gone);
  EXPECT_EQ(seen.pods[0].exit_code, 137);
}

// Names cannot be edited; what bears the name of another job's replica stands in its way.
TEST(ObserveTest, WhatWasMadeForAnotherJobIsNoReplicaOfThisOne) {
  Yard yard;
  yard.submit("j", {{"workers", 1}});
  yard.submit("other", {{"workers", 1}});
  yard.settle();
  for (const kube::Resource& resource : {kube::kPods, kube::kServices}) {
    json::object given = *yard.find(resource, "other-worker-0");
    given["metadata"].as_object()["ownerReferences"] =
        yard.find(resource, "j-worker-0")->at("metadata").at("ownerReferences");
    ASSERT_TRUE(yard.store.update(resource, "ns", given, yard.now).ok());
  }
  model::Observation seen = look(yard);
  ASSERT_EQ(seen.pods.size(), 2u);
  EXPECT_EQ(seen.pods[0].name, "other-worker-0");
  EXPECT_EQ(seen.pods[0].id.role, -1);
  EXPECT_EQ(seen.pods[1].id, (model::ReplicaId{0, 0}));
  ASSERT_EQ(seen.services.size(), 2u);
  EXPECT_EQ(seen.services[0].name, "other-worker-0");
  EXPECT_EQ(seen.services[0].id.role, -1);
  yard.settle();
  EXPECT_EQ(kube::controller_uid_of(*yard.find(kube::kPods, "other-worker-0")),
            kube::uid_of(*yard.find(kToys, "other")))
      << "made anew for whom it was";
}

TEST(ObserveTest, DigestsRoundTrip) {
  EXPECT_EQ(parse_digest(format_digest(18446744073709551615u)), 18446744073709551615u);
  EXPECT_EQ(parse_digest(""), 0u);
  EXPECT_EQ(parse_digest("12x"), 0u);
}

}  // namespace
}  // namespace trainyard::control::testing
