#include "control/lease.h"

#include <gtest/gtest.h>

#include "client/in_process.h"
#include "kube/access.h"

namespace trainyard::control {
namespace {

constexpr Time kStart{1'700'000'000'000};

// Lets a lease do all that it wants at this time.
void turn(Lease& lease, store::Store& store, Time now) {
  for (int i = 0; i < 10; ++i) {
    std::optional<kube::Request> request = lease.ask(now);
    if (!request) return;
    lease.answer(client::carry_out(store, std::move(*request), now), now, now);
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
  Time now = kStart;
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
  Time now = kStart;
  while (!b.leads(now) && now < kStart + seconds(60)) {
    now = now + kRenewEvery;
    std::optional<kube::Request> request = b.ask(now);
    if (!request) continue;
    bool claims = std::holds_alternative<kube::Update>(request->verb) && !b.took_over();
    Result<client::Reply> reply = client::carry_out(store, std::move(*request), now);
    if (claims) reply = Error{ErrorKind::kUnknown, "no answer"};
    b.answer(reply, now, now);
  }
  EXPECT_TRUE(b.leads(now));
  EXPECT_TRUE(b.took_over());
}

TEST(LeaseTest, AClockThatJumpsForwardTakesNothingFromTheOther) {
  store::Store store;
  Lease a("ns", "l", "a");
  Lease b("ns", "l", "b");
  turn(a, store, kStart);
  turn(b, store, kStart);
  turn(b, store, kStart + seconds(3600));
  EXPECT_FALSE(b.leads(kStart + seconds(3600)));
  EXPECT_EQ(holder(store), "a");
}

TEST(LeaseTest, AClockThatWentBackEndsLeadershipUntilTheNextRenewal) {
  store::Store store;
  Lease a("ns", "l", "a");
  turn(a, store, kStart);
  Time before = kStart - seconds(3600);
  EXPECT_FALSE(a.leads(before));
  turn(a, store, before);
  EXPECT_TRUE(a.leads(before));
}

TEST(LeaseTest, AFailedRenewalDoesNotProlong) {
  store::Store store;
  Lease a("ns", "l", "a");
  turn(a, store, kStart);
  for (int64_t second = 2; second < 10; second += 2) {
    Time now = kStart + seconds(second);
    ASSERT_TRUE(a.ask(now).has_value());
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
  Time sent = kStart + kRenewEvery;
  Time back = sent + seconds(9);
  a.answer(client::carry_out(store, *a.ask(sent), sent), sent, back);
  EXPECT_TRUE(a.leads(back));
  EXPECT_FALSE(a.leads(back + seconds(1)));
}

TEST(LeaseTest, ReleaseHandsOverAtOnce) {
  store::Store store;
  Lease a("ns", "l", "a");
  Lease b("ns", "l", "b");
  turn(a, store, kStart);
  turn(b, store, kStart);
  std::optional<kube::Request> release = a.release(kStart);
  ASSERT_TRUE(release.has_value());
  EXPECT_FALSE(a.leads(kStart));
  ASSERT_TRUE(client::carry_out(store, std::move(*release), kStart).ok());
  turn(b, store, kStart + kRenewEvery);
  EXPECT_TRUE(b.leads(kStart + kRenewEvery));
  EXPECT_FALSE(b.release(kStart + seconds(60)).has_value());
}

}  // namespace
}  // namespace trainyard::control
