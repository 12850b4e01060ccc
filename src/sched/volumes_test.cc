#include "sched/volumes.h"

#include <gtest/gtest.h>

#include <set>

#include "sched/testing.h"

namespace trainyard::sched {
namespace {

using testing::object;

// Claims, volumes and classes as documents, and what was found.
struct Storage {
  std::vector<ClaimSeen> claims;
  std::vector<VolumeSeen> volumes;
  std::vector<ClassSeen> classes;
  std::vector<DriverSeen> drivers;
  std::vector<RoomSeen> rooms;
  std::vector<Node> nodes;
  std::map<std::string, ClaimChoice> choices;
  VolumesFound found;

  Storage() {
    for (const char* name : {"a", "b", "c"}) {
      Node node{name};
      node.labels = {{"kubernetes.io/hostname", name}, {"zone", name == std::string("c") ? "z2" : "z1"}};
      nodes.push_back(node);
    }
    add_class("local", "kubernetes.io/no-provisioner");
    add_class("fast", "csi.example.com");
  }
  void add_class(const std::string& name, const std::string& provisioner, const char* more = "") {
    classes.push_back(see_storage_class(object(fmt::format(
        R"({{"metadata": {{"name": "{}"}}, "provisioner": "{}", "volumeBindingMode": "WaitForFirstConsumer"{} }})",
        name, provisioner, more))));
  }
  void add_claim(const std::string& name, const std::string& size, const char* more = "",
                 const std::string& kind = "local", const char* meta = "") {
    claims.push_back(see_claim(object(fmt::format(
        R"({{"metadata": {{"name": "{}", "namespace": "ns", "uid": "u-{}"{} }},
            "spec": {{"storageClassName": "{}", "accessModes": ["ReadWriteOnce"],
                     "resources": {{"requests": {{"storage": "{}"}} }}{} }},
            "status": {{"phase": "Pending"}} }})",
        name, name, meta, kind, size, more))));
  }
  void add_volume(const std::string& name, const std::string& size, const std::string& node,
                  const char* more = "", const char* phase = "Available") {
    volumes.push_back(see_volume(object(fmt::format(
        R"({{"metadata": {{"name": "{}", "labels": {{"disk": "ssd"}} }},
            "spec": {{"storageClassName": "local", "accessModes": ["ReadWriteOnce", "ReadOnlyMany"],
                     "capacity": {{"storage": "{}"}}{},
                     "nodeAffinity": {{"required": {{"nodeSelectorTerms": [{{"matchExpressions": [
                       {{"key": "kubernetes.io/hostname", "operator": "In", "values": ["{}"]}}]}}]}} }} }},
            "status": {{"phase": "{}"}} }})",
        name, size, more, node, phase))));
  }
  void add_room(const char* name, const char* zone, const char* more) {
    rooms.push_back(see_room(object(fmt::format(
        R"({{"metadata": {{"name": "{}", "namespace": "csi"}}, "storageClassName": "fast",
            "nodeTopology": {{"matchLabels": {{"zone": "{}"}} }}{} }})",
        name, zone, more))));
  }
  // "v1(a) v2(b)", or why there is none.
  std::string sources_of(const std::string& claim) {
    VolumeDocuments documents;
    for (const ClaimSeen& one : claims) documents.claims.push_back(&one);
    for (const VolumeSeen& one : volumes) documents.volumes.push_back(&one);
    for (const ClassSeen& one : classes) documents.classes.push_back(&one);
    for (const DriverSeen& one : drivers) documents.drivers.push_back(&one);
    for (const RoomSeen& one : rooms) documents.rooms.push_back(&one);
    for (const Node& one : nodes) documents.nodes.push_back(&one);
    documents.choices = choices;
    found = find_volumes(documents);
    std::string trouble = found.troubles->at("ns/" + claim);
    if (!trouble.empty() || !found.open.contains("ns/" + claim)) return trouble;
    std::string out;
    for (int s : found.open.at("ns/" + claim).sources) {
      const SourceFound& source = found.sources[static_cast<size_t>(s)];
      std::string nodes_text;
      for (const std::string& node : source.nodes.value_or(std::vector<std::string>{"everywhere"})) {
        nodes_text += (nodes_text.empty() ? "" : ",") + node;
      }
      out += fmt::format("{}{}({})", out.empty() ? "" : " ", source.volume.empty() ? "made" : source.volume,
                         nodes_text);
    }
    return out;
  }
};

TEST(Volumes, ThoseThatSuitTheSmallestFirst) {
  Storage storage;
  storage.add_claim("data", "10Gi");
  storage.add_volume("large", "100Gi", "a");
  storage.add_volume("exact", "10Gi", "b");
  storage.add_volume("same", "10Gi", "c");
  storage.add_volume("small", "9Gi", "a");
  storage.add_volume("others", "10Gi", "a", R"(, "claimRef": {"namespace": "ns", "name": "other"})");
  storage.add_volume("not-yet", "10Gi", "a", "", "Pending");
  storage.add_volume("block", "10Gi", "a", R"(, "volumeMode": "Block")");
  storage.add_volume("classy", "10Gi", "a", R"(, "volumeAttributesClassName": "gold")");
  EXPECT_EQ(storage.sources_of("data"), "exact(b) same(c) large(a)");
  EXPECT_EQ(storage.found.nodes.at("ns/data"), (std::vector<std::string>{"a", "b", "c"}));
}

TEST(Volumes, WhyNoneSuits) {
  Storage storage;
  storage.add_claim("data", "10Gi");
  storage.add_claim("many", "1Gi");
  storage.claims.back().modes = {"ReadWriteMany"};
  storage.add_claim("chosen", "1Gi", R"(, "selector": {"matchLabels": {"disk": "hdd"}})");
  storage.add_claim("ssd", "1Gi", R"(, "selector": {"matchLabels": {"disk": "ssd"}})");
  EXPECT_EQ(storage.sources_of("data"),
            "claim data finds no volume of class local for 10Gi ReadWriteOnce: there is none");
  storage.add_volume("one", "9Gi", "a");
  storage.add_volume("two", "10Gi", "a", R"(, "claimRef": {"namespace": "ns", "name": "other"})", "Bound");
  EXPECT_EQ(storage.sources_of("data"),
            "claim data finds no volume of class local for 10Gi ReadWriteOnce: of 2 there are 1 taken, 1 too "
            "small");
  EXPECT_EQ(
      storage.sources_of("many"),
      "claim many finds no volume of class local for 1Gi ReadWriteMany: of 2 there are 1 taken, 1 of other "
      "access modes");
  EXPECT_EQ(
      storage.sources_of("chosen"),
      "claim chosen finds no volume of class local for 1Gi ReadWriteOnce: of 2 there are 1 taken, 1 without "
      "the labels that its selector asks for");
  EXPECT_EQ(storage.sources_of("ssd"), "one(a)");
}

// As another scheduler, or this one before it was killed, has left it.
TEST(Volumes, OneThatIsMeantForTheClaimIsItsOwn) {
  Storage storage;
  storage.add_claim("data", "10Gi");
  storage.add_volume("small", "10Gi", "a");
  storage.add_volume("own", "50Gi", "b",
                     R"(, "claimRef": {"namespace": "ns", "name": "data", "uid": "u-data"})", "Pending");
  EXPECT_EQ(storage.sources_of("data"), "own(b)");
  storage.volumes[1].claim_uid = "u-before";
  EXPECT_EQ(storage.sources_of("data"), "small(a)") << "of an older claim of that name";
}

TEST(Volumes, WhatWasChosenIsNotThereForOthers) {
  Storage storage;
  storage.add_claim("data", "10Gi");
  storage.add_claim("other", "10Gi");
  storage.add_volume("one", "10Gi", "a");
  storage.add_volume("two", "20Gi", "b");
  storage.choices = {{"ns/other", {"one", "a"}}};
  EXPECT_EQ(storage.sources_of("data"), "two(b)");
  EXPECT_EQ(storage.sources_of("other"), "one(a)");
}

TEST(Volumes, MadeWhereTheClassAllowsIt) {
  Storage storage;
  storage.add_claim("data", "10Gi", "", "fast");
  EXPECT_EQ(storage.sources_of("data"), "made(everywhere)");
  storage.add_class(
      "zonal", "csi.example.com",
      R"(, "allowedTopologies": [{"matchLabelExpressions": [{"key": "zone", "values": ["z1"]}]}])");
  storage.add_claim("zoned", "10Gi", "", "zonal");
  EXPECT_EQ(storage.sources_of("zoned"), "made(a,b)");
  storage.add_claim("going", "10Gi", "", "fast",
                    R"(, "annotations": {"volume.kubernetes.io/selected-node": "b"})");
  EXPECT_EQ(storage.sources_of("going"), "made(b)");
}

TEST(Volumes, MadeWhereTheDriverSaysThatThereIsRoom) {
  Storage storage;
  storage.drivers.push_back(see_driver(object(R"({"metadata": {"name": "csi.example.com"},
                                                  "spec": {"storageCapacity": true}})")));
  storage.add_claim("data", "10Gi", "", "fast");
  EXPECT_EQ(
      storage.sources_of("data"),
      "claim data finds no volume of class fast for 10Gi ReadWriteOnce: csi.example.com can make none larger "
      "than 0");
  storage.add_room("one", "z1", R"(, "capacity": "9Gi")");
  storage.add_room("unset", "z2", "");
  EXPECT_EQ(
      storage.sources_of("data"),
      "claim data finds no volume of class fast for 10Gi ReadWriteOnce: csi.example.com can make none larger "
      "than 9Gi");
  storage.add_room("two", "z2", R"(, "capacity": "15Gi")");
  EXPECT_EQ(storage.sources_of("data"), "made(c)");
  storage.rooms.back() = see_room(object(R"({"metadata": {"name": "two"}, "storageClassName": "fast",
    "nodeTopology": {"matchLabels": {"zone": "z2"}}, "capacity": "100Gi", "maximumVolumeSize": "5Gi"})"));
  EXPECT_NE(storage.sources_of("data"), "made(c)") << "room for many, but for none so large";
  storage.drivers.clear();
  EXPECT_EQ(storage.sources_of("data"), "made(everywhere)") << "only drivers that say so are asked";
}

TEST(Volumes, WhatIsAboutToBeMadeTakesRoom) {
  Storage storage;
  storage.drivers.push_back({"csi.example.com", true});
  storage.add_room("one", "z1", R"(, "capacity": "15Gi")");
  storage.add_claim("data", "10Gi", "", "fast");
  storage.add_claim("going", "10Gi", "", "fast",
                    R"(, "annotations": {"volume.kubernetes.io/selected-node": "a"})");
  EXPECT_EQ(
      storage.sources_of("data"),
      "claim data finds no volume of class fast for 10Gi ReadWriteOnce: csi.example.com can make none larger "
      "than 5Gi");
}

TEST(Volumes, ClaimsThatWaitForSomebodyElse) {
  Storage storage;
  storage.classes[0].waits_for_consumer = false;
  storage.add_claim("data", "10Gi");
  storage.add_claim("strange", "10Gi", "", "nobody");
  storage.add_volume("v", "10Gi", "a");
  EXPECT_EQ(storage.sources_of("data"), "claim data has no volume yet");
  EXPECT_EQ(storage.sources_of("strange"),
            "claim strange has no volume yet, and there is no StorageClass nobody");
  storage.claims[0].volume = "v";
  storage.claims[0].phase = "Bound";
  EXPECT_EQ(storage.sources_of("data"), "");
  EXPECT_EQ(storage.found.nodes.at("ns/data"), std::vector<std::string>{"a"});
  storage.claims[0].phase = "Lost";
  EXPECT_EQ(storage.sources_of("data"), "claim data has lost its volume");
}

}  // namespace
}  // namespace trainyard::sched
