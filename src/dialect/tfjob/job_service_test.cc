#include "dialect/tfjob/job_service.h"

#include <gtest/gtest.h>

#include "dialect/tfjob/tfjob.h"
#include "kube/access.h"
#include "kube/meta.h"

namespace trainyard::dialect::tf {
namespace {

constexpr const char* kTwoWorkers = R"({"apiVersion":"kubeflow.org/v1","kind":"TFJob",
  "metadata":{"name":"train","namespace":"ns","uid":"u"},"spec":{"tfReplicaSpecs":{"Worker":{"replicas":2,
  "restartPolicy":"Never","template":{"spec":{"containers":[{"name":"tensorflow","image":"i"}]}}}}}})";

TEST(JobService, NamesOfReplicasResolveThroughIt) {
  Settings settings;
  settings.one_service_per_job = true;
  settings.cluster_domain = "cluster.local";
  LowerResult lowered = tfjob().lower(json::parse(kTwoWorkers).as_object(), settings);
  const auto& spec = std::get<model::JobSpec>(lowered);
  EXPECT_FALSE(spec.service_per_replica);
  ASSERT_EQ(spec.companions.size(), 1u);
  EXPECT_EQ(spec.companions[0].name, "train");

  json::object service = tfjob().render_companion(spec, spec.companions[0], nullptr);
  EXPECT_EQ(kube::name_of(service), "train");
  EXPECT_EQ(kube::text_at(service, {"spec", "clusterIP"}), "None");
  EXPECT_EQ(kube::text_at(service, {"spec", "selector", "training.kubeflow.org/job-name"}), "train");
  EXPECT_EQ(kube::controller_uid_of(service), "u");
  // It is no replica's: the stream of replicas' services does not show it.
  EXPECT_EQ(kube::label_of(service, "training.kubeflow.org/operator-name"), "");

  model::JobState state;
  json::object pod = tfjob().render_pod(spec, settings, {{0, 1}, 0, &state});
  EXPECT_EQ(kube::text_at(pod, {"spec", "hostname"}), "train-worker-1");
  EXPECT_EQ(kube::text_at(pod, {"spec", "subdomain"}), "train");
  EXPECT_NE(json::serialize(pod).find("train-worker-0.train.ns.svc.cluster.local:2222"), std::string::npos);
}

TEST(JobService, OneForEachReplicaUnlessAskedFor) {
  LowerResult lowered = tfjob().lower(json::parse(kTwoWorkers).as_object(), {});
  const auto& spec = std::get<model::JobSpec>(lowered);
  EXPECT_TRUE(spec.service_per_replica);
  EXPECT_TRUE(spec.companions.empty());
  model::JobState state;
  json::object pod = tfjob().render_pod(spec, {}, {{0, 1}, 0, &state});
  EXPECT_EQ(kube::find(pod, {"spec", "hostname"}), nullptr);
  EXPECT_NE(json::serialize(pod).find("train-worker-0.ns.svc:2222"), std::string::npos);
}

}  // namespace
}  // namespace trainyard::dialect::tf
