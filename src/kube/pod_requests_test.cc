#include "kube/pod_requests.h"

#include <gtest/gtest.h>

namespace trainyard::kube {
namespace {

json::object pod_of(const std::string& containers, const std::string& status = "{}") {
  return json::parse(R"({"spec":{"containers":[)" + containers + R"(]},"status":)" + status + "}")
      .as_object();
}

TEST(QosClassOf, FollowsKubernetes) {
  const std::pair<std::string, std::string> cases[] = {
      {R"({"name":"a"})", "BestEffort"},
      {R"({"name":"a","resources":{"requests":{"cpu":"0"}}})", "BestEffort"},
      {R"({"name":"a","resources":{"requests":{"cpu":"1"}}})", "Burstable"},
      {R"({"name":"a","resources":{"limits":{"cpu":"1","memory":"1Gi"}}})", "Guaranteed"},
      {R"({"name":"a","resources":{"limits":{"cpu":"1","memory":"1Gi"},
                                   "requests":{"cpu":"1000m","memory":"1024Mi"}}})",
       "Guaranteed"},
      {R"({"name":"a","resources":{"limits":{"cpu":"1","memory":"1Gi"},"requests":{"cpu":"500m"}}})",
       "Burstable"},
      {R"({"name":"a","resources":{"limits":{"cpu":"1","memory":"1Gi"}}},{"name":"b"})", "Burstable"},
  };
  for (const auto& [containers, wanted] : cases)
    EXPECT_EQ(qos_class_of(pod_of(containers)), wanted) << containers;
}

// What a scheduler counts for a pod of one container while it is being resized.
TEST(RequestsOf, CountsTheMostOfAResize) {
  struct Row {
    const char* what;
    const char* status;
    int64_t cpu;
  };
  const char* two = R"({"name":"a","resources":{"requests":{"cpu":"2"}}})";
  for (const Row& row : {
           Row{"nothing is told", "{}", 2000},
           Row{"done", R"({"containerStatuses":[{"name":"a","allocatedResources":{"cpu":"2"},
                          "resources":{"requests":{"cpu":"2"}}}]})",
               2000},
           Row{"it grows", R"({"containerStatuses":[{"name":"a","allocatedResources":{"cpu":"1"},
                              "resources":{"requests":{"cpu":"1"}}}]})",
               2000},
           Row{"it shrinks", R"({"containerStatuses":[{"name":"a","allocatedResources":{"cpu":"2"},
                                "resources":{"requests":{"cpu":"3"}}}]})",
               3000},
           Row{"it never can", R"({"conditions":[{"type":"PodResizePending","reason":"Infeasible"}],
                                  "containerStatuses":[{"name":"a","allocatedResources":{"cpu":"1"},
                                  "resources":{"requests":{"cpu":"1"}}}]})",
               1000},
           Row{"a node that cannot",
               R"({"containerStatuses":[{"name":"a","allocatedResources":{"cpu":"3"}}]})", 2000},
       }) {
    json::object pod = pod_of(two, row.status);
    EXPECT_EQ(requests_of(pod)["cpu"], row.cpu) << row.what;
    EXPECT_EQ(requests_of_spec(pod)["cpu"], 2000) << row.what;
    EXPECT_EQ(is_resizing(pod), requests_of(pod) != requests_of_spec(pod) || row.what[0] == 'i') << row.what;
  }
}

TEST(RequestsOf, CountsResizedSidecars) {
  json::object pod = json::parse(R"({"spec":{"containers":[{"name":"a","resources":{"requests":{"cpu":"1"}}}],
      "initContainers":[{"name":"s","restartPolicy":"Always","resources":{"requests":{"cpu":"1"}}},
                        {"name":"i","resources":{"requests":{"cpu":"1"}}}]},
      "status":{"initContainerStatuses":[{"name":"s","resources":{"requests":{"cpu":"4"}}},
                                         {"name":"i","resources":{"requests":{"cpu":"9"}}}]}})")
                         .as_object();
  EXPECT_EQ(requests_of(pod)["cpu"], 5000);
}

// A request can make such a pod. Looked for one by one, its statuses kept the scheduler busy for a minute.
TEST(RequestsOf, ManyContainersAreCounted) {
  constexpr int kContainers = 20'000;
  json::array containers;
  json::array statuses;
  for (int i = 0; i < kContainers; ++i) {
    json::object resources{{"requests", json::object{{"cpu", "1"}}}};
    containers.push_back(json::object{{"name", std::to_string(i)}, {"resources", resources}});
    if (i == 0) resources["requests"].as_object()["cpu"] = "3";
    statuses.push_back(json::object{{"name", std::to_string(i)}, {"resources", resources}});
  }
  json::object pod{{"spec", json::object{{"containers", std::move(containers)}}},
                   {"status", json::object{{"containerStatuses", std::move(statuses)}}}};
  EXPECT_EQ(requests_of(pod)["cpu"], (kContainers + 2) * 1000);
}

}  // namespace
}  // namespace trainyard::kube
