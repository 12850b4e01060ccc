// The manifests that people have been given in tutorials, as they stand there: each must be
// taken as it is and give the job that its author meant.
#include <gmock/gmock.h>

#include "dialect/tfjob/testing.h"

namespace trainyard::dialect::tf {
namespace {

constexpr std::string_view kAMasterWithATemplatePolicy = R"yaml(
apiVersion: kubeflow.org/v1beta1
kind: TFJob
metadata:
  name: example-tfjob
spec:
  tfReplicaSpecs:
    MASTER:
      replicas: 1
      template:
        spec:
          containers:
            - image: <DOCKER_USERNAME>/tf-mnist:gpu
              name: tensorflow
              resources:
                limits:
                  nvidia.com/gpu: 1
          restartPolicy: OnFailure
)yaml";

constexpr std::string_view kTheSameUnderAnotherName = R"yaml(
apiVersion: kubeflow.org/v1beta1
kind: TFJob
metadata:
  name: module6-ex1-gpu
spec:
  tfReplicaSpecs:
    MASTER:
      replicas: 1
      template:
        spec:
          containers:
            - image: <DOCKER_USERNAME>/tf-mnist:gpu # 从镜像中拉取
              name: tensorflow
              resources:
                limits:
                  nvidia.com/gpu: 1
          restartPolicy: OnFailure
)yaml";

constexpr std::string_view kGeneratedName = R"yaml(
apiVersion: kubeflow.org/v1
kind: TFJob
metadata:
  generateName: tfjob
  namespace: kubeflow
spec:
  tfReplicaSpecs:
    PS:
      replicas: 1
      restartPolicy: OnFailure
      template:
        spec:
          containers:
          - name: tensorflow
            image: gcr.io/your-project/your-image
            command:
              - python
              - -m
              - trainer.task
              - --batch_size=32
              - --training_steps=1000
    Worker:
      replicas: 3
      restartPolicy: OnFailure
      template:
        spec:
          containers:
          - name: tensorflow
            image: gcr.io/your-project/your-image
            command:
              - python
              - -m
              - trainer.task
              - --batch_size=32
              - --training_steps=1000
)yaml";

constexpr std::string_view kWithASecret = R"yaml(
apiVersion: kubeflow.org/v1
kind: TFJob
metadata:
  generateName: tfjob
  namespace: kubeflow
spec:
  tfReplicaSpecs:
    PS:
      replicas: 1
      restartPolicy: OnFailure
      template:
        spec:
          containers:
          - name: tensorflow
            image: gcr.io/your-project/your-image
            command:
              - python
              - -m
              - trainer.task
              - --batch_size=32
              - --training_steps=1000
            env:
            - name: GOOGLE_APPLICATION_CREDENTIALS
              value: "/etc/secrets/user-gcp-sa.json"
            volumeMounts:
            - name: sa
              mountPath: "/etc/secrets"
              readOnly: true
          volumes:
          - name: sa
            secret:
              secretName: user-gcp-sa
    Worker:
      replicas: 1
      restartPolicy: OnFailure
      template:
        spec:
          containers:
          - name: tensorflow
            image: gcr.io/your-project/your-image
            command:
              - python
              - -m
              - trainer.task
              - --batch_size=32
              - --training_steps=1000
            env:
            - name: GOOGLE_APPLICATION_CREDENTIALS
              value: "/etc/secrets/user-gcp-sa.json"
            volumeMounts:
            - name: sa
              mountPath: "/etc/secrets"
              readOnly: true
          volumes:
          - name: sa
            secret:
              secretName: user-gcp-sa
)yaml";

constexpr std::string_view kWithAGpu = R"yaml(
apiVersion: "kubeflow.org/v1"
kind: "TFJob"
metadata:
  name: "tf-smoke-gpu"
spec:
  tfReplicaSpecs:
    PS:
      replicas: 1
      template:
        metadata:
          creationTimestamp: null
        spec:
          containers:
          - args:
            - python
            - tf_cnn_benchmarks.py
            - --batch_size=32
            - --model=resnet50
            - --variable_update=parameter_server
            - --flush_stdout=true
            - --num_gpus=1
            - --local_parameter_device=cpu
            - --device=cpu
            - --data_format=NHWC
            image: gcr.io/kubeflow/tf-benchmarks-cpu:v20171202-bdab599-dirty-284af3
            name: tensorflow
            ports:
            - containerPort: 2222
              name: tfjob-port
            resources:
              limits:
                cpu: '1'
            workingDir: /opt/tf-benchmarks/scripts/tf_cnn_benchmarks
          restartPolicy: OnFailure
    Worker:
      replicas: 1
      template:
        metadata:
          creationTimestamp: null
        spec:
          containers:
          - args:
            - python
            - tf_cnn_benchmarks.py
            - --batch_size=32
            - --model=resnet50
            - --variable_update=parameter_server
            - --flush_stdout=true
            - --num_gpus=1
            - --local_parameter_device=cpu
            - --device=gpu
            - --data_format=NHWC
            image: gcr.io/kubeflow/tf-benchmarks-gpu:v20171202-bdab599-dirty-284af3
            name: tensorflow
            ports:
            - containerPort: 2222
              name: tfjob-port
            resources:
              limits:
                nvidia.com/gpu: 1
            workingDir: /opt/tf-benchmarks/scripts/tf_cnn_benchmarks
          restartPolicy: OnFailure
)yaml";

constexpr std::string_view kForKubeBatch = R"yaml(
apiVersion: "kubeflow.org/v1"
kind: "TFJob"
metadata:
  name: "dist-mnist-for-e2e-test"
spec:
  tfReplicaSpecs:
    PS:
      replicas: 2
      restartPolicy: Never
      template:
        metadata:
          annotations:
            scheduling.k8s.io/group-name: tfjob-group
        spec:
          schedulerName: kube-batch
          containers:
            - name: tensorflow
              image: ccr.ccs.tencentyun.com/chenyong/tf-dist-mnist-test:1.0
    Worker:
      replicas: 4
      restartPolicy: Never
      template:
        metadata:
          annotations:
            scheduling.k8s.io/group-name: tfjob-group
        spec:
          schedulerName: kube-batch
          containers:
            - name: tensorflow
              image: ccr.ccs.tencentyun.com/chenyong/tf-dist-mnist-test:1.0
)yaml";

constexpr std::string_view kForVolcano = R"yaml(
apiVersion: "kubeflow.org/v1"
kind: "TFJob"
metadata:
  name: "dist-mnist-for-e2e-test"
spec:
  tfReplicaSpecs:
    PS:
      replicas: 2
      restartPolicy: Never
      template:
        spec:
          containers:
            - name: tensorflow
              image: ccr.ccs.tencentyun.com/chenyong/tf-dist-mnist-test:1.0
    Worker:
      replicas: 4
      restartPolicy: Never
      template:
        spec:
          containers:
            - name: tensorflow
              image: ccr.ccs.tencentyun.com/chenyong/tf-dist-mnist-test:1.0
)yaml";

constexpr std::string_view kStoredWithAStatus = R"yaml(
apiVersion: kubeflow.org/v1
kind: TFJob
metadata:
  annotations:
    kubectl.kubernetes.io/last-applied-configuration: |
      {"apiVersion":"kubeflow.org/v1","kind":"TFJob","metadata":{"annotations":{},"name":"mnist","namespace":"kubeflow"},"spec":{"cleanPodPolicy":"None","tfReplicaSpecs":{"Worker":{"replicas":1,"restartPolicy":"Never","template":{"spec":{"containers":[{"command":["python","/var/tf_mnist/mnist_with_summaries.py","--log_dir=/train","--learning_rate=0.01","--batch_size=150"],"image":"gcr.io/kubeflow-ci/tf-mnist-with-summaries:1.0","name":"tensorflow","volumeMounts":[{"mountPath":"/train","name":"training"}]}],"volumes":[{"name":"training","persistentVolumeClaim":{"claimName":"tfevent-volume"}}]}}}}}}
  creationTimestamp: "2019-07-16T02:44:38Z"
  generation: 1
  name: mnist
  namespace: kubeflow
  resourceVersion: "10429537"
  selfLink: /apis/kubeflow.org/v1/namespaces/kubeflow/tfjobs/mnist
  uid: a77b9fb4-a773-11e9-91fe-42010a960094
spec:
  cleanPodPolicy: None
  tfReplicaSpecs:
    Worker:
      replicas: 1
      restartPolicy: Never
      template:
        spec:
          containers:
          - command:
            - python
            - /var/tf_mnist/mnist_with_summaries.py
            - --log_dir=/train
            - --learning_rate=0.01
            - --batch_size=150
            image: gcr.io/kubeflow-ci/tf-mnist-with-summaries:1.0
            name: tensorflow
            volumeMounts:
            - mountPath: /train
              name: training
          volumes:
          - name: training
            persistentVolumeClaim:
              claimName: tfevent-volume
status:
  completionTime: "2019-07-16T02:45:23Z"
  conditions:
  - lastTransitionTime: "2019-07-16T02:44:38Z"
    lastUpdateTime: "2019-07-16T02:44:38Z"
    message: TFJob mnist is created.
    reason: TFJobCreated
    status: "True"
    type: Created
  - lastTransitionTime: "2019-07-16T02:45:20Z"
    lastUpdateTime: "2019-07-16T02:45:20Z"
    message: TFJob mnist is running.
    reason: TFJobRunning
    status: "True"
    type: Running
  replicaStatuses:
    Worker:
      running: 1
  startTime: "2019-07-16T02:44:38Z"
)yaml";

TEST(Tutorials, AMasterWhoseTemplateSaysHowToRestart) {
  for (std::string_view text : {kAMasterWithATemplatePolicy, kTheSameUnderAnotherName}) {
    model::JobSpec spec = lowered(from_yaml(text));
    ASSERT_EQ(spec.roles.size(), 1u);
    EXPECT_EQ(spec.roles[0].name, "master");
    EXPECT_TRUE(spec.roles[0].restarts_in_place);
    EXPECT_EQ(spec.success, model::SuccessRule(model::WholeRole{0}));
    EXPECT_TRUE(spec.advice.empty());
    EXPECT_EQ(pod_of(spec, 0, 0)["spec"].at("restartPolicy").as_string(), "OnFailure");
  }
}

TEST(Tutorials, ParameterServersAndWorkers) {
  model::JobSpec spec = lowered(from_yaml(kGeneratedName));
  EXPECT_EQ(spec.name, "tfjobxxxxx");
  EXPECT_EQ(spec.total_replicas(), 4);
  EXPECT_EQ(spec.success, model::SuccessRule(model::MainReplica{.id = {1, 0}, .or_all = true}));
  model::JobSpec secret = lowered(from_yaml(kWithASecret));
  EXPECT_EQ(secret.total_replicas(), 2);
  json::object pod = pod_of(secret, 1, 0);
  EXPECT_EQ(pod["spec"].at("containers").at(0).at("env").as_array().size(), 2u);
  EXPECT_EQ(pod["spec"].at("volumes").as_array().size(), 1u);
}

TEST(Tutorials, AGpuAndAPortOfItsOwn) {
  model::JobSpec spec = lowered(from_yaml(kWithAGpu));
  for (const model::Role& role : spec.roles) EXPECT_TRUE(role.restarts_in_place) << role.title;
  json::object pod = pod_of(spec, 1, 0);
  EXPECT_EQ(pod["spec"].at("containers").at(0).at("ports").as_array().size(), 1u);
}

TEST(Tutorials, AGangOfKubeBatchAndOfVolcano) {
  model::JobSpec batch = lowered(from_yaml(kForKubeBatch), {.gang_scheduler = "kube-batch"});
  ASSERT_TRUE(batch.gang);
  EXPECT_EQ(batch.gang->name, "tfjob-group");
  EXPECT_FALSE(batch.gang->owned);
  EXPECT_EQ(batch.gang->min_member, 6);
  model::JobSpec volcano = lowered(from_yaml(kForVolcano), {.gang_scheduler = "volcano"});
  ASSERT_TRUE(volcano.gang);
  EXPECT_EQ(volcano.gang->name, "dist-mnist-for-e2e-test");
  EXPECT_EQ(volcano.gang->min_member, 6);
}

TEST(Tutorials, AStoredJobOfAnOlderOperator) {
  json::object job = from_yaml(kStoredWithAStatus);
  model::JobSpec spec = lowered(job);
  EXPECT_EQ(spec.uid, "a77b9fb4-a773-11e9-91fe-42010a960094");
  EXPECT_EQ(spec.cleanup, model::Cleanup::kNone);
  EXPECT_EQ(tfjob().recall(spec, job).started_at, parse_rfc3339("2019-07-16T02:44:38Z"));
}

}  // namespace
}  // namespace trainyard::dialect::tf
