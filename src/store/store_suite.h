// The suite that every body of an object store passes: the store itself, the store
// behind a client, later a server over HTTP and a real API server. It states only what
// Kubernetes promises; what is ours alone is tested beside each body.
//
// Use: include in one test file and INSTANTIATE_TEST_SUITE_P(Name, StoreSuite,
// testing::Values(SubjectFactory{...})).
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kube/access.h"
#include "kube/request.h"
#include "store/store.h"

namespace trainyard::store {

struct Answer {
  Object object;
  std::vector<Object> items;
  int64_t revision = 0;
  std::string continue_token;
  std::vector<WatchEvent> events;  // of a watch: what has happened so far; `before` may be null
};

class Subject {
 public:
  virtual ~Subject() = default;
  virtual Result<Answer> send(const kube::Request& request) = 0;
  // Waits until the garbage collector has nothing left to do.
  virtual void collect_garbage() = 0;
};

using SubjectFactory = std::function<std::unique_ptr<Subject>()>;

inline constexpr kube::Resource kSuiteJobs{"kubeflow.org", "v1", "TFJob", "tfjobs"};

class StoreSuite : public testing::TestWithParam<SubjectFactory> {
 protected:
  void SetUp() override { subject_ = GetParam()(); }

  Result<Answer> send(const kube::Resource& resource, kube::Verb verb) {
    return subject_->send({resource, "ns", std::move(verb)});
  }
  static json::object job(std::string_view name, int replicas = 1) {
    return {{"apiVersion", "kubeflow.org/v1"},
            {"kind", "TFJob"},
            {"metadata", json::object{{"name", name}, {"namespace", "ns"}}},
            {"spec", json::object{{"replicas", replicas}}}};
  }
  static json::object config(std::string_view name) {
    return {{"apiVersion", "v1"},
            {"kind", "ConfigMap"},
            {"metadata", json::object{{"name", name}, {"namespace", "ns"}}},
            {"data", json::object{{"key", "value"}}}};
  }
  static json::object pod(std::string_view name, std::string_view node = "") {
    json::object spec{{"containers", json::array{json::object{{"name", "c"}, {"image", "i"}}}}};
    if (!node.empty()) spec["nodeName"] = node;
    return {{"apiVersion", "v1"},
            {"kind", "Pod"},
            {"metadata", json::object{{"name", name}, {"namespace", "ns"}}},
            {"spec", std::move(spec)}};
  }
  static json::object owned(json::object object, const json::object& owner) {
    object["metadata"].get_object()["ownerReferences"] = json::array{
        kube::owner_reference("kubeflow.org/v1", "TFJob", kube::name_of(owner), kube::uid_of(owner))};
    return object;
  }
  static json::object with_finalizer(json::object object, std::string_view finalizer) {
    object["metadata"].get_object()["finalizers"] = json::array{json::value(finalizer)};
    return object;
  }
  Object made(const kube::Resource& resource, json::object body) {
    Result<Answer> answer = send(resource, kube::Create{std::move(body)});
    EXPECT_TRUE(answer.ok()) << (answer.ok() ? "" : answer.error().message);
    return answer.ok() ? answer->object : std::make_shared<const json::object>();
  }
  // Null when it is not there.
  Object now(const kube::Resource& resource, std::string_view name) {
    Result<Answer> answer = send(resource, kube::Get{std::string(name)});
    return answer.ok() ? answer->object : nullptr;
  }
  Result<Answer> remove(const kube::Resource& resource, std::string_view name,
                        kube::DeleteOptions options = {}) {
    return send(resource, kube::Delete{std::string(name), std::move(options)});
  }
  static std::string shown(const std::vector<WatchEvent>& events) {
    static constexpr const char* kKinds[] = {"added", "modified", "deleted", "bookmark"};
    std::string text;
    for (const WatchEvent& event : events) {
      if (event.kind == ChangeKind::kBookmark) continue;
      text += fmt::format("{}{} {}", text.empty() ? "" : "; ", kKinds[static_cast<int>(event.kind)],
                          kube::name_of(*event.object));
    }
    return text;
  }
  static ErrorKind kind_of(const Result<Answer>& answer) { return answer.error().kind; }

  std::unique_ptr<Subject> subject_;
};

TEST_P(StoreSuite, CreateGivesIdentity) {
  Object a = made(kSuiteJobs, job("a"));
  EXPECT_EQ(kube::uid_of(*a).size(), 36u);
  EXPECT_EQ(kube::generation_of(*a), 1);
  EXPECT_GT(kube::version_of(*a), 0);
  EXPECT_TRUE(kube::creation_time_of(*a).has_value());
  Object b = made(kSuiteJobs, job("b"));
  EXPECT_NE(kube::uid_of(*a), kube::uid_of(*b));
  EXPECT_GT(kube::version_of(*b), kube::version_of(*a));
  EXPECT_EQ(*now(kSuiteJobs, "a"), *a);
}

TEST_P(StoreSuite, CreateRefusesWhatIsThere) {
  made(kSuiteJobs, job("a"));
  Result<Answer> again = send(kSuiteJobs, kube::Create{job("a")});
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(kind_of(again), ErrorKind::kAlreadyExists);
}

TEST_P(StoreSuite, CreateRefusesBadBodies) {
  json::object no_name = job("x");
  no_name["metadata"].get_object().erase("name");
  json::object versioned = job("x");
  versioned["metadata"].get_object()["resourceVersion"] = "7";
  json::object elsewhere = job("x");
  elsewhere["metadata"].get_object()["namespace"] = "other";
  for (const json::object& body : {no_name, versioned, elsewhere, job("Not_A_Name"), json::object{}}) {
    Result<Answer> answer = send(kSuiteJobs, kube::Create{body});
    ASSERT_FALSE(answer.ok()) << json::serialize(body);
    EXPECT_EQ(kind_of(answer), ErrorKind::kInvalid) << json::serialize(body);
  }
}

TEST_P(StoreSuite, GenerateNameGivesDifferentNames) {
  json::object body = config("x");
  body["metadata"].get_object().erase("name");
  body["metadata"].get_object()["generateName"] = "some-";
  Object a = made(kube::kConfigMaps, body);
  Object b = made(kube::kConfigMaps, body);
  EXPECT_TRUE(kube::name_of(*a).starts_with("some-"));
  EXPECT_NE(kube::name_of(*a), kube::name_of(*b));
}

TEST_P(StoreSuite, StatusIsWrittenOnItsOwn) {
  json::object body = job("a");
  body["status"] = json::object{{"phase", "Sneaked"}};
  Object a = made(kSuiteJobs, body);
  EXPECT_EQ(a->if_contains("status"), nullptr);
  json::object change = *a;
  change["status"] = json::object{{"phase", "Running"}};
  change["spec"] = json::object{{"replicas", 5}};
  Result<Answer> written = send(kSuiteJobs, kube::UpdateStatus{change});
  ASSERT_TRUE(written.ok()) << written.error().message;
  EXPECT_EQ(kube::text_at(*written->object, {"status", "phase"}), "Running");
  EXPECT_EQ(kube::int_at(*written->object, {"spec", "replicas"}), 1);
  EXPECT_EQ(kube::generation_of(*written->object), 1);
  change = *written->object;
  change["status"] = json::object{{"phase", "Sneaked"}};
  change["spec"] = json::object{{"replicas", 5}};
  written = send(kSuiteJobs, kube::Update{change});
  ASSERT_TRUE(written.ok()) << written.error().message;
  EXPECT_EQ(kube::text_at(*written->object, {"status", "phase"}), "Running");
  EXPECT_EQ(kube::int_at(*written->object, {"spec", "replicas"}), 5);
  EXPECT_EQ(kube::generation_of(*written->object), 2);
}

TEST_P(StoreSuite, LabelsDoNotRaiseTheGeneration) {
  json::object change = *made(kSuiteJobs, job("a"));
  change["metadata"].get_object()["labels"] = json::object{{"k", "v"}};
  Result<Answer> written = send(kSuiteJobs, kube::Update{change});
  ASSERT_TRUE(written.ok());
  EXPECT_EQ(kube::generation_of(*written->object), 1);
  EXPECT_EQ(kube::label_of(*written->object, "k"), "v");
}

TEST_P(StoreSuite, AnUpdateThatChangesNothingMakesNoVersion) {
  Object a = made(kSuiteJobs, job("a"));
  Result<Answer> written = send(kSuiteJobs, kube::Update{*a});
  ASSERT_TRUE(written.ok());
  EXPECT_EQ(kube::version_of(*written->object), kube::version_of(*a));
  Result<Answer> watched = send(kSuiteJobs, kube::Watch{{}, {}, std::to_string(kube::version_of(*a))});
  ASSERT_TRUE(watched.ok());
  EXPECT_EQ(shown(watched->events), "");
}

TEST_P(StoreSuite, StaleUpdatesConflict) {
  Object a = made(kSuiteJobs, job("a"));
  json::object change = *a;
  change["spec"] = json::object{{"replicas", 2}};
  ASSERT_TRUE(send(kSuiteJobs, kube::Update{change}).ok());
  change["spec"] = json::object{{"replicas", 3}};
  Result<Answer> stale = send(kSuiteJobs, kube::Update{change});
  ASSERT_FALSE(stale.ok());
  EXPECT_EQ(kind_of(stale), ErrorKind::kConflict);
  change["status"] = json::object{{"phase", "Running"}};
  stale = send(kSuiteJobs, kube::UpdateStatus{change});
  ASSERT_FALSE(stale.ok());
  EXPECT_EQ(kind_of(stale), ErrorKind::kConflict);
}

TEST_P(StoreSuite, ANewObjectOfTheSameNameIsAnother) {
  Object a = made(kSuiteJobs, job("a"));
  ASSERT_TRUE(remove(kSuiteJobs, "a").ok());
  Object b = made(kSuiteJobs, job("a"));
  json::object change = *a;
  change["metadata"].get_object().erase("resourceVersion");
  Result<Answer> written = send(kSuiteJobs, kube::Update{change});
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(kind_of(written), ErrorKind::kConflict);
  Result<Answer> removed = remove(kSuiteJobs, "a", {.uid = std::string(kube::uid_of(*a))});
  ASSERT_FALSE(removed.ok());
  EXPECT_EQ(kind_of(removed), ErrorKind::kConflict);
  EXPECT_TRUE(remove(kSuiteJobs, "a", {.uid = std::string(kube::uid_of(*b))}).ok());
}

TEST_P(StoreSuite, NothingIsFoundWhereNothingIs) {
  for (const kube::Verb& verb : std::vector<kube::Verb>{
           kube::Get{"a"}, kube::Update{job("a")}, kube::UpdateStatus{job("a")},
           kube::Patch{"a", kube::PatchKind::kMerge, json::object{}}, kube::Delete{"a", {}}}) {
    Result<Answer> answer = send(kSuiteJobs, verb);
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(kind_of(answer), ErrorKind::kNotFound);
  }
}

TEST_P(StoreSuite, PatchesMerge) {
  Object a = made(kSuiteJobs, job("a"));
  json::object body{{"metadata", json::object{{"labels", json::object{{"k", "v"}}}}},
                    {"spec", json::object{{"replicas", 4}}}};
  Result<Answer> patched = send(kSuiteJobs, kube::Patch{"a", kube::PatchKind::kMerge, body});
  ASSERT_TRUE(patched.ok()) << patched.error().message;
  EXPECT_EQ(kube::label_of(*patched->object, "k"), "v");
  EXPECT_EQ(kube::int_at(*patched->object, {"spec", "replicas"}), 4);
  EXPECT_EQ(kube::generation_of(*patched->object), 2);
  json::object stale{{"metadata", json::object{{"resourceVersion", std::to_string(kube::version_of(*a))}}},
                     {"spec", json::object{{"replicas", 5}}}};
  patched = send(kSuiteJobs, kube::Patch{"a", kube::PatchKind::kMerge, stale});
  ASSERT_FALSE(patched.ok());
  EXPECT_EQ(kind_of(patched), ErrorKind::kConflict);
  json::object status{{"status", json::object{{"phase", "Running"}}},
                      {"spec", json::object{{"replicas", 6}}}};
  patched = send(kSuiteJobs, kube::Patch{"a", kube::PatchKind::kMerge, status, kube::Part::kStatus});
  ASSERT_TRUE(patched.ok()) << patched.error().message;
  EXPECT_EQ(kube::text_at(*patched->object, {"status", "phase"}), "Running");
  EXPECT_EQ(kube::int_at(*patched->object, {"spec", "replicas"}), 4);
}

TEST_P(StoreSuite, FinalizersHoldAnObject) {
  made(kSuiteJobs, with_finalizer(job("a"), "example.com/hold"));
  ASSERT_TRUE(remove(kSuiteJobs, "a").ok());
  Object a = now(kSuiteJobs, "a");
  ASSERT_NE(a, nullptr);
  EXPECT_TRUE(kube::is_deleting(*a));
  json::object more = with_finalizer(*a, "example.com/another");
  EXPECT_FALSE(send(kSuiteJobs, kube::Update{more}).ok());
  json::object free = *a;
  free["metadata"].get_object().erase("finalizers");
  ASSERT_TRUE(send(kSuiteJobs, kube::Update{free}).ok());
  EXPECT_EQ(now(kSuiteJobs, "a"), nullptr);
}

TEST_P(StoreSuite, AnUpdateCannotUndoADeletion) {
  made(kSuiteJobs, with_finalizer(job("a"), "example.com/hold"));
  ASSERT_TRUE(remove(kSuiteJobs, "a").ok());
  json::object change = *now(kSuiteJobs, "a");
  change["metadata"].get_object().erase("deletionTimestamp");
  ASSERT_TRUE(send(kSuiteJobs, kube::Update{change}).ok());
  EXPECT_TRUE(kube::is_deleting(*now(kSuiteJobs, "a")));
}

TEST_P(StoreSuite, PodsOnNodesGoGracefully) {
  made(kube::kPods, pod("p", "node"));
  ASSERT_TRUE(remove(kube::kPods, "p").ok());
  Object p = now(kube::kPods, "p");
  ASSERT_NE(p, nullptr);
  EXPECT_TRUE(kube::is_deleting(*p));
  EXPECT_EQ(kube::int_at(*p, {"metadata", "deletionGracePeriodSeconds"}), 30);
  ASSERT_TRUE(remove(kube::kPods, "p").ok());
  EXPECT_EQ(kube::version_of(*now(kube::kPods, "p")), kube::version_of(*p));
  ASSERT_TRUE(remove(kube::kPods, "p", {.grace_seconds = 0}).ok());
  EXPECT_EQ(now(kube::kPods, "p"), nullptr);
}

TEST_P(StoreSuite, PodsWithoutNodesAndEndedPodsGoAtOnce) {
  made(kube::kPods, pod("unbound"));
  ASSERT_TRUE(remove(kube::kPods, "unbound").ok());
  EXPECT_EQ(now(kube::kPods, "unbound"), nullptr);
  json::object ended = *made(kube::kPods, pod("ended", "node"));
  ended["status"] = json::object{{"phase", "Succeeded"}};
  ASSERT_TRUE(send(kube::kPods, kube::UpdateStatus{ended}).ok());
  ASSERT_TRUE(remove(kube::kPods, "ended").ok());
  EXPECT_EQ(now(kube::kPods, "ended"), nullptr);
}

TEST_P(StoreSuite, DependentsFollowTheirOwner) {
  Object a = made(kSuiteJobs, job("a"));
  made(kube::kConfigMaps, owned(config("c"), *a));
  made(kube::kConfigMaps, config("free"));
  subject_->collect_garbage();
  EXPECT_NE(now(kube::kConfigMaps, "c"), nullptr);
  ASSERT_TRUE(remove(kSuiteJobs, "a").ok());
  EXPECT_EQ(now(kSuiteJobs, "a"), nullptr);
  subject_->collect_garbage();
  EXPECT_EQ(now(kube::kConfigMaps, "c"), nullptr);
  EXPECT_NE(now(kube::kConfigMaps, "free"), nullptr);
}

TEST_P(StoreSuite, ForegroundDeletionWaitsForDependents) {
  Object a = made(kSuiteJobs, job("a"));
  made(kube::kPods, owned(pod("p", "node"), *a));
  ASSERT_TRUE(remove(kSuiteJobs, "a", {.propagation = kube::Propagation::kForeground}).ok());
  subject_->collect_garbage();
  ASSERT_NE(now(kSuiteJobs, "a"), nullptr);
  EXPECT_TRUE(kube::is_deleting(*now(kSuiteJobs, "a")));
  ASSERT_NE(now(kube::kPods, "p"), nullptr);
  EXPECT_TRUE(kube::is_deleting(*now(kube::kPods, "p")));
  ASSERT_TRUE(remove(kube::kPods, "p", {.grace_seconds = 0}).ok());
  subject_->collect_garbage();
  EXPECT_EQ(now(kSuiteJobs, "a"), nullptr);
}

TEST_P(StoreSuite, OrphansStay) {
  Object a = made(kSuiteJobs, job("a"));
  made(kube::kConfigMaps, owned(config("c"), *a));
  ASSERT_TRUE(remove(kSuiteJobs, "a", {.propagation = kube::Propagation::kOrphan}).ok());
  subject_->collect_garbage();
  EXPECT_EQ(now(kSuiteJobs, "a"), nullptr);
  ASSERT_NE(now(kube::kConfigMaps, "c"), nullptr);
  EXPECT_EQ(kube::controller_uid_of(*now(kube::kConfigMaps, "c")), "");
}

TEST_P(StoreSuite, ADependentOfNobodyIsCollected) {
  json::object ghost = job("ghost");
  ghost["metadata"].get_object()["uid"] = "00000000-0000-4000-8000-000000000000";
  made(kube::kConfigMaps, owned(config("c"), ghost));
  subject_->collect_garbage();
  EXPECT_EQ(now(kube::kConfigMaps, "c"), nullptr);
}

TEST_P(StoreSuite, ListsSelectAndPage) {
  for (std::string_view name : {"a", "b", "c"}) {
    json::object body = config(name);
    body["metadata"].get_object()["labels"] = json::object{{"odd", name == "b" ? "no" : "yes"}};
    made(kube::kConfigMaps, body);
  }
  kube::List query;
  query.labels = kube::LabelSelector::equals({{"odd", "yes"}});
  Result<Answer> odd = send(kube::kConfigMaps, query);
  ASSERT_TRUE(odd.ok());
  ASSERT_EQ(odd->items.size(), 2u);
  EXPECT_EQ(kube::name_of(*odd->items[1]), "c");
  kube::List paged;
  paged.limit = 2;
  Result<Answer> first = send(kube::kConfigMaps, paged);
  ASSERT_TRUE(first.ok());
  ASSERT_EQ(first->items.size(), 2u);
  ASSERT_NE(first->continue_token, "");
  paged.continue_token = first->continue_token;
  Result<Answer> second = send(kube::kConfigMaps, paged);
  ASSERT_TRUE(second.ok());
  ASSERT_EQ(second->items.size(), 1u);
  EXPECT_EQ(second->continue_token, "");
  EXPECT_EQ(second->revision, first->revision);
}

TEST_P(StoreSuite, AWatchTellsEverythingAfterItsVersion) {
  Result<Answer> start = send(kSuiteJobs, kube::List{});
  ASSERT_TRUE(start.ok());
  made(kSuiteJobs, job("before"));
  std::string version = std::to_string(send(kSuiteJobs, kube::List{})->revision);
  json::object change = *made(kSuiteJobs, job("a"));
  made(kube::kConfigMaps, config("elsewhere"));
  change["spec"] = json::object{{"replicas", 2}};
  ASSERT_TRUE(send(kSuiteJobs, kube::Update{change}).ok());
  ASSERT_TRUE(remove(kSuiteJobs, "a").ok());
  Result<Answer> watched = send(kSuiteJobs, kube::Watch{{}, {}, version});
  ASSERT_TRUE(watched.ok());
  EXPECT_EQ(shown(watched->events), "added a; modified a; deleted a");
  int64_t last = 0;
  for (const WatchEvent& event : watched->events) {
    EXPECT_GT(kube::version_of(*event.object), last);
    last = kube::version_of(*event.object);
  }
}

TEST_P(StoreSuite, AWatchWithASelectorTellsWhoComesAndGoes) {
  json::object body = config("c");
  body["metadata"].get_object()["labels"] = json::object{{"in", "no"}};
  std::string version = std::to_string(send(kube::kConfigMaps, kube::List{})->revision);
  json::object change = *made(kube::kConfigMaps, body);
  for (std::string_view in : {"yes", "no", "yes"}) {
    change["metadata"].get_object()["labels"] = json::object{{"in", in}};
    change["metadata"].get_object().erase("resourceVersion");
    ASSERT_TRUE(send(kube::kConfigMaps, kube::Update{change}).ok());
  }
  kube::Watch query;
  query.labels = kube::LabelSelector::equals({{"in", "yes"}});
  query.version = version;
  Result<Answer> watched = send(kube::kConfigMaps, query);
  ASSERT_TRUE(watched.ok());
  EXPECT_EQ(shown(watched->events), "added c; deleted c; added c");
}

TEST_P(StoreSuite, ACollectionGoesTogether) {
  made(kube::kConfigMaps, config("a"));
  made(kube::kConfigMaps, config("b"));
  Result<Answer> removed = send(kube::kConfigMaps, kube::DeleteCollection{});
  ASSERT_TRUE(removed.ok());
  ASSERT_EQ(removed->items.size(), 2u);
  EXPECT_EQ(kube::name_of(*removed->items[1]), "b");
  EXPECT_TRUE(send(kube::kConfigMaps, kube::List{})->items.empty());
}

}  // namespace trainyard::store
