#include "control/volume_waits.h"

#include <gtest/gtest.h>

#include "control/scheduler_testing.h"

namespace trainyard::control {
namespace {

using testing::SchedulerYard;

// A cluster whose class `late` makes volumes when a pod has a node; the test plays who makes them.
class VolumeYard : public SchedulerYard {
 public:
  explicit VolumeYard(SchedulerOptions options = {.waits_for_claims = true})
      : SchedulerYard(std::move(options)) {
    storage_class("late", "example.com/maker", "WaitForFirstConsumer");
    storage_class("soon", "example.com/maker", "Immediate");
    storage_class("local", "kubernetes.io/no-provisioner", "WaitForFirstConsumer");
  }

  void storage_class(std::string_view name, std::string_view provisioner, std::string_view mode,
                     json::array topologies = {}) {
    put(kube::kStorageClasses, "",
        {{"metadata", json::object{{"name", kube::jview(name)}}},
         {"provisioner", kube::jview(provisioner)},
         {"volumeBindingMode", kube::jview(mode)},
         {"allowedTopologies", std::move(topologies)}});
  }
  void claim(std::string_view name, std::string_view storage_class) {
    put(kube::kPersistentVolumeClaims, "ns",
        {{"metadata", json::object{{"name", kube::jview(name)}, {"namespace", "ns"}}},
         {"spec", json::object{{"storageClassName", kube::jview(storage_class)}}},
         {"status", json::object{{"phase", "Pending"}}}});
  }
  // A volume that is only to be reached from the named node ("": from everywhere), and the claim has it.
  void make_volume(std::string_view claim, std::string_view node) {
    json::object spec;
    if (!node.empty()) {
      json::object term{
          {"matchFields",
           json::array{json::object{
               {"key", "metadata.name"}, {"operator", "In"}, {"values", json::array{kube::jview(node)}}}}}};
      spec["nodeAffinity"] =
          json::object{{"required", json::object{{"nodeSelectorTerms", json::array{std::move(term)}}}}};
    }
    put(kube::kPersistentVolumes, "",
        {{"metadata", json::object{{"name", fmt::format("of-{}", claim)}}}, {"spec", std::move(spec)}});
    json::object bound = **store.get(kube::kPersistentVolumeClaims, "ns", claim);
    bound["spec"].as_object()["volumeName"] = fmt::format("of-{}", claim);
    ASSERT_TRUE(store.update(kube::kPersistentVolumeClaims, "ns", bound, now).ok());
    bound = **store.get(kube::kPersistentVolumeClaims, "ns", claim);
    bound["status"] = json::object{{"phase", "Bound"}};
    ASSERT_TRUE(store.update_status(kube::kPersistentVolumeClaims, "ns", bound, now).ok());
  }
  void select(std::string_view claim, std::string_view node) {
    json::object changed = **store.get(kube::kPersistentVolumeClaims, "ns", claim);
    json::object& annotations = kube::ensure_object(changed, {"metadata", "annotations"});
    annotations.erase(kube::jview(kube::kSelectedNodeAnnotation));
    if (!node.empty()) annotations[kube::jview(kube::kSelectedNodeAnnotation)] = kube::jview(node);
    ASSERT_TRUE(store.update(kube::kPersistentVolumeClaims, "ns", changed, now).ok());
  }
  std::string selected(std::string_view claim) {
    return std::string(kube::annotation_of(**store.get(kube::kPersistentVolumeClaims, "ns", claim),
                                           kube::kSelectedNodeAnnotation));
  }
  void pod_with(std::string_view name, std::string_view cpu, std::string_view claim,
                std::string_view group = "") {
    json::object made = pod_object(name, cpu, group);
    made["spec"].as_object()["volumes"] = json::array{json::object{
        {"name", "v"}, {"persistentVolumeClaim", json::object{{"claimName", kube::jview(claim)}}}}};
    add(made);
  }

 private:
  void put(const kube::Resource& resource, std::string_view ns, const json::object& object) {
    ASSERT_TRUE(store.create(resource, std::string(ns), object, now).ok());
  }
};

TEST(VolumeWaits, AMissingClaimIsWaitedFor) {
  VolumeYard yard;
  yard.node("here", "4");
  yard.group("train", 2);
  yard.pod_with("train-0", "1", "data", "train");
  yard.pod("train-1", "1", "train");
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
  yard.pod_with("a", "1", "data");
  yard.settle();
  EXPECT_EQ(yard.node_of("a"), "here");
}

TEST(VolumeWaits, AGangIsBoundWhenItsVolumesAreMadeAndHoldsItsRoomMeanwhile) {
  VolumeYard yard;
  yard.node("here", "2");
  yard.claim("data", "late");
  yard.group("train", 2);
  yard.pod_with("train-0", "1", "data", "train");
  yard.pod("train-1", "1", "train");
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
  yard.pod_with("p", "1", "data");
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
  yard.pod_with("p", "1", "data");
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
  yard.node("here", "2");
  yard.claim("data", "late");
  yard.group("train", 2);
  yard.pod_with("train-0", "1", "data", "train");
  yard.pod("train-1", "1", "train");
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

TEST(VolumeWaits, NobodyMakesAVolumeForTenMinutes) {
  VolumeYard yard;
  yard.node("here", "1");
  yard.claim("data", "late");
  yard.pod_with("p", "1", "data");
  yard.settle();
  yard.store.remove(kube::kNodes, "", "here", {}, yard.now).value();
  yard.node("there", "1");
  yard.now = yard.now + seconds(601);
  yard.settle();
  EXPECT_EQ(yard.node_of("p"), "");
  EXPECT_NE(yard.told("p").find("no node"), std::string::npos) << yard.told("p");
}

TEST(VolumeWaits, AClaimThatCannotBeToldIsToldLater) {
  VolumeYard yard;
  yard.node("here", "1");
  yard.claim("data", "late");
  int refused = 0;
  yard.tap.before = [&](int, const kube::Request& request) -> std::optional<Error> {
    if (request.resource != kube::kPersistentVolumeClaims || ++refused > 2) return std::nullopt;
    return Error{ErrorKind::kConflict, "not now"};
  };
  yard.pod_with("p", "1", "data");
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
  yard.pod_with("p", "1", "data");
  yard.settle();
  EXPECT_EQ(yard.selected("data"), "right");
}

TEST(VolumeWaits, VolumesThatNobodyMakesAreSaidToBeMissing) {
  VolumeYard yard;
  yard.node("here", "8");
  yard.claim("data", "local");
  yard.pod_with("p", "1", "data");
  yard.settle();
  EXPECT_EQ(yard.told("p"),
            "claim data has no volume, and none is made for class local: give it one by volumeName");
  yard.make_volume("data", "here");
  yard.settle();
  EXPECT_EQ(yard.node_of("p"), "here");
}

// The volume of a claim that was bound before names its nodes; nobody waits for anything.
TEST(VolumeWaits, APodGoesWhereItsVolumeIs) {
  for (bool waits : {false, true}) {
    VolumeYard yard({.waits_for_claims = waits});
    yard.node("a", "8");
    yard.node("b", "8");
    yard.claim("data", "soon");
    yard.make_volume("data", "b");
    for (int i = 0; i < 3; ++i) yard.pod_with(fmt::format("p-{}", i), "1", "data");
    yard.settle();
    for (int i = 0; i < 3; ++i) EXPECT_EQ(yard.node_of(fmt::format("p-{}", i)), "b") << waits;
  }
}

}  // namespace
}  // namespace trainyard::control
