#include "control/placement.h"

#include <gtest/gtest.h>

#include "kube/yaml.h"

namespace trainyard::control {
namespace {

json::object pod(std::string_view name, std::string_view requests, std::string_view more = "") {
  std::string text = fmt::format(
      R"({{"metadata":{{"namespace":"ns","name":"{0}","uid":"uid-{0}","creationTimestamp":"2026-01-01T00:00:00Z"}},
          "spec":{{"containers":[{{"name":"c","resources":{{"requests":{1}}}}}]{2}}}}})",
      name, requests, more);
  return json::parse(text).as_object();
}

json::object node(std::string_view name, std::string_view allocatable, std::string_view more = "") {
  return json::parse(fmt::format(R"({{"metadata":{{"name":"{}","labels":{{"zone":"a"}}}},
                                     "status":{{"allocatable":{}}}{}}})",
                                 name, allocatable, more))
      .as_object();
}

std::string shown(const std::vector<json::object>& pods, const std::vector<json::object>& nodes,
                  PlacementOptions options = {}, const std::map<std::string, std::string>& assumed = {}) {
  std::vector<const json::object*> pod_views, node_views;
  for (const json::object& pod : pods) pod_views.push_back(&pod);
  for (const json::object& node : nodes) node_views.push_back(&node);
  std::string text;
  for (const Placed& placed : place(pod_views, node_views, assumed, options)) {
    const Bind* bind = std::get_if<Bind>(&placed.where);
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", placed.pod,
                        bind != nullptr ? bind->node : std::get<Wait>(placed.where).message);
  }
  return text;
}

const json::object kSmall = node("n", R"({"cpu":"2","memory":"1Gi","pods":"3"})");

TEST(Placement, FirstComeFirstServedAndOthersMayPass) {
  EXPECT_EQ(shown({pod("a", R"({"cpu":"1500m"})"), pod("b", R"({"cpu":1})"), pod("c", R"({"cpu":"500m"})")},
                  {kSmall}),
            "a: n; b: 0/1 nodes are available: 1 Insufficient cpu (wants 1, 500m free).; c: n");
}

TEST(Placement, CpuMayBeOvercommittedMemoryNever) {
  EXPECT_EQ(shown({pod("a", R"({"cpu":"8"})"), pod("b", R"({"memory":"2Gi"})")}, {kSmall}, {true}),
            "a: n; b: 0/1 nodes are available: 1 Insufficient memory (wants 2Gi, 1Gi free).");
}

TEST(Placement, WhatIsBoundOrAssumedIsTaken) {
  json::object bound = pod("a", R"({"cpu":"1"})", R"(,"nodeName":"n")");
  json::object ended = pod("e", R"({"cpu":"2"})", R"(,"nodeName":"n")");
  ended["status"] = json::object{{"phase", "Succeeded"}};
  EXPECT_EQ(shown({bound, ended, pod("b", R"({"cpu":"1"})"), pod("c", R"({"cpu":"1"})")}, {kSmall}, {},
                  {{"uid-b", "n"}}),
            "c: 0/1 nodes are available: 1 Insufficient cpu (wants 1, 0 free).");
}

TEST(Placement, NodesAreChosenByLabelsAndMarks) {
  json::object cordoned = node("x", R"({"cpu":"9","pods":"9"})", R"(,"spec":{"unschedulable":true})");
  EXPECT_EQ(shown({pod("a", "{}", R"(,"nodeSelector":{"zone":"a"})")}, {cordoned, kSmall}), "a: n");
  EXPECT_EQ(shown({pod("a", "{}", R"(,"nodeSelector":{"zone":"b"})")}, {cordoned, kSmall}),
            "a: 0/2 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, "
            "1 node(s) were unschedulable.");
  EXPECT_EQ(shown({pod("a", "{}")}, {}), "a: 0/0 nodes are available.");
}

TEST(Placement, DevicesCount) {
  json::object gpus = node("n", R"({"cpu":"2","pods":"9","nvidia.com/gpu":"1"})");
  json::object wants = json::parse(R"({"metadata":{"name":"a"},"spec":{"containers":[
      {"name":"c","resources":{"limits":{"nvidia.com/gpu":1}}}]}})")
                           .as_object();
  json::object wants_too = wants;
  wants_too["metadata"].as_object()["name"] = "b";
  EXPECT_EQ(shown({wants, wants_too}, {gpus}),
            "a: n; b: 0/1 nodes are available: 1 Insufficient nvidia.com/gpu (wants 1, 0 free).");
}

TEST(Placement, PodsAreCountedAndGatedOnesLeftAlone) {
  json::object gated = pod("g", "{}", R"(,"schedulingGates":[{"name":"x"}])");
  EXPECT_EQ(shown({pod("a", "{}"), pod("b", "{}"), pod("c", "{}"), pod("d", "{}"), gated}, {kSmall}),
            "a: n; b: n; c: n; d: 0/1 nodes are available: 1 Too many pods.");
}

TEST(Placement, AnInitContainerMayAskForMore) {
  json::object body = pod("a", R"({"cpu":"1"})");
  body["spec"].as_object()["initContainers"] =
      json::parse(R"([{"name":"i","resources":{"requests":{"cpu":"3"}}}])");
  EXPECT_EQ(requests_of(body).at("cpu"), kube::Quantity::of_whole(3));
}

}  // namespace
}  // namespace trainyard::control
