#include "control/simulated_nodes.h"

#include <gtest/gtest.h>

#include "client/in_process.h"
#include "kube/access.h"
#include "kube/objects.h"

namespace trainyard::control {
namespace {

const kube::Resource kSimulatedStreams[] = {kube::kNodes, kube::kPods};

// A store, the simulated nodes and a clock in the hand of the test.
class SimulatedNodesTest : public ::testing::Test {
 protected:
  void node(std::string_view name, bool simulated = true, json::object status = {}) {
    json::object labels;
    if (simulated) labels[kube::jview(kSimulatedLabel)] = "true";
    json::object made{{"metadata", json::object{{"name", kube::jview(name)}, {"labels", std::move(labels)}}},
                      {"status", std::move(status)}};
    ASSERT_TRUE(store_.create(kube::kNodes, "", made, now_).ok());
  }
  void pod(std::string_view name, std::string_view on, json::object annotations = {},
           std::string_view policy = "Never") {
    json::object made{
        {"metadata", json::object{{"name", kube::jview(name)}, {"annotations", std::move(annotations)}}},
        {"spec", json::object{{"nodeName", kube::jview(on)},
                              {"restartPolicy", kube::jview(policy)},
                              {"containers", json::array{json::object{{"name", "main"}, {"image", "i"}}}}}}};
    ASSERT_TRUE(store_.create(kube::kPods, "ns", made, now_).ok());
  }
  static json::object ends(std::string_view after, std::string_view code = "0") {
    return {{kube::jview(kSimulatedSeconds), kube::jview(after)},
            {kube::jview(kSimulatedExitCode), kube::jview(code)}};
  }
  void settle() {
    for (int turn = 0; turn < 1000; ++turn) {
      for (const StreamRequest& wanted : nodes_.requests(now_)) {
        if (const auto* watch = std::get_if<kube::Watch>(&wanted.request.verb)) {
          from_[wanted.stream] = std::stoll(watch->version);
        } else {
          nodes_.on_list(wanted.stream, client_.send(wanted.request), now_);
        }
      }
      for (auto& [stream, version] : from_) {
        std::vector<store::WatchEvent> events =
            store_.events_since(kSimulatedStreams[stream], version).value();
        for (const store::WatchEvent& event : events) {
          version = event.revision;
          nodes_.on_event(stream, client::to_watch_event(event), now_);
        }
      }
      if (!nodes_.step(now_) && !nodes_.step(now_)) return;
    }
    FAIL() << "they do not come to rest";
  }
  void pass(Duration time) {
    settle();
    Time end = now_ + time;
    for (auto wake = nodes_.next_wake(); wake && *wake <= end; wake = nodes_.next_wake()) {
      now_ = std::max(*wake, now_ + Duration{1});
      settle();
    }
    now_ = end;
    settle();
  }
  client::Object find(const kube::Resource& resource, std::string_view name) {
    Result<client::Object> found = store_.get(resource, resource.namespaced ? "ns" : "", name);
    return found.ok() ? *found : nullptr;
  }
  std::string phase(std::string_view name) {
    client::Object found = find(kube::kPods, name);
    return found == nullptr ? "gone" : std::string(kube::text_at(*found, {"status", "phase"}));
  }
  int64_t restarts(std::string_view name) {
    const json::object& pod = *find(kube::kPods, name);
    return kube::int_at(kube::array_at(pod, {"status", "containerStatuses"})->front().get_object(),
                        {"restartCount"})
        .value_or(-1);
  }

  Time now_{1'700'000'000'000};
  store::Store store_;
  client::InProcess client_{store_, [this] { return now_; }};
  SimulatedNodes nodes_{client_, "trainyard"};
  std::map<int, int64_t> from_;
};

TEST_F(SimulatedNodesTest, ANodeIsReadyWithWhatItDeclares) {
  node("a", true, {{"capacity", json::object{{"cpu", "64"}, {"nvidia.com/gpu", "8"}}}});
  node("b", false);
  settle();
  client::Object a = find(kube::kNodes, "a");
  EXPECT_EQ(kube::text_at(*a, {"status", "allocatable", "cpu"}), "64");
  EXPECT_EQ(kube::text_at(*a, {"status", "allocatable", "nvidia.com/gpu"}), "8");
  EXPECT_EQ(kube::text_at(*a, {"status", "capacity", "memory"}), "32Gi");
  std::vector<kube::Condition> conditions = kube::decode_conditions(*a);
  ASSERT_NE(kube::find_condition(conditions, "Ready"), nullptr);
  EXPECT_TRUE(kube::find_condition(conditions, "Ready")->is_true());
  EXPECT_EQ(kube::object_at(*find(kube::kNodes, "b"), {"status", "allocatable"}), nullptr);
  int64_t version = kube::version_of(*a);
  pass(seconds(3600));
  EXPECT_EQ(kube::version_of(*find(kube::kNodes, "a")), version)
      << "nothing is written while nothing changes";
}

TEST_F(SimulatedNodesTest, PodsRunUntilTheyAreDeletedOrTheirTimeIsOver) {
  node("a");
  pod("for-ever", "a");
  pod("well", "a", ends("30"));
  pod("badly", "a", ends("30", "137"));
  pod("elsewhere", "trainyard", ends("30"));
  settle();
  EXPECT_EQ(phase("for-ever"), "Running");
  EXPECT_EQ(phase("well"), "Running");
  pass(seconds(29));
  EXPECT_EQ(phase("well"), "Running");
  pass(seconds(1));
  EXPECT_EQ(phase("well"), "Succeeded");
  EXPECT_EQ(phase("badly"), "Failed");
  EXPECT_EQ(phase("elsewhere"), "Pending");
  ASSERT_TRUE(store_.remove(kube::kPods, "ns", "for-ever", {}, now_).ok());
  settle();
  EXPECT_EQ(phase("for-ever"), "gone");
}

TEST_F(SimulatedNodesTest, RestartPoliciesAreKept) {
  node("a");
  pod("always", "a", ends("10"), "Always");
  pod("on-failure", "a", ends("10", "1"), "OnFailure");
  pod("at-once", "a", ends("0", "1"), "Always");
  pass(seconds(25));
  EXPECT_EQ(phase("always"), "Running");
  EXPECT_EQ(restarts("always"), 2);
  EXPECT_EQ(restarts("on-failure"), 2);
  EXPECT_LE(restarts("at-once"), 26) << "not in a tight circle";
}

TEST_F(SimulatedNodesTest, WhatCannotBeReadIsTold) {
  node("a");
  pod("p", "a", ends("soon"));
  pass(seconds(10));
  EXPECT_EQ(phase("p"), "Running");
  EXPECT_EQ(
      kube::text_at(*find(kube::kPods, "p"), {"status", "message"}),
      "trainyard.dev/simulated-seconds is 'soon', not a whole number of seconds: the pod runs until it is "
      "deleted");
}

TEST_F(SimulatedNodesTest, ANodeThatIsNotReadyIsSilent) {
  node("a", true, {{"conditions", json::array{json::object{{"type", "Ready"}, {"status", "False"}}}}});
  pod("p", "a");
  pass(seconds(10));
  EXPECT_EQ(phase("p"), "Pending");
  json::object back = *find(kube::kNodes, "a");
  back["status"].as_object()["conditions"] = json::array{json::object{{"type", "Ready"}, {"status", "True"}}};
  ASSERT_TRUE(store_.update_status(kube::kNodes, "", back, now_).ok());
  settle();
  EXPECT_EQ(phase("p"), "Running");
}

TEST_F(SimulatedNodesTest, PodsOfANodeThatIsGoneFailAndGo) {
  node("a");
  pod("p", "a");
  pod("q", "trainyard");
  settle();
  ASSERT_TRUE(store_.remove(kube::kNodes, "", "a", {}, now_).ok());
  pass(seconds(30));
  EXPECT_EQ(phase("p"), "Running") << "the node may come back";
  pass(seconds(15));
  EXPECT_EQ(phase("p"), "gone");
  EXPECT_EQ(phase("q"), "Pending");
}

TEST_F(SimulatedNodesTest, ANodeThatComesBackInTimeFindsItsPods) {
  node("a");
  pod("p", "a");
  settle();
  ASSERT_TRUE(store_.remove(kube::kNodes, "", "a", {}, now_).ok());
  pass(seconds(30));
  node("a");
  pass(seconds(30));
  EXPECT_EQ(phase("p"), "Running");
}

TEST_F(SimulatedNodesTest, AnOrphanIsToldWhyBeforeItGoes) {
  json::object pod{{"metadata", json::object{{"name", "p"}}},
                   {"spec", json::object{{"nodeName", "a"}}},
                   {"status", json::object{{"phase", "Running"}}}};
  SimulatedPlan plan = plan_orphan(pod, now_);
  ASSERT_TRUE(plan.status);
  EXPECT_FALSE(plan.remove);
  pod["status"] = *plan.status;
  std::vector<kube::Condition> conditions = kube::decode_conditions(pod);
  const kube::Condition* told = kube::find_condition(conditions, "DisruptionTarget");
  ASSERT_NE(told, nullptr);
  EXPECT_EQ(told->message, "node a is gone");
  EXPECT_TRUE(plan_orphan(pod, now_).remove);
}

}  // namespace
}  // namespace trainyard::control
