#include "control/volume_waits.h"

#include <gtest/gtest.h>

#include "control/volume_testing.h"

namespace trainyard::control {
namespace {

using testing::VolumeYard;

// The room "here" for so many cpus, and claim "data" of the class.
void furnish(VolumeYard& yard, std::string_view cpu, std::string_view storage_class) {
  yard.node("here", cpu);
  yard.claim("data", storage_class);
}

// A gang of two, the first of which mounts "data".
void add_gang(VolumeYard& yard) {
  yard.group("train", 2);
  yard.pod_with("train-0", "1", {"data"}, "train");
  yard.pod("train-1", "1", "train");
}

TEST(VolumeWaits, AMissingClaimIsWaitedFor) {
  VolumeYard yard;
  yard.node("here", "4");
  add_gang(yard);
  yard.settle();
  EXPECT_EQ(yard.bound("train"), 0);
  EXPECT_EQ(yard.told("train-0"),
            "waits with the 2 pods of train that start together: claim data does not exist");
  yard.claim("data", "soon");
  yard.settle();
  EXPECT_EQ(yard.bound("train"), 0);
  EXPECT_EQ(yard.told("train-1"),
            "waits with the 2 pods of train that start together: claim data has no volume yet");
  yard.make_volume("data", "");
  yard.settle();
  EXPECT_EQ(yard.bound("train"), 2);
}

TEST(VolumeWaits, WhereNobodyMakesVolumesAClaimNeedNotBeThere) {
  VolumeYard yard({.waits_for_claims = false});
  yard.node("here", "4");
  yard.pod_with("a", "1", {"data"});
  yard.settle();
  EXPECT_EQ(yard.node_of("a"), "here");
}

TEST(VolumeWaits, AGangIsBoundWhenItsVolumesAreMadeAndHoldsItsRoomMeanwhile) {
  VolumeYard yard;
  furnish(yard, "2", "late");
  add_gang(yard);
  yard.settle();
  EXPECT_EQ(yard.bound("train"), 0);
  EXPECT_EQ(yard.selected("data"), "here");
  EXPECT_EQ(yard.told("train-0"), "has a place on here; waits for the volumes of: data");
  yard.pod("other", "1");
  yard.settle();
  EXPECT_EQ(yard.node_of("other"), "") << "the room is held";
  yard.make_volume("data", "here");
  yard.settle();
  EXPECT_EQ(yard.bound("train"), 2);
  EXPECT_EQ(yard.node_of("other"), "");
}

TEST(VolumeWaits, AnotherSchedulerCarriesOnWhereTheClaimSays) {
  VolumeYard yard;
  yard.node("a", "1");
  yard.claim("data", "late");
  yard.pod_with("p", "1", {"data"});
  yard.settle();
  EXPECT_EQ(yard.selected("data"), "a");
  yard.node("b", "8");
  yard.start();
  yard.settle();
  EXPECT_EQ(yard.selected("data"), "a");
  yard.make_volume("data", "a");
  yard.settle();
  EXPECT_EQ(yard.node_of("p"), "a");
}

TEST(VolumeWaits, WhatCannotBeMadeThereIsPlacedAnew) {
  VolumeYard yard;
  yard.node("a", "1");
  yard.claim("data", "late");
  yard.pod_with("p", "1", {"data"});
  yard.settle();
  EXPECT_EQ(yard.selected("data"), "a");
  yard.node("a", "0");
  yard.node("b", "1");
  yard.settle();
  EXPECT_EQ(yard.selected("data"), "a") << "it may still come to something";
  yard.select("data", "");  // as a provisioner says that it cannot
  yard.settle();
  EXPECT_EQ(yard.selected("data"), "b");
  yard.make_volume("data", "b");
  yard.settle();
  EXPECT_EQ(yard.node_of("p"), "b");
}

TEST(VolumeWaits, AGangThatLosesAPodMeanwhileIsPlacedAnew) {
  VolumeYard yard;
  furnish(yard, "2", "late");
  add_gang(yard);
  yard.settle();
  yard.remove_pod("train-1");
  yard.settle();
  yard.make_volume("data", "here");
  yard.settle();
  EXPECT_EQ(yard.bound("train"), 0) << "one of two";
  yard.pod("train-1", "1", "train");
  yard.settle();
  EXPECT_EQ(yard.bound("train"), 2);
}

// The server would take a binding to a node that is no more.
TEST(VolumeWaits, ANodeThatIsLostMeanwhileIsNotBoundTo) {
  VolumeYard yard;
  furnish(yard, "1", "late");
  yard.node("there", "1");
  add_gang(yard);
  yard.settle();
  std::string first = yard.selected("data");
  std::string second = first == "here" ? "there" : "here";
  yard.store.remove(kube::kNodes, "", second, {}, yard.now).value();
  yard.make_volume("data", first);
  yard.settle();
  EXPECT_EQ(yard.bound("train"), 0);
  yard.node("anew", "1");
  yard.settle();
  EXPECT_EQ(yard.node_of("train-0"), first);
  EXPECT_EQ(yard.node_of("train-1"), "anew");
}

TEST(VolumeWaits, NobodyMakesAVolumeForTenMinutes) {
  VolumeYard yard;
  furnish(yard, "1", "late");
  yard.pod_with("p", "1", {"data"});
  yard.settle();
  yard.node("here", "0");
  yard.now = yard.now + seconds(590);
  yard.settle();
  EXPECT_EQ(yard.told("p"), "has a place on here; waits for the volumes of: data");
  yard.now = yard.now + seconds(11);
  yard.settle();
  EXPECT_EQ(yard.told("p"), "a pod needs 1 cpu on nodes that reach its volumes; the largest has 0");
}

TEST(VolumeWaits, AClaimThatCannotBeToldIsToldLater) {
  VolumeYard yard;
  furnish(yard, "1", "late");
  int refused = 0;
  yard.tap.before = [&](int, const kube::Request& request) -> std::optional<Error> {
    if (request.resource != kube::kPersistentVolumeClaims || ++refused > 2) return std::nullopt;
    return Error{ErrorKind::kConflict, "not now"};
  };
  yard.pod_with("p", "1", {"data"});
  yard.settle();
  EXPECT_EQ(refused, 3);
  EXPECT_EQ(yard.selected("data"), "here");
}

TEST(VolumeWaits, WhereAClassAllowsItsVolumes) {
  VolumeYard yard;
  json::object only{
      {"matchLabelExpressions", json::array{json::object{{"key", "zone"}, {"values", json::array{"b"}}}}}};
  yard.storage_class("zonal", "example.com/maker", "WaitForFirstConsumer", {only});
  yard.node("left", "8");
  yard.node("right", "8");
  json::object labelled = **yard.store.get(kube::kNodes, "", "right");
  kube::ensure_object(labelled, {"metadata"})["labels"] = json::object{{"zone", "b"}};
  ASSERT_TRUE(yard.store.update(kube::kNodes, "", labelled, yard.now).ok());
  yard.claim("data", "zonal");
  yard.pod_with("p", "1", {"data"});
  yard.settle();
  EXPECT_EQ(yard.selected("data"), "right");
}

// The volume of a claim that was bound before names its nodes; nobody waits for anything.
TEST(VolumeWaits, APodGoesWhereItsVolumeIs) {
  for (bool waits : {false, true}) {
    VolumeYard yard({.waits_for_claims = waits});
    yard.node("a", "8");
    yard.node("b", "8");
    yard.claim("data", "soon");
    yard.make_volume("data", "b");
    for (int i = 0; i < 3; ++i) yard.pod_with(fmt::format("p-{}", i), "1", {"data"});
    yard.settle();
    for (int i = 0; i < 3; ++i) EXPECT_EQ(yard.node_of(fmt::format("p-{}", i)), "b") << waits;
  }
}

}  // namespace
}  // namespace trainyard::control
