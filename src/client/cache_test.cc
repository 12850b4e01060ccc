#include "client/cache.h"

#include <gtest/gtest.h>

#include "client/barrier.h"
#include "kube/meta.h"

namespace trainyard::client {
namespace {

constexpr Time kCachedAt{1'000'000};

Object pod(std::string_view name, int64_t version, std::string_view uid, std::string_view phase = "Running") {
  return std::make_shared<const json::object>(json::object{
      {"kind", "Pod"},
      {"metadata",
       json::object{{"name", name},
                    {"namespace", "ns"},
                    {"uid", uid},
                    {"resourceVersion", std::to_string(version)},
                    {"ownerReferences", json::array{kube::owner_reference("v1", "Job", "j", "owner")}}}},
      {"status", json::object{{"phase", phase}}}});
}

// Whatever form objects lie in, a cache does the same.
class CacheTest : public testing::TestWithParam<Form> {};
INSTANTIATE_TEST_SUITE_P(Forms, CacheTest, testing::Values(Form::kDocument, Form::kText));

std::string shown(const std::vector<Changed>& changes) {
  std::string text;
  for (const Changed& changed : changes) {
    if (!text.empty()) text += "; ";
    if (!changed.was) {
      text += fmt::format("new {}", kube::name_of(*changed.after));
    } else if (changed.after == nullptr) {
      text += fmt::format("gone {}", kube::name_of(*changed.before()));
    } else {
      text += fmt::format("changed {}", kube::name_of(*changed.after));
    }
  }
  return text;
}

std::string listed(Cache& cache, const std::vector<Object>& objects, int64_t revision) {
  EXPECT_EQ(shown(cache.apply(Init{}, kCachedAt)), "");
  for (const Object& object : objects) EXPECT_EQ(shown(cache.apply(Apply{object}, kCachedAt)), "");
  return shown(cache.apply(InitDone{revision}, kCachedAt));
}

TEST_P(CacheTest, AListIsSwappedInAtOnce) {
  Cache cache(GetParam());
  EXPECT_FALSE(cache.synced());
  EXPECT_EQ(listed(cache, {pod("a", 1, "ua"), pod("b", 2, "ub")}, 3), "new a; new b");
  EXPECT_TRUE(cache.synced());
  cache.apply(Init{}, kCachedAt);
  cache.apply(Apply{pod("c", 4, "uc")}, kCachedAt);
  EXPECT_EQ(cache.find("ns", "c"), nullptr);
  EXPECT_NE(cache.find("ns", "a"), nullptr);
  EXPECT_EQ(shown(cache.apply(InitDone{5}, kCachedAt)), "gone a; gone b; new c");
  EXPECT_EQ(cache.owned_by("owner").size(), 1u);
}

TEST_P(CacheTest, AListThatShowsNothingNewChangesNothing) {
  Cache cache(GetParam());
  listed(cache, {pod("a", 1, "ua")}, 3);
  EXPECT_EQ(listed(cache, {pod("a", 1, "ua")}, 9), "");
}

TEST_P(CacheTest, GoesForwardOnly) {
  Cache cache(GetParam());
  listed(cache, {pod("a", 5, "ua")}, 6);
  EXPECT_EQ(shown(cache.apply(Apply{pod("a", 4, "ua")}, kCachedAt)), "");
  EXPECT_EQ(shown(cache.apply(Apply{pod("a", 7, "ua")}, kCachedAt)), "changed a");
  EXPECT_EQ(shown(cache.apply(Apply{pod("a", 7, "ua")}, kCachedAt)), "");
  EXPECT_EQ(shown(cache.apply(Delete{pod("a", 6, "ua")}, kCachedAt)), "");
  EXPECT_EQ(shown(cache.apply(Delete{pod("a", 8, "ua")}, kCachedAt)), "gone a");
  EXPECT_EQ(shown(cache.apply(Delete{pod("a", 8, "ua")}, kCachedAt)), "");
  EXPECT_EQ(shown(cache.apply(Apply{pod("a", 7, "ua")}, kCachedAt)), "");
  EXPECT_EQ(cache.find("ns", "a"), nullptr);
  int lists = cache.lists();
  EXPECT_EQ(listed(cache, {pod("a", 5, "ua")}, 6), "");
  EXPECT_EQ(cache.find("ns", "a"), nullptr);
  EXPECT_EQ(cache.lists(), lists);
}

TEST_P(CacheTest, WhatIsGoneIsNobodysWhoeverHadItLast) {
  Cache cache(GetParam());
  listed(cache, {pod("a", 1, "ua"), pod("b", 2, "ub"), pod("c", 3, "uc")}, 3);
  cache.apply(Delete{pod("a", 4, "ua")}, kCachedAt);
  json::object stripped = *pod("b", 5, "ub");
  stripped["metadata"].get_object().erase("ownerReferences");
  cache.apply(Delete{std::make_shared<const json::object>(stripped)}, kCachedAt);
  ASSERT_EQ(cache.owned_by("owner").size(), 1u);
  EXPECT_EQ(kube::name_of(*cache.owned_by("owner")[0]), "c");
}

TEST_P(CacheTest, EndedPodsLeaveATombstoneUntilForgotten) {
  Cache cache(GetParam(), Remains::kKept);
  listed(cache, {pod("a", 1, "ua", "Succeeded"), pod("b", 2, "ub"), pod("c", 3, "uc", "Failed")}, 3);
  cache.apply(Delete{pod("a", 4, "ua", "Succeeded")}, kCachedAt);
  cache.apply(Delete{pod("b", 5, "ub")}, kCachedAt);
  EXPECT_EQ(listed(cache, {}, 6), "gone c");
  EXPECT_EQ(cache.tombstones_of("owner").size(), 2u);
  cache.forget("owner", {"ua"});
  ASSERT_EQ(cache.tombstones_of("owner").size(), 1u);
  EXPECT_EQ(kube::name_of(*cache.tombstones_of("owner")[0]), "c");
  cache.apply(Delete{pod("a", 4, "ua", "Succeeded")}, kCachedAt);
  EXPECT_EQ(cache.tombstone_count(), 1u);
  cache.forget_if([](std::string_view owner, const Tombstone& tombstone) {
    return owner == "owner" && tombstone.seen < kCachedAt + seconds(1);
  });
  EXPECT_EQ(cache.tombstone_count(), 0u);
}

TEST_P(CacheTest, WhatVanishesWithoutADeletionMarkIsRememberedUntilSomebodyLooks) {
  Cache cache(GetParam(), Remains::kKept);
  listed(cache, {pod("a", 1, "ua"), pod("b", 2, "ub", "Succeeded"), pod("c", 3, "uc")}, 3);
  cache.apply(Delete{pod("a", 4, "ua")}, kCachedAt);
  cache.apply(Delete{pod("b", 5, "ub", "Succeeded")}, kCachedAt);
  json::object stripped = *pod("c", 6, "uc");
  stripped["metadata"].get_object().erase("ownerReferences");
  cache.apply(Apply{std::make_shared<const json::object>(stripped)}, kCachedAt);
  std::vector<Object> vanished = cache.vanished_of("owner");
  ASSERT_EQ(vanished.size(), 2u);
  EXPECT_EQ(kube::name_of(*vanished[0]), "a");
  EXPECT_EQ(kube::name_of(*vanished[1]), "c");
  cache.settle_vanished("owner", vanished);
  EXPECT_TRUE(cache.vanished_of("owner").empty());
}

TEST_P(CacheTest, AkinIsWhatHasTheSameOwnersAndLabels) {
  Cache cache(GetParam());
  listed(cache, {pod("a", 1, "ua")}, 1);
  auto akin = [&](const Object& object) {
    std::vector<Changed> changes = cache.apply(Apply{object}, kCachedAt);
    EXPECT_EQ(changes.size(), 1u);
    return changes.at(0).akin;
  };
  auto with = [](const Object& object, std::string_view label) {
    json::object changed = *object;
    changed["metadata"].get_object()["labels"] = json::object{{"a", label}};
    return std::make_shared<const json::object>(changed);
  };
  // Of documents, which are at hand, it is not noted.
  const bool noted = GetParam() == Form::kText;
  EXPECT_EQ(akin(pod("a", 2, "ua", "Succeeded")), noted);
  EXPECT_FALSE(akin(with(pod("a", 3, "ua"), "x")));
  EXPECT_EQ(akin(with(pod("a", 4, "ua"), "x")), noted);
  EXPECT_FALSE(akin(with(pod("a", 5, "ua"), "y")));
  EXPECT_FALSE(akin(with(pod("a", 6, "another"), "y")));
  json::object stripped = *pod("a", 7, "another");
  stripped["metadata"].get_object().erase("ownerReferences");
  EXPECT_FALSE(akin(std::make_shared<const json::object>(stripped)));
}

TEST_P(CacheTest, NothingRemainsForWhoDoesNotAskForIt) {
  Cache cache(GetParam());
  listed(cache, {pod("a", 1, "ua"), pod("b", 2, "ub", "Succeeded"), pod("c", 3, "uc")}, 3);
  cache.apply(Delete{pod("a", 4, "ua")}, kCachedAt);
  cache.apply(Delete{pod("b", 5, "ub", "Succeeded")}, kCachedAt);
  EXPECT_EQ(listed(cache, {}, 6), "gone c");
  EXPECT_FALSE(cache.has_remains());
}

TEST_P(CacheTest, APodThatLosesItsOwnerAfterItHasEndedStillCounts) {
  Cache cache(GetParam(), Remains::kKept);
  listed(cache, {pod("a", 1, "ua", "Succeeded")}, 1);
  json::object stripped = *pod("a", 2, "ua", "Succeeded");
  stripped["metadata"].get_object().erase("ownerReferences");
  cache.apply(Apply{std::make_shared<const json::object>(stripped)}, kCachedAt);
  EXPECT_EQ(cache.tombstones_of("owner").size(), 1u);
  EXPECT_TRUE(cache.vanished_of("owner").empty());
}

TEST_P(CacheTest, ASuccessorDoesNotHideHowItsPredecessorEnded) {
  Cache cache(GetParam(), Remains::kKept);
  listed(cache, {pod("a", 1, "old", "Succeeded")}, 1);
  EXPECT_EQ(shown(cache.apply(Apply{pod("a", 5, "new")}, kCachedAt)), "changed a");
  ASSERT_EQ(cache.tombstones_of("owner").size(), 1u);
  EXPECT_EQ(kube::uid_of(*cache.tombstones_of("owner")[0]), "old");
  EXPECT_EQ(cache.owned_by("owner").size(), 1u);
}

TEST(BarrierTest, HoldsUntilTheWriteIsShown) {
  Cache cache;
  listed(cache, {}, 3);
  Barrier<int> barrier;
  auto caches = [&](int) -> const Cache& { return cache; };
  EXPECT_FALSE(barrier.blocks(1, caches));
  barrier.expect(1, {.stream = 0, .object = {"ns", "a"}, .version = 5, .since = kCachedAt});
  EXPECT_TRUE(barrier.blocks(1, caches));
  EXPECT_FALSE(barrier.blocks(2, caches));
  EXPECT_EQ(barrier.patience_ends(1), kCachedAt + kBarrierPatience);
  cache.apply(Apply{pod("a", 5, "ua")}, kCachedAt);
  EXPECT_FALSE(barrier.blocks(1, caches));
  EXPECT_EQ(barrier.patience_ends(1), std::nullopt);
}

TEST(BarrierTest, HoldsUntilTheDeletedIsGoneOrGoing) {
  Cache cache;
  listed(cache, {pod("a", 2, "ua")}, 3);
  Barrier<int> barrier;
  auto caches = [&](int) -> const Cache& { return cache; };
  barrier.expect(1, {.stream = 0, .object = {"ns", "a"}, .gone_uid = "ua", .since = kCachedAt});
  EXPECT_TRUE(barrier.blocks(1, caches));
  cache.apply(Apply{pod("a", 6, "successor")}, kCachedAt);
  EXPECT_FALSE(barrier.blocks(1, caches));
}

TEST(BarrierTest, PatienceEndsWithAFreshList) {
  Cache cache;
  listed(cache, {pod("a", 2, "ua")}, 3);
  Barrier<int> barrier;
  auto caches = [&](int) -> const Cache& { return cache; };
  barrier.expect(1, {.stream = 0, .object = {"ns", "a"}, .gone_uid = "ua", .since = kCachedAt});
  EXPECT_TRUE(barrier.take_overdue(1, kCachedAt + Duration{1}, caches).empty());
  EXPECT_EQ(barrier.take_overdue(1, kCachedAt + kBarrierPatience, caches), std::vector<int>{0});
  EXPECT_TRUE(barrier.blocks(1, caches));
  listed(cache, {pod("a", 2, "ua")}, 4);
  EXPECT_FALSE(barrier.blocks(1, caches));
}

}  // namespace
}  // namespace trainyard::client
