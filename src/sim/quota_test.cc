#include "sim/quota.h"

#include <gtest/gtest.h>

namespace trainyard::sim {
namespace {

TEST(Quota, RefusesPodsBeyondItsNumberAndNothingElse) {
  Options options;
  Agenda agenda{Time{1'800'000'000'000}};
  Cluster cluster{1, agenda};
  Trace trace(false, agenda.now());
  Quota quota(cluster, trace, options);
  auto make = [&](const kube::Resource& resource, const char* name) {
    json::object body{{"apiVersion", resource.api_version()},
                      {"kind", resource.kind},
                      {"metadata", json::object{{"name", name}}}};
    return cluster.create({Hand::kUser, -1}, resource, std::move(body)) != nullptr;
  };
  EXPECT_TRUE(make(kube::kPods, "a"));
  quota.close(1);
  EXPECT_FALSE(make(kube::kPods, "b"));
  EXPECT_TRUE(make(kube::kServices, "b"));
  EXPECT_NE(cluster.write_status({Hand::kKubelet, -1}, kube::kPods, "a", {{"phase", "Running"}}), nullptr);
  quota.open();
  EXPECT_TRUE(make(kube::kPods, "b"));
}

}  // namespace
}  // namespace trainyard::sim
