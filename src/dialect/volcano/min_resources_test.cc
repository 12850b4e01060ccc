#include "dialect/volcano/min_resources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dialect/volcano/testing.h"

namespace trainyard::dialect::vc {
namespace {

using testing::job;
using testing::lowered;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

std::string asking(std::string_view name, int replicas, std::string_view min, std::string_view resources,
                   std::string_view init = "") {
  return "  - name: " + std::string(name) + "\n    replicas: " + std::to_string(replicas) + "\n" +
         std::string(min) + "    template:\n      spec:\n" + std::string(init) +
         "        containers:\n        - name: main\n          image: i\n          resources: " +
         std::string(resources) + "\n";
}

std::map<std::string, std::string> of(const std::string& tasks, std::string_view rest = "") {
  return lowered(job(tasks, rest)).gang->min_resources;
}

TEST(MinResources, EveryKeyOfAQuota) {
  EXPECT_THAT(
      of(asking("w", 2, "",
                "{requests: {cpu: 1500m, memory: 1Gi, nvidia.com/gpu: 2, ephemeral-storage: 10Gi}, limits: "
                "{cpu: 2, "
                "memory: 2Gi, nvidia.com/gpu: 2}}")),
      UnorderedElementsAre(Pair("pods", "2"), Pair("count/pods", "2"), Pair("cpu", "3"),
                           Pair("requests.cpu", "3"), Pair("limits.cpu", "4"), Pair("memory", "2Gi"),
                           Pair("requests.memory", "2Gi"), Pair("limits.memory", "4Gi"),
                           Pair("nvidia.com/gpu", "4"), Pair("requests.nvidia.com/gpu", "4"),
                           Pair("ephemeral-storage", "20Gi"), Pair("requests.ephemeral-storage", "20Gi")));
}

TEST(MinResources, ALimitStandsForAMissingRequest) {
  EXPECT_THAT(of(asking("w", 1, "", "{limits: {cpu: 2}}")),
              UnorderedElementsAre(Pair("pods", "1"), Pair("count/pods", "1"), Pair("cpu", "2"),
                                   Pair("requests.cpu", "2"), Pair("limits.cpu", "2")));
}

TEST(MinResources, AnInitContainerThatAsksForMore) {
  EXPECT_EQ(of(asking("w", 1, "", "{requests: {cpu: 1}}",
                      "        initContainers: [{name: a, image: i, resources: {requests: {cpu: 3}}}, {name: "
                      "b, image: "
                      "i, resources: {requests: {cpu: 2}}}]\n"))
                .at("cpu"),
            "3");
}

// A sidecar runs beside the containers, and beside the init containers after it.
TEST(MinResources, SidecarsAndOverheadAreThereThroughout) {
  const std::string side =
      "{name: side, image: i, restartPolicy: Always, resources: {requests: {cpu: 1}, limits: {cpu: 2}}}";
  auto spec = [&](const std::string& init) {
    return "        overhead: {cpu: 250m}\n        initContainers: [" + init + "]\n";
  };
  std::map<std::string, std::string> sum = of(asking("w", 2, "", "{limits: {cpu: 1}}", spec(side)));
  EXPECT_EQ(sum.at("requests.cpu"), "4500m");
  EXPECT_EQ(sum.at("limits.cpu"), "6500m");
  const std::string big = "{name: big, image: i, resources: {requests: {cpu: 5}}}";
  EXPECT_EQ(of(asking("w", 1, "", "{requests: {cpu: 1}}", spec(side + ", " + big))).at("cpu"), "6250m");
  EXPECT_EQ(of(asking("w", 1, "", "{requests: {cpu: 1}}", spec(big + ", " + side))).at("cpu"), "5250m");
}

TEST(MinResources, WhichPodsAreCounted) {
  std::string big = "{requests: {cpu: 20}}";
  std::string small = "{requests: {cpu: 1}}";
  struct Case {
    std::string_view about;
    std::string tasks;
    std::string_view rest;
    std::string_view cpu;
  };
  for (const Case& c : std::initializer_list<Case>{
           {"the first four of six", asking("w", 6, "", big), "  minAvailable: 4\n", "80"},  // 24d
           {"below the minima: in order", asking("a", 2, "", small) + asking("b", 2, "", big),
            "  minAvailable: 3\n", "22"},
           {"each minimum first",
            asking("a", 3, "    minAvailable: 1\n", small) + asking("b", 3, "    minAvailable: 2\n", big),
            "  minAvailable: 3\n", "41"},
           {"then the rest in order",
            asking("a", 3, "    minAvailable: 1\n", small) + asking("b", 3, "    minAvailable: 2\n", big),
            "  minAvailable: 5\n", "43"},
           {"mixed sizes",
            asking("a", 1, "", "{requests: {cpu: 100m}}") + asking("b", 2, "", "{requests: {cpu: 100}}"), "",
            "200100m"},  // 24a
       }) {
    EXPECT_EQ(of(c.tasks, c.rest).at("cpu"), c.cpu) << c.about;
  }
}

}  // namespace
}  // namespace trainyard::dialect::vc
