#include "control/operator.h"

#include "control/testing.h"

namespace trainyard::control::testing {
namespace {

TEST(OperatorTest, RunsAJobToItsEndAndIsThenSilent) {
  Yard yard;
  yard.submit("j", {{"workers", 2}});
  yard.settle();
  EXPECT_EQ(yard.names(kube::kPods), "j-worker-0 j-worker-1");
  EXPECT_EQ(yard.names(kube::kServices), "j-worker-0 j-worker-1");
  EXPECT_EQ(yard.phase(), "Starting");
  yard.set_pod("j-worker-0", "Running");
  yard.set_pod("j-worker-1", "Running");
  yard.settle();
  EXPECT_EQ(yard.phase(), "Running");
  yard.set_pod("j-worker-0", "Succeeded");
  yard.set_pod("j-worker-1", "Succeeded");
  yard.settle();
  EXPECT_EQ(yard.phase(), "Finished");
  EXPECT_EQ(yard.names(kube::kPods), "");
  EXPECT_EQ(yard.op().counts().transitions, (Transition{.created = 1, .running = 1, .succeeded = 1}));
  int writes = yard.tap.writes;
  int64_t revision = yard.store.revision();
  yard.pass(seconds(3600));
  yard.start();
  yard.pass(seconds(3600));
  EXPECT_EQ(yard.tap.writes, writes);
  EXPECT_EQ(yard.store.revision(), revision);
}

TEST(OperatorTest, ASteadyJobCostsNoWrites) {
  Yard yard;
  yard.submit("j", {{"workers", 2}, {"companion", true}, {"hold", true}});
  yard.settle();
  yard.set_pod("j-worker-0", "Running");
  yard.set_pod("j-worker-1", "Running");
  yard.settle();
  EXPECT_EQ(yard.phase(), "Running");
  EXPECT_EQ(yard.names(kube::kSecrets), "j-keys");
  int writes = yard.tap.writes;
  yard.start();
  yard.pass(seconds(600));
  EXPECT_EQ(yard.tap.writes, writes);
}

TEST(OperatorTest, EventsComeAfterTheWriteThatTheyTellOf) {
  Yard yard;
  yard.submit("j", {{"workers", 1}});
  yard.settle();
  EXPECT_EQ(yard.events("JobCreated"), " x1");
  EXPECT_EQ(yard.events("PodCreated"), "j-worker-0 x1");
}

TEST(OperatorTest, ADeletedJobTakesEverythingWithItAndIsForgotten) {
  Yard yard;
  yard.submit("j", {{"workers", 2}, {"hold", true}});
  yard.settle();
  yard.remove(kToys, "j");
  yard.pass(seconds(60));
  EXPECT_EQ(yard.phase(), "gone");
  EXPECT_EQ(yard.names(kube::kPods), "");
  yard.submit("j", {{"workers", 1}});
  yard.pass(seconds(60));
  EXPECT_EQ(yard.names(kube::kPods), "j-worker-0");
}

// What hears which jobs were found to be gone.
struct HeardGone final : Observer {
  std::vector<std::string> gone;
  void passed(const JobKey& key, const Pass& pass, Duration, Duration) override {
    if (pass.job_gone) gone.push_back(key.name);
  }
  void leads(bool) override {}
  void lease_trouble(const std::optional<Error>&) override {}
  void stream_is(int, const client::Stream&, const StreamHealth&) override {}
  void shown(Duration) override {}
};

TEST(OperatorTest, OfAJobThatIsGoneThereIsAPassThatForgetsIt) {
  for (bool ended : {true, false}) {
    Yard yard;
    HeardGone heard;
    yard.observer = &heard;
    yard.start();
    yard.submit("j", {{"workers", 1}});
    yard.submit("stays", {{"workers", 1}});
    yard.settle();
    if (ended) yard.set_pod("j-worker-0", "Succeeded");
    yard.pass(kPutOffMax);
    yard.remove(kToys, "j");
    yard.settle();
    EXPECT_EQ(heard.gone, std::vector<std::string>{"j"}) << (ended ? "ended" : "under way");
  }
}

TEST(OperatorTest, AJobGoesWhenItsTimeIsOver) {
  Yard yard;
  yard.submit("j", {{"workers", 1}, {"ttl", 10}});
  yard.settle();
  yard.set_pod("j-worker-0", "Succeeded");
  yard.settle();
  EXPECT_EQ(yard.phase(), "Finished");
  yard.pass(seconds(9));
  EXPECT_EQ(yard.phase(), "Finished");
  yard.pass(seconds(2));
  EXPECT_EQ(yard.phase(), "gone");
}

TEST(OperatorTest, AClockThatWentBackDelaysNothing) {
  Yard yard;
  yard.submit("j", {{"workers", 1}, {"ttl", 10}});
  yard.settle();
  yard.set_pod("j-worker-0", "Succeeded");
  yard.settle();
  yard.now = yard.now - seconds(3600);
  yard.settle();
  yard.now = yard.now + seconds(3700);
  yard.settle();
  EXPECT_EQ(yard.phase(), "gone");
}

TEST(OperatorTest, TheGangFollowsTheSpec) {
  Yard yard;
  yard.submit("j", {{"workers", 2}, {"gang", true}});
  yard.settle();
  json::object job = *yard.find(kToys, "j");
  job["spec"].get_object()["workers"] = 3;
  ASSERT_TRUE(yard.store.update(kToys, "ns", job, yard.now).ok());
  yard.settle();
  EXPECT_EQ(kube::int_at(*yard.find(kube::kVolcanoPodGroups, "j"), {"spec", "minMember"}), 3);
  yard.pass(kPutOffMax);
  int writes = yard.tap.writes;
  yard.pass(seconds(60));
  EXPECT_EQ(yard.tap.writes, writes);
}

TEST(OperatorTest, PodGroupsThatTheClusterDoesNotKnowAreToldAndNotAskedForAgainAndAgain) {
  Yard yard;
  bool known = false;
  yard.tap.before = [&](int, const kube::Request& request) -> std::optional<Error> {
    if (known || request.resource != kube::kVolcanoPodGroups) return std::nullopt;
    return Error{ErrorKind::kNotFound, "the server could not find the requested resource"};
  };
  yard.submit("j", {{"workers", 2}, {"gang", true}});
  yard.pass(seconds(60));
  EXPECT_NE(yard.events("GangFailed").find("this cluster has no PodGroups of scheduling.volcano.sh"),
            std::string::npos);
  EXPECT_LT(yard.tap.writes, 30);
  known = true;
  yard.pass(seconds(180));
  EXPECT_NE(yard.find(kube::kVolcanoPodGroups, "j"), nullptr);
}

TEST(OperatorTest, AnEndedPodThatIsGoneStillCounts) {
  Yard yard;
  yard.submit("j", {{"workers", 2}});
  yard.settle();
  yard.set_pod("j-worker-0", "Succeeded");
  yard.remove(kube::kPods, "j-worker-0");
  yard.settle();
  EXPECT_EQ(yard.names(kube::kPods), "j-worker-1");
  EXPECT_EQ(yard.op().view().caches[yard.op().view().dialects[0].pods].tombstone_count(), 0u);
  yard.set_pod("j-worker-1", "Succeeded");
  yard.settle();
  EXPECT_EQ(yard.phase(), "Finished");
}

TEST(OperatorTest, WhatIsTakenFromAJobIsMissedByIt) {
  Yard yard;
  client::Object job = yard.submit("j", {{"workers", 1}});
  yard.submit("k", {{"workers", 1}});
  yard.settle();
  client::Object other = yard.find(kube::kPods, "k-worker-0");
  yard.remove(kToys, "k");
  yard.pass(seconds(60));
  ASSERT_EQ(yard.names(kube::kPods), "j-worker-0");
  // Labelled as one of a job that is not there: the pod as it is now concerns nobody.
  json::object taken = *yard.find(kube::kPods, "j-worker-0");
  json::object& metadata = taken["metadata"].get_object();
  metadata["labels"] = other->at("metadata").at("labels");
  metadata.erase("ownerReferences");
  ASSERT_TRUE(yard.store.update(kube::kPods, "ns", taken, yard.now).ok());
  yard.settle();
  EXPECT_EQ(kube::controller_uid_of(*yard.find(kube::kPods, "j-worker-0")), kube::uid_of(*job));
}

// ---- old views -------------------------------------------------------------------

TEST(OperatorTest, NothingIsMadeForAJobThatWasDeletedUnseen) {
  Yard yard;
  yard.submit("j", {{"workers", 2}});
  yard.carry();
  yard.carry();
  yard.frozen = "toys";
  yard.remove(kToys, "j");
  yard.pass(seconds(5));
  EXPECT_EQ(yard.names(kube::kPods), "");
  yard.frozen = "";
  yard.pass(seconds(60));
  EXPECT_EQ(yard.names(kube::kPods), "");
}

TEST(OperatorTest, NothingIsMadeWithoutAStatusWriteOnAnOldView) {
  Yard yard;
  yard.submit("j", {{"workers", 1}});
  yard.settle();
  yard.frozen = "toys";
  json::object job = *yard.find(kToys, "j");
  job["spec"].get_object()["workers"] = 2;
  ASSERT_TRUE(yard.store.update(kToys, "ns", job, yard.now).ok());
  yard.remove(kube::kPods, "j-worker-0");
  yard.pass(seconds(5));
  EXPECT_EQ(yard.names(kube::kPods), "");
  yard.frozen = "";
  yard.pass(seconds(60));
  EXPECT_EQ(yard.names(kube::kPods), "j-worker-0 j-worker-1");
}

TEST(OperatorTest, IsNotPlannedAgainBeforeItsWritesAreSeen) {
  Yard yard;
  yard.frozen = "pods";
  yard.submit("j", {{"workers", 2}});
  yard.settle();
  int writes = yard.tap.writes;
  json::object job = *yard.find(kToys, "j");
  job["metadata"].get_object()["labels"] = json::object{{"touched", "yes"}};
  ASSERT_TRUE(yard.store.update(kToys, "ns", job, yard.now).ok());
  yard.pass(seconds(5));
  EXPECT_EQ(yard.tap.writes, writes);
}

// Nothing ever shows such a pod: not the watch, which was lost, and not the list in its place.
TEST(OperatorTest, APodThatWasGoneBeforeItWasSeenIsMadeAgain) {
  Yard yard;
  json::object stranger{{"metadata", json::object{{"name", "j-worker-0"}}}, {"spec", json::object{}}};
  ASSERT_TRUE(yard.store.create(kube::kPods, "ns", std::move(stranger), yard.now).ok());
  yard.submit("j", {{"workers", 1}});
  yard.pass(seconds(60));
  ASSERT_TRUE(kube::controller_uid_of(*yard.find(kube::kPods, "j-worker-0")).empty());
  yard.frozen = "pods";
  yard.remove(kube::kPods, "j-worker-0");
  yard.pass(seconds(200));
  ASSERT_FALSE(kube::controller_uid_of(*yard.find(kube::kPods, "j-worker-0")).empty());
  yard.remove(kube::kPods, "j-worker-0");
  for (size_t i = 0; i < yard.op().streams().size(); ++i) {
    if (yard.op().streams()[i].resource != kube::kPods) continue;
    yard.op().on_closed(static_cast<int>(i), Error{ErrorKind::kGone, "too old"}, yard.now);
  }
  yard.frozen = "";
  yard.pass(seconds(3600));
  EXPECT_EQ(yard.names(kube::kPods), "j-worker-0");
}

// The write was done and its answer lost; by the time it is looked for, less is asked for.
TEST(OperatorTest, AStatusThatWasWrittenBeforeAnEditProvesNothing) {
  Yard yard;
  bool first = true;
  yard.tap.before = [&](int, const kube::Request& request) -> std::optional<Error> {
    const auto* write = std::get_if<kube::UpdateStatus>(&request.verb);
    if (write == nullptr || !std::exchange(first, false)) return std::nullopt;
    json::object job = *yard.store.update_status(kToys, "ns", write->body, yard.now).value();
    job["spec"].get_object()["workers"] = 1;
    EXPECT_TRUE(yard.store.update(kToys, "ns", std::move(job), yard.now).ok());
    return Error{ErrorKind::kUnknown, "no answer came"};
  };
  yard.submit("j", {{"workers", 2}});
  yard.pass(seconds(60));
  EXPECT_EQ(yard.names(kube::kPods), "j-worker-0");
  for (const std::string& request : yard.tap.log) EXPECT_EQ(request.find("j-worker-1"), std::string::npos);
}

// ---- failing writes --------------------------------------------------------------

std::string outcome(Yard& yard) {
  return fmt::format("{} pods [{}] services [{}]", yard.phase(), yard.names(kube::kPods),
                     yard.names(kube::kServices));
}

TEST(OperatorTest, ReachesTheSameEndWhateverBecomesOfAnyOneWrite) {
  enum class Blow { kCrashBefore, kCrashAfter, kConflict, kUnavailable, kLost, kLostApplied };
  Yard healthy;
  json::object spec{
      {"workers", 2}, {"policy", "Restart"}, {"hold", true}, {"companion", true}, {"gang", true}};
  healthy.submit("j", spec);
  healthy.run_to_the_end();
  std::string end = outcome(healthy);
  EXPECT_EQ(end, "Finished pods [] services []");
  for (Blow blow : {Blow::kCrashBefore, Blow::kCrashAfter, Blow::kConflict, Blow::kUnavailable, Blow::kLost,
                    Blow::kLostApplied}) {
    for (int at = 1; at <= healthy.tap.writes; ++at) {
      Yard yard;
      bool struck = false;
      auto strikes = [&](int write) { return write == at && !std::exchange(struck, true); };
      yard.tap.before = [&](int write, const kube::Request&) -> std::optional<Error> {
        bool early = blow != Blow::kCrashAfter && blow != Blow::kLostApplied;
        if (!early || !strikes(write)) return std::nullopt;
        if (blow == Blow::kCrashBefore) throw Crash{};
        if (blow == Blow::kConflict) return Error{ErrorKind::kConflict, "struck"};
        if (blow == Blow::kUnavailable) return Error{ErrorKind::kUnavailable, "struck"};
        return Error{ErrorKind::kUnknown, "struck"};
      };
      yard.tap.after = [&](int write, const kube::Request&) -> std::optional<Error> {
        bool late = blow == Blow::kCrashAfter || blow == Blow::kLostApplied;
        if (!late || !strikes(write)) return std::nullopt;
        if (blow == Blow::kCrashAfter) throw Crash{};
        return Error{ErrorKind::kUnknown, "struck"};
      };
      yard.submit("j", spec);
      yard.run_to_the_end();
      EXPECT_TRUE(struck);
      EXPECT_EQ(outcome(yard), end) << "blow " << static_cast<int>(blow) << " at write " << at;
      int writes = yard.tap.writes;
      yard.pass(seconds(600));
      EXPECT_EQ(yard.tap.writes, writes) << "blow " << static_cast<int>(blow) << " at write " << at;
    }
  }
}

TEST(OperatorTest, WhatIsForbiddenIsToldAndTriedAgainAfterAPause) {
  Yard yard;
  bool forbidden = true;
  yard.tap.before = [&](int, const kube::Request& request) -> std::optional<Error> {
    if (forbidden && request.resource == kube::kPods) return Error{ErrorKind::kForbidden, "exceeded quota"};
    return std::nullopt;
  };
  yard.submit("j", {{"workers", 1}});
  yard.pass(seconds(600));
  EXPECT_LT(yard.tap.writes, 20);
  EXPECT_TRUE(yard.events("PodCreateFailed").starts_with("exceeded quota x"));
  forbidden = false;
  yard.pass(seconds(130));
  EXPECT_EQ(yard.names(kube::kPods), "j-worker-0");
}

TEST(OperatorTest, WhatRulesOfTheServersRefuseIsTriedAgainSeldom) {
  Yard yard;
  yard.tap.before = [&](int, const kube::Request& request) -> std::optional<Error> {
    if (request.resource == kube::kPods) return Error{ErrorKind::kInvalid, "spec.containers: Required value"};
    return std::nullopt;
  };
  yard.submit("j", {{"workers", 1}});
  yard.pass(seconds(3600));
  EXPECT_LT(yard.tap.writes, 60);
  EXPECT_TRUE(yard.events("PodCreateFailed").starts_with("spec.containers: Required value"));
}

// ---- leaders ---------------------------------------------------------------------

TEST(OperatorTest, OnlyTheLeaderWritesAndAnotherTakesOver) {
  OperatorOptions options;
  options.elects_leader = true;
  options.lease_ns = "ns";
  options.identity = "one";
  Yard yard(options);
  yard.pass(seconds(1));
  EXPECT_TRUE(yard.op().leads());
  options.identity = "two";
  OperatorPorts ports{yard.tap, [] { return dialect::KeyPair{}; }, [&] { return yard.now; }};
  ports.uptime = [&] { return yard.now - yard.date_of_boot; };
  Operator second(ports, {toy()}, options);
  for (int i = 0; i < 30; ++i) {
    yard.pass(seconds(1));
    while (second.run_one(yard.now)) {
    }
    EXPECT_TRUE(yard.op().leads());
    EXPECT_FALSE(second.leads());
  }
  int waited = 0;
  while (!second.leads() && waited < 60) {
    yard.now = yard.now + seconds(1);
    ++waited;
    while (second.run_one(yard.now)) {
    }
    EXPECT_FALSE(yard.op().leads() && second.leads());
  }
  EXPECT_GE(waited, 14);
  EXPECT_LE(waited, 20);
  yard.submit("j", {{"workers", 1}});
  yard.pass(seconds(1));
  EXPECT_EQ(yard.names(kube::kPods), "");
}

TEST(OperatorTest, WhoStandsByKeepsNothingOfJobsThatComeAndGo) {
  OperatorOptions options;
  options.elects_leader = true;
  options.lease_ns = "ns";
  Yard yard(options);
  json::object spec{{"holderIdentity", "another"}, {"leaseDurationSeconds", 15}};
  json::object lease{{"metadata", json::object{{"name", options.lease_name}}}, {"spec", std::move(spec)}};
  ASSERT_TRUE(yard.store.create(kube::kLeases, "ns", std::move(lease), yard.now).ok());
  HeardGone heard;
  yard.observer = &heard;
  yard.start();
  yard.pass(seconds(1));
  ASSERT_FALSE(yard.op().leads());
  for (std::string_view name : {"a", "b", "c"}) {
    yard.submit(name, {{"workers", 1}});
    yard.settle();
    if (name != "c") yard.remove(kToys, name);
    yard.settle();
  }
  EXPECT_EQ(yard.op().counts().passes, 0);
  yard.pass(kLeaseDuration + seconds(1));
  ASSERT_TRUE(yard.op().leads());
  EXPECT_EQ(yard.names(kube::kPods), "c-worker-0");
  EXPECT_EQ(yard.op().counts().transitions, (Transition{.created = 1}));
  EXPECT_EQ(heard.gone, std::vector<std::string>{}) << "nothing was kept of the others";
}

TEST(OperatorTest, WhatTheClockIsSetToChangesNothingOfWhoLeads) {
  OperatorOptions options;
  options.elects_leader = true;
  options.lease_ns = "ns";
  Yard yard(options);
  yard.settle();
  EXPECT_TRUE(yard.op().leads());
  yard.set_clock(yard.now + seconds(3600));
  EXPECT_TRUE(yard.op().leads());
  // It stands still for as long as it may lead, and the clock is set back by as much.
  yard.now = yard.now + kRenewWithin;
  yard.set_clock(yard.now - kRenewWithin);
  EXPECT_FALSE(yard.op().leads());
  yard.set_clock(yard.now - seconds(3600));
  yard.pass(seconds(1));
  EXPECT_TRUE(yard.op().leads()) << "it is renewed at once";
  EXPECT_LE(*yard.op().next_wake(), yard.now + kRenewEvery) << "and again as soon as ever";
}

TEST(OperatorTest, APassThatTakesTooLongWritesNoMore) {
  OperatorOptions options;
  options.elects_leader = true;
  options.lease_ns = "ns";
  Yard yard(options);
  yard.settle();
  yard.tap.after = [&](int, const kube::Request& request) -> std::optional<Error> {
    if (request.resource == kube::kPods) yard.now = yard.now + kRenewWithin;
    return std::nullopt;
  };
  yard.submit("j", {{"workers", 2}});
  yard.carry();
  yard.carry();
  std::optional<Turn> turn = yard.op().run_one(yard.now);
  ASSERT_TRUE(turn && turn->pass.error);
  EXPECT_EQ(turn->pass.error->kind, ErrorKind::kUnavailable);
  EXPECT_EQ(yard.names(kube::kPods), "j-worker-0");
}

}  // namespace
}  // namespace trainyard::control::testing
