#include "client/keep.h"

#include <gtest/gtest.h>

#include "kube/access.h"
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

}  // namespace
}  // namespace trainyard::client
