#include "server/validate_values.h"

#include <gtest/gtest.h>

#include "kube/access.h"
#include "kube/json.h"

namespace trainyard::server {
namespace {

json::object parsed(std::string_view text) { return json::parse(kube::jview(text)).as_object(); }

// The reason and field of each problem of an object with this one field "v".
std::string told(std::string_view schema, std::string_view value, std::string_view before = "") {
  json::object whole{{"type", "object"}, {"properties", json::object{{"v", parsed(schema)}}}};
  auto object = [](std::string_view v) { return parsed(fmt::format(R"({{"v":{}}})", v)); };
  const json::object old = before.empty() ? json::object() : object(before);
  std::string text;
  for (const Cause& cause : value_problems(whole, object(value), before.empty() ? nullptr : &old)) {
    text += fmt::format("{}{} {}", text.empty() ? "" : "; ", cause.reason.substr(10), cause.field);
  }
  return text;
}

struct ValueRow {
  std::string_view schema, value, expected;
};

void expect(std::initializer_list<ValueRow> rows) {
  for (const ValueRow& row : rows)
    EXPECT_EQ(told(row.schema, row.value), row.expected) << row.schema << row.value;
}

TEST(ValidateValues, Types) {
  expect({
      {R"({"type":"integer"})", "1", ""},
      {R"({"type":"integer"})", "1.0", ""},
      {R"({"type":"integer"})", "1.5", "TypeInvalid v"},
      {R"({"type":"integer"})", R"("1")", "TypeInvalid v"},
      {R"({"type":"number"})", "1", ""},
      {R"({"type":"string"})", "1", "TypeInvalid v"},
      {R"({"type":"boolean"})", "true", ""},
      {R"({"type":"array"})", "{}", "TypeInvalid v"},
      {R"({"type":"object"})", "[]", "TypeInvalid v"},
      {R"({"type":"string"})", "null", "TypeInvalid v"},
      {R"({"type":"string","nullable":true})", "null", ""},
      {R"({"x-kubernetes-int-or-string":true})", R"("10%")", ""},
      {R"({"x-kubernetes-int-or-string":true})", "10", ""},
      {R"({"x-kubernetes-int-or-string":true})", "1.5", "TypeInvalid v"},
      {R"({"x-kubernetes-preserve-unknown-fields":true})", "[1]", ""},
      {R"({"type":"object","x-kubernetes-preserve-unknown-fields":true})", R"({"a":[{}]})", ""},
  });
}

TEST(ValidateValues, Bounds) {
  expect({
      {R"({"type":"string","enum":["a","b"]})", R"("b")", ""},
      {R"({"type":"string","enum":["a","b"]})", R"("c")", "NotSupported v"},
      {R"({"type":"integer","enum":[1,2]})", "3", "NotSupported v"},
      {R"({"type":"integer","minimum":1,"maximum":3})", "0", "Invalid v"},
      {R"({"type":"integer","minimum":1,"maximum":3})", "4", "Invalid v"},
      {R"({"type":"integer","minimum":1,"maximum":3})", "3", ""},
      {R"({"type":"integer","maximum":3,"exclusiveMaximum":true})", "3", "Invalid v"},
      {R"({"type":"number","minimum":0,"exclusiveMinimum":true})", "0.0", "Invalid v"},
      {R"({"type":"integer","multipleOf":5})", "12", "Invalid v"},
      {R"({"type":"string","minLength":2,"maxLength":3})", R"("äöü")", ""},
      {R"({"type":"string","minLength":2})", R"("a")", "Invalid v"},
      {R"({"type":"string","maxLength":3})", R"("abcd")", "TooLong v"},
      {R"({"type":"string","pattern":"^a+$"})", R"("aa")", ""},
      {R"({"type":"string","pattern":"^a+$"})", R"("ab")", "Invalid v"},
      {R"({"type":"string","pattern":"("})", R"("ab")", ""},
      {R"({"type":"array","maxItems":1})", "[1,2]", "TooMany v"},
      {R"({"type":"array","minItems":1})", "[]", "Invalid v"},
      {R"({"type":"object","maxProperties":1})", R"({"a":1,"b":2})", "TooMany v"},
      {R"({"type":"object","minProperties":1})", "{}", "Invalid v"},
  });
}

TEST(ValidateValues, WhatIsInside) {
  expect({
      {R"({"type":"object","required":["a","b"],"properties":{"a":{"type":"string"}}})", R"({"a":1})",
       "TypeInvalid v.a; Required v.b"},
      {R"({"type":"object","additionalProperties":{"type":"integer"}})", R"({"x":1,"y":"2"})",
       "TypeInvalid v.y"},
      {R"({"type":"array","items":{"type":"object","required":["n"]}})", R"([{"n":1},{}])",
       "Required v[1].n"},
      {R"({"type":"array","items":{"type":"string"},"x-kubernetes-list-type":"set"})", R"(["a","b","a","a"])",
       "Duplicate v[2]"},
      {R"({"type":"array","items":{"type":"object"},"x-kubernetes-list-type":"map",
           "x-kubernetes-list-map-keys":["n"]})",
       R"([{"n":"a","x":1},{"n":"b"},{"n":"a"},{},{}])", "Duplicate v[2]; Duplicate v[4]"},
      {R"({"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["n"]})", "[1]",
       "Invalid v[0]"},
      {R"({"type":"array","items":{"type":"integer"}})", "[1,1]", ""},
  });
}

TEST(ValidateValues, Alternatives) {
  constexpr std::string_view kOne = R"({"oneOf":[{"required":["a"]},{"required":["b"]}]})";
  expect({
      {kOne, R"({"a":1})", ""},
      {kOne, R"({"a":1,"b":1})", "Invalid v"},
      {kOne, "{}", "Invalid v"},
      {R"({"anyOf":[{"type":"integer"},{"type":"string"}]})", "true", "Invalid v"},
      {R"({"anyOf":[{"type":"integer"},{"type":"string"}]})", "1", ""},
      {R"({"allOf":[{"minimum":1},{"maximum":3}]})", "5", "Invalid v"},
      {R"({"not":{"enum":["x"]}})", R"("x")", "Invalid v"},
      {R"({"not":{"enum":["x"]}})", R"("y")", ""},
  });
}

TEST(ValidateValues, WhatWasThereStays) {
  constexpr std::string_view kSchema = R"({"type":"object","properties":{"a":{"type":"string"},
      "l":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["n"],
           "items":{"type":"object","properties":{"m":{"type":"integer"}}}}}})";
  EXPECT_EQ(told(kSchema, R"({"a":1,"b":1})", R"({"a":1})"), "");
  EXPECT_EQ(told(kSchema, R"({"a":2})", R"({"a":1})"), "TypeInvalid v.a");
  EXPECT_EQ(told(kSchema, R"({"l":[{"n":"y","m":"1"},{"n":"x","m":"1"}]})", R"({"l":[{"n":"x","m":"1"}]})"),
            "TypeInvalid v.l[0].m");
}

TEST(ValidateValues, SaysItAsTheRealServerDoes) {
  store::Causes causes = value_problems(parsed(R"({"properties":{"v":{"type":"integer","minimum":1}}})"),
                                        parsed(R"({"v":"x"})"), nullptr);
  ASSERT_EQ(causes.size(), 1u);
  EXPECT_EQ(causes[0].message, R"(Invalid value: "string": v in body must be of type integer: "string")");
  causes = value_problems(parsed(R"({"properties":{"v":{"type":"integer","minimum":1}}})"),
                          parsed(R"({"v":0})"), nullptr);
  ASSERT_EQ(causes.size(), 1u);
  EXPECT_EQ(causes[0].message, "Invalid value: 0: v in body should be greater than or equal to 1");
}

TEST(ValidateValues, HasALimit) {
  json::array many(1000, json::value("x"));
  json::object schema = parsed(R"({"properties":{"v":{"items":{"type":"integer"}}}})");
  EXPECT_EQ(value_problems(schema, json::object{{"v", many}}, nullptr).size(), kValueProblemsMax);
}

}  // namespace
}  // namespace trainyard::server
