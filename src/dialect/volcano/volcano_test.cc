// The dialect as others see it, on a complete manifest that people really have: the
// distributed MNIST example for Volcano.
#include "dialect/volcano/volcano.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dialect/shared/pod_template.h"
#include "dialect/volcano/testing.h"
#include "kube/meta.h"

namespace trainyard::dialect {
namespace {

using vc::testing::from_yaml;

constexpr std::string_view kDistMnist = R"yaml(
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata:
  name: tensorflow-dist-mnist
spec:
  minAvailable: 3
  schedulerName: volcano
  plugins:
    env: []
    svc: []
  policies:
    - event: PodEvicted
      action: RestartJob
  tasks:
    - replicas: 1
      name: ps
      template:
        spec:
          containers:
            - command:
                - sh
                - -c
                - |
                  PS_HOST=`cat /etc/volcano/ps.host | sed 's/$/&:2222/g' | sed 's/^/"/;s/$/"/' | tr "\n" ","`;
                  python /var/tf_dist_mnist/dist_mnist.py
              image: volcanosh/dist-mnist-tf-example:0.0.1
              name: tensorflow
              ports:
                - containerPort: 2222
                  name: tfjob-port
              resources: {}
          restartPolicy: Never
    - replicas: 2
      name: worker
      policies:
        - event: TaskCompleted
          action: CompleteJob
      template:
        spec:
          containers:
            - command: [sh, -c, python /var/tf_dist_mnist/dist_mnist.py]
              image: volcanosh/dist-mnist-tf-example:0.0.1
              name: tensorflow
              ports:
                - containerPort: 2222
                  name: tfjob-port
              resources: {}
          restartPolicy: Never
)yaml";

TEST(Volcano, RecognisesItsOwn) {
  EXPECT_TRUE(volcano().recognises("batch.volcano.sh/v1alpha1", "Job"));
  EXPECT_FALSE(volcano().recognises("batch/v1", "Job"));
  EXPECT_FALSE(volcano().recognises("batch.volcano.sh/v1alpha1", "CronJob"));
  EXPECT_EQ(volcano().name, "volcano");
  EXPECT_EQ(volcano().resource, kube::kVolcanoJobs);
}

TEST(Volcano, DistMnistLowersAndRenders) {
  LowerResult result = volcano().lower(from_yaml(kDistMnist), {});
  ASSERT_TRUE(std::holds_alternative<model::JobSpec>(result)) << join(std::get<std::vector<Problem>>(result));
  const model::JobSpec& spec = std::get<model::JobSpec>(result);
  ASSERT_EQ(spec.roles.size(), 2u);
  EXPECT_EQ(spec.roles[1].rules.size(), 3u);
  EXPECT_EQ(spec.roles[1].rules[0].action.kind, model::ActionKind::kComplete);
  EXPECT_EQ(spec.roles[1].rules[1].action, (model::Action{model::ActionKind::kRestart, model::Scope::kJob}));

  model::JobState state;
  json::object pod = volcano().render_pod(spec, {}, {.id = {0, 0}, .state = &state});
  EXPECT_EQ(kube::name_of(pod), "tensorflow-dist-mnist-ps-0");
  EXPECT_EQ(kube::text_at(pod, {"spec", "subdomain"}), "tensorflow-dist-mnist");
  const json::object& main = *main_container(pod, "");
  EXPECT_EQ(kube::array_at(main, {"env"})->size(), 6u);
  EXPECT_EQ(kube::text_at(main, {"image"}), "volcanosh/dist-mnist-tf-example:0.0.1");
  EXPECT_EQ(kube::find(pod, {"metadata", "ownerReferences"}),
            nullptr);  // never stored, so nobody to point at

  for (const model::Companion& companion : spec.companions) {
    json::object body = volcano().render_companion(spec, companion, nullptr);
    EXPECT_EQ(kube::name_of(body), companion.name);
  }
  json::object group = volcano().render_gang(spec);
  EXPECT_EQ(kube::int_at(group, {"spec", "minMember"}), 3);
  EXPECT_EQ(kube::text_at(group, {"spec", "minResources", "pods"}), "3");
}

}  // namespace
}  // namespace trainyard::dialect
