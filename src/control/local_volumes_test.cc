// Volumes that somebody made beforehand, and room that drivers tell of, through the scheduler's loop.
#include <gtest/gtest.h>

#include "control/volume_testing.h"

namespace trainyard::control {
namespace {

using testing::Crash;
using testing::VolumeYard;

// Two workers with a claim each.
void add_workers(VolumeYard& yard) {
  yard.group("train", 2);
  for (int i = 0; i < 2; ++i) {
    yard.claim(fmt::format("data-{}", i), "local");
    yard.pod_with(fmt::format("train-{}", i), "1", {fmt::format("data-{}", i)}, "train");
  }
}

TEST(LocalVolumes, AGangGoesWhereTheVolumesAreAndIsBoundWithThem) {
  VolumeYard yard;
  for (const char* node : {"a", "b", "c"}) yard.node(node, "4");
  yard.local_volume("small", "a", "5Gi");
  yard.local_volume("one", "b");
  yard.local_volume("two", "c", "20Gi");
  add_workers(yard);
  yard.settle();
  EXPECT_EQ(yard.claimed("small"), "");
  EXPECT_EQ(yard.claimed("one"), "data-0");
  EXPECT_EQ(yard.claimed("two"), "data-1");
  EXPECT_EQ(yard.bound("train"), 0) << "the claims are not bound yet";
  EXPECT_EQ(yard.selected("data-0"), "") << "nobody makes one";
  EXPECT_EQ(yard.told("train-0"), "has a place on b; waits for the volumes of: data-0, data-1");
  yard.bind_claimed_volumes();
  yard.settle();
  EXPECT_EQ(yard.node_of("train-0"), "b");
  EXPECT_EQ(yard.node_of("train-1"), "c");
}

TEST(LocalVolumes, AVolumeIsToldWhoseItIsAsKubernetesDoes) {
  VolumeYard yard;
  yard.node("a", "4");
  yard.local_volume("one", "a");
  yard.claim("data", "local");
  yard.pod_with("p", "1", {"data"});
  yard.settle();
  json::object volume = **yard.store.get(kube::kPersistentVolumes, "", "one");
  EXPECT_EQ(kube::annotation_of(volume, "pv.kubernetes.io/bound-by-controller"), "yes");
  const json::object& reference = *kube::object_at(volume, {"spec", "claimRef"});
  EXPECT_EQ(kube::text_at(reference, {"kind"}), "PersistentVolumeClaim");
  EXPECT_EQ(kube::text_at(reference, {"namespace"}), "ns");
  EXPECT_EQ(kube::text_at(reference, {"uid"}),
            kube::uid_of(**yard.store.get(kube::kPersistentVolumeClaims, "ns", "data")));
}

TEST(LocalVolumes, TooFewForAllAreTakenByNobody) {
  VolumeYard yard;
  yard.node("a", "4");
  yard.local_volume("one", "a");
  add_workers(yard);
  yard.settle();
  EXPECT_EQ(yard.claimed("one"), "");
  EXPECT_EQ(
      yard.told("train-0"),
      "waits with the 2 pods of train that start together: its claims need 2 volumes of class local; 1 that "
      "would do is free");
  yard.local_volume("two", "a");
  yard.settle();
  yard.bind_claimed_volumes();
  yard.settle();
  EXPECT_EQ(yard.bound("train"), 2);
}

TEST(LocalVolumes, NobodyElseGetsAVolumeThatWasChosenAMomentAgo) {
  VolumeYard yard;
  yard.node("a", "4");
  yard.local_volume("one", "a");
  yard.claim("data", "local");
  yard.claim("more", "local");
  yard.frozen = kube::kPersistentVolumes.plural;
  yard.settle();
  yard.frozen = "";
  yard.settle();
  yard.frozen = kube::kPersistentVolumes.plural;  // what is written is not to be seen
  yard.pod_with("p", "1", {"data"});
  yard.settle();
  EXPECT_EQ(yard.claimed("one"), "data");
  yard.pod_with("q", "1", {"more"});
  yard.settle();
  EXPECT_EQ(yard.told("q"),
            "claim more finds no volume of class local for 10Gi ReadWriteOnce: of 1 there is 1 taken");
}

TEST(LocalVolumes, OneThatSomebodyElseTookMeanwhileIsChosenAnew) {
  VolumeYard yard;
  yard.node("a", "4");
  yard.node("b", "4");
  yard.local_volume("one", "a");
  yard.claim("data", "local");
  yard.settle();
  bool once = false;
  yard.tap.before = [&](int, const kube::Request& request) -> std::optional<Error> {
    if (request.resource != kube::kPersistentVolumes || once) return std::nullopt;
    once = true;
    json::object volume = **yard.store.get(kube::kPersistentVolumes, "", "one");
    kube::ensure_object(volume, {"spec"})["claimRef"] = json::object{{"namespace", "x"}, {"name", "y"}};
    EXPECT_TRUE(yard.store.update(kube::kPersistentVolumes, "", volume, yard.now).ok());
    return std::nullopt;
  };
  yard.pod_with("p", "1", {"data"});
  yard.settle();
  EXPECT_TRUE(once);
  EXPECT_EQ(yard.claimed("one"), "y");
  yard.local_volume("two", "b", "50Gi");
  yard.settle();
  EXPECT_EQ(yard.claimed("two"), "data");
}

// Whenever it dies, the next one goes on with what volumes and claims say.
TEST(LocalVolumes, DiesAtEveryWrite) {
  for (int death = 1; death < 12; ++death) {
    for (bool when_done : {false, true}) {
      VolumeYard yard;
      for (const char* node : {"a", "b", "c"}) {
        yard.node(node, "4");
        yard.local_volume(fmt::format("on-{}", node), node);
      }
      add_workers(yard);
      (when_done ? yard.tap.after : yard.tap.before) = [&](int number, const kube::Request&) {
        if (number == death) throw Crash();
        return std::optional<Error>();
      };
      yard.settle();
      yard.bind_claimed_volumes();
      yard.settle();
      EXPECT_EQ(yard.bound("train"), 2) << death << " " << when_done;
      int taken = 0;
      for (const char* node : {"a", "b", "c"}) taken += !yard.claimed(fmt::format("on-{}", node)).empty();
      EXPECT_EQ(taken, 2) << death << " " << when_done;
    }
  }
}

TEST(LocalVolumes, ADriverWithoutRoomIsWaitedFor) {
  VolumeYard yard;
  yard.node("a", "4");
  yard.storage_class("counted", "csi.example.com", "WaitForFirstConsumer");
  yard.put(kube::kCsiDrivers, "",
           {{"metadata", json::object{{"name", "csi.example.com"}}},
            {"spec", json::object{{"storageCapacity", true}}}});
  auto room = [&](std::string_view name, std::string_view size) {
    yard.put(kube::kCsiStorageCapacities, "csi",
             {{"metadata", json::object{{"name", kube::jview(name)}, {"namespace", "csi"}}},
              {"storageClassName", "counted"},
              {"nodeTopology", json::object()},
              {"capacity", kube::jview(size)}});
  };
  room("little", "5Gi");
  yard.claim("data", "counted");
  yard.pod_with("p", "1", {"data"});
  yard.settle();
  EXPECT_EQ(yard.selected("data"), "");
  EXPECT_EQ(
      yard.told("p"),
      "claim data finds no volume of class counted for 10Gi ReadWriteOnce: csi.example.com can make none "
      "larger than 5Gi");
  room("much", "50Gi");
  yard.settle();
  EXPECT_EQ(yard.selected("data"), "a");
}

}  // namespace
}  // namespace trainyard::control
