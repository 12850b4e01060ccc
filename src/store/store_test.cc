#include "store/store.h"

#include "store/continue_token.h"
#include "store/store_suite.h"
#include "store/testing.h"

namespace trainyard::store {
namespace {

// The store itself, called directly.
class Direct final : public Subject {
 public:
  Result<Answer> send(const kube::Request& request) override {
    auto one = [](const Result<Object>& object) -> Result<Answer> {
      if (!object.ok()) return object.error();
      return Answer{.object = *object};
    };
    const kube::Resource& r = request.resource;
    return std::visit(
        [&](const auto& verb) -> Result<Answer> {
          using Verb = std::decay_t<decltype(verb)>;
          if constexpr (std::is_same_v<Verb, kube::Get>) {
            return one(store_.get(r, request.ns, verb.name));
          } else if constexpr (std::is_same_v<Verb, kube::List>) {
            Result<Page> page = store_.list(r, request.ns, verb);
            if (!page.ok()) return page.error();
            return Answer{
                .items = page->items, .revision = page->revision, .continue_token = page->continue_token};
          } else if constexpr (std::is_same_v<Verb, kube::Watch>) {
            Result<std::vector<WatchEvent>> events = store_.watch(r, request.ns, verb);
            if (!events.ok()) return events.error();
            return Answer{.events = *events};
          } else if constexpr (std::is_same_v<Verb, kube::Create>) {
            return one(store_.create(r, request.ns, verb.body, kNow));
          } else if constexpr (std::is_same_v<Verb, kube::Update>) {
            if (verb.part == kube::Part::kResize) return one(store_.resize(r, request.ns, verb.body, kNow));
            return one(store_.update(r, request.ns, verb.body, kNow));
          } else if constexpr (std::is_same_v<Verb, kube::UpdateStatus>) {
            return one(store_.update_status(r, request.ns, verb.body, kNow));
          } else if constexpr (std::is_same_v<Verb, kube::Patch>) {
            return one(store_.patch(r, request.ns, verb, kNow));
          } else if constexpr (std::is_same_v<Verb, kube::Delete>) {
            return one(store_.remove(r, request.ns, verb.name, verb.options, kNow));
          } else {
            Result<std::vector<Object>> removed = store_.remove_collection(r, request.ns, verb, kNow);
            if (!removed.ok()) return removed.error();
            return Answer{.items = *removed};
          }
        },
        request.verb);
  }
  void collect_garbage() override {
    while (store_.collect_garbage(kNow) > 0) {
    }
  }

 private:
  Store store_;
};

INSTANTIATE_TEST_SUITE_P(Store, StoreSuite,
                         testing::Values(SubjectFactory([] { return std::make_unique<Direct>(); })));

TEST(StoreTest, EqualCallsGiveEqualWorlds) {
  auto build = [](uint64_t seed) {
    Store store(seed);
    EXPECT_TRUE(store.create(kube::kConfigMaps, "ns", thing("a"), kNow).ok());
    json::object generated{{"metadata", json::object{{"generateName", "g-"}}}};
    EXPECT_TRUE(store.create(kube::kConfigMaps, "ns", generated, kNow).ok());
    std::string text;
    for (const auto& [resource, object] : store.everything()) text += json::serialize(*object);
    return text;
  };
  EXPECT_EQ(build(1), build(1));
  EXPECT_NE(build(1), build(2));
}

TEST(StoreTest, ACopyIsAWorldOfItsOwn) {
  Store one;
  ASSERT_TRUE(one.create(kube::kConfigMaps, "ns", thing("a"), kNow).ok());
  Store two = one;
  ASSERT_TRUE(two.remove(kube::kConfigMaps, "ns", "a", {}, kNow).ok());
  EXPECT_TRUE(one.get(kube::kConfigMaps, "ns", "a").ok());
  EXPECT_FALSE(two.get(kube::kConfigMaps, "ns", "a").ok());
}

TEST(StoreTest, RevisionsRiseByOne) {
  Store store;
  ASSERT_TRUE(store.create(kube::kConfigMaps, "ns", thing("a"), kNow).ok());
  EXPECT_EQ(store.revision(), 2);
  EXPECT_FALSE(store.create(kube::kConfigMaps, "ns", thing("a"), kNow).ok());
  EXPECT_EQ(store.revision(), 2);
  ASSERT_TRUE(store.remove(kube::kConfigMaps, "ns", "a", {}, kNow).ok());
  EXPECT_EQ(store.revision(), 3);
  EXPECT_EQ(store.collect_garbage(kNow), 0);
  EXPECT_EQ(store.revision(), 3);
}

TEST(StoreTest, AWatchFromAnywhereTellsWhatIsThereInOrderOfVersions) {
  Store store;
  for (std::string_view name : {"c", "a", "b"}) {
    ASSERT_TRUE(store.create(kube::kConfigMaps, "ns", thing(name), kNow).ok());
  }
  std::string names;
  std::vector<WatchEvent> events = store.watch(kube::kConfigMaps, "ns", {}).value();
  for (const WatchEvent& event : events) names += kube::name_of(*event.object);
  EXPECT_EQ(names, "cab");
}

TEST(StoreTest, WhatIsCompactedIsGone) {
  Store store;
  for (std::string_view name : {"a", "b", "c"}) {
    ASSERT_TRUE(store.create(kube::kConfigMaps, "ns", thing(name), kNow).ok());
  }
  kube::List page;
  page.limit = 1;
  std::string token = store.list(kube::kConfigMaps, "ns", page)->continue_token;
  store.compact(3);
  EXPECT_EQ(store.events_since(kube::kConfigMaps, 2).error().kind, ErrorKind::kGone);
  EXPECT_EQ(store.events_since(kube::kConfigMaps, 3)->size(), 1u);
  ASSERT_TRUE(store.create(kube::kConfigMaps, "ns", thing("d"), kNow).ok());
  store.compact(5);
  page.continue_token = token;
  EXPECT_EQ(store.list(kube::kConfigMaps, "ns", page).error().kind, ErrorKind::kGone);
  // With a renewed token it goes on where it was, with what is there now.
  page.continue_token = renewed_token(token);
  page.limit = 0;
  EXPECT_EQ(store.list(kube::kConfigMaps, "ns", page)->items.size(), 3u);
  EXPECT_EQ(renewed_token("nonsense"), "");
  EXPECT_EQ(kube::version_of(*store.bookmark(kube::kConfigMaps).object), 5);
}

TEST(StoreTest, AdmissionCompletesAndRefuses) {
  Store store;
  store.set_admission(kube::kConfigMaps,
                      [](json::object& object, const json::object* before, kube::Part) -> Result<Done> {
                        if (kube::text_at(object, {"data", "bad"}) == "yes")
                          return Error{ErrorKind::kInvalid, "bad"};
                        if (before == nullptr) kube::ensure_object(object, {"data"})["made"] = "here";
                        return Done{};
                      });
  Result<Object> made = store.create(kube::kConfigMaps, "ns", thing("a"), kNow);
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(kube::text_at(**made, {"data", "made"}), "here");
  json::object bad = **made;
  bad["data"].get_object()["bad"] = "yes";
  EXPECT_EQ(store.update(kube::kConfigMaps, "ns", bad, kNow).error().message, "bad");
}

TEST(StoreTest, AnOwnerThatStaysKeepsADependent) {
  Store store;
  Object a = *store.create(kube::kConfigMaps, "ns", thing("a"), kNow);
  Object b = *store.create(kube::kConfigMaps, "ns", thing("b"), kNow);
  json::object child = thing("c");
  json::object second = kube::owner_reference("v1", "ConfigMap", "b", kube::uid_of(*b));
  second["controller"] = false;
  child["metadata"].get_object()["ownerReferences"] =
      json::array{kube::owner_reference("v1", "ConfigMap", "a", kube::uid_of(*a)), second};
  ASSERT_TRUE(store.create(kube::kConfigMaps, "ns", child, kNow).ok());
  ASSERT_TRUE(store.remove(kube::kConfigMaps, "ns", "a", {}, kNow).ok());
  EXPECT_EQ(store.collect_garbage(kNow), 1);
  Object c = *store.get(kube::kConfigMaps, "ns", "c");
  EXPECT_EQ(kube::array_at(*c, {"metadata", "ownerReferences"})->size(), 1u);
  EXPECT_EQ(store.collect_garbage(kNow), 0);
}

TEST(StoreTest, AnOwnerInAnotherNamespaceCountsAsGone) {
  Store store;
  Object a = *store.create(kube::kConfigMaps, "elsewhere", thing("a"), kNow);
  json::object child = thing("c");
  child["metadata"].get_object()["ownerReferences"] =
      json::array{kube::owner_reference("v1", "ConfigMap", "a", kube::uid_of(*a))};
  ASSERT_TRUE(store.create(kube::kConfigMaps, "ns", child, kNow).ok());
  EXPECT_EQ(store.collect_garbage(kNow), 1);
  EXPECT_FALSE(store.get(kube::kConfigMaps, "ns", "c").ok());
}

TEST(StoreTest, ForegroundGoesDownTheTree) {
  Store store;
  Object top = *store.create(kube::kConfigMaps, "ns", thing("top"), kNow);
  json::object middle = thing("middle");
  middle["metadata"].get_object()["ownerReferences"] =
      json::array{kube::owner_reference("v1", "ConfigMap", "top", kube::uid_of(*top))};
  Object made = *store.create(kube::kConfigMaps, "ns", middle, kNow);
  json::object leaf = thing("leaf");
  leaf["metadata"].get_object()["ownerReferences"] =
      json::array{kube::owner_reference("v1", "ConfigMap", "middle", kube::uid_of(*made))};
  ASSERT_TRUE(store.create(kube::kConfigMaps, "ns", leaf, kNow).ok());
  ASSERT_TRUE(
      store.remove(kube::kConfigMaps, "ns", "top", {.propagation = kube::Propagation::kForeground}, kNow)
          .ok());
  while (store.collect_garbage(kNow) > 0) {
  }
  EXPECT_TRUE(store.everything().empty());
  std::string order;
  std::vector<WatchEvent> events = store.events_since(kube::kConfigMaps, 0).value();
  for (const WatchEvent& event : events) {
    if (event.kind == ChangeKind::kDeleted) order += fmt::format("{} ", kube::name_of(*event.object));
  }
  EXPECT_EQ(order, "leaf middle top ");
}

}  // namespace
}  // namespace trainyard::store
