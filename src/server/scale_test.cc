#include "server/scale.h"

#include <gtest/gtest.h>

#include "kube/access.h"

namespace trainyard::server {
namespace {

json::object object(std::string_view text) { return json::parse(kube::jview(text)).as_object(); }

const ApiResource& scalable(std::string_view group, std::string_view version, std::string_view plural) {
  static const Registry kRegistry;
  return *kRegistry.find(group, version, plural);
}

json::object scale_to(int replicas) { return {{"spec", json::object{{"replicas", replicas}}}}; }

TEST(Scale, OfATfJobIsItsWorkers) {
  const ApiResource& jobs = scalable("kubeflow.org", "v1", "tfjobs");
  json::object job = object(R"({"metadata":{"name":"j","namespace":"d","uid":"u","resourceVersion":"5"},
      "spec":{"tfReplicaSpecs":{"PS":{"replicas":1},"worker":{"replicas":2}}},
      "status":{"replicaStatuses":{"Worker":{"active":2}}}})");
  EXPECT_EQ(
      json::serialize(*scale_of(jobs, job)),
      R"({"kind":"Scale","apiVersion":"autoscaling/v1","metadata":{"name":"j","namespace":"d","uid":"u",)"
      R"("resourceVersion":"5"},"spec":{"replicas":2},"status":{"replicas":2,"selector":)"
      R"("training.kubeflow.org/job-name=j,training.kubeflow.org/replica-type=worker"}})");
  EXPECT_EQ(json::serialize(*patch_of_scale(jobs, job, scale_to(4))),
            R"({"spec":{"tfReplicaSpecs":{"worker":{"replicas":4}}}})");
  EXPECT_FALSE(patch_of_scale(jobs, job, scale_to(-1)).ok());
  EXPECT_FALSE(scale_of(jobs, object(R"({"spec":{"tfReplicaSpecs":{"Chief":{}}}})")).ok());
}

TEST(Scale, OfListsReplacesTheWholeListAtOneVersion) {
  EXPECT_EQ(
      json::serialize(*patch_of_scale(scalable("batch.tensorstack.dev", "v1beta1", "tensorflowtrainingjobs"),
                                      object(R"({"metadata":{"name":"t","resourceVersion":"7"},
                    "spec":{"replicaSpecs":[{"type":"ps","replicas":1},{"type":"worker","replicas":2}]}})"),
                                      scale_to(3))),
      R"({"spec":{"replicaSpecs":[{"type":"ps","replicas":1},{"type":"worker","replicas":3}]},)"
      R"("metadata":{"resourceVersion":"7"}})");
  // A gang of the whole job stays one.
  EXPECT_EQ(
      json::serialize(*patch_of_scale(scalable("batch.volcano.sh", "v1alpha1", "jobs"),
                                      object(R"({"metadata":{"name":"v"},"spec":{"minAvailable":3,"tasks":[
                    {"name":"ps","replicas":1},{"name":"worker","replicas":2,"minAvailable":2}]}})"),
                                      scale_to(1))),
      R"({"spec":{"minAvailable":2,"tasks":[{"name":"ps","replicas":1},)"
      R"({"name":"worker","replicas":1,"minAvailable":1}]}})");
}

TEST(Scale, OfOthersGoesByPath) {
  EXPECT_EQ(json::serialize(*patch_of_scale(scalable("apps", "v1", "deployments"),
                                            object(R"({"spec":{"replicas":1}})"), scale_to(0))),
            R"({"spec":{"replicas":0}})");
  EXPECT_FALSE(scale_of(scalable("", "v1", "pods"), object(R"({"metadata":{"name":"p"}})")).ok());
}

}  // namespace
}  // namespace trainyard::server
