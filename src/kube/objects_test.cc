#include "kube/objects.h"

#include <gtest/gtest.h>

#include "kube/access.h"

namespace trainyard::kube {
namespace {

json::object object(std::string_view text) { return json::parse(jview(text)).as_object(); }

TEST(Objects, AreWrittenAsTheyAreSent) {
  NewMeta meta{"a", "n", {{"l", "1"}}, {{"k", "2"}}, owner_reference("kubeflow.org/v1", "TFJob", "j", "u")};
  EXPECT_EQ(json::value(headless_service(meta, {{"s", "x"}}, {{"tfjob-port", 2222, {}, ""}})),
            json::value(object(R"({"apiVersion":"v1","kind":"Service","metadata":{"name":"a","namespace":"n",
      "labels":{"l":"1"},"annotations":{"k":"2"},"ownerReferences":[{"apiVersion":"kubeflow.org/v1","kind":"TFJob",
      "name":"j","uid":"u","controller":true,"blockOwnerDeletion":true}]},
      "spec":{"clusterIP":"None","selector":{"s":"x"},"ports":[{"name":"tfjob-port","port":2222}]}})")));
  NewMeta plain{"a", "n", {}, {}, {}};
  EXPECT_EQ(json::serialize(headless_service(plain, {}, {{"", 1, 2, "TCP"}}, true)),
            R"({"apiVersion":"v1","kind":"Service","metadata":{"name":"a","namespace":"n"},)"
            R"("spec":{"clusterIP":"None","ports":[{"port":1,"targetPort":2,"protocol":"TCP"}],)"
            R"("publishNotReadyAddresses":true}})");
  EXPECT_EQ(json::serialize(config_map(plain, {{"ps.host", "a\nb"}})),
            R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"n"},)"
            R"("data":{"ps.host":"a\nb"}})");
  EXPECT_EQ(json::serialize(secret(plain, {{"key", "hello"}})),
            R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"a","namespace":"n"},"type":"Opaque",)"
            R"("data":{"key":"aGVsbG8="}})");
  EXPECT_EQ(
      json::serialize(same_labels_network_policy(plain, {{"j", "x"}})),
      R"({"apiVersion":"networking.k8s.io/v1","kind":"NetworkPolicy","metadata":{"name":"a","namespace":"n"},)"
      R"("spec":{"podSelector":{"matchLabels":{"j":"x"}},)"
      R"("ingress":[{"from":[{"podSelector":{"matchLabels":{"j":"x"}}}]}],"policyTypes":["Ingress"]}})");
}

TEST(Objects, AnEventSaysWhatItIsAbout) {
  json::object job = object(
      R"({"apiVersion":"kubeflow.org/v1","kind":"TFJob","metadata":{"name":"j","namespace":"n","uid":"u",
      "resourceVersion":"5"}})");
  NewEvent of{"j.1",      "n",       involved_object(job), EventType::kWarning,
              "Bad",      "because", "trainyard",          Time{0},
              Time{1000}, 2};
  EXPECT_EQ(
      json::serialize(event(of)),
      R"({"apiVersion":"v1","kind":"Event","metadata":{"name":"j.1","namespace":"n"},"involvedObject":)"
      R"({"kind":"TFJob","namespace":"n","name":"j","uid":"u","apiVersion":"kubeflow.org/v1","resourceVersion":"5"},)"
      R"("reason":"Bad","message":"because","type":"Warning","source":{"component":"trainyard"},)"
      R"("firstTimestamp":"1970-01-01T00:00:00Z","lastTimestamp":"1970-01-01T00:00:01Z","count":2})");
}

TEST(Base64, GoesThereAndBack) {
  for (std::string_view text : {"", "f", "fo", "foo", "foob", "fooba", "foobar", "\xFF\xFE\x01"}) {
    EXPECT_EQ(decode_base64(encode_base64(text)), text);
  }
  EXPECT_EQ(encode_base64("foob"), "Zm9vYg==");
  for (std::string_view text : {"a", "====", "Zm9=vYg=", "Zm9v!A==", "Zg=a"})
    EXPECT_FALSE(decode_base64(text)) << text;
}

TEST(Views, PodGroupsOfTheFourGroups) {
  PodGroup volcano =
      decode_pod_group(object(R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup",
      "metadata":{"name":"g","namespace":"n","uid":"u","resourceVersion":"9",
        "ownerReferences":[{"uid":"j","controller":true}]},
      "spec":{"minMember":3,"minTaskMember":{"ps":1,"worker":2},"queue":"q","priorityClassName":"high",
        "minResources":{"cpu":"2","memory":"1Gi","bad":"x"}},
      "status":{"phase":"Inqueue","running":1,"conditions":[{"type":"Unschedulable","status":"True",
        "reason":"NotEnoughResources","lastTransitionTime":"2026-01-01T00:00:00Z"}]}})"));
  EXPECT_EQ(volcano.group, "scheduling.volcano.sh");
  EXPECT_EQ(volcano.version, 9);
  EXPECT_EQ(volcano.controller_uid, "j");
  EXPECT_EQ(volcano.min_member, 3);
  EXPECT_EQ(volcano.min_task_member, (std::map<std::string, int32_t>{{"ps", 1}, {"worker", 2}}));
  EXPECT_EQ(volcano.min_resources.size(), 2u);
  EXPECT_EQ(volcano.min_resources["memory"].value(), 1 << 30);
  EXPECT_EQ(volcano.queue, "q");
  EXPECT_EQ(volcano.priority_class, "high");
  EXPECT_EQ(volcano.phase, "Inqueue");
  EXPECT_EQ(volcano.running, 1);
  ASSERT_NE(find_condition(volcano.conditions, "Unschedulable"), nullptr);
  EXPECT_TRUE(find_condition(volcano.conditions, "Unschedulable")->is_true());
  EXPECT_EQ(find_condition(volcano.conditions, "Scheduled"), nullptr);

  PodGroup t9k = decode_pod_group(object(R"({"apiVersion":"scheduler.tensorstack.dev/v1beta1",
      "spec":{"minMember":4,"roles":[{"name":"ps","minMember":1},7],"queue":"q","priority":50},"status":{}})"));
  EXPECT_EQ(t9k.min_task_member, (std::map<std::string, int32_t>{{"ps", 1}}));
  EXPECT_EQ(t9k.priority, 50);
  PodGroup coscheduling = decode_pod_group(object(
      R"({"apiVersion":"scheduling.x-k8s.io/v1alpha1","spec":{"minMember":2,"scheduleTimeoutSeconds":60}})"));
  EXPECT_EQ(coscheduling.schedule_timeout_seconds, 60);
  PodGroup batch = decode_pod_group(object(
      R"({"apiVersion":"scheduling.incubator.k8s.io/v1alpha1","spec":{"minMember":2},"status":{"phase":"Running"}})"));
  EXPECT_EQ(batch.phase, "Running");
  EXPECT_EQ(decode_pod_group({}), PodGroup());
  EXPECT_EQ(decode_pod_group(object(R"({"spec":3,"status":[],"metadata":"x"})")), PodGroup());
}

TEST(Views, QueuesOfBothKinds) {
  Queue volcano =
      decode_queue(object(R"({"apiVersion":"scheduling.volcano.sh/v1beta1","metadata":{"name":"q"},
      "spec":{"weight":3,"capability":{"cpu":8},"guarantee":{"resource":{"cpu":"500m"}},"reclaimable":false,"parent":"root",
      "priority":2},"status":{"state":"Closing","allocated":{"cpu":"1"}}})"));
  EXPECT_EQ(volcano.weight, 3);
  EXPECT_EQ(volcano.capability["cpu"].value(), 8);
  EXPECT_EQ(volcano.guarantee["cpu"].value_milli(), 500);
  EXPECT_FALSE(volcano.reclaimable);
  EXPECT_TRUE(volcano.closed);
  EXPECT_EQ(volcano.parent, "root");
  Queue t9k =
      decode_queue(object(R"({"apiVersion":"scheduler.tensorstack.dev/v1beta1","metadata":{"name":"q"},
      "spec":{"quota":{"requests":{"cpu":"4"}},"priority":7,"closed":true,"preemptible":false,"maxDuration":"1d",
      "namespaceSelector":{}}})"));
  EXPECT_EQ(t9k.capability["cpu"].value(), 4);
  EXPECT_EQ(t9k.priority, 7);
  EXPECT_TRUE(t9k.closed);
  EXPECT_FALSE(t9k.reclaimable);
  EXPECT_EQ(t9k.max_duration, "1d");
  EXPECT_FALSE(t9k.node_selector);
  EXPECT_TRUE(t9k.namespace_selector);
  EXPECT_EQ(decode_queue({}), Queue());
}

TEST(Views, TensorBoard) {
  TensorBoard board = decode_tensor_board(object(R"({"metadata":{"name":"b","namespace":"n"},
      "spec":{"image":"tb","trainingLogFilesets":["t9k://pvc/a/b"],"runMode":"paused","more":1},
      "status":{"phase":"Running","url":"u","conditions":[{"type":"Ready","status":"True"}]}})"));
  EXPECT_EQ(board.image, "tb");
  EXPECT_EQ(board.training_log_filesets, std::vector<std::string>{"t9k://pvc/a/b"});
  EXPECT_TRUE(board.suspended);
  EXPECT_TRUE(board.is_ready());
  EXPECT_EQ(board.url, "u");
  EXPECT_TRUE(board.spec.contains("more"));
  EXPECT_EQ(decode_tensor_board({}), TensorBoard());
}

}  // namespace
}  // namespace trainyard::kube
