#include "server/discovery.h"

#include <gtest/gtest.h>

#include "kube/access.h"

namespace trainyard::server {
namespace {

json::object body(const Document& document) { return json::parse(document.body).as_object(); }

TEST(Discovery, LegacyListsVersionsGroupsAndResources) {
  Registry registry;
  EXPECT_EQ(json::serialize(body(discover_core(registry, DiscoveryForm::kLegacy))["versions"]), R"(["v1"])");
  json::object groups = body(discover_groups(registry, DiscoveryForm::kLegacy));
  EXPECT_EQ(kube::text_at(groups, {"kind"}), "APIGroupList");
  EXPECT_EQ(kube::text_at(groups["groups"].as_array()[0].as_object(), {"name"}), "apps");

  json::object jobs = body(*discover_resources(registry, "kubeflow.org", "v1"));
  EXPECT_EQ(json::serialize(jobs),
            R"({"kind":"APIResourceList","apiVersion":"v1","groupVersion":"kubeflow.org/v1","resources":[)"
            R"({"name":"tfjobs","singularName":"tfjob","namespaced":true,"kind":"TFJob",)"
            R"("verbs":["create","delete","deletecollection","get","list","patch","update","watch"],)"
            R"("categories":["all"]},)"
            R"({"name":"tfjobs/scale","singularName":"","namespaced":true,"kind":"Scale",)"
            R"("verbs":["get","patch","update"],"group":"autoscaling","version":"v1"},)"
            R"({"name":"tfjobs/status","singularName":"","namespaced":true,"kind":"TFJob",)"
            R"("verbs":["get","patch","update"]}]})");
  EXPECT_FALSE(discover_resources(registry, "kubeflow.org", "v9"));
  EXPECT_EQ(
      kube::text_at(body(*discover_group(registry, "kubeflow.org")), {"preferredVersion", "groupVersion"}),
      "kubeflow.org/v1");
  EXPECT_FALSE(discover_group(registry, ""));
}

TEST(Discovery, AggregatedHasEverythingAndSaysSoInItsType) {
  Registry registry;
  Document core = discover_core(registry, DiscoveryForm::kV2);
  EXPECT_EQ(core.content_type, "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
  json::object list = body(core);
  EXPECT_EQ(kube::text_at(list, {"apiVersion"}), "apidiscovery.k8s.io/v2");
  ASSERT_EQ(list["items"].as_array().size(), 1u);
  const json::object& version = list["items"].as_array()[0].as_object()["versions"].as_array()[0].as_object();
  EXPECT_EQ(kube::text_at(version, {"freshness"}), "Current");
  bool pods = false;
  for (const json::value& each : version.at("resources").as_array()) {
    if (kube::text_at(each.as_object(), {"resource"}) != "pods") continue;
    pods = true;
    EXPECT_EQ(kube::text_at(each.as_object(), {"responseKind", "kind"}), "Pod");
    EXPECT_EQ(kube::text_at(each.as_object(), {"scope"}), "Namespaced");
  }
  EXPECT_TRUE(pods);
  EXPECT_EQ(discover_groups(registry, DiscoveryForm::kV2Beta1).content_type,
            "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList");
}

TEST(Discovery, EqualRegistriesGiveEqualTags) {
  EXPECT_EQ(discover_groups(Registry(), DiscoveryForm::kV2), discover_groups(Registry(), DiscoveryForm::kV2));
  Document document = document_of(std::string("a"), "text/plain");
  EXPECT_NE(document.etag, document_of(std::string("b"), "text/plain").etag);
  EXPECT_TRUE(document.etag.starts_with('"') && document.etag.ends_with('"'));
}

TEST(Discovery, VersionIsTakenApart) {
  json::object version = body(version_document("v1.33.0-trainyard"));
  EXPECT_EQ(kube::text_at(version, {"major"}), "1");
  EXPECT_EQ(kube::text_at(version, {"minor"}), "33");
}

}  // namespace
}  // namespace trainyard::server
