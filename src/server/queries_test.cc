#include "server/queries.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace trainyard::server {
namespace {

class QueriesTest : public testing::Test {
 protected:
  const ApiResource& resource(std::string_view group, std::string_view version, std::string_view plural) {
    const ApiResource* found = registry_.find(group, version, plural);
    CHECK(found != nullptr);
    return *found;
  }
  const ApiResource& pods() { return resource("", "v1", "pods"); }
  static Query query(std::string_view text) { return parse_target("/x?" + std::string(text))->query; }

  Registry registry_;
};

TEST_F(QueriesTest, Lists) {
  Result<kube::List> list =
      list_of_query(pods(), query("labelSelector=a%3Db&fieldSelector=spec.nodeName%3Dn&limit=5&continue=t"));
  ASSERT_TRUE(list.ok());
  EXPECT_EQ(list->labels.to_string(), "a=b");
  EXPECT_EQ(list->fields.to_string(), "spec.nodeName=n");
  EXPECT_EQ(list->limit, 5);
  EXPECT_EQ(list->continue_token, "t");
  for (std::string_view bad : {"labelSelector=a%20b%20c", "fieldSelector=spec.image%3Dx", "limit=many",
                               "resourceVersion=abc", "resourceVersion=1&resourceVersionMatch=Sometimes",
                               "resourceVersionMatch=Exact", "continue=t&resourceVersion=7"}) {
    EXPECT_FALSE(list_of_query(pods(), query(bad)).ok()) << bad;
  }
}

TEST_F(QueriesTest, FieldsAreThoseOfTheKind) {
  auto fields = [&](const ApiResource& of, std::string_view text) {
    Result<kube::FieldSelector> selector =
        fields_of_query(of.resource, query("fieldSelector=" + kube::percent_encode(text)));
    return selector.ok() ? selector->to_string() : selector.error().message;
  };
  EXPECT_EQ(fields(pods(), "status.phase!=Running,metadata.name=a"), "status.phase!=Running,metadata.name=a");
  const ApiResource& events = resource("", "v1", "events");
  EXPECT_EQ(fields(events, "source=kubelet"), "source.component=kubelet");
  EXPECT_EQ(fields(resource("events.k8s.io", "v1", "events"), "regarding.name=p"), "involvedObject.name=p");
  EXPECT_EQ(fields(resource("kubeflow.org", "v1", "tfjobs"), "spec.x=1"),
            "field label not supported: spec.x");
  EXPECT_EQ(fields(resource("", "v1", "nodes"), "metadata.namespace=a"),
            "field label not supported: metadata.namespace");
}

TEST_F(QueriesTest, Watches) {
  Result<kube::Watch> watch =
      watch_of_query(pods(), query("resourceVersion=7&allowWatchBookmarks=true&timeoutSeconds=9"), 50);
  ASSERT_TRUE(watch.ok());
  EXPECT_EQ(watch->version, "7");
  EXPECT_TRUE(watch->bookmarks);
  EXPECT_EQ(watch->timeout_seconds, 9);
  EXPECT_FALSE(watch->send_initial_events);
  Result<kube::Watch> streaming = watch_of_query(
      pods(), query("sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=7"), 50);
  ASSERT_TRUE(streaming.ok());
  EXPECT_TRUE(streaming->send_initial_events);
  EXPECT_EQ(streaming->version, "");
  Result<kube::Watch> from_now =
      watch_of_query(pods(), query("sendInitialEvents=false&resourceVersionMatch=NotOlderThan"), 50);
  ASSERT_TRUE(from_now.ok());
  EXPECT_EQ(from_now->version, "50");
  EXPECT_FALSE(watch_of_query(pods(), query("sendInitialEvents=true"), 50).ok());
  EXPECT_FALSE(watch_of_query(pods(), query("resourceVersionMatch=NotOlderThan"), 50).ok());
}

TEST_F(QueriesTest, Writes) {
  Result<kube::WriteOptions> options =
      write_options_of_query(query("dryRun=All&fieldManager=me&fieldValidation=Strict&force=true"));
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(*options,
            (kube::WriteOptions{
                .dry_run = true, .field_manager = "me", .field_validation = "Strict", .force = true}));
  for (std::string_view bad : {"dryRun=Some", "fieldValidation=Maybe", "force=perhaps"}) {
    EXPECT_FALSE(write_options_of_query(query(bad)).ok()) << bad;
  }
  EXPECT_FALSE(write_options_of_query(query("fieldManager=" + std::string(129, 'a'))).ok());
}

TEST_F(QueriesTest, Deletions) {
  json::object body{{"propagationPolicy", "Foreground"},
                    {"gracePeriodSeconds", 5},
                    {"preconditions", json::object{{"uid", "u"}, {"resourceVersion", "3"}}},
                    {"dryRun", json::array{"All"}}};
  Result<DeleteQuery> from_body = delete_of_query(query(""), &body);
  ASSERT_TRUE(from_body.ok());
  EXPECT_EQ(from_body->options, (kube::DeleteOptions{"u", "3", kube::Propagation::kForeground, 5}));
  EXPECT_TRUE(from_body->dry_run);
  Result<DeleteQuery> from_query =
      delete_of_query(query("propagationPolicy=Orphan&gracePeriodSeconds=0"), nullptr);
  ASSERT_TRUE(from_query.ok());
  EXPECT_EQ(from_query->options, (kube::DeleteOptions{"", "", kube::Propagation::kOrphan, 0}));
  EXPECT_EQ(delete_of_query(query("gracePeriodSeconds=-5"), nullptr)->options.grace_seconds, 1);
  for (std::string_view bad : {"propagationPolicy=Never", "gracePeriodSeconds=x"}) {
    EXPECT_FALSE(delete_of_query(query(bad), nullptr).ok()) << bad;
  }
}

// What is told of a query that may not be: the reason and field of each cause.
std::string told(const Error& error) {
  std::string text;
  for (const Cause& cause : error.causes) {
    text += fmt::format("{}{} {}", text.empty() ? "" : "; ", cause.reason, cause.field);
  }
  return text;
}

TEST_F(QueriesTest, WhatIsWrongIsToldByParameter) {
  struct Row {
    std::string_view text, expected;
  };
  for (const Row& row : {
           Row{"resourceVersionMatch=Exact", "FieldValueForbidden resourceVersionMatch"},
           Row{"resourceVersion=0&resourceVersionMatch=Exact", "FieldValueForbidden resourceVersionMatch"},
           Row{"resourceVersion=1&resourceVersionMatch=Nearly",
               "FieldValueNotSupported resourceVersionMatch"},
           Row{"resourceVersion=1&resourceVersionMatch=Exact&continue=t",
               "FieldValueForbidden resourceVersionMatch"},
           Row{"sendInitialEvents=true", "FieldValueForbidden sendInitialEvents"},
           Row{"resourceVersion=abc", ""},
       }) {
    EXPECT_EQ(told(list_of_query(pods(), query(row.text)).error()), row.expected) << row.text;
  }
  for (const Row& row : {
           Row{"sendInitialEvents=true", "FieldValueForbidden resourceVersionMatch"},
           Row{"resourceVersionMatch=NotOlderThan", "FieldValueForbidden resourceVersionMatch"},
       }) {
    EXPECT_EQ(told(watch_of_query(pods(), query(row.text), 50).error()), row.expected) << row.text;
  }
  for (const Row& row : {
           Row{"propagationPolicy=Never", "FieldValueNotSupported propagationPolicy"},
           Row{"propagationPolicy=Orphan&orphanDependents=false", "FieldValueInvalid propagationPolicy"},
           Row{"dryRun=Some", "FieldValueNotSupported dryRun"},
           Row{"gracePeriodSeconds=x", ""},
       }) {
    EXPECT_EQ(told(delete_of_query(query(row.text), nullptr).error()), row.expected) << row.text;
  }
}

TEST_F(QueriesTest, SomeOptionsAreOfAnApplyAlone) {
  struct Row {
    std::optional<kube::PatchKind> patch;
    std::string text, expected;
  };
  for (const Row& row : {
           Row{std::nullopt, "dryRun=Some", "FieldValueNotSupported dryRun"},
           Row{std::nullopt, "fieldValidation=Maybe", "FieldValueNotSupported fieldValidation"},
           Row{std::nullopt, "fieldManager=" + std::string(129, 'm'), "FieldValueTooLong fieldManager"},
           Row{kube::PatchKind::kApply, "", "FieldValueRequired fieldManager"},
           Row{kube::PatchKind::kMerge, "force=false&fieldValidation=x",
               "FieldValueForbidden force; FieldValueNotSupported fieldValidation"},
       }) {
    EXPECT_EQ(told(write_options_of_query(query(row.text), row.patch).error()), row.expected) << row.text;
  }
  EXPECT_TRUE(write_options_of_query(query("fieldManager=m&force=true"), kube::PatchKind::kApply).ok());
}

TEST_F(QueriesTest, VersionsToCome) {
  EXPECT_TRUE(too_new(query("resourceVersion=51"), 50));
  EXPECT_FALSE(too_new(query("resourceVersion=50"), 50));
  EXPECT_FALSE(too_new(query("resourceVersion=0"), 50));
  EXPECT_FALSE(too_new(query(""), 50));
}

}  // namespace
}  // namespace trainyard::server
