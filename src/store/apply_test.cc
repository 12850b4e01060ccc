#include <gtest/gtest.h>

#include "kube/access.h"
#include "store/managers.h"
#include "store/store.h"
#include "store/testing.h"

namespace trainyard::store {
namespace {

json::object parsed(std::string_view text) { return json::parse(kube::jview(text)).as_object(); }

class ApplyTest : public testing::Test {
 protected:
  Result<Object> apply(const kube::Resource& resource, std::string_view manager, std::string_view text,
                       bool force = false, kube::Part part = kube::Part::kMain) {
    kube::WriteOptions options;
    options.field_manager = manager;
    options.force = force;
    json::object body = parsed(text);
    body["apiVersion"] = resource.api_version();
    body["kind"] = resource.kind;
    return store_.patch(resource, "ns", {"x", kube::PatchKind::kApply, body, part}, now_, options);
  }
  Result<Object> patch(const kube::Resource& resource, std::string_view manager, std::string_view text,
                       kube::Part part = kube::Part::kMain) {
    kube::WriteOptions options;
    options.field_manager = manager;
    return store_.patch(resource, "ns", {"x", kube::PatchKind::kMerge, parsed(text), part}, now_, options);
  }
  // "kubectl Apply {...}; other Update {...}".
  std::string managers(const kube::Resource& resource) {
    std::string text;
    Object object = store_.get(resource, "ns", "x").value();
    for (const Manager& manager : read_managers(*object)) {
      text += fmt::format("{}{} {}{} {}", text.empty() ? "" : "; ", manager.name,
                          manager.applies ? "Apply" : "Update",
                          manager.subresource.empty() ? "" : "/" + manager.subresource,
                          json::serialize(kube::write_fields_v1(manager.fields)));
    }
    return text;
  }
  std::string data() {
    Object object = store_.get(kube::kConfigMaps, "ns", "x").value();
    const json::object* data = kube::object_at(*object, {"data"});
    return data == nullptr ? "none" : json::serialize(*data);
  }

  Store store_;
  Time now_ = kNow;
};

TEST_F(ApplyTest, MakesWhatIsNotThere) {
  Result<Object> made = apply(kube::kConfigMaps, "me", R"({"data":{"a":"1"}})");
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_EQ(json::serialize((**made).at("metadata").at("managedFields")),
            R"([{"manager":"me","operation":"Apply","apiVersion":"v1","time":"2023-11-14T22:13:20Z",)"
            R"("fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:a":{}}}}])");
}

TEST_F(ApplyTest, TwiceTheSameChangesNothing) {
  ASSERT_TRUE(apply(kube::kConfigMaps, "me", R"({"data":{"a":"1"}})").ok());
  int64_t revision = store_.revision();
  now_ = now_ + seconds(60);
  ASSERT_TRUE(apply(kube::kConfigMaps, "me", R"({"data":{"a":"1"}})").ok());
  EXPECT_EQ(store_.revision(), revision);
}

TEST_F(ApplyTest, WhatIsNoLongerAppliedGoes) {
  ASSERT_TRUE(apply(kube::kConfigMaps, "me", R"({"data":{"a":"1","b":"2"}})").ok());
  ASSERT_TRUE(apply(kube::kConfigMaps, "me", R"({"data":{"b":"2"}})").ok());
  EXPECT_EQ(data(), R"({"b":"2"})");
  ASSERT_TRUE(apply(kube::kConfigMaps, "me", R"({"metadata":{"labels":{"l":"v"}}})").ok());
  EXPECT_EQ(data(), "none");
  EXPECT_EQ(managers(kube::kConfigMaps), R"(me Apply {"f:metadata":{"f:labels":{"f:l":{}}}})");
}

TEST_F(ApplyTest, WhatOthersSetStays) {
  ASSERT_TRUE(apply(kube::kConfigMaps, "me", R"({"data":{"a":"1"}})").ok());
  ASSERT_TRUE(patch(kube::kConfigMaps, "other", R"({"data":{"b":"2"}})").ok());
  ASSERT_TRUE(apply(kube::kConfigMaps, "me", R"({"metadata":{"labels":{"l":"v"}}})").ok());
  EXPECT_EQ(data(), R"({"b":"2"})");
  EXPECT_EQ(managers(kube::kConfigMaps),
            R"(me Apply {"f:metadata":{"f:labels":{"f:l":{}}}}; other Update {"f:data":{"f:b":{}}})");
}

TEST_F(ApplyTest, ConflictsNameManagersAndFields) {
  ASSERT_TRUE(apply(kube::kConfigMaps, "first", R"({"data":{"a":"1","b":"1"}})").ok());
  Result<Object> refused = apply(kube::kConfigMaps, "second", R"({"data":{"a":"2"}})");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::kConflict);
  EXPECT_EQ(refused.error().message, "Apply failed with 1 conflict: conflict with \"first\": .data.a");
  EXPECT_EQ(refused.error().causes,
            (std::vector<Cause>{{"FieldManagerConflict", "conflict with \"first\"", ".data.a"}}));
  ASSERT_TRUE(patch(kube::kConfigMaps, "editor", R"({"data":{"b":"3"}})").ok());
  refused = apply(kube::kConfigMaps, "second", R"({"data":{"b":"2"}})");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message,
            "Apply failed with 1 conflict: conflict with \"editor\" using v1: .data.b");
  refused = apply(kube::kConfigMaps, "second", R"({"data":{"a":"2","b":"2"}})");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message,
            "Apply failed with 2 conflicts: conflicts with \"editor\" using v1:\n- .data.b\nconflicts with "
            "\"first\":\n- .data.a");
}

TEST_F(ApplyTest, ForceTakesOver) {
  ASSERT_TRUE(apply(kube::kConfigMaps, "first", R"({"data":{"a":"1","b":"1"}})").ok());
  ASSERT_TRUE(apply(kube::kConfigMaps, "second", R"({"data":{"a":"2"}})", true).ok());
  EXPECT_EQ(data(), R"({"a":"2","b":"1"})");
  EXPECT_EQ(managers(kube::kConfigMaps),
            R"(first Apply {"f:data":{"f:b":{}}}; second Apply {"f:data":{"f:a":{}}})");
}

TEST_F(ApplyTest, EqualValuesAreOwnedTogether) {
  ASSERT_TRUE(apply(kube::kConfigMaps, "first", R"({"data":{"a":"1"}})").ok());
  ASSERT_TRUE(apply(kube::kConfigMaps, "second", R"({"data":{"a":"1"}})").ok());
  EXPECT_EQ(managers(kube::kConfigMaps),
            R"(first Apply {"f:data":{"f:a":{}}}; second Apply {"f:data":{"f:a":{}}})");
  // One lets go: the other still wants it.
  ASSERT_TRUE(apply(kube::kConfigMaps, "first", R"({})").ok());
  EXPECT_EQ(data(), R"({"a":"1"})");
  ASSERT_TRUE(apply(kube::kConfigMaps, "second", R"({})").ok());
  EXPECT_EQ(data(), "none");
}

TEST_F(ApplyTest, ContainersMergeByName) {
  ASSERT_TRUE(apply(kube::kPods, "me", R"({"spec":{"containers":[{"name":"a","image":"1"}]}})").ok());
  ASSERT_TRUE(apply(kube::kPods, "sidecar", R"({"spec":{"containers":[{"name":"b","image":"2"}]}})").ok());
  Object pod = store_.get(kube::kPods, "ns", "x").value();
  EXPECT_EQ(json::serialize(pod->at("spec").at("containers")),
            R"([{"name":"a","image":"1"},{"name":"b","image":"2"}])");
  EXPECT_EQ(
      managers(kube::kPods),
      R"(me Apply {"f:spec":{"f:containers":{"k:{\"name\":\"a\"}":{".":{},"f:image":{},"f:name":{}}}}}; )"
      R"(sidecar Apply {"f:spec":{"f:containers":{"k:{\"name\":\"b\"}":{".":{},"f:image":{},"f:name":{}}}}})");
}

TEST_F(ApplyTest, ListsOfCustomResourcesAreWhole) {
  ASSERT_TRUE(apply(kube::kTfJobs, "me", R"({"spec":{"list":[{"name":"a"}]}})").ok());
  Result<Object> refused = apply(kube::kTfJobs, "other", R"({"spec":{"list":[{"name":"b"}]}})");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message, "Apply failed with 1 conflict: conflict with \"me\": .spec.list");
}

TEST_F(ApplyTest, TheStatusHasManagersOfItsOwn) {
  ASSERT_TRUE(apply(kube::kTfJobs, "me", R"({"spec":{"a":1},"status":{"sneaked":1}})").ok());
  ASSERT_TRUE(apply(kube::kTfJobs, "operator", R"({"spec":{"a":5},"status":{"phase":"Running"}})", false,
                    kube::Part::kStatus)
                  .ok());
  ASSERT_TRUE(patch(kube::kTfJobs, "watcher", R"({"status":{"seen":true}})", kube::Part::kStatus).ok());
  EXPECT_EQ(managers(kube::kTfJobs),
            R"(me Apply {"f:spec":{"f:a":{}}}; operator Apply/status {"f:status":{"f:phase":{}}}; )"
            R"(watcher Update/status {"f:status":{"f:seen":{}}})");
  Object job = store_.get(kube::kTfJobs, "ns", "x").value();
  EXPECT_EQ(json::serialize(job->at("spec")), R"({"a":1})");
  EXPECT_EQ(json::serialize(job->at("status")), R"({"phase":"Running","seen":true})");
}

TEST_F(ApplyTest, WritersWithoutANameTakeFieldsFromTheOthers) {
  ASSERT_TRUE(apply(kube::kConfigMaps, "me", R"({"data":{"a":"1","b":"1"}})").ok());
  ASSERT_TRUE(patch(kube::kConfigMaps, "", R"({"data":{"a":"2"}})").ok());
  EXPECT_EQ(managers(kube::kConfigMaps), R"(me Apply {"f:data":{"f:b":{}}})");
}

TEST_F(ApplyTest, NobodyIsTrackedWhereNobodyIsNamed) {
  ASSERT_TRUE(store_.create(kube::kConfigMaps, "ns", parsed(R"({"metadata":{"name":"x"}})"), kNow).ok());
  ASSERT_TRUE(patch(kube::kConfigMaps, "", R"({"data":{"a":"2"}})").ok());
  EXPECT_EQ(managers(kube::kConfigMaps), "");
}

TEST_F(ApplyTest, CreateAndUpdateAreTracked) {
  kube::WriteOptions options;
  options.field_manager = "kubectl-create";
  json::object body = parsed(R"({"metadata":{"name":"x","labels":{"l":"v"}},"data":{"a":"1"}})");
  ASSERT_TRUE(store_.create(kube::kConfigMaps, "ns", body, kNow, options).ok());
  EXPECT_EQ(
      managers(kube::kConfigMaps),
      R"(kubectl-create Update {"f:data":{".":{},"f:a":{}},"f:metadata":{"f:labels":{".":{},"f:l":{}}}})");
  body = *store_.get(kube::kConfigMaps, "ns", "x").value();
  body["data"] = json::object{{"a", "2"}};
  body["metadata"].get_object().erase("managedFields");
  options.field_manager = "editor";
  ASSERT_TRUE(store_.update(kube::kConfigMaps, "ns", body, kNow, options).ok());
  EXPECT_EQ(managers(kube::kConfigMaps),
            R"(kubectl-create Update {"f:data":{},"f:metadata":{"f:labels":{".":{},"f:l":{}}}}; )"
            R"(editor Update {"f:data":{"f:a":{}}})");
}

TEST_F(ApplyTest, ManagedFieldsCanBeWrittenAndReset) {
  ASSERT_TRUE(patch(kube::kConfigMaps, "x", "{}").error().kind == ErrorKind::kNotFound);
  ASSERT_TRUE(apply(kube::kConfigMaps, "me", R"({"data":{"a":"1"}})").ok());
  ASSERT_TRUE(
      patch(kube::kConfigMaps, "", R"({"metadata":{"managedFields":[{"manager":"new","operation":"Apply",
      "apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:a":{}}}}]}})")
          .ok());
  EXPECT_EQ(managers(kube::kConfigMaps), R"(new Apply {"f:data":{"f:a":{}}})");
  ASSERT_TRUE(patch(kube::kConfigMaps, "", R"({"metadata":{"managedFields":[]}})").ok());
  EXPECT_EQ(managers(kube::kConfigMaps), R"(new Apply {"f:data":{"f:a":{}}})");
  ASSERT_TRUE(patch(kube::kConfigMaps, "", R"({"metadata":{"managedFields":[{}]}})").ok());
  EXPECT_EQ(managers(kube::kConfigMaps), "");
}

TEST_F(ApplyTest, WhoGivesNoNameIsCalledByTheProgram) {
  ASSERT_TRUE(apply(kube::kConfigMaps, "me", R"({"data":{"a":"1","b":"1"}})").ok());
  kube::WriteOptions options;
  options.program = "OpenAPI-Generator";
  kube::Patch request{"x", kube::PatchKind::kMerge, parsed(R"({"data":{"a":"2"}})")};
  ASSERT_TRUE(store_.patch(kube::kConfigMaps, "ns", request, kNow, options).ok());
  EXPECT_EQ(managers(kube::kConfigMaps),
            R"(me Apply {"f:data":{"f:b":{}}}; OpenAPI-Generator Update {"f:data":{"f:a":{}}})");
  Result<Object> refused = apply(kube::kConfigMaps, "me", R"({"data":{"a":"1","b":"1"}})");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message,
            "Apply failed with 1 conflict: conflict with \"OpenAPI-Generator\" using v1: .data.a");
}

TEST_F(ApplyTest, WhatIsThereBeforeTheFirstApplyIsNotFreeToBeTaken) {
  json::object body = parsed(R"({"metadata":{"name":"x"},"data":{"a":"1","b":"1"}})");
  ASSERT_TRUE(store_.create(kube::kConfigMaps, "ns", body, kNow).ok());
  Result<Object> refused = apply(kube::kConfigMaps, "me", R"({"data":{"a":"2"}})");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message,
            "Apply failed with 1 conflict: conflict with \"before-first-apply\" using v1: .data.a");
  EXPECT_EQ(managers(kube::kConfigMaps), "");
  // What is applied as it is there is shared.
  ASSERT_TRUE(apply(kube::kConfigMaps, "me", R"({"data":{"a":"1"}})").ok());
  EXPECT_EQ(managers(kube::kConfigMaps),
            R"(before-first-apply Update {"f:data":{".":{},"f:a":{},"f:b":{}}}; )"
            R"(me Apply {"f:data":{"f:a":{}}})");
  ASSERT_TRUE(apply(kube::kConfigMaps, "me", "{}").ok());
  EXPECT_EQ(data(), R"({"a":"1","b":"1"})");
}

TEST_F(ApplyTest, KubectlTakesOverWhatItAppliedFromItsOwnSide) {
  kube::WriteOptions options;
  options.field_manager = "kubectl-client-side-apply";
  json::object body = parsed(R"({"metadata":{"name":"x"},"data":{"a":"1","b":"1","c":"1"}})");
  const std::string last = R"({"metadata":{"name":"x"},"data":{"a":"1","b":"1"}})";
  body["metadata"].get_object()["annotations"] =
      json::object{{"kubectl.kubernetes.io/last-applied-configuration", last}};
  ASSERT_TRUE(store_.create(kube::kConfigMaps, "ns", body, kNow, options).ok());
  EXPECT_FALSE(apply(kube::kConfigMaps, "another", R"({"data":{"a":"2"}})").ok());
  EXPECT_FALSE(apply(kube::kConfigMaps, "kubectl", R"({"data":{"a":"2","c":"2"}})").ok());
  Result<Object> taken = apply(kube::kConfigMaps, "kubectl", R"({"data":{"a":"2"}})");
  ASSERT_TRUE(taken.ok()) << taken.error().message;
  EXPECT_EQ(data(), R"({"a":"2","b":"1","c":"1"})");
  // What somebody changed since is theirs.
  ASSERT_TRUE(patch(kube::kConfigMaps, "editor", R"({"data":{"b":"3"}})").ok());
  EXPECT_FALSE(apply(kube::kConfigMaps, "kubectl", R"({"data":{"a":"2","b":"2"}})").ok());
}

TEST_F(ApplyTest, DryRunsAnswerAndLeaveNothing) {
  kube::WriteOptions options;
  options.field_manager = "me";
  options.dry_run = true;
  kube::Patch request{"x", kube::PatchKind::kApply,
                      parsed(R"({"apiVersion":"v1","kind":"ConfigMap","data":{"a":"1"}})")};
  Result<Object> made = store_.patch(kube::kConfigMaps, "ns", request, kNow, options);
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_FALSE(store_.get(kube::kConfigMaps, "ns", "x").ok());
  EXPECT_EQ(store_.revision(), 1);
}

TEST_F(ApplyTest, WhatIsRefused) {
  struct Case {
    std::string_view manager, text, says;
  };
  const Case cases[] = {
      {"", R"({})",
       "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is required for apply patch"},
      {"me", R"({"metadata":{"managedFields":[]}})", "metadata.managedFields must be nil"},
      {"me", R"({"metadata":{"name":"y"}})",
       "the name of the object (y) does not match the name on the URL (x)"},
      {"me", R"({"metadata":{"uid":"1"}})",
       "Operation cannot be fulfilled on configmaps \"x\": uid mismatch: the provided object specified a uid "
       "or "
       "version, and no existing object was found"},
  };
  for (const Case& c : cases) {
    Result<Object> refused = apply(kube::kConfigMaps, c.manager, c.text);
    ASSERT_FALSE(refused.ok()) << c.text;
    EXPECT_EQ(refused.error().message, c.says);
  }
}

}  // namespace
}  // namespace trainyard::store
