#include "kube/managed_fields.h"

#include <gtest/gtest.h>

#include "kube/access.h"

namespace trainyard::kube {
namespace {

constexpr Resource kTools{"example.com", "v1", "Tool", "tools"};

json::object parsed(std::string_view text) { return json::parse(jview(text)).as_object(); }
FieldSet set_of(std::string_view text) { return read_fields_v1(parsed(text)).value(); }
std::string text_of(const FieldSet& set) { return json::serialize(write_fields_v1(set)); }

TEST(FieldSetTest, FieldsV1GoesThereAndBack) {
  for (std::string_view text :
       {R"({})", R"({"f:a":{}})", R"({"f:a":{".":{},"f:b":{}},"f:c":{"f:d":{"v:\"x\"":{}}}})",
        R"({"f:spec":{"f:containers":{"k:{\"name\":\"c\"}":{".":{},"f:image":{}}}}})"}) {
    EXPECT_EQ(text_of(set_of(text)), text);
  }
  for (std::string_view bad : {R"({"a":{}})", R"({"f:a":1})", R"({"q:a":{}})"}) {
    EXPECT_FALSE(read_fields_v1(parsed(bad)).ok()) << bad;
  }
}

TEST(FieldSetTest, Algebra) {
  FieldSet a = set_of(R"({"f:a":{},"f:b":{".":{},"f:c":{}}})");
  FieldSet b = set_of(R"({"f:b":{"f:c":{},"f:d":{}}})");
  EXPECT_EQ(text_of(unite(a, b)), R"({"f:a":{},"f:b":{".":{},"f:c":{},"f:d":{}}})");
  EXPECT_EQ(text_of(subtract(a, b)), R"({"f:a":{},"f:b":{}})");
  EXPECT_EQ(text_of(subtract(b, a)), R"({"f:b":{"f:d":{}}})");
  EXPECT_EQ(text_of(intersect(a, b)), R"({"f:b":{"f:c":{}}})");
  EXPECT_TRUE(intersect(a, FieldSet{}).empty());
}

TEST(FieldSetTest, PathsForPeople) {
  FieldSet set = set_of(R"({"f:spec":{"f:ports":{"k:{\"port\":80,\"protocol\":\"TCP\"}":{".":{},"f:name":{}}},
      "f:cidrs":{"v:\"a\"":{}}}})");
  EXPECT_EQ(paths_of(set),
            (std::vector<std::string>{".spec.cidrs[=\"a\"]", ".spec.ports[port=80,protocol=\"TCP\"]",
                                      ".spec.ports[port=80,protocol=\"TCP\"].name"}));
}

TEST(FieldsOfTest, WhatADocumentSpeaksAbout) {
  struct Case {
    Resource resource;
    std::string_view document, fields;
  };
  const Case cases[] = {
      {kConfigMaps, R"({"data":{"a":"1","b":"2"}})", R"({"f:data":{"f:a":{},"f:b":{}}})"},
      {kConfigMaps, R"({"data":{},"other":null})", R"({"f:data":{}})"},
      {kPods, R"({"spec":{"containers":[{"name":"c","image":"i","args":["x"]}]}})",
       R"({"f:spec":{"f:containers":{"k:{\"name\":\"c\"}":{".":{},"f:args":{},"f:image":{},"f:name":{}}}}})"},
      {kServices, R"({"spec":{"ports":[{"port":80}],"selector":{"a":"b"}}})",
       R"({"f:spec":{"f:ports":{"k:{\"port\":80,\"protocol\":\"TCP\"}":{".":{},"f:port":{}}},"f:selector":{}}})"},
      {kTools, R"({"spec":{"containers":[{"name":"c"}],"selector":{"a":"b"}}})",
       R"({"f:spec":{"f:containers":{},"f:selector":{"f:a":{}}}})"},
      {kTools, R"({"metadata":{"finalizers":["x"],"ownerReferences":[{"uid":"u","name":"n"}]}})",
       R"({"f:metadata":{"f:finalizers":{"v:\"x\"":{}},"f:ownerReferences":{"k:{\"uid\":\"u\"}":{}}}})"},
      // Elements that cannot be told apart make the list one field.
      {kPods, R"({"spec":{"containers":[{"name":"c"},{"name":"c"}]}})", R"({"f:spec":{"f:containers":{}}})"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(text_of(fields_of(parsed(c.document), field_rules_of(c.resource))), c.fields) << c.document;
  }
}

// A custom kind, by the schema of its spec's members.
FieldRules rules_by_schema() {
  json::object schema = parsed(R"({"type":"object","properties":{"spec":{"type":"object","properties":{
      "size":{"type":"integer"},
      "parts":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["name","kind"],
        "items":{"type":"object","properties":{"name":{"type":"string"},"kind":{"type":"string","default":"k"},
          "inner":{"type":"object","properties":{"x":{"type":"integer"}}}}}},
      "tags":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}},
      "steps":{"type":"array","items":{"type":"string"}},
      "by":{"type":"object","additionalProperties":{"type":"object","properties":{"x":{"type":"integer"}}}},
      "whole":{"type":"object","x-kubernetes-map-type":"atomic","additionalProperties":{"type":"string"}},
      "free":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}}})");
  return {false, "Tool", std::make_shared<const json::object>(std::move(schema))};
}

TEST(FieldsOfTest, BySchema) {
  struct Case {
    std::string_view spec, fields;
  };
  const Case cases[] = {
      {R"({"size":1,"steps":["a"]})", R"({"f:size":{},"f:steps":{}})"},
      {R"({"parts":[{"name":"a","inner":{"x":1}}]})",
       R"({"f:parts":{"k:{\"kind\":\"k\",\"name\":\"a\"}":{".":{},"f:inner":{"f:x":{}},"f:name":{}}}})"},
      {R"({"tags":["x","y"]})", R"({"f:tags":{"v:\"x\"":{},"v:\"y\"":{}}})"},
      {R"({"by":{"m":{"x":1}}})", R"({"f:by":{"f:m":{".":{},"f:x":{}}}})"},
      {R"({"whole":{"a":"1"}})", R"({"f:whole":{}})"},
      {R"({"free":{"f":{"g":[{"name":"a"}]}}})", R"({"f:free":{"f:f":{".":{},"f:g":{}}}})"},
      {R"({"size":null})", R"({"f:size":{}})"},
  };
  for (const Case& c : cases) {
    json::object document{{"metadata", json::object{{"labels", json::object{{"l", "1"}}}}},
                          {"spec", parsed(c.spec)}};
    EXPECT_EQ(text_of(fields_of(document, rules_by_schema())),
              fmt::format(R"({{"f:metadata":{{"f:labels":{{"f:l":{{}}}}}},"f:spec":{}}})", c.fields))
        << c.spec;
  }
}

TEST(MergeFieldsTest, BySchema) {
  json::object live =
      parsed(R"({"spec":{"parts":[{"name":"a","kind":"k"}],"tags":["x"],"whole":{"a":"1"}}})");
  json::object config = parsed(R"({"spec":{"parts":[{"name":"a","inner":{"x":1}},{"name":"b"}],"tags":["y"],
      "whole":{"b":"2"},"size":null}})");
  EXPECT_EQ(json::serialize(merge_fields(live, config, rules_by_schema())),
            R"({"spec":{"parts":[{"name":"a","kind":"k","inner":{"x":1}},{"name":"b"}],"tags":["x","y"],)"
            R"("whole":{"b":"2"},"size":null}})");
}

TEST(CompareFieldsTest, WhatChanged) {
  struct Case {
    std::string_view before, after, added, modified, removed;
  };
  const Case cases[] = {
      {R"({"a":1})", R"({"a":1})", "{}", "{}", "{}"},
      {R"({"a":1})", R"({"a":2})", "{}", R"({"f:a":{}})", "{}"},
      {R"({"a":1})", R"({"b":{"c":1}})", R"({"f:b":{".":{},"f:c":{}}})", "{}", R"({"f:a":{}})"},
      {R"({"a":{}})", R"({"a":{"b":1}})", R"({"f:a":{"f:b":{}}})", "{}", "{}"},
      {R"({"a":null})", R"({"a":1})", R"({"f:a":{}})", "{}", "{}"},
      {R"({"a":{"b":1}})", R"({"a":"text"})", "{}", R"({"f:a":{}})", R"({"f:a":{"f:b":{}}})"},
      {R"({"spec":{"containers":[{"name":"a","image":"x"},{"name":"b"}]}})",
       R"({"spec":{"containers":[{"name":"c"},{"name":"a","image":"y"}]}})",
       R"({"f:spec":{"f:containers":{"k:{\"name\":\"c\"}":{".":{},"f:name":{}}}}})",
       R"({"f:spec":{"f:containers":{"k:{\"name\":\"a\"}":{"f:image":{}}}}})",
       R"({"f:spec":{"f:containers":{"k:{\"name\":\"b\"}":{".":{},"f:name":{}}}}})"},
      {R"({"spec":{"tolerations":[{"key":"a"}]}})", R"({"spec":{"tolerations":[{"key":"b"}]}})", "{}",
       R"({"f:spec":{"f:tolerations":{}}})", "{}"},
  };
  for (const Case& c : cases) {
    FieldChanges changes = compare_fields(parsed(c.before), parsed(c.after), field_rules_of(kPods));
    EXPECT_EQ(text_of(changes.added), c.added) << c.before << c.after;
    EXPECT_EQ(text_of(changes.modified), c.modified) << c.before << c.after;
    EXPECT_EQ(text_of(changes.removed), c.removed) << c.before << c.after;
  }
}

TEST(MergeFieldsTest, LiveWithWhatIsSaid) {
  struct Case {
    std::string_view live, config, merged;
  };
  const Case cases[] = {
      {R"({"a":1,"b":2})", R"({"b":3,"c":4})", R"({"a":1,"b":3,"c":4})"},
      {R"({"a":{"b":1}})", R"({"a":{"c":2}})", R"({"a":{"b":1,"c":2}})"},
      {R"({"a":{"b":1}})", R"({"a":null})", R"({"a":{"b":1}})"},
      {R"({"spec":{"nodeSelector":{"a":"1"}}})", R"({"spec":{"nodeSelector":{"b":"2"}}})",
       R"({"spec":{"nodeSelector":{"b":"2"}}})"},
      {R"({"spec":{"containers":[{"name":"a","image":"x"},{"name":"b"}]}})",
       R"({"spec":{"containers":[{"name":"c"},{"name":"a","tty":true}]}})",
       R"({"spec":{"containers":[{"name":"a","image":"x","tty":true},{"name":"b"},{"name":"c"}]}})"},
      {R"({"metadata":{"finalizers":["a"]}})", R"({"metadata":{"finalizers":["b","a"]}})",
       R"({"metadata":{"finalizers":["a","b"]}})"},
      {R"({"spec":{"args":["a"]}})", R"({"spec":{"args":["b","c"]}})", R"({"spec":{"args":["b","c"]}})"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(json::serialize(merge_fields(parsed(c.live), parsed(c.config), field_rules_of(kPods))),
              c.merged);
  }
}

TEST(RemoveFieldsTest, WhatNobodyWantsAnyMore) {
  struct Case {
    std::string_view document, dropped, kept, left;
  };
  const Case cases[] = {
      {R"({"a":1,"b":2})", R"({"f:a":{}})", R"({})", R"({"b":2})"},
      {R"({"a":1,"b":2})", R"({"f:a":{}})", R"({"f:a":{}})", R"({"a":1,"b":2})"},
      {R"({"a":{"b":1},"c":2})", R"({"f:a":{"f:b":{}}})", R"({})", R"({"c":2})"},
      {R"({"a":{"b":1,"x":1}})", R"({"f:a":{"f:b":{}}})", R"({})", R"({"a":{"x":1}})"},
      // An element goes whole, with what the server had filled in.
      {R"({"spec":{"containers":[{"name":"a","image":"x","tty":true},{"name":"b"}]}})",
       R"({"f:spec":{"f:containers":{"k:{\"name\":\"a\"}":{".":{},"f:name":{},"f:image":{}}}}})", R"({})",
       R"({"spec":{"containers":[{"name":"b"}]}})"},
      // ... unless somebody else has a part of it.
      {R"({"spec":{"containers":[{"name":"a","image":"x","tty":true}]}})",
       R"({"f:spec":{"f:containers":{"k:{\"name\":\"a\"}":{".":{},"f:image":{}}}}})",
       R"({"f:spec":{"f:containers":{"k:{\"name\":\"a\"}":{"f:tty":{}}}}})",
       R"({"spec":{"containers":[{"name":"a","tty":true}]}})"},
      {R"({"metadata":{"finalizers":["a","b"]}})", R"({"f:metadata":{"f:finalizers":{"v:\"a\"":{}}}})",
       R"({})", R"({"metadata":{"finalizers":["b"]}})"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(json::serialize(remove_fields(parsed(c.document), set_of(c.dropped), set_of(c.kept),
                                            field_rules_of(kPods))),
              c.left)
        << c.document;
  }
}

}  // namespace
}  // namespace trainyard::kube
