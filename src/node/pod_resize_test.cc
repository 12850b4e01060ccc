#include "node/pod_resize.h"

#include <gtest/gtest.h>

namespace trainyard::node {
namespace {

TEST(JudgeResize, OnlyWhatGrowsMustFit) {
  struct Row {
    const char* what;
    ResizeQuestion question;
    ResizeState state;
  };
  const Requests capacity{4000, 1000, 0};
  for (const Row& row : {
           Row{"room", {{2000, 100, 0}, {1000, 100, 0}, {2000, 900, 0}, capacity}, ResizeState::kFits},
           Row{"later", {{3000, 100, 0}, {1000, 100, 0}, {2000, 0, 0}, capacity}, ResizeState::kDeferred},
           Row{"never", {{5000, 100, 0}, {1000, 100, 0}, {0, 0, 0}, capacity}, ResizeState::kInfeasible},
           Row{"memory never",
               {{1000, 1001, 0}, {1000, 100, 0}, {0, 0, 0}, capacity},
               ResizeState::kInfeasible},
           Row{"memory later",
               {{1000, 200, 0}, {1000, 100, 0}, {0, 900, 0}, capacity},
               ResizeState::kDeferred},
           Row{"less", {{500, 50, 0}, {1000, 100, 0}, {9000, 9000, 0}, capacity}, ResizeState::kFits},
           Row{"CPU is promised twice",
               {{5000, 100, 0}, {1000, 100, 0}, {9000, 0, 0}, capacity, true},
               ResizeState::kFits},
       }) {
    EXPECT_EQ(judge_resize(row.question).state, row.state) << row.what;
  }
  EXPECT_EQ(judge_resize({{3000, 0, 0}, {1000, 0, 0}, {2000, 0, 0}, capacity}).message,
            "Node didn't have enough resource: cpu, requested: 3000, used: 2000, capacity: 4000");
}

TEST(WayOfResize, FollowsThePolicyOfWhatChanges) {
  json::object container =
      json::parse(R"({"resizePolicy":[{"resourceName":"memory","restartPolicy":"RestartContainer"},
                                           {"resourceName":"cpu","restartPolicy":"NotRequired"}]})")
          .as_object();
  auto way = [&](const char* before, const char* after) {
    return way_of_resize(container, json::parse(before).as_object(), json::parse(after).as_object());
  };
  EXPECT_EQ(way(R"({"limits":{"cpu":"1"}})", R"({"limits":{"cpu":"1000m"}})"), ResizeWay::kNone);
  EXPECT_EQ(way(R"({"limits":{"cpu":"1"}})", R"({"limits":{"cpu":"2"}})"), ResizeWay::kInPlace);
  EXPECT_EQ(way(R"({"requests":{"cpu":"1"}})", R"({"requests":{"cpu":"2"}})"), ResizeWay::kInPlace);
  EXPECT_EQ(way(R"({"requests":{"memory":"1"}})", R"({"requests":{"memory":"2"}})"), ResizeWay::kNone);
  EXPECT_EQ(way(R"({"limits":{"memory":"1","cpu":"1"}})", R"({"limits":{"memory":"2","cpu":"2"}})"),
            ResizeWay::kRestart);
}

// A node that comes back finds in the status what it had promised.
TEST(AllocatedOf, TakesThePromiseFromTheStatus) {
  json::object pod = json::parse(R"({"metadata":{"generation":3},
      "spec":{"containers":[{"name":"a","resources":{"requests":{"cpu":"2"},"limits":{"cpu":"2"}}},{"name":"b"}]},
      "status":{"observedGeneration":3,"conditions":[{"type":"PodResizePending"}],"containerStatuses":[
        {"name":"a","allocatedResources":{"cpu":"1"},"resources":{"requests":{"cpu":"1"},"limits":{"cpu":"1"}}}]}})")
                         .as_object();
  Allocation told = allocated_of(pod);
  EXPECT_EQ(json::serialize(told["a"]), R"({"requests":{"cpu":"1"},"limits":{"cpu":"1"}})");
  EXPECT_EQ(json::serialize(told["b"]), "{}");
  EXPECT_EQ(json::serialize(with_allocation(pod, told).at("spec").at("containers").at(0).at("resources")),
            R"({"requests":{"cpu":"1"},"limits":{"cpu":"1"}})");
  EXPECT_FALSE(are_same_resources(told, wanted_of(pod)));
  // All is done: the status may leave out what is not enforced.
  pod["status"].as_object()["conditions"] = json::array();
  EXPECT_TRUE(are_same_resources(allocated_of(pod), wanted_of(pod)));
  pod["metadata"].as_object()["generation"] = 4;
  EXPECT_FALSE(are_same_resources(allocated_of(pod), wanted_of(pod)));
}

}  // namespace
}  // namespace trainyard::node
