#include "control/binder.h"

#include <gtest/gtest.h>

#include "client/in_process.h"
#include "kube/access.h"

namespace trainyard::control {
namespace {

const kube::Resource kStreams[] = {kube::kPods, kube::kNodes, kube::kVolcanoPodGroups};

// A store, a binder and a clock in the hand of the test.
class BinderTest : public testing::Test {
 protected:
  void SetUp() override {
    json::object node{
        {"apiVersion", "v1"},
        {"kind", "Node"},
        {"metadata", json::object{{"name", "here"}}},
    };
    ASSERT_TRUE(store_.create(kube::kNodes, "", node, now_).ok());
    set_cpu("2");
  }
  void set_cpu(std::string_view cpu) {
    json::object node = **store_.get(kube::kNodes, "", "here");
    node["status"] = json::object{{"allocatable", json::object{{"cpu", cpu}, {"pods", "10"}}}};
    ASSERT_TRUE(store_.update_status(kube::kNodes, "", node, now_).ok());
  }
  void add_pod(std::string_view name, std::string_view cpu) {
    json::object container{{"name", "c"},
                           {"resources", json::object{{"requests", json::object{{"cpu", cpu}}}}}};
    json::object pod{{"apiVersion", "v1"},
                     {"kind", "Pod"},
                     {"metadata", json::object{{"name", name}, {"namespace", "ns"}}},
                     {"spec", json::object{{"containers", json::array{container}}}}};
    ASSERT_TRUE(store_.create(kube::kPods, "ns", pod, now_).ok());
  }
  // Until there is nothing left to do.
  void settle() {
    for (int turn = 0; turn < 50; ++turn) {
      for (const StreamRequest& wanted : binder_.requests(now_)) {
        if (const auto* watch = std::get_if<kube::Watch>(&wanted.request.verb)) {
          from_[wanted.stream] = std::stoll(watch->version);
        } else {
          binder_.on_list(wanted.stream, client_.send(wanted.request), now_);
        }
      }
      for (auto& [stream, version] : from_) {
        auto events = store_.events_since(kStreams[stream], version);
        ASSERT_TRUE(events.ok());
        for (const store::WatchEvent& event : *events) {
          version = event.revision;
          binder_.on_event(stream, client::to_watch_event(event), now_);
        }
      }
      bool stepped = binder_.step(now_);
      std::optional<Time> next = binder_.next_wake();
      if (!stepped && (!next || *next > now_)) return;
    }
    FAIL() << "the binder never rests";
  }
  json::object pod(std::string_view name) { return **store_.get(kube::kPods, "ns", name); }
  std::string node_of(std::string_view name) {
    return std::string(kube::text_at(pod(name), {"spec", "nodeName"}));
  }

  store::Store store_;
  Time now_{1'000'000};
  client::InProcess client_{store_, [this] { return now_; }};
  Binder binder_{client_, {}};
  std::map<int, int64_t> from_;
};

TEST_F(BinderTest, GivesNodesToPodsAsTheyComeAndAsRoomAppears) {
  add_pod("a", "1500m");
  settle();
  EXPECT_EQ(node_of("a"), "here");
  add_pod("b", "1");
  settle();
  EXPECT_EQ(node_of("b"), "");
  json::object waiting = pod("b");
  const json::array* conditions = kube::array_at(waiting, {"status", "conditions"});
  ASSERT_NE(conditions, nullptr);
  EXPECT_EQ(kube::text_at(conditions->at(0).as_object(), {"message"}),
            "0/1 nodes are available: 1 Insufficient cpu (wants 1, 500m free).");
  ASSERT_TRUE(store_.remove(kube::kPods, "ns", "a", {.grace_seconds = 0}, now_).ok());
  settle();
  EXPECT_EQ(node_of("b"), "here");
}

TEST_F(BinderTest, ABacklogIsToldOnce) {
  add_pod("a", "7");
  settle();
  int64_t revision = store_.revision();
  set_cpu("2");  // nothing new
  add_pod("b", "1");
  settle();
  // b's creation, its node and the event about that; nothing for a.
  EXPECT_EQ(store_.revision(), revision + 3);
}

TEST_F(BinderTest, VolcanoGroupsAreLetIn) {
  json::object group{{"apiVersion", "scheduling.volcano.sh/v1beta1"},
                     {"kind", "PodGroup"},
                     {"metadata", json::object{{"name", "g"}, {"namespace", "ns"}}},
                     {"spec", json::object{{"minMember", 2}}}};
  ASSERT_TRUE(store_.create(kube::kVolcanoPodGroups, "ns", group, now_).ok());
  settle();
  EXPECT_EQ(kube::text_at(**store_.get(kube::kVolcanoPodGroups, "ns", "g"), {"status", "phase"}), "Inqueue");
}

}  // namespace
}  // namespace trainyard::control
