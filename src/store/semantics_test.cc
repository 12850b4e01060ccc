// What the store adds to the suite that every store passes: namespaces, snapshots,
// versions, field labels, dry runs, taking back and replaying.
#include <gtest/gtest.h>

#include "kube/access.h"
#include "store/errors.h"
#include "store/fields.h"
#include "store/metadata.h"
#include "store/store.h"
#include "store/testing.h"

namespace trainyard::store {
namespace {

json::object owned(json::object object, const json::object& owner) {
  object["metadata"].get_object()["ownerReferences"] =
      json::array{kube::owner_reference("v1", "ConfigMap", kube::name_of(owner), kube::uid_of(owner))};
  return object;
}
// Everything in the store, and everything that was told.
std::string world(const Store& store) {
  std::string text = fmt::format("{} {}\n", store.revision(), store.compacted());
  for (const auto& [resource, object] : store.everything()) text += json::serialize(*object) + "\n";
  for (const Change& change : store.changes_since(store.compacted())) {
    text += fmt::format("{} {} {}\n", static_cast<int>(change.event.kind), change.event.revision,
                        json::serialize(*change.event.object));
    if (change.event.before != nullptr) text += json::serialize(*change.event.before) + "\n";
  }
  return text;
}
std::string names(const std::vector<Object>& items) {
  std::string text;
  for (const Object& object : items) text += fmt::format("{} ", kube::name_of(*object));
  return text;
}

class NamespaceTest : public testing::Test {
 protected:
  NamespaceTest() {
    EXPECT_TRUE(
        store_.create(kube::kNamespaces, "", {{"metadata", json::object{{"name", "ns"}}}}, kNow).ok());
  }
  Store store_{1, {.namespaces = true}};
};

TEST_F(NamespaceTest, IsActiveAndHoldsItsContent) {
  Object ns = store_.get(kube::kNamespaces, "", "ns").value();
  EXPECT_EQ(kube::text_at(*ns, {"status", "phase"}), "Active");
  EXPECT_EQ(kube::label_of(*ns, "kubernetes.io/metadata.name"), "ns");
  ASSERT_TRUE(
      store_
          .create(kube::kPods, "ns",
                  {{"metadata", json::object{{"name", "p"}}}, {"spec", json::object{{"nodeName", "n"}}}},
                  kNow)
          .ok());
  ASSERT_TRUE(store_.create(kube::kConfigMaps, "ns", thing("c"), kNow).ok());
  Result<Object> going = store_.remove(kube::kNamespaces, "", "ns", {}, kNow);
  ASSERT_TRUE(going.ok());
  EXPECT_EQ(kube::text_at(**going, {"status", "phase"}), "Terminating");
  while (store_.collect_garbage(kNow) > 0) {
  }
  EXPECT_FALSE(store_.get(kube::kConfigMaps, "ns", "c").ok());
  // The pod has its grace period; the namespace waits for it.
  EXPECT_TRUE(kube::is_deleting(*store_.get(kube::kPods, "ns", "p").value()));
  EXPECT_TRUE(store_.get(kube::kNamespaces, "", "ns").ok());
  Result<Object> refused = store_.create(kube::kConfigMaps, "ns", thing("late"), kNow);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::kForbidden);
  EXPECT_EQ(
      refused.error().message,
      "configmaps \"late\" is forbidden: unable to create new content in namespace ns because it is being "
      "terminated");
  EXPECT_EQ(refused.error().causes.at(0).reason, "NamespaceTerminating");
  ASSERT_TRUE(store_.remove(kube::kPods, "ns", "p", {.grace_seconds = 0}, kNow).ok());
  while (store_.collect_garbage(kNow) > 0) {
  }
  EXPECT_FALSE(store_.get(kube::kNamespaces, "", "ns").ok());
}

TEST_F(NamespaceTest, MustBeThere) {
  Result<Object> refused = store_.create(kube::kConfigMaps, "x", thing("c"), kNow);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error(), (Error{ErrorKind::kNotFound, "namespaces \"x\" not found"}));
}

TEST_F(NamespaceTest, AnEmptyOneGoesAtTheNextSweep) {
  ASSERT_TRUE(store_.remove(kube::kNamespaces, "", "ns", {}, kNow).ok());
  EXPECT_EQ(store_.collect_garbage(kNow), 1);
  EXPECT_FALSE(store_.get(kube::kNamespaces, "", "ns").ok());
}

TEST_F(NamespaceTest, SomeCannotGo) {
  json::object body{{"metadata", json::object{{"name", "default"}}}};
  ASSERT_TRUE(store_.create(kube::kNamespaces, "", body, kNow).ok());
  EXPECT_EQ(store_.remove(kube::kNamespaces, "", "default", {}, kNow).error().message,
            "namespaces \"default\" is forbidden: this namespace may not be deleted");
}

TEST(ListTest, PagesShowOneMomentWhateverHappensMeanwhile) {
  Store store;
  for (std::string_view name : {"a", "b", "d", "e"}) {
    ASSERT_TRUE(store.create(kube::kConfigMaps, "ns", thing(name), kNow).ok());
  }
  ASSERT_TRUE(store.create(kube::kConfigMaps, "other", thing("x"), kNow).ok());
  kube::List query;
  query.limit = 2;
  Page first = store.list(kube::kConfigMaps, "ns", query).value();
  EXPECT_EQ(names(first.items), "a b ");
  EXPECT_EQ(first.remaining, 2);
  ASSERT_TRUE(store.create(kube::kConfigMaps, "ns", thing("c"), kNow).ok());
  ASSERT_TRUE(store.remove(kube::kConfigMaps, "ns", "d", {}, kNow).ok());
  ASSERT_TRUE(store.remove(kube::kConfigMaps, "ns", "e", {}, kNow).ok());
  json::object again = thing("e");
  again["data"] = json::object{{"new", "yes"}};
  ASSERT_TRUE(store.create(kube::kConfigMaps, "ns", again, kNow).ok());
  query.continue_token = first.continue_token;
  Page second = store.list(kube::kConfigMaps, "ns", query).value();
  EXPECT_EQ(names(second.items), "d e ");
  EXPECT_EQ(kube::text_at(*second.items[1], {"data", "new"}), "");
  EXPECT_EQ(second.revision, first.revision);
  EXPECT_EQ(second.continue_token, "");
  EXPECT_EQ(second.remaining, std::nullopt);
  query.version = "3";
  EXPECT_EQ(store.list(kube::kConfigMaps, "ns", query).error().message,
            "specifying resource version is not allowed when using continue");
}

TEST(ListTest, RemainingIsNotCountedWhereSomethingSelects) {
  Store store;
  for (std::string_view name : {"a", "b", "c"}) {
    ASSERT_TRUE(store.create(kube::kConfigMaps, "ns", thing(name), kNow).ok());
  }
  kube::List query;
  query.limit = 1;
  query.labels = kube::LabelSelector::parse("!x").value();
  Page page = store.list(kube::kConfigMaps, "ns", query).value();
  EXPECT_EQ(page.items.size(), 1u);
  EXPECT_NE(page.continue_token, "");
  EXPECT_EQ(page.remaining, std::nullopt);
}

TEST(ListTest, Versions) {
  Store store;
  for (std::string_view name : {"a", "b", "c", "d"}) {
    ASSERT_TRUE(store.create(kube::kConfigMaps, "ns", thing(name), kNow).ok());
  }
  store.compact(2);
  struct Case {
    std::string version, match;
    int64_t limit;
    std::string says;  // names, or the error
  };
  const Case cases[] = {
      {"", "", 0, "a b c d "},
      {"0", "", 0, "a b c d "},
      {"3", "", 0, "a b c d "},
      {"3", "NotOlderThan", 0, "a b c d "},
      {"1", "NotOlderThan", 0, "a b c d "},
      {"3", "Exact", 0, "a b "},
      {"3", "", 10, "a b "},
      {"1", "Exact", 0, "too old resource version: 1 (2)"},
      {"9", "", 0, "Too large resource version: 9, current: 5"},
      {"x", "", 0, "resourceVersion: Invalid value: \"x\": must be a number"},
  };
  for (const Case& c : cases) {
    kube::List query;
    query.version = c.version;
    query.version_match = c.match;
    query.limit = c.limit;
    Result<Page> page = store.list(kube::kConfigMaps, "ns", query);
    EXPECT_EQ(page.ok() ? names(page->items) : page.error().message, c.says) << c.version << c.match;
  }
  kube::List future;
  future.version = "9";
  Error error = store.list(kube::kConfigMaps, "ns", future).error();
  EXPECT_EQ(error.kind, ErrorKind::kUnavailable);
  EXPECT_EQ(error.causes.at(0).reason, "ResourceVersionTooLarge");
}

TEST(FieldLabelTest, WhatCanBeSelectedBy) {
  struct Case {
    kube::Resource resource;
    std::string selector;
    bool known;
  };
  const Case cases[] = {
      {kube::kPods, "metadata.name=a,metadata.namespace=b", true},
      {kube::kPods, "spec.nodeName=n,status.phase!=Running,spec.restartPolicy=Never", true},
      {kube::kPods, "spec.containers=x", false},
      {kube::kTfJobs, "metadata.name=a", true},
      {kube::kTfJobs, "status.phase=Running", false},
      {kube::kEvents, "involvedObject.name=a,reason=b,source=c,type=Normal", true},
      {kube::kNamespaces, "status.phase=Active", true},
      {kube::kNamespaces, "metadata.namespace=a", false},
      {kube::kSecrets, "type=Opaque", true},
  };
  for (const Case& c : cases) {
    kube::FieldSelector fields = kube::FieldSelector::parse(c.selector).value();
    EXPECT_EQ(!check_field_labels(c.resource, fields).has_value(), c.known) << c.selector;
  }
  EXPECT_EQ(check_field_labels(kube::kPods, kube::FieldSelector::parse("a.b=c").value())->message,
            "field label not supported: a.b");
  json::object event{{"source", json::object{{"component", "kubelet"}}}, {"reason", "Pulled"}};
  auto matches = [&](std::string_view text) {
    return matches_fields(kube::kEvents, kube::FieldSelector::parse(text).value(), event);
  };
  EXPECT_TRUE(matches("source=kubelet"));
  EXPECT_FALSE(matches("source!=kubelet"));
  EXPECT_TRUE(matches("source=kubelet,reason!=Other"));
  EXPECT_FALSE(matches("source=kubelet,reason=Other"));
}

TEST(DryRunTest, EveryWrite) {
  Store store;
  Object a = store.create(kube::kConfigMaps, "ns", thing("a"), kNow).value();
  const std::string before = world(store);
  kube::WriteOptions dry;
  dry.dry_run = true;
  Object made = store.create(kube::kConfigMaps, "ns", thing("b"), kNow, dry).value();
  EXPECT_EQ(kube::text_at(*made, {"metadata", "resourceVersion"}), "");
  EXPECT_NE(kube::uid_of(*made), "");
  json::object change = *a;
  change["data"] = json::object{{"k", "v"}};
  Object changed = store.update(kube::kConfigMaps, "ns", change, kNow, dry).value();
  EXPECT_EQ(kube::text_at(*changed, {"data", "k"}), "v");
  EXPECT_EQ(kube::version_of(*changed), kube::version_of(*a));
  kube::Patch patch{"a", kube::PatchKind::kMerge, json::object{{"data", json::object{{"k", "w"}}}}};
  EXPECT_EQ(kube::text_at(*store.patch(kube::kConfigMaps, "ns", patch, kNow, dry).value(), {"data", "k"}),
            "w");
  EXPECT_TRUE(store.remove(kube::kConfigMaps, "ns", "a", {}, kNow, true).ok());
  EXPECT_EQ(store.remove_collection(kube::kConfigMaps, "ns", {}, kNow, true)->size(), 1u);
  EXPECT_EQ(world(store), before);
}

TEST(GenerateNameTest, IsCutAsKubernetesDoes) {
  Store store;
  json::object body{{"metadata", json::object{{"generateName", std::string(100, 'a')}}}};
  Object made = store.create(kube::kConfigMaps, "ns", body, kNow).value();
  EXPECT_EQ(kube::name_of(*made).size(), kGeneratedPrefixMax + 5);
  std::string_view tail = kube::name_of(*made).substr(kGeneratedPrefixMax);
  EXPECT_EQ(tail.find_first_not_of("bcdfghjklmnpqrstvwxz2456789"), tail.npos) << tail;
}

TEST(ExpiryTest, OldEventsGoAndFreshOnesStay) {
  Store store;
  auto event = [&](std::string_view name, std::string_view last, Time made) {
    json::object body{{"metadata", json::object{{"name", name}}}};
    if (!last.empty()) body["lastTimestamp"] = last;
    ASSERT_TRUE(store.create(kube::kEvents, "ns", body, made).ok());
  };
  event("old", "", kNow);
  event("seen-again", format_rfc3339(kNow + seconds(3000)), kNow);
  event("new", "", kNow + seconds(3500));
  EXPECT_EQ(store.expire_events(kNow + seconds(10), kNow + seconds(3610)), 1);
  EXPECT_EQ(names(store.list(kube::kEvents, "ns").value().items), "new seen-again ");
}

// A store in which something of every sort has happened.
Store lived() {
  Store store(1, {.namespaces = true});
  for (std::string_view name : {"ns", "going"}) {
    EXPECT_TRUE(store.create(kube::kNamespaces, "", {{"metadata", json::object{{"name", name}}}}, kNow).ok());
  }
  Object owner = store.create(kube::kConfigMaps, "ns", thing("owner"), kNow).value();
  EXPECT_TRUE(store.create(kube::kConfigMaps, "ns", owned(thing("child"), *owner), kNow).ok());
  EXPECT_TRUE(store.create(kube::kConfigMaps, "going", thing("inside"), kNow).ok());
  json::object change = *owner;
  change["data"] = json::object{{"k", "v"}};
  EXPECT_TRUE(store.update(kube::kConfigMaps, "ns", change, kNow).ok());
  return store;
}

TEST(RollbackTest, IsAsIfItHadNeverBeen) {
  Store store = lived();
  const std::string before = world(store);
  const int64_t revision = store.revision();
  ASSERT_TRUE(store.create(kube::kSecrets, "ns", thing("s"), kNow).ok());
  ASSERT_TRUE(store.remove(kube::kConfigMaps, "ns", "owner", {}, kNow).ok());
  ASSERT_TRUE(store.remove(kube::kNamespaces, "", "going", {}, kNow).ok());
  while (store.collect_garbage(kNow) > 0) {
  }
  EXPECT_NE(world(store), before);
  store.rollback(revision);
  EXPECT_EQ(world(store), before);
  // What depends on what is known again: the same requests have the same effects.
  while (store.collect_garbage(kNow) > 0) {
  }
  EXPECT_EQ(world(store), before);
  ASSERT_TRUE(store.remove(kube::kConfigMaps, "ns", "owner", {}, kNow).ok());
  ASSERT_TRUE(store.remove(kube::kNamespaces, "", "going", {}, kNow).ok());
  while (store.collect_garbage(kNow) > 0) {
  }
  std::string left;
  for (const auto& [resource, object] : store.everything())
    left += fmt::format("{} ", kube::name_of(*object));
  EXPECT_EQ(left, "ns ");
}

TEST(RollbackTest, TheCollectorTriesAgain) {
  Store store = lived();
  ASSERT_TRUE(store.remove(kube::kConfigMaps, "ns", "owner", {}, kNow).ok());
  const int64_t revision = store.revision();
  EXPECT_GT(store.collect_garbage(kNow), 0);
  store.rollback(revision);
  EXPECT_TRUE(store.get(kube::kConfigMaps, "ns", "child").ok());
  EXPECT_GT(store.collect_garbage(kNow), 0);
  EXPECT_FALSE(store.get(kube::kConfigMaps, "ns", "child").ok());
}

TEST(ReplayTest, AStoreIsWhatItsChangesMakeIt) {
  Store store = lived();
  ASSERT_TRUE(store.remove(kube::kConfigMaps, "going", "inside", {}, kNow).ok());
  Store copy(1, {.namespaces = true});
  for (const Change& change : store.changes_since(0)) {
    copy.replay(change.resource, change.event.kind, change.event.object, true);
  }
  copy.set_counters(store.revision(), store.compacted(), store.uids());
  EXPECT_EQ(world(copy), world(store));
  ASSERT_TRUE(copy.remove(kube::kConfigMaps, "ns", "owner", {}, kNow).ok());
  ASSERT_TRUE(store.remove(kube::kConfigMaps, "ns", "owner", {}, kNow).ok());
  while (copy.collect_garbage(kNow) + store.collect_garbage(kNow) > 0) {
  }
  EXPECT_EQ(world(copy), world(store));
  EXPECT_EQ(json::serialize(*copy.create(kube::kSecrets, "ns", thing("s"), kNow).value()),
            json::serialize(*store.create(kube::kSecrets, "ns", thing("s"), kNow).value()));
}

TEST(ErrorsTest, Words) {
  EXPECT_EQ(not_found(kube::kPods, "x").message, "pods \"x\" not found");
  EXPECT_EQ(already_exists(kube::kTfJobs, "x").message, "tfjobs.kubeflow.org \"x\" already exists");
  EXPECT_EQ(conflict(kube::kPods, "x", "why").message, "Operation cannot be fulfilled on pods \"x\": why");
  Error error =
      invalid_object(kube::kTfJobs, "x", {required("spec.a"), duplicate_value("spec.b", json::value("c"))});
  EXPECT_EQ(error.message,
            "TFJob.kubeflow.org \"x\" is invalid: [spec.a: Required value, spec.b: Duplicate value: \"c\"]");
  EXPECT_EQ(error.causes.size(), 2u);
  json::object object = thing("x");
  object["metadata"].get_object()["uid"] = "u";
  object["metadata"].get_object()["resourceVersion"] = "5";
  EXPECT_EQ(check_preconditions(kube::kPods, object, "", ""), std::nullopt);
  EXPECT_EQ(check_preconditions(kube::kPods, object, "v", "")->message,
            "Operation cannot be fulfilled on pods \"x\": Precondition failed: UID in precondition: v, UID "
            "in object "
            "meta: u");
  EXPECT_EQ(check_preconditions(kube::kPods, object, "u", "4")->message,
            "Operation cannot be fulfilled on pods \"x\": the object has been modified; please apply your "
            "changes to "
            "the latest version and try again");
}

// What was read in one piece of memory lies there as long as any part of it: no longer than its version.
TEST(VersionTest, ANewOneDoesNotKeepTheMemoryOfTheOld) {
  Store store;
  json::storage_ptr memory = json::make_shared_resource<json::monotonic_resource>();
  json::object body(thing("a"), memory);
  Object made = *store.create(kube::kConfigMaps, "ns", std::move(body), kNow);
  EXPECT_EQ(made->storage().get(), memory.get());
  const kube::Patch patch{"a", kube::PatchKind::kMerge, json::object{{"data", json::object{{"k", "w"}}}}};
  Object patched = *store.patch(kube::kConfigMaps, "ns", patch, kNow);
  EXPECT_NE(patched->storage().get(), memory.get());
  Object gone = *store.remove(kube::kConfigMaps, "ns", "a", {}, kNow);
  EXPECT_NE(gone->storage().get(), memory.get());
}

}  // namespace
}  // namespace trainyard::store
