#include "control/lease.h"

#include <gtest/gtest.h>

#include "client/in_process.h"
#include "kube/access.h"

namespace trainyard::control {
namespace {

constexpr Duration kStart{1'000'000};
constexpr Time kDate{1'700'000'000'000};

// Lets a lease do all that it wants at this time.
void turn(Lease& lease, store::Store& store, Duration uptime) {
  for (int i = 0; i < 10; ++i) {
    std::optional<kube::Request> request = lease.ask(uptime, kDate);
    if (!request) return;
    lease.answer(client::carry_out(store, std::move(*request), kDate), uptime, uptime);
  }
  FAIL() << "it never stops asking";
}

std::string holder(const store::Store& store) {
  return std::string(kube::text_at(**store.get(kube::kLeases, "ns", "l"), {"spec", "holderIdentity"}));
}

TEST(LeaseTest, TheFirstMakesItAndRenews) {
  store::Store store;
  Lease a("ns", "l", "a");
  EXPECT_FALSE(a.leads(kStart));
  turn(a, store, kStart);
  EXPECT_TRUE(a.leads(kStart));
  EXPECT_EQ(holder(store), "a");
  EXPECT_TRUE(a.leads(kStart + kRenewWithin - Duration{1}));
  EXPECT_FALSE(a.leads(kStart + kRenewWithin));
  EXPECT_EQ(a.next_ask(), kStart + kRenewEvery);
  turn(a, store, kStart + kRenewEvery);
  EXPECT_TRUE(a.leads(kStart + kRenewWithin));
  EXPECT_EQ(kube::int_at(**store.get(kube::kLeases, "ns", "l"), {"spec", "leaseTransitions"}), 0);
}

TEST(LeaseTest, TheSecondWaitsUntilItHasRunOut) {
  store::Store store;
  Lease a("ns", "l", "a");
  Lease b("ns", "l", "b");
  turn(a, store, kStart);
  Duration now = kStart;
  while (!b.leads(now) && now < kStart + seconds(60)) {
    turn(b, store, now);
    EXPECT_FALSE(a.leads(now) && b.leads(now));
    now = now + Duration{500};
  }
  EXPECT_GE(now, kStart + kLeaseDuration);
  EXPECT_EQ(holder(store), "b");
  EXPECT_TRUE(b.took_over());
  EXPECT_FALSE(a.took_over());
  turn(a, store, now);
  EXPECT_FALSE(a.leads(now));
  EXPECT_EQ(kube::int_at(**store.get(kube::kLeases, "ns", "l"), {"spec", "leaseTransitions"}), 1);
}

// Killed, and started again in the same pod.
TEST(LeaseTest, WhoComesBackUnderItsNameLeadsAtOnce) {
  store::Store store;
  Lease killed("ns", "l", "a");
  turn(killed, store, kStart);
  Lease again("ns", "l", "a");
  turn(again, store, kStart + seconds(1));
  EXPECT_TRUE(again.leads(kStart + seconds(1)));
}

TEST(LeaseTest, AClaimWhoseAnswerIsLostIsATakeOverToo) {
  store::Store store;
  Lease a("ns", "l", "a");
  Lease b("ns", "l", "b");
  turn(a, store, kStart);
  Duration now = kStart;
  while (!b.leads(now) && now < kStart + seconds(60)) {
    now = now + kRenewEvery;
    std::optional<kube::Request> request = b.ask(now, kDate);
    if (!request) continue;
    bool claims = std::holds_alternative<kube::Update>(request->verb) && !b.took_over();
    Result<client::Reply> reply = client::carry_out(store, std::move(*request), kDate);
    if (claims) reply = Error{ErrorKind::kUnknown, "no answer"};
    b.answer(reply, now, now);
  }
  EXPECT_TRUE(b.leads(now));
  EXPECT_TRUE(b.took_over());
}

// A process that stood still has seen nothing of what the other did meanwhile; and a date that stands still,
// or is set back to what it was, does not make two renewals one.
TEST(LeaseTest, WhoWasNotSeenRenewingLosesNothing) {
  store::Store store;
  Lease a("ns", "l", "a");
  Lease b("ns", "l", "b");
  turn(a, store, kStart);
  turn(b, store, kStart);
  Duration later = kStart + seconds(3600);
  turn(a, store, later);
  turn(b, store, later);
  EXPECT_FALSE(b.leads(later));
  EXPECT_EQ(holder(store), "a");
}

TEST(LeaseTest, AFailedRenewalDoesNotProlong) {
  store::Store store;
  Lease a("ns", "l", "a");
  turn(a, store, kStart);
  for (int64_t second = 2; second < 10; second += 2) {
    Duration now = kStart + seconds(second);
    ASSERT_TRUE(a.ask(now, kDate).has_value());
    a.answer(Error{ErrorKind::kUnknown, "timeout"}, now, now);
    EXPECT_TRUE(a.leads(now));
  }
  EXPECT_FALSE(a.leads(kStart + kRenewWithin));
  turn(a, store, kStart + seconds(12));
  EXPECT_TRUE(a.leads(kStart + seconds(12)));
}

TEST(LeaseTest, ASlowRenewalCountsFromWhenItWasSent) {
  store::Store store;
  Lease a("ns", "l", "a");
  turn(a, store, kStart);
  Duration sent = kStart + kRenewEvery;
  Duration back = sent + seconds(9);
  a.answer(client::carry_out(store, *a.ask(sent, kDate), kDate), sent, back);
  EXPECT_TRUE(a.leads(back));
  EXPECT_FALSE(a.leads(back + seconds(1)));
}

TEST(LeaseTest, ReleaseHandsOverAtOnce) {
  store::Store store;
  Lease a("ns", "l", "a");
  Lease b("ns", "l", "b");
  turn(a, store, kStart);
  turn(b, store, kStart);
  std::optional<kube::Request> release = a.release(kStart, kDate);
  ASSERT_TRUE(release.has_value());
  EXPECT_FALSE(a.leads(kStart));
  ASSERT_TRUE(client::carry_out(store, std::move(*release), kDate).ok());
  turn(b, store, kStart + kRenewEvery);
  EXPECT_TRUE(b.leads(kStart + kRenewEvery));
  EXPECT_FALSE(b.release(kStart + seconds(60), kDate).has_value());
}

TEST(LeaseTest, OtherThreadsAreToldUntilWhenItIsOurs) {
  Lead lead;
  EXPECT_FALSE(lead.holds(kStart));
  lead.renewed(kStart);
  EXPECT_TRUE(lead.holds(kStart + kRenewWithin - Duration{1}));
  EXPECT_FALSE(lead.holds(kStart + kRenewWithin));
  lead.renewed(std::nullopt);
  EXPECT_FALSE(lead.holds(kStart));
}

}  // namespace
}  // namespace trainyard::control
