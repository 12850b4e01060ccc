#include "kube/selector.h"

#include <gtest/gtest.h>

namespace trainyard::kube {
namespace {

std::string canonical(std::string_view text) {
  Result<LabelSelector> selector = LabelSelector::parse(text);
  return selector.ok() ? selector->to_string() : "error: " + selector.error().message;
}

TEST(LabelSelector, ParsesAndWritesTheCanonicalForm) {
  struct Row {
    std::string_view text, expected;
  };
  const Row rows[] = {
      {"", ""},
      {"  ", ""},
      {"a=b", "a=b"},
      {"a==b", "a=b"},
      {" a = b , c != d ", "a=b,c!=d"},
      {"a=b,c!=d,e in (g,f),!h,i notin (j),k", "a=b,c!=d,e in (f,g),!h,i notin (j),k"},
      {"z,a", "a,z"},
      {"a in (b,b,c)", "a in (b,c)"},
      {"a in (,b)", "a in (,b)"},
      {"a=", "a="},
      {"in in (in)", "in in (in)"},
      {"example.com/a-b_c.d=1", "example.com/a-b_c.d=1"},
      {"n>5,n<9", "n>5,n<9"},
      {"a,a", "a"},
      {"a=b,", "error: the label selector ends too early"},
      {",a", "error: unexpected \",a\" in the label selector at character 1"},
      {"a b", "error: unexpected \"b\" in the label selector at character 3"},
      {"a in b", "error: unexpected \"b\" in the label selector at character 6"},
      {"a in (b", "error: the label selector ends too early"},
      {"a in ()", "a in ()"},
      {"a!b", "error: unexpected \"b\" in the label selector at character 3"},
      {"=b", "error: unexpected \"=b\" in the label selector at character 1"},
      {"!", "error: \"\" is not a label key"},
      {"a=b=c", "error: unexpected \"=c\" in the label selector at character 4"},
      {"-a=b", "error: \"-a\" is not a label key"},
      {"A.com/a", "error: \"A.com/a\" is not a label key"},
      {"/a", "error: \"/a\" is not a label key"},
      {"a/b/c", "error: \"a/b/c\" is not a label key"},
      {"a=b_", "error: \"b_\" is not a label value"},
      {"n>x", "error: \"n\" is compared with something that is not a whole number"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(canonical(row.text), row.expected) << row.text;
    if (row.expected.starts_with("error")) continue;
    EXPECT_EQ(canonical(canonical(row.text)), row.expected);
  }
  EXPECT_FALSE(LabelSelector::parse(std::string(64, 'a')).ok());
  EXPECT_FALSE(LabelSelector::parse("a=" + std::string(64, 'b')).ok());
  EXPECT_FALSE(LabelSelector::parse(std::string(1'000'000, '(')).ok());
}

TEST(LabelSelector, Matches) {
  struct Row {
    std::string_view text, labels;
    bool expected;
  };
  const Row rows[] = {
      {"", "{}", true},
      {"a=b", R"({"a":"b"})", true},
      {"a=b", R"({"a":"c"})", false},
      {"a=b", "{}", false},
      {"a!=b", R"({"a":"c"})", true},
      {"a!=b", "{}", true},
      {"a!=b", R"({"a":"b"})", false},
      {"a in (b,c)", R"({"a":"c"})", true},
      {"a in (b,c)", R"({"a":"d"})", false},
      {"a in (b,c)", "{}", false},
      {"a notin (b,c)", R"({"a":"d"})", true},
      {"a notin (b,c)", "{}", true},
      {"a notin (b,c)", R"({"a":"b"})", false},
      {"a", R"({"a":""})", true},
      {"a", "{}", false},
      {"!a", "{}", true},
      {"!a", R"({"a":"b"})", false},
      {"a=", R"({"a":""})", true},
      {"a=", "{}", false},
      {"n>5", R"({"n":"6"})", true},
      {"n>5", R"({"n":"5"})", false},
      {"n<5", R"({"n":"x"})", false},
      {"a=b,c=d", R"({"a":"b","c":"d"})", true},
      {"a=b,c=d", R"({"a":"b"})", false},
      {"a=1", R"({"a":1})", false},
  };
  for (const Row& row : rows) {
    Result<LabelSelector> selector = LabelSelector::parse(row.text);
    ASSERT_TRUE(selector.ok()) << row.text;
    json::object object{
        {"metadata", {{"labels", json::parse(json::string_view(row.labels.data(), row.labels.size()))}}}};
    EXPECT_EQ(selector->matches(object), row.expected) << row.text << " " << row.labels;
  }
}

TEST(LabelSelector, ReadsTheObjectForm) {
  struct Row {
    std::string_view text, expected;
  };
  const Row rows[] = {
      {R"({"matchLabels":{"b":"c","a":"d"}})", "a=d,b=c"},
      {R"({"matchExpressions":[{"key":"a","operator":"In","values":["y","x"]},{"key":"b","operator":"Exists"}]})",
       "a in (x,y),b"},
      {R"({"matchExpressions":[{"key":"a","operator":"NotIn","values":["x"]},{"key":"b","operator":"DoesNotExist"}]})",
       "a notin (x),!b"},
      {"{}", ""},
      {R"({"matchLabels":null,"matchExpressions":null})", ""},
      {"[]", "error: a label selector must be an object"},
      {R"({"matchLabels":[]})", "error: matchLabels must be an object"},
      {R"({"matchLabels":{"a":1}})", "error: matchLabels[a] must be a string"},
      {R"({"matchExpressions":[3]})", "error: matchExpressions[0] must be an object"},
      {R"({"matchExpressions":[{"key":"a","operator":"Is"}]})",
       "error: matchExpressions[0].operator: \"Is\" is not one of In, NotIn, Exists, DoesNotExist"},
      {R"({"matchExpressions":[{"key":"a","operator":"In"}]})",
       "error: matchExpressions[0]: no values for the key \"a\""},
      {R"({"matchExpressions":[{"key":"a","operator":"Exists","values":["b"]}]})",
       "error: matchExpressions[0].values must be empty with Exists"},
      {R"({"matchExpressions":[{"key":"a","operator":"In","values":[1]}]})",
       "error: matchExpressions[0].values must be a list of strings"},
  };
  for (const Row& row : rows) {
    Result<LabelSelector> selector =
        LabelSelector::from_json(json::parse(json::string_view(row.text.data(), row.text.size())));
    std::string got = selector.ok() ? selector->to_string() : "error: " + selector.error().message;
    EXPECT_EQ(got, row.expected) << row.text;
  }
  json::object labelled{{"metadata", {{"labels", {{"a", "b"}}}}}};
  EXPECT_TRUE(LabelSelector().matches_everything());
  EXPECT_FALSE(LabelSelector::from_json(nullptr)->matches(labelled));
  EXPECT_TRUE(LabelSelector::from_json(json::object{})->matches(labelled));
  EXPECT_TRUE(LabelSelector::equals({{"a", "b"}}).matches(labelled));
  EXPECT_FALSE(LabelSelector::equals({{"a", "b"}, {"c", "d"}}).matches(labelled));
}

TEST(FieldSelector, ParsesMatchesAndWrites) {
  json::object pod =
      json::parse(R"({"metadata":{"name":"a","namespace":"n,=\\"},"spec":{"nodeName":"m","hostNetwork":true,
      "n":3},"status":{"phase":"Running"}})")
          .get_object();
  struct Row {
    std::string_view text, canonical;
    bool matches;
  };
  const Row rows[] = {
      {"", "", true},
      {"metadata.name=a", "metadata.name=a", true},
      {"metadata.name==a", "metadata.name=a", true},
      {"metadata.name!=a", "metadata.name!=a", false},
      {"metadata.name=b", "metadata.name=b", false},
      {"metadata.name=a,status.phase!=Failed", "metadata.name=a,status.phase!=Failed", true},
      {"spec.nodeName=", "spec.nodeName=", false},
      {"spec.nothing=", "spec.nothing=", true},
      {"spec.nothing!=x", "spec.nothing!=x", true},
      {"spec.hostNetwork=true", "spec.hostNetwork=true", true},
      {"spec.n=3", "spec.n=3", true},
      {"spec=", "spec=", true},
      {R"(metadata.namespace=n\,\=\\)", R"(metadata.namespace=n\,\=\\)", true},
      {",metadata.name=a,", "metadata.name=a", true},
  };
  for (const Row& row : rows) {
    Result<FieldSelector> selector = FieldSelector::parse(row.text);
    ASSERT_TRUE(selector.ok()) << row.text << ": " << selector.error().message;
    EXPECT_EQ(selector->to_string(), row.canonical);
    EXPECT_EQ(selector->matches(pod), row.matches) << row.text;
    EXPECT_EQ(FieldSelector::parse(selector->to_string()).value(), selector.value());
  }
  for (std::string_view text : {"a", "a,b=c", "=a", "a=b=c", "a=\\", "a=\\x", "\\", "a=b,\\", "a=b,c\\"}) {
    EXPECT_FALSE(FieldSelector::parse(text).ok()) << text;
  }
  EXPECT_EQ(FieldSelector().add("metadata.name", "x,y").to_string(), "metadata.name=x\\,y");
}

}  // namespace
}  // namespace trainyard::kube
