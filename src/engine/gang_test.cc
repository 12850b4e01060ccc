// The gang's size as replicas end, and what is told while it waits.
#include "engine/gang.h"

#include <algorithm>

#include "engine/testing.h"

namespace trainyard::engine::testing {
namespace {

JobSpec ganged(std::vector<Role> roles, int min_member) {
  JobSpec spec = job(std::move(roles));
  spec.gang = Gang{};
  spec.gang->name = "g";
  spec.gang->min_member = min_member;
  return spec;
}

int told(const Yard& yard) {
  const std::vector<Note> notes = plan(yard.seen, yard.now).notes;
  return static_cast<int>(std::count_if(notes.begin(), notes.end(), [](const Note& note) {
    return note.kind == NoteKind::kGangWaiting && note.text == "needs 2 x cpu, 1 free";
  }));
}

TEST(GangSize, AReplicaThatIsNotMadeAgainIsNotWaitedFor) {
  JobSpec spec = ganged({role("worker", 3, Policy::kExitCode)}, 3);
  spec.gang->min_per_role["worker"] = 3;
  spec.success = WholeRole{0};
  Yard yard(spec);
  yard.settle().run_all().end("worker-1", 0);
  yard.evict("worker-2");
  EXPECT_EQ(yard.seen.gang->spec.min_member, 3) << "schedulers count what has succeeded";
  yard.remove("worker-1");
  EXPECT_EQ(yard.seen.gang->spec.min_member, 2) << "nobody makes it again, and worker-2 waits";
  EXPECT_EQ(yard.seen.gang->spec.min_per_role.at("worker"), 2);
  yard.run_all();
  EXPECT_EQ(yard.seen.gang->spec.min_member, 2) << "no to and fro";
}

TEST(GangSize, StaysWhileNobodyWaits) {
  JobSpec spec = ganged({role("worker", 3)}, 3);
  spec.success = WholeRole{0};
  Yard yard(spec);
  yard.settle().run_all().end("worker-1", 0).remove("worker-1");
  EXPECT_EQ(yard.seen.gang->spec.min_member, 3);
}

TEST(GangWaiting, IsToldOnceWhileItLasts) {
  Yard yard(ganged({role("worker", 2)}, 2));
  yard.settle();
  EXPECT_EQ(told(yard), 0) << "nobody has complained yet";
  yard.seen.gang->message = "needs 2 x cpu, 1 free";
  EXPECT_EQ(told(yard), 1);
  yard.settle();
  EXPECT_TRUE(yard.seen.state.gang_told);
  EXPECT_EQ(told(yard), 0) << "it waits still";
  yard.seen.gang->message.clear();
  yard.settle();
  EXPECT_FALSE(yard.seen.state.gang_told);
  yard.seen.gang->message = "needs 2 x cpu, 1 free";
  EXPECT_EQ(told(yard), 1) << "it waits again";
}

TEST(GangWaiting, ASteadyWaitChangesNothing) {
  Yard yard(ganged({role("worker", 2)}, 2));
  yard.settle();
  yard.seen.gang->message = "needs 2 x cpu, 1 free";
  yard.settle();
  const JobState before = yard.seen.state;
  yard.seen.gang->message = "needs 2 x cpu, 0 free";  // other words, the same wait
  const Plan again = plan(yard.seen, yard.now);
  EXPECT_EQ(again.state, before);
  EXPECT_EQ(again.notes, std::vector<Note>{});
}

// It has the job's name and no mark, so that only pods tell a scheduler that does not serve all groups of
// its kind.
TEST(GangWaiting, NotForAGroupOfTheUsersThatSaysNotWhoLetsItIn) {
  JobSpec spec = ganged({role("worker", 2)}, 2);
  spec.gang->gates_pods = true;
  Yard yard(spec);
  yard.seen.gang = GangSeen{};
  yard.seen.gang->spec = *spec.gang;
  yard.seen.gang->owned = false;
  yard.seen.gang->phase = GangPhase::kPending;
  auto pods_made = [&] {
    const std::vector<Step> steps = plan(yard.seen, yard.now).steps;
    return std::count_if(steps.begin(), steps.end(),
                         [](const Step& step) { return std::holds_alternative<CreatePod>(step); });
  };
  EXPECT_EQ(pods_made(), 0) << "Volcano lets it in";
  yard.seen.spec.gang->placed_by = "trainyard";
  EXPECT_EQ(pods_made(), 2);
}

}  // namespace
}  // namespace trainyard::engine::testing
