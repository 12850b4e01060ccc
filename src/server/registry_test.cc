#include "server/registry.h"

#include <gtest/gtest.h>

#include "kube/access.h"

namespace trainyard::server {
namespace {

json::object crd(std::string_view name = "things.example.org") {
  json::object out = json::parse(R"({
    "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
    "metadata": {"name": "things.example.org"},
    "spec": {
      "group": "example.org", "scope": "Namespaced",
      "names": {"plural": "things", "kind": "Thing", "shortNames": ["th"], "categories": ["all"]},
      "versions": [
        {"name": "v1beta1", "served": true, "storage": false, "schema": {"openAPIV3Schema": {"type": "object"}}},
        {"name": "v1", "served": true, "storage": true,
         "schema": {"openAPIV3Schema": {"type": "object"}},
         "subresources": {"status": {}, "scale": {"specReplicasPath": ".spec.n", "statusReplicasPath": ".status.n"}},
         "additionalPrinterColumns": [{"name": "Size", "type": "integer", "jsonPath": ".spec.n", "priority": 1}]},
        {"name": "v0", "served": false, "storage": false}]}})")
                         .as_object();
  out["metadata"].as_object()["name"] = kube::jview(name);
  return out;
}

TEST(Registry, ServesWhatTheJobsNeed) {
  Registry registry;
  const ApiResource* jobs = registry.find("kubeflow.org", "v1", "tfjobs");
  ASSERT_NE(jobs, nullptr);
  EXPECT_EQ(jobs->resource, kube::kTfJobs);
  EXPECT_EQ(jobs->singular, "tfjob");
  EXPECT_EQ(jobs->list_kind, "TFJobList");
  EXPECT_NE(jobs->subresource("scale"), nullptr);
  EXPECT_FALSE(jobs->built_in);
  EXPECT_EQ(registry.find_kind("", "v1", "Pod"), registry.find("", "v1", "pods"));
  EXPECT_EQ(registry.find("", "v1", "nothing"), nullptr);
  EXPECT_TRUE(registry.serves("batch.volcano.sh", "v1alpha1"));
  EXPECT_FALSE(registry.serves("batch.volcano.sh", "v1"));
}

TEST(Registry, KnowsTheResourcesThatTheRestOfTheProjectNames) {
  Registry registry;
  for (const kube::Resource& known :
       {kube::kPods, kube::kServices, kube::kConfigMaps, kube::kSecrets, kube::kPersistentVolumeClaims,
        kube::kEvents, kube::kNetworkPolicies, kube::kLeases, kube::kTfJobs, kube::kT9kJobs,
        kube::kVolcanoJobs, kube::kVolcanoCommands, kube::kVolcanoPodGroups, kube::kKubeBatchPodGroups,
        kube::kCoschedulingPodGroups, kube::kT9kPodGroups, kube::kVolcanoQueues, kube::kT9kQueues,
        kube::kTensorBoards}) {
    const ApiResource* found = registry.find(known.group, known.version, known.plural);
    ASSERT_NE(found, nullptr) << known.plural;
    EXPECT_EQ(found->resource, known) << known.plural;
  }
}

TEST(Registry, BothKindsOfEventsAreStoredAsOne) {
  Registry registry;
  EXPECT_EQ(registry.find("events.k8s.io", "v1", "events")->storage, kube::kEvents);
  EXPECT_EQ(registry.find("", "v1", "events")->storage, kube::kEvents);
}

TEST(Registry, OldVersionsOfTfJobAreStoredAsTheNewest) {
  Registry registry;
  std::vector<std::string_view> versions;
  for (const ApiResource* each : registry.all()) {
    if (each->resource.group != "kubeflow.org") continue;
    versions.push_back(each->resource.version);
    EXPECT_EQ(each->storage, kube::kTfJobs);
    EXPECT_EQ(each->columns.size(), 2u);
    EXPECT_NE(each->subresource("scale"), nullptr);
  }
  EXPECT_EQ(versions, (std::vector<std::string_view>{"v1", "v1beta2", "v1beta1", "v1alpha2"}));
}

TEST(Registry, PutsPodsBeforeTheirMetrics) {
  Registry registry;
  std::vector<const ApiResource*> all = registry.all();
  EXPECT_EQ(all.front()->resource.group, "");
  EXPECT_EQ(all.back()->resource.group, "metrics.k8s.io");
}

TEST(Registry, ServesACrdUntilItIsRemoved) {
  Registry registry;
  uint64_t before = registry.generation();
  ASSERT_TRUE(registry.put_crd(crd()).ok());
  EXPECT_GT(registry.generation(), before);
  const ApiResource* thing = registry.find("example.org", "v1", "things");
  ASSERT_NE(thing, nullptr);
  EXPECT_TRUE(thing->from_crd);
  EXPECT_TRUE(thing->resource.has_status);
  EXPECT_EQ(thing->scale->spec_replicas, ".spec.n");
  EXPECT_EQ(thing->columns.at(0).priority, 1);
  EXPECT_EQ(registry.find("example.org", "v1beta1", "things")->storage.version, "v1");
  EXPECT_EQ(registry.find("example.org", "v0", "things"), nullptr);

  uint64_t after = registry.generation();
  ASSERT_TRUE(registry.put_crd(crd()).ok());
  EXPECT_EQ(registry.generation(), after) << "nothing new was said";

  registry.remove_crd("things.example.org");
  EXPECT_EQ(registry.find("example.org", "v1", "things"), nullptr);
  EXPECT_EQ(thing->resource.plural, "things") << "whoever holds the entry may keep it";
}

TEST(Registry, ServesNewestVersionsFirst) {
  Registry registry;
  ASSERT_TRUE(registry.put_crd(crd()).ok());
  std::vector<std::string_view> versions;
  for (const ApiResource* each : registry.all()) {
    if (each->resource.group == "example.org") versions.push_back(each->resource.version);
  }
  EXPECT_EQ(versions, (std::vector<std::string_view>{"v1", "v1beta1"}));
}

TEST(Registry, KeepsItsOwnKindsWhenTheirCrdIsInstalled) {
  Registry registry;
  json::object body = crd("tfjobs.kubeflow.org");
  json::object& spec = body["spec"].as_object();
  spec["group"] = "kubeflow.org";
  spec["names"] = json::object{{"plural", "tfjobs"}, {"kind", "TFJob"}};
  ASSERT_TRUE(registry.put_crd(body).ok());
  EXPECT_FALSE(registry.find("kubeflow.org", "v1", "tfjobs")->from_crd);
  EXPECT_FALSE(registry.find("kubeflow.org", "v1beta1", "tfjobs")->from_crd);
  registry.remove_crd("tfjobs.kubeflow.org");
  EXPECT_NE(registry.find("kubeflow.org", "v1", "tfjobs"), nullptr);
}

TEST(Registry, RefusesACrdThatCannotBeServed) {
  Registry registry;
  EXPECT_NE(registry.put_crd(crd("other.example.org")).error().message.find("metadata.name"),
            std::string::npos);
  json::object body = crd();
  body["spec"].as_object()["scope"] = "Galaxy";
  EXPECT_NE(registry.put_crd(body).error().message.find("spec.scope"), std::string::npos);
  EXPECT_NE(registry.put_crd({}).error().message.find("spec"), std::string::npos);
}

TEST(Registry, TellsThatACrdIsEstablished) {
  json::object status = status_of_crd(crd(), Time{1'700'000'000'000});
  EXPECT_EQ(kube::text_at(status, {"acceptedNames", "listKind"}), "ThingList");
  EXPECT_EQ(json::serialize(status["storedVersions"]), R"(["v1"])");
  const json::array& conditions = status["conditions"].as_array();
  ASSERT_EQ(conditions.size(), 2u);
  EXPECT_EQ(kube::text_at(conditions[1].as_object(), {"type"}), "Established");
  // Told again later, the time of the change stays.
  json::object again = crd();
  again["status"] = status;
  EXPECT_EQ(status_of_crd(again, Time{1'800'000'000'000}), status);
}

}  // namespace
}  // namespace trainyard::server
