// What is read again and what is kept; that it is always what is made anew: control/scheduler_view_test.cc.
#include "sched/kept_snapshot.h"

#include <gtest/gtest.h>

#include "sched/snapshot_testing.h"
#include "sched/testing.h"

namespace trainyard::sched::testing {
namespace {

struct Kept : DocumentSource {
  Shapes shapes;
  NodeSeen node = see_node(object(R"({"metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "4"}}})"));
  PodSeen a = pod("a", "cpu");
  PodSeen b = pod("b", "cpu");
  KeptSnapshot kept{{}};

  PodSeen pod(std::string_view name, std::string_view resource) {
    return see_pod(
        object(fmt::format(R"({{"metadata": {{"name": "{}", "namespace": "ns", "uid": "{}"}}, "spec":
      {{"containers": [{{"resources": {{"requests": {{"{}": "1"}}}}}}]}}}})",
                           name, name, resource)),
        shapes);
  }
  Documents documents() const { return {.pods = {&a, &b}, .nodes = {&node}}; }
  Documents all() override { return documents(); }
  Documents of(const std::set<uint64_t>& families) override {
    Documents out;
    for (const PodSeen* one : {&a, &b}) {
      if (families.contains(one->family)) out.pods.push_back(one);
    }
    return out;
  }
  const Snapshot& update(Changes changes) { return kept.update(*this, shapes, changes); }
  Changes only(const PodSeen& pod) const { return {.all = false, .families = {pod.family}}; }
};

TEST(KeptSnapshot, ReadsOnlyWhatMayHaveChanged) {
  Kept town;
  town.update({});
  uint64_t revision = town.kept.revision();
  town.update({.all = false, .families = {}});
  town.update(town.only(town.a));
  EXPECT_EQ(town.kept.revision(), revision) << "read again, and the same";
  town.a.node = town.b.node = "n";
  const Snapshot& snapshot = town.update(town.only(town.b));
  EXPECT_NE(town.kept.revision(), revision);
  EXPECT_EQ(snapshot.gangs.at(0).members.at(0).state, MemberState::kWaiting) << "nobody spoke of it";
  EXPECT_EQ(snapshot.gangs.at(1).members.at(0).state, MemberState::kPlaced);
  EXPECT_EQ(town.update({}).gangs.at(0).members.at(0).state, MemberState::kPlaced);
}

TEST(KeptSnapshot, AResourceThatHasNoNumberYetMakesAllAnew) {
  Kept town;
  town.update({});
  town.b = town.pod("b", "example.com/gpu");
  const Snapshot& snapshot = town.update(town.only(town.b));
  EXPECT_TRUE(said(snapshot) == said(assemble(town.documents(), town.shapes, {})));
  EXPECT_EQ(snapshot.cluster.resources.back(), "example.com/gpu");
}

}  // namespace
}  // namespace trainyard::sched::testing
