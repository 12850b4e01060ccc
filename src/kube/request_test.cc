#include "kube/request.h"

#include <gtest/gtest.h>

namespace trainyard::kube {
namespace {

TEST(Request, BecomesMethodAndPath) {
  json::object pod{{"metadata", {{"name", "a"}}}};
  struct Row {
    Request request;
    std::string_view method, path, type;
  };
  const LabelSelector labels = LabelSelector::parse("app=x,b in (c,d)").value();
  const FieldSelector fields = FieldSelector::parse("metadata.name=a").value();
  const Row rows[] = {
      {{kPods, "n", Get{"a"}}, "GET", "/api/v1/namespaces/n/pods/a", ""},
      {{kTfJobs, "n", Get{"a"}}, "GET", "/apis/kubeflow.org/v1/namespaces/n/tfjobs/a", ""},
      {{kVolcanoQueues, "ignored", Get{"q"}}, "GET", "/apis/scheduling.volcano.sh/v1beta1/queues/q", ""},
      {{kPods, "", List{}}, "GET", "/api/v1/pods", ""},
      {{kPods, "n", List{labels, fields, 500, "t/=", "0"}},
       "GET",
       "/api/v1/namespaces/n/"
       "pods?labelSelector=app%3Dx%2Cb%20in%20%28c%2Cd%29&fieldSelector=metadata.name%3Da"
       "&limit=500&continue=t%2F%3D&resourceVersion=0",
       ""},
      {{kPods, "", Watch{{}, {}, "7", true, false, 30}},
       "GET",
       "/api/v1/pods?watch=1&resourceVersion=7&allowWatchBookmarks=true&timeoutSeconds=30",
       ""},
      {{kPods, "", Watch{labels, {}, "", true, true, 0}},
       "GET",
       "/api/v1/pods?watch=1&labelSelector=app%3Dx%2Cb%20in%20%28c%2Cd%29&allowWatchBookmarks=true"
       "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan",
       ""},
      {{kPods, "n", Create{pod}}, "POST", "/api/v1/namespaces/n/pods", "application/json"},
      {{kPods, "n", Update{pod}}, "PUT", "/api/v1/namespaces/n/pods/a", "application/json"},
      {{kPods, "n", UpdateStatus{pod}}, "PUT", "/api/v1/namespaces/n/pods/a/status", "application/json"},
      {{kPods, "n", Patch{"a", PatchKind::kMerge, {}, Part::kMain}},
       "PATCH",
       "/api/v1/namespaces/n/pods/a",
       "application/merge-patch+json"},
      {{kPods, "n", Patch{"a", PatchKind::kJson, {}, Part::kStatus}},
       "PATCH",
       "/api/v1/namespaces/n/pods/a/status",
       "application/json-patch+json"},
      {{kPods, "n", Update{pod, Part::kResize}},
       "PUT",
       "/api/v1/namespaces/n/pods/a/resize",
       "application/json"},
      {{kPods, "n", Patch{"a", PatchKind::kStrategic, {}, Part::kResize}},
       "PATCH",
       "/api/v1/namespaces/n/pods/a/resize",
       "application/strategic-merge-patch+json"},
      {{kPods, "n", Delete{"a", {}}}, "DELETE", "/api/v1/namespaces/n/pods/a", "application/json"},
      {{kPods, "n", DeleteCollection{{}, fields, {}}},
       "DELETE",
       "/api/v1/namespaces/n/pods?fieldSelector=metadata.name%3Da",
       "application/json"},
      {{kPods, "a/b", Get{"../x y"}}, "GET", "/api/v1/namespaces/a%2Fb/pods/..%2Fx%20y", ""},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(path_of(row.request), row.path);
    EXPECT_EQ(method_of(row.request), row.method) << row.path;
    EXPECT_EQ(content_type_of(row.request), row.type) << row.path;
    EXPECT_EQ(body_of(row.request).empty(), row.type.empty()) << row.path;
  }
}

TEST(Request, DeleteCarriesItsPreconditions) {
  Request request{kPods, "n", Delete{"a", {"u-1", "7", Propagation::kForeground, 0}}};
  EXPECT_EQ(
      body_of(request),
      R"({"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"uid":"u-1","resourceVersion":"7"},)"
      R"("propagationPolicy":"Foreground","gracePeriodSeconds":0})");
  request.verb = Delete{"a", {}};
  EXPECT_EQ(body_of(request),
            R"({"kind":"DeleteOptions","apiVersion":"v1","propagationPolicy":"Background"})");
}

TEST(Request, AStatusGoesWithoutTheRestOfItsObject) {
  json::object seen{{"metadata",
                     {{"name", "j"},
                      {"namespace", "n"},
                      {"uid", "u-1"},
                      {"resourceVersion", "7"},
                      {"labels", {{"a", "b"}}}}},
                    {"spec", {{"x", 1}}},
                    {"status", {{"phase", "Old"}}}};
  EXPECT_EQ(json::serialize(status_update(kTfJobs, seen, {{"phase", "New"}}).body),
            R"({"apiVersion":"kubeflow.org/v1","kind":"TFJob","metadata":{"name":"j","namespace":"n",)"
            R"("uid":"u-1","resourceVersion":"7"},"status":{"phase":"New"}})");
}

TEST(Request, SaysWhatItIs) {
  EXPECT_EQ(to_string(Request{kPods, "n", Delete{"a", {}}}), "delete pods n/a");
  EXPECT_EQ(to_string(Request{kPods, "", List{}}), "list pods");
  EXPECT_EQ(to_string(Request{kPods, "n", List{}}), "list pods in n");
  EXPECT_EQ(to_string(Request{kVolcanoQueues, "", Get{"q"}}), "get queues q");
  EXPECT_EQ(to_string(Request{kTfJobs, "n", UpdateStatus{{{"metadata", {{"name", "j"}}}}}}),
            "update the status of tfjobs n/j");
}

}  // namespace
}  // namespace trainyard::kube
