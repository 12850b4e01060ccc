#include "kube/kept_only.h"

#include <gtest/gtest.h>

#include "kube/access.h"

namespace trainyard::kube {
namespace {

using Words = std::vector<std::string>;

Words of_service(std::string_view spec) {
  std::string text = R"({"metadata":{"name":"s"},"spec":)" + std::string(spec) + "}";
  return kept_only("", "Service", json::parse(jview(text)).as_object());
}

TEST(KeptOnly, WhatNobodyActsOn) {
  EXPECT_EQ(kept_only("apps", "Deployment", {}), (Words{"a Deployment is only kept here: no controller of "
                                                        "Trainyard acts on it, so no pod will come of it"}));
  EXPECT_EQ(kept_only("", "ResourceQuota", {}),
            (Words{"a ResourceQuota is only kept here: Trainyard does not enforce it"}));
  EXPECT_EQ(kept_only("", "ConfigMap", {}), Words{});
  EXPECT_EQ(kept_only("serving.example", "Service", {}), Words{});
}

TEST(KeptOnly, AnAddressOfAService) {
  const std::string told =
      "a Service has no address of its own here: its name leads to one of its pods, on the ports of that pod";
  EXPECT_EQ(of_service(R"({"clusterIP":"None","ports":[{"port":80,"targetPort":8080}]})"), Words{});
  EXPECT_EQ(of_service(R"({"type":"ExternalName","externalName":"x.org"})"), Words{});
  EXPECT_EQ(
      of_service(R"({"ports":[{"port":80},{"port":81,"targetPort":81},{"port":82,"targetPort":"web"}]})"),
      Words{told});
  EXPECT_EQ(
      of_service(
          R"({"clusterIP":"10.0.0.1","ports":[{"port":80,"targetPort":8080},{"port":1,"targetPort":2}]})"),
      Words{told + " (8080, not 80; 2, not 1)"});
}

}  // namespace
}  // namespace trainyard::kube
