#include "server/nulls.h"

#include <gtest/gtest.h>

namespace trainyard::server {
namespace {

std::string without_nulls(std::string_view group, std::string_view version, std::string_view plural,
                          const char* body) {
  static const Registry kRegistry;
  json::object object = json::parse(body).as_object();
  drop_nulls(*kRegistry.find(group, version, plural), object);
  return json::serialize(object);
}

TEST(Nulls, AKindOfKubernetesIsReadAsGoReadsIt) {
  EXPECT_EQ(
      without_nulls("", "v1", "configmaps",
                    R"({"kind":"ConfigMap","metadata":{"name":"a","labels":null,"creationTimestamp":null,
                              "deletionTimestamp":null},"data":{"k":null,"l":"v"},"immutable":null})"),
      R"({"kind":"ConfigMap","metadata":{"name":"a","creationTimestamp":null},"data":{"k":"","l":"v"}})");
  EXPECT_EQ(
      without_nulls("", "v1", "pods",
                    R"({"spec":{"nodeName":null,"containers":[{"name":"c","command":["a",null],"env":null,
                              "resources":{"limits":{"cpu":null}}},null]},
                              "status":{"conditions":[{"type":"Ready","lastProbeTime":null,"reason":null}]}})"),
      R"({"spec":{"containers":[{"name":"c","command":["a",""],"resources":{"limits":{"cpu":"0"}}},{}]},)"
      R"("status":{"conditions":[{"type":"Ready","lastProbeTime":null}]}})");
}

// Which are CRDs elsewhere.
TEST(Nulls, OfAJobTheMemberGoes) {
  EXPECT_EQ(without_nulls("kubeflow.org", "v1", "tfjobs",
                          R"({"spec":{"runPolicy":null,"tfReplicaSpecs":{"Worker":{"replicas":null}}}})"),
            R"({"spec":{"tfReplicaSpecs":{"Worker":{}}}})");
}

}  // namespace
}  // namespace trainyard::server
