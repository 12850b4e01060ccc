#include "client/keep.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include "client/cache.h"
#include "kube/access.h"
#include "kube/meta.h"
#include "kube/pod.h"

namespace trainyard::client {
namespace {

Object parsed(std::string_view text) {
  return std::make_shared<const json::object>(json::parse(kube::jview(text)).as_object());
}

// A pod with a little of everything, as a server tells it.
Object a_pod() {
  return parsed(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a-worker-0","namespace":"ns","uid":"u",
    "resourceVersion":"7","creationTimestamp":"2026-01-01T00:00:00Z","labels":{"x":"y"},
    "annotations":{"trainyard.dev/attempt":"1","other.example.com/large":"no"},
    "ownerReferences":[{"apiVersion":"kubeflow.org/v1","kind":"TFJob","name":"a","uid":"o","controller":true}],
    "managedFields":[{"manager":"m"}],"deletionTimestamp":"2026-01-01T00:01:00Z","deletionGracePeriodSeconds":30},
    "spec":{"nodeName":"n","schedulerName":"s","restartPolicy":"Never","containers":[{"name":"tensorflow",
    "image":"i","env":[{"name":"TF_CONFIG","value":"long"}]}],"volumes":[{"name":"v"}]},
    "status":{"phase":"Failed","reason":"Evicted","message":"m","podIP":"1.2.3.4","qosClass":"BestEffort",
    "conditions":[{"type":"Ready","status":"False","lastProbeTime":null},{"type":"Initialized","status":"True"},
    {"type":"DisruptionTarget","status":"True","reason":"EvictionByEvictionAPI"}],
    "containerStatuses":[{"name":"tensorflow","image":"i","imageID":"long","restartCount":2,"ready":false,
    "state":{"terminated":{"exitCode":137,"reason":"OOMKilled"}},"lastState":{"terminated":{"exitCode":1}}}]}})");
}

TEST(Keep, APodReadsTheSameAfterwards) {
  Object pod = a_pod();
  Object kept = keep_pod(pod);
  EXPECT_EQ(kube::decode_pod(*kept), kube::decode_pod(*pod));
  EXPECT_EQ(kube::controller_uid_of(*kept), "o");
  EXPECT_EQ(kube::text_at(*kept, {"kind"}), "Pod");
  EXPECT_EQ(kube::find(*kept, {"metadata", "managedFields"}), nullptr);
  EXPECT_EQ(kube::find(*kept, {"spec", "volumes"}), nullptr);
  EXPECT_EQ(kube::annotation_of(*kept, "other.example.com/large"), "");
  EXPECT_LT(json::serialize(*kept).size(), json::serialize(*pod).size());
}

TEST(Keep, OfAServiceWhoItIs) {
  Object kept = keep_identity(a_pod());
  EXPECT_EQ(kube::name_of(*kept), "a-worker-0");
  EXPECT_TRUE(kube::is_deleting(*kept));
  EXPECT_FALSE(kept->contains("spec"));
}

TEST(Keep, OfAJobEverythingButItsManagers) {
  Object pod = a_pod();
  json::object expected = *pod;
  expected["metadata"].get_object().erase("managedFields");
  EXPECT_EQ(*keep_all_but_managers(pod), expected);
  Object plain = parsed(R"({"metadata":{"name":"a"}})");
  EXPECT_EQ(keep_all_but_managers(plain), plain);
  for (const char* odd : {"{}", R"({"metadata":1,"spec":"x","status":[]})",
                          R"({"status":{"conditions":{},"containerStatuses":[1]}})"}) {
    keep_pod(parsed(odd));
    keep_identity(parsed(odd));
  }
}

TEST(Keep, OfATextAtLeastWhatIsKept) {
  const std::string text = json::serialize(*a_pod());
  std::string room;
  const Object pod = parsed(with_only(text, wanted_of_pod(), room));
  EXPECT_EQ(*keep_pod(pod), *keep_pod(a_pod()));
  EXPECT_FALSE(pod->at("spec").as_object().contains("volumes"));
  // What has nothing else is not copied.
  const Object kept = keep_pod(pod);
  EXPECT_EQ(keep_pod(kept), kept);
  EXPECT_NE(kept, pod);
  const Object identity = parsed(with_only(text, wanted_of_identity(), room));
  EXPECT_EQ(*keep_identity(identity), *keep_identity(a_pod()));
  EXPECT_FALSE(identity->contains("spec"));
}

// A worker's pod as a server tells of it once it runs: some six kilobytes.
Object a_running_pod(int index) {
  std::string name = fmt::format("mnist-{}-worker-{}", index / 4, index % 4);
  json::object pod = *parsed(R"({"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"team-a",
    "creationTimestamp":"2026-01-01T00:00:00Z","labels":{"training.kubeflow.org/operator-name":"tfjob-controller",
    "training.kubeflow.org/replica-type":"worker"},"annotations":{"trainyard.dev/attempt":"0"}},
    "spec":{"containers":[{"name":"tensorflow","image":"tensorflow/tensorflow:2.11.0","resources":{},
    "volumeMounts":[{"name":"data","mountPath":"/data"}],"imagePullPolicy":"IfNotPresent"}],"restartPolicy":"Never",
    "dnsPolicy":"ClusterFirst","schedulerName":"default-scheduler","terminationGracePeriodSeconds":30},
    "status":{"phase":"Running","qosClass":"BestEffort","startTime":"2026-01-01T00:00:01Z","conditions":[
    {"type":"PodReadyToStartContainers","status":"True","lastTransitionTime":"2026-01-01T00:00:02Z"},
    {"type":"Initialized","status":"True","lastTransitionTime":"2026-01-01T00:00:01Z"},
    {"type":"Ready","status":"True","lastProbeTime":null,"lastTransitionTime":"2026-01-01T00:00:02Z"},
    {"type":"ContainersReady","status":"True","lastTransitionTime":"2026-01-01T00:00:02Z"},
    {"type":"PodScheduled","status":"True","lastProbeTime":null,"lastTransitionTime":"2026-01-01T00:00:01Z"}],
    "containerStatuses":[{"name":"tensorflow","image":"tensorflow/tensorflow:2.11.0","ready":true,"restartCount":0,
    "lastState":{},"state":{"running":{"startedAt":"2026-01-01T00:00:02Z"}}}]}})");
  json::object& metadata = pod["metadata"].as_object();
  std::string job = fmt::format("mnist-{}", index / 4);
  metadata["name"] = name;
  metadata["uid"] = fmt::format("{:08x}-1111-4222-8333-{:012x}", index * 2654435761u, index);
  metadata["resourceVersion"] = std::to_string(100'000 + 7 * index);
  metadata["labels"].as_object()["training.kubeflow.org/job-name"] = job;
  metadata["labels"].as_object()["training.kubeflow.org/replica-index"] = std::to_string(index % 4);
  metadata["ownerReferences"] = json::array{
      kube::owner_reference("kubeflow.org/v1", "TFJob", job, fmt::format("{:08x}-owner", index / 4))};
  metadata["managedFields"] = json::array{json::object{{"manager", std::string(3000, 'm')}}};
  json::object& spec = pod["spec"].as_object();
  spec["nodeName"] = fmt::format("node-{}", index % 100);
  spec["containers"].as_array()[0].as_object()["env"] =
      json::array{json::object{{"name", "TF_CONFIG"}, {"value", std::string(800, 'c')}}};
  json::object& status = pod["status"].as_object();
  status["podIP"] = fmt::format("10.0.{}.{}", index / 250, index % 250);
  json::object& container = status["containerStatuses"].as_array()[0].as_object();
  container["containerID"] = fmt::format("containerd://{:064x}", index);
  return std::make_shared<const json::object>(std::move(pod));
}

size_t heap_bytes() {
  struct mallinfo2 heap = mallinfo2();
  return heap.uordblks + heap.hblkhd;
}

// The cache of an operator, indexes and all. Under sanitizers, which have a heap of their own, it says
// nothing.
TEST(Keep, APodTakesLessThanOneAndAHalfKibibytes) {
  constexpr int kPods = 4000;
  EXPECT_GT(json::serialize(*a_running_pod(0)).size(), 5000u);
  size_t before = heap_bytes();
  Cache cache(Form::kText);
  cache.apply(Init{}, Time{1}, [](const Changed&) {});
  for (int i = 0; i < kPods; ++i)
    cache.apply(Apply{keep_pod(a_running_pod(i))}, Time{1}, [](const Changed&) {});
  cache.apply(InitDone{1'000'000}, Time{1}, [](const Changed&) {});
  EXPECT_EQ(cache.all().size(), size_t{kPods});
  EXPECT_LT((heap_bytes() - before) / kPods, 1536u);
  RecordProperty("bytes_per_pod", static_cast<int>((heap_bytes() - before) / kPods));
}

}  // namespace
}  // namespace trainyard::client
