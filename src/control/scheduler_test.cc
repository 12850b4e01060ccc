#include "control/scheduler.h"

#include <gtest/gtest.h>

#include "control/scheduler_testing.h"

namespace trainyard::control {
namespace {

using testing::Crash;
using testing::SchedulerYard;

TEST(Scheduler, GivesNodesToPodsAsTheyComeAndAsRoomAppears) {
  SchedulerYard yard;
  yard.node("here", "2");
  yard.pod("a", "1500m");
  yard.settle();
  EXPECT_EQ(yard.node_of("a"), "here");
  EXPECT_EQ(yard.events("Scheduled"), 1);
  yard.pod("b", "1");
  yard.settle();
  EXPECT_EQ(yard.node_of("b"), "");
  EXPECT_EQ(yard.told("b"), "needs 1 cpu; 500m free, 1500m frees when ns/a ends");
  EXPECT_EQ(yard.events("FailedScheduling"), 1);
  yard.remove_pod("a");
  yard.settle();
  EXPECT_EQ(yard.node_of("b"), "here");
}

TEST(Scheduler, ABacklogIsToldOnceAndCostsNothing) {
  SchedulerYard yard;
  yard.node("here", "2");
  yard.pod("a", "7");
  yard.settle();
  yard.pod("b", "1");
  yard.settle();
  int64_t revision = yard.store.revision();
  int64_t passes = yard.scheduler().counts().passes;
  yard.node("here", "2");  // nothing new
  yard.settle();
  EXPECT_EQ(yard.store.revision(), revision);
  EXPECT_EQ(yard.scheduler().counts().passes, passes);
  ASSERT_TRUE(yard.scheduler().next_wake().has_value());
  EXPECT_GT(*yard.scheduler().next_wake(), yard.now + seconds(50));
}

class CountingAll final : public client::Client {
 public:
  explicit CountingAll(client::Client& to) : to_(to) {}
  Result<client::Reply> send(kube::Request request) override {
    ++requests;
    return to_.send(std::move(request));
  }
  int requests = 0;

 private:
  client::Client& to_;
};

// What waits may be considered anew as it ages; nobody is asked or told anything because of that.
TEST(Scheduler, ALargeBacklogAsksForNothingForAnHour) {
  SchedulerYard yard;
  CountingAll all(yard.tap);
  yard.client = &all;
  yard.start();
  for (int i = 0; i < 60; ++i) yard.node(fmt::format("n{}", i), "10");
  for (int i = 0; i < 500; ++i) yard.gang(fmt::format("g{}", i), 2, "1");
  yard.settle();
  std::map<int, int> gangs_by_bound;
  for (int i = 0; i < 500; ++i) ++gangs_by_bound[yard.bound(fmt::format("g{}", i))];
  EXPECT_EQ(gangs_by_bound, (std::map<int, int>{{0, 200}, {2, 300}}));
  const int requests = all.requests;
  int64_t passes = yard.scheduler().counts().passes;
  for (Time end = yard.now + std::chrono::hours(1); yard.now < end;) {
    yard.settle();
    yard.now = std::max(yard.now + seconds(1), yard.scheduler().next_wake().value_or(end));
  }
  EXPECT_EQ(all.requests, requests);
  EXPECT_LT(yard.scheduler().counts().passes, passes + 20);
}

TEST(Scheduler, APodBehindAGateCostsNoPassUntilTheGateIsLifted) {
  SchedulerYard yard;
  yard.node("here", "2");
  yard.settle();
  int64_t passes = yard.scheduler().counts().passes;
  yard.gated_pod("a", "1");
  yard.settle();
  EXPECT_EQ(yard.scheduler().counts().passes, passes);
  yard.lift_gates("a");
  yard.settle();
  EXPECT_EQ(yard.node_of("a"), "here");
}

std::string condition_of(SchedulerYard& yard, std::string_view group) {
  std::vector<kube::Condition> all =
      kube::decode_conditions(**yard.store.get(kube::kVolcanoPodGroups, "ns", group));
  const kube::Condition* why = kube::find_condition(all, "Unschedulable");
  return why == nullptr ? "" : why->message;
}

// A minute is for figures that change, not for another cause.
TEST(Scheduler, AnotherKindOfWaitIsToldAtOnce) {
  SchedulerYard yard;
  yard.node("n1", "1");
  yard.queue("night", json::object{{"state", "Closed"}});
  yard.group("train", 2, "night");
  for (int i = 0; i < 2; ++i) yard.pod(fmt::format("train-{}", i), "1", "train");
  yard.settle();
  EXPECT_EQ(
      yard.told("train-0"),
      "waits with the 2 pods of train that start together: queue night is closed: open it, or name another");
  EXPECT_EQ(condition_of(yard, "train"),
            "2/2 tasks in gang unschedulable: queue night is closed: open it, or name another");
  yard.queue("night", json::object{{"state", "Open"}});
  Time opened = yard.now;
  yard.settle();
  EXPECT_LE(yard.now, opened + seconds(2));
  EXPECT_EQ(condition_of(yard, "train"), "2/2 tasks in gang unschedulable: needs 2 cpu; there are 1 in all");
  EXPECT_EQ(yard.told("train-0"),
            "waits with the 2 pods of train that start together: needs 2 cpu; there are 1 in all");
}

// Volcano 3205, 1947: what is remembered is bounded by what is there, however many jobs have been.
TEST(Scheduler, WhatIsRememberedDoesNotGrowWithJobsThatWere) {
  SchedulerYard yard;
  yard.node("n1", "1000");
  size_t most = 0;
  for (int job = 0; job < 2'000; ++job) {
    json::object pod = SchedulerYard::pod_object(fmt::format("p-{}", job), "1", "");
    pod["metadata"].as_object()["labels"] = json::object{{"job-name", fmt::format("job-{}", job)}};
    yard.add(pod);
    yard.work();
    yard.remove_pod(fmt::format("p-{}", job));
    yard.now = yard.now + seconds(1);
    yard.work();
    most = std::max(most, yard.scheduler().remembered());
  }
  EXPECT_LT(most, 600u);
}

TEST(Scheduler, AGangStartsWholeOrWaitsWhole) {
  SchedulerYard yard;
  yard.node("n1", "4");
  yard.gang("first", 3, "1");
  yard.settle();
  yard.gang("second", 3, "1");
  yard.settle();
  EXPECT_EQ(yard.bound("first"), 3);
  EXPECT_EQ(yard.phase("first"), "Running");
  EXPECT_EQ(yard.bound("second"), 0);
  EXPECT_EQ(yard.phase("second"), "Inqueue");
  EXPECT_EQ(yard.told("second-0"),
            "waits with the 3 pods of second that start together: needs 3 cpu; 1 free, 3 frees when "
            "ns/first ends");
  for (int i = 0; i < 3; ++i) yard.remove_pod(fmt::format("first-{}", i));
  yard.settle();
  EXPECT_EQ(yard.bound("second"), 3);
}

TEST(Scheduler, VolcanoGroupsAreLetIn) {
  SchedulerYard yard;
  yard.node("n1", "4");
  yard.group("g", 2);
  yard.settle();
  EXPECT_EQ(yard.phase("g"), "Inqueue");
}

// However it dies while it binds, the next one completes what was begun.
void die_at(int death, bool when_done) {
  SchedulerYard yard;
  yard.node("n1", "4");
  yard.node("n2", "4");
  yard.gang("a", 4, "1");
  yard.gang("b", 3, "1");
  yard.gang("c", 3, "1");
  (when_done ? yard.tap.after : yard.tap.before) = [&](int number, const kube::Request&) {
    if (number == death) throw Crash();
    return std::optional<Error>();
  };
  yard.settle();
  for (std::string_view gang : {"a", "b", "c"}) {
    int bound = yard.bound(gang);
    EXPECT_TRUE(bound == 0 || bound == (gang == "a" ? 4 : 3)) << gang << " " << bound << " at " << death;
  }
  EXPECT_GE(yard.bound("a") + yard.bound("b") + yard.bound("c"), 7) << death;
}

// Its stream lags behind: what was written a moment ago is known all the same.
TEST(Scheduler, AGroupItHasWrittenIsNotTakenForTheOneBefore) {
  SchedulerYard yard;
  yard.node("n1", "8");
  yard.group("g", 1);
  yard.carry();
  yard.frozen = kube::kVolcanoPodGroups.plural;
  yard.settle();
  EXPECT_EQ(yard.phase("g"), "Inqueue");
  yard.pod("p", "1", "g");
  yard.settle();
  EXPECT_EQ(yard.phase("g"), "Running");
  EXPECT_EQ(yard.scheduler().counts().errors, 0) << yard.scheduler().counts().last_error;
}

TEST(Scheduler, DiesAtEveryWrite) {
  for (int death = 1; death < 40; ++death) {
    die_at(death, false);
    die_at(death, true);
  }
}

// Bindings that were done though nobody said so.
TEST(Scheduler, ABindingThatTimedOutIsLookedUp) {
  for (bool applied : {false, true}) {
    SchedulerYard yard;
    yard.node("n1", "4");
    yard.node("n2", "4");
    yard.frozen = "pods";
    int failures = 0;
    auto time_out = [&](int, const kube::Request& request) -> std::optional<Error> {
      if (request.resource != kube::kBindings || ++failures > 2) return std::nullopt;
      return Error{ErrorKind::kUnknown, "no answer came"};
    };
    (applied ? yard.tap.after : yard.tap.before) = time_out;
    yard.gang("a", 4, "1");
    yard.settle();
    yard.frozen = "";
    yard.settle();
    EXPECT_EQ(yard.bound("a"), 4) << applied;
    EXPECT_EQ(yard.scheduler().counts().evicted, 0);
  }
}

// An admission webhook, say: the pod says why, it is tried again ever more seldom, and others do not wait for
// it.
TEST(Scheduler, ABindingThatIsRefusedIsToldAndTriedLessAndLess) {
  SchedulerYard yard;
  yard.node("n1", "8");
  int tries = 0;
  bool refuses = true;
  yard.tap.before = [&](int, const kube::Request& request) -> std::optional<Error> {
    if (request.resource != kube::kBindings || !refuses) return std::nullopt;
    if (kube::name_of(std::get<kube::Create>(request.verb).body) != "a-0") return std::nullopt;
    ++tries;
    return Error{ErrorKind::kForbidden, "the webhook says no"};
  };
  yard.gang("a", 1, "1");
  yard.work();
  EXPECT_EQ(yard.told("a-0"), "its binding to n1 was refused: the webhook says no");
  yard.gang("b", 4, "1");
  yard.now = yard.now + Duration{500};  // long before the next try
  yard.work();
  EXPECT_EQ(tries, 1);
  EXPECT_EQ(yard.bound("b"), 4);
  for (int second = 0; second < 600; ++second) {
    yard.now = yard.now + seconds(1);
    yard.work();
  }
  EXPECT_LT(tries, 20);
  EXPECT_GT(tries, 5);
  refuses = false;
  for (int second = 0; second < 61; ++second) {
    yard.now = yard.now + seconds(1);
    yard.work();
  }
  EXPECT_EQ(yard.bound("a"), 1);
}

TEST(Scheduler, WhoMayNotLookABindingUpGoesOn) {
  SchedulerYard yard;
  yard.node("n1", "4");
  int failures = 0;
  yard.tap.before = [&](int, const kube::Request& request) -> std::optional<Error> {
    if (std::holds_alternative<kube::Get>(request.verb))
      return Error{ErrorKind::kForbidden, "may not get pods"};
    if (request.resource != kube::kBindings || ++failures > 1) return std::nullopt;
    return Error{ErrorKind::kUnknown, "no answer came"};
  };
  yard.gang("a", 4, "1");
  yard.settle();
  EXPECT_EQ(yard.bound("a"), 4);
}

TEST(Scheduler, AServerThatIsAwayIsWaitedFor) {
  SchedulerYard yard;
  yard.node("n1", "4");
  int refused = 0;
  yard.tap.before = [&](int, const kube::Request&) -> std::optional<Error> {
    if (++refused > 5) return std::nullopt;
    return Error{ErrorKind::kUnavailable, "nobody there"};
  };
  yard.gang("a", 4, "1");
  yard.settle();
  EXPECT_EQ(yard.bound("a"), 4);
}

TEST(Scheduler, OnlyPodsOfItsNames) {
  SchedulerOptions options;
  options.front.schedulers = {"trainyard"};
  SchedulerYard yard(options);
  yard.node("n1", "4");
  yard.pod("a", "1");
  yard.settle();
  EXPECT_EQ(yard.node_of("a"), "");
  EXPECT_EQ(yard.told("a"), "");
}

TEST(Scheduler, NobodyIsToldBeforeEverybodyIsPlaced) {
  class Sink final : public EventSink {
   public:
    explicit Sink(SchedulerYard& yard) : yard_(yard) {}
    void tell(const json::object&, std::string_view, const dialect::EventText& text, Time) override {
      if (text.reason != "Scheduled") return;
      ++told;
      early += yard_.bound("g") < 300;
    }
    int told = 0;
    int early = 0;

   private:
    SchedulerYard& yard_;
  };
  SchedulerYard yard;
  Sink sink(yard);
  yard.sink = &sink;
  yard.start();
  for (int n = 0; n < 3; ++n) yard.node(fmt::format("n{}", n), "100");
  yard.gang("g", 300, "1");
  yard.settle();
  EXPECT_EQ(sink.told, 300);
  EXPECT_EQ(sink.early, 0);
}

TEST(Scheduler, AHigherQueueTakesWholeGangs) {
  SchedulerYard yard;
  yard.node("n1", "4");
  yard.queue("urgent", {}, json::object{{"priority", 10}});
  yard.gang("low", 3, "1");
  yard.settle();
  EXPECT_EQ(yard.bound("low"), 3);
  yard.group("high", 2, "urgent");
  yard.pod("high-0", "1", "high");
  yard.pod("high-1", "1", "high");
  yard.settle();
  EXPECT_EQ(yard.scheduler().counts().evicted, 3);
  EXPECT_EQ(yard.events("Preempted"), 3);
  for (int i = 0; i < 3; ++i) yard.remove_pod(fmt::format("low-{}", i));
  yard.settle();
  EXPECT_EQ(yard.bound("high"), 2);
}

// Sends several at once, and tells how many.
class BatchClient final : public client::Client {
 public:
  explicit BatchClient(client::Client& inner) : inner_(inner) {}
  Result<client::Reply> send(kube::Request request) override { return inner_.send(std::move(request)); }
  std::vector<Result<client::Reply>> send_all(std::vector<kube::Request> requests) override {
    if (!requests.empty() && requests[0].resource == kube::kPods) {
      batches.push_back(fmt::format("{} {}", kube::method_of(requests[0]), requests.size()));
    }
    return Client::send_all(std::move(requests));
  }
  int parallel_max() const override { return 8; }

  std::vector<std::string> batches;  // that are about pods

 private:
  client::Client& inner_;
};

TEST(Scheduler, AGangLeavesAtOnce) {
  SchedulerYard yard;
  BatchClient client(yard.tap);
  yard.client = &client;
  yard.start();
  yard.node("n1", "4");
  yard.queue("urgent", {}, json::object{{"priority", 10}});
  yard.gang("low", 3, "1");
  yard.settle();
  int refusals = 1;
  yard.tap.before = [&](int, const kube::Request& request) -> std::optional<Error> {
    const auto* patch = std::get_if<kube::Patch>(&request.verb);
    bool refused = patch != nullptr && patch->name == "low-1" && refusals-- > 0;
    return refused ? std::optional(Error{ErrorKind::kUnavailable, "later"}) : std::nullopt;
  };
  client.batches.clear();
  yard.group("high", 2, "urgent");
  yard.pod("high-0", "1", "high");
  yard.pod("high-1", "1", "high");
  yard.settle();
  client.batches.resize(std::min<size_t>(client.batches.size(), 4));
  EXPECT_EQ(client.batches, (std::vector<std::string>{"PATCH 3", "DELETE 2", "PATCH 1", "DELETE 1"}))
      << "one whose mark was not written is not deleted, and has another turn";
  EXPECT_EQ(yard.scheduler().counts().evicted, 3);
  EXPECT_EQ(yard.events("Preempted"), 3);
}

// The deletion of one that has lost its lease meanwhile may land long after another has let the pod stay.
TEST(Scheduler, APodThatWasWrittenToSinceItWasMarkedStaysUntilThatIsSeen) {
  SchedulerYard yard;
  yard.node("n1", "4");
  yard.queue("urgent", {}, json::object{{"priority", 10}});
  yard.gang("low", 3, "1");
  yard.settle();
  std::string version;
  yard.tap.before = [&](int, const kube::Request& request) -> std::optional<Error> {
    const auto* removal = std::get_if<kube::Delete>(&request.verb);
    if (removal == nullptr || removal->name != "low-1" || !version.empty()) return std::nullopt;
    version = removal->options.version;
    json::object written = **yard.store.get(kube::kPods, "ns", "low-1");
    written["metadata"].as_object()["labels"] = json::object{{"a", "b"}};
    EXPECT_TRUE(yard.store.update(kube::kPods, "ns", written, yard.now).ok());
    return std::nullopt;
  };
  yard.group("high", 2, "urgent");
  yard.pod("high-0", "1", "high");
  yard.pod("high-1", "1", "high");
  int refused = 0;
  yard.tap.after = [&](int, const kube::Request& request) -> std::optional<Error> {
    const auto* removal = std::get_if<kube::Delete>(&request.verb);
    if (removal == nullptr || removal->name != "low-1") return std::nullopt;
    refused += kube::text_at(**yard.store.get(kube::kPods, "ns", "low-1"), {"metadata", "deletionTimestamp"})
                   .empty();
    return std::nullopt;
  };
  yard.settle();
  EXPECT_NE(version, "");
  EXPECT_EQ(refused, 1) << "what was decided of an older one is not done to it";
  EXPECT_EQ(yard.scheduler().counts().evicted, 3) << "it is decided anew";
}

std::string mark_of(SchedulerYard& yard, std::string_view pod) {
  std::vector<kube::Condition> all = kube::decode_conditions(**yard.store.get(kube::kPods, "ns", pod));
  const kube::Condition* mark = kube::find_condition(all, "DisruptionTarget");
  return mark == nullptr ? "" : fmt::format("{} {}", mark->is_true(), mark->reason);
}

// It dies between the two writes of an eviction, and for whom that was is gone when the next one comes.
TEST(Scheduler, AMarkThatNobodyMeansAnyMoreIsTakenBack) {
  SchedulerYard yard;
  yard.node("n1", "4");
  yard.queue("urgent", {}, json::object{{"priority", 10}});
  yard.gang("low", 3, "1");
  yard.settle();
  yard.tap.before = [&](int, const kube::Request& request) -> std::optional<Error> {
    if (!std::holds_alternative<kube::Delete>(request.verb)) return std::nullopt;
    yard.remove_pod("high-0");
    yard.remove_pod("high-1");
    throw Crash();
  };
  yard.group("high", 2, "urgent");
  yard.pod("high-0", "1", "high");
  yard.pod("high-1", "1", "high");
  yard.settle();
  EXPECT_EQ(mark_of(yard, "low-0"), "true PreemptionByScheduler");
  Time marked = yard.now;
  while (yard.now < marked + seconds(100)) {
    yard.now = yard.now + seconds(10);
    yard.settle();
  }
  EXPECT_EQ(mark_of(yard, "low-0"), "true PreemptionByScheduler") << "another scheduler may mean it yet";
  yard.now = marked + seconds(121);
  yard.settle();
  EXPECT_EQ(mark_of(yard, "low-0"), "false PreemptionByScheduler");
  int64_t revision = yard.store.revision();
  yard.now = yard.now + seconds(60);
  yard.settle();
  EXPECT_EQ(yard.store.revision(), revision) << "once";

  // Somebody else deletes it: that is no eviction of ours, which the others would have to follow.
  ASSERT_TRUE(yard.store.remove(kube::kPods, "ns", "low-0", {.grace_seconds = 30}, yard.now).ok());
  yard.settle();
  EXPECT_EQ(yard.scheduler().counts().evicted, 0);
}

}  // namespace
}  // namespace trainyard::control
