#include "control/scheduler_writes.h"

#include <gtest/gtest.h>

#include "kube/access.h"
#include "kube/patch.h"

namespace trainyard::control {
namespace {

json::object parsed_write(std::string_view text) { return json::parse(kube::jview(text)).as_object(); }

// What is written becomes what was wanted, whatever was there.
TEST(SchedulerWrites, AStatusIsReplacedByMerging) {
  json::object seen = parsed_write(R"({"metadata": {"name": "q", "uid": "u", "resourceVersion": "7"},
    "status": {"allocated": {"cpu": "8", "pods": "4"}, "running": 1, "state": "Open"}})");
  json::object wanted =
      parsed_write(R"({"allocated": {"cpu": "2"}, "state": "Open", "pods": {"pending": 1}})");
  kube::Request request = status_request(kube::kVolcanoQueues, seen, wanted);
  const auto& patch = std::get<kube::Patch>(request.verb);
  EXPECT_EQ(patch.part, kube::Part::kStatus);
  json::value after = kube::apply_merge_patch(seen, patch.body).value();
  EXPECT_EQ(after.at("status"), json::value(wanted));
}

TEST(SchedulerWrites, TheGistLeavesOutFiguresAndWhatIsInBrackets) {
  EXPECT_EQ(gist("needs 4 cpu; 2 free (1 reserved)"), gist("needs 4 cpu; 31 free (7 reserved)"));
  EXPECT_NE(gist("needs 4 cpu"), gist("queue q is closed"));
}

TEST(SchedulerWrites, AnEvictionNamesWhomItIsForAsPeopleDo) {
  sched::Eviction eviction{"g", "u", sched::EvictionCause::kPreempted, "scheduling.volcano.sh/ns/train"};
  EXPECT_EQ(eviction_text(eviction), "preempted by ns/train, which goes before it");
  eviction.beneficiary = "/ns/pod";
  EXPECT_EQ(eviction_text(eviction), "preempted by ns/pod, which goes before it");
}

TEST(SchedulerWrites, AWaitSaysHowManyStartTogether) {
  sched::Gang gang;
  gang.name = "train";
  gang.min_member = 4;
  sched::Waiting waiting{"id", sched::WaitKind::kWaitFor, sched::WaitCode::kResources, "needs 4 cpu; 1 free"};
  EXPECT_EQ(waiting_text(gang, waiting),
            "waits with the 4 pods of train that start together: needs 4 cpu; 1 free");
  gang.min_member = 1;
  waiting.timed_out = true;
  EXPECT_EQ(waiting_text(gang, waiting), "needs 4 cpu; 1 free (longer than its schedule timeout)");
}

}  // namespace
}  // namespace trainyard::control
