#include "kube/patch.h"

#include <gtest/gtest.h>

#include "base/rng.h"
#include "kube/access.h"
#include "kube/yaml.h"

namespace trainyard::kube {
namespace {

json::value js(std::string_view text) {
  Result<json::value> value = parse_json(text, 1000);
  EXPECT_TRUE(value.ok()) << text;
  return value.ok() ? value.value() : json::value();
}

std::string show(const Result<json::value>& result) {
  return result.ok() ? json::serialize(result.value()) : "error: " + result.error().message;
}

struct PatchRow {
  std::string_view target, patch, expected;
};

TEST(JsonPatch, DoesEveryOperation) {
  const PatchRow rows[] = {
      {R"({"a":1})", R"([{"op":"add","path":"/b","value":2}])", R"({"a":1,"b":2})"},
      {R"({"a":1})", R"([{"op":"add","path":"/a","value":2}])", R"({"a":2})"},
      {R"({"a":[1,3]})", R"([{"op":"add","path":"/a/1","value":2}])", R"({"a":[1,2,3]})"},
      {R"({"a":[1]})", R"([{"op":"add","path":"/a/-","value":2}])", R"({"a":[1,2]})"},
      {R"({"a":[1]})", R"([{"op":"add","path":"/a/1","value":2}])", R"({"a":[1,2]})"},
      {R"({"a":1})", R"([{"op":"add","path":"","value":[1]}])", "[1]"},
      {R"({"a":1,"b":2,"c":3})", R"([{"op":"remove","path":"/a"}])", R"({"b":2,"c":3})"},
      {R"({"a":[1,2,3]})", R"([{"op":"remove","path":"/a/1"}])", R"({"a":[1,3]})"},
      {R"({"a":1})", R"([{"op":"replace","path":"/a","value":null}])", R"({"a":null})"},
      {R"({"a":[1,2]})", R"([{"op":"replace","path":"/a/0","value":9}])", R"({"a":[9,2]})"},
      {R"({"a":{"x":1},"b":{}})", R"([{"op":"move","from":"/a/x","path":"/b/y"}])",
       R"({"a":{},"b":{"y":1}})"},
      {R"({"a":[1,2,3]})", R"([{"op":"move","from":"/a/0","path":"/a/2"}])", R"({"a":[2,3,1]})"},
      {R"({"a":1})", R"([{"op":"move","from":"/a","path":"/a"}])", R"({"a":1})"},
      {R"({"a":{"x":[1]}})", R"([{"op":"copy","from":"/a/x","path":"/b"}])", R"({"a":{"x":[1]},"b":[1]})"},
      {R"({"a":1})", R"([{"op":"copy","from":"","path":"/b"}])", R"({"a":1,"b":{"a":1}})"},
      {R"({"a/b":1,"m~n":2})", R"([{"op":"test","path":"/a~1b","value":1},{"op":"remove","path":"/m~0n"}])",
       R"({"a/b":1})"},
      {R"({"~1":1})", R"([{"op":"remove","path":"/~01"}])", "{}"},
      {R"({"":1})", R"([{"op":"replace","path":"/","value":2}])", R"({"":2})"},
      {R"({"a":{"x":1,"y":[1.0]}})", R"([{"op":"test","path":"/a","value":{"y":[1],"x":1}}])",
       R"({"a":{"x":1,"y":[1E0]}})"},
      {"{}", "[]", "{}"},
      {R"({"0":1})", R"([{"op":"remove","path":"/0"}])", "{}"},
  };
  for (const PatchRow& row : rows) {
    EXPECT_EQ(show(apply_json_patch(js(row.target), js(row.patch))), row.expected) << row.patch;
  }
}

TEST(JsonPatch, RefusesWithTheOperationAndThePath) {
  const PatchRow rows[] = {
      {"{}", "{}", "error: a JSON patch must be a list of operations"},
      {"{}", "[3]", "error: operation 0: an operation must be an object"},
      {"{}", R"([{"op":"add"}])", "error: operation 0: \"path\" must be a string"},
      {"{}", R"([{"op":"add","path":"/a"}])", "error: operation 0: add /a: \"value\" is missing"},
      {"{}", R"([{"op":"do","path":"/a"}])",
       "error: operation 0: op \"do\" is not one of add, remove, replace, move, copy, test"},
      {"{}", R"([{"op":"add","path":"a","value":1}])",
       "error: operation 0: \"a\" is not a JSON pointer: it must begin with \"/\""},
      {"{}", R"([{"op":"add","path":"/~2","value":1}])",
       "error: operation 0: \"/~2\" is not a JSON pointer: \"~\" must be followed by 0 or 1"},
      {"{}", R"([{"op":"add","path":"/a/b","value":1}])", "error: operation 0: there is nothing above /a/b"},
      {R"({"a":1})", R"([{"op":"add","path":"/a/b","value":1}])",
       "error: operation 0: what is above /a/b is no object or list"},
      {R"({"a":[]})", R"([{"op":"add","path":"/a/1","value":1}])",
       "error: operation 0: /a/1 is not a place in a list of 0"},
      {R"({"a":[1]})", R"([{"op":"add","path":"/a/00","value":1}])",
       "error: operation 0: /a/00 is not a place in a list of 1"},
      {R"({"a":[1]})", R"([{"op":"remove","path":"/a/-"}])", "error: operation 0: there is nothing at /a/-"},
      {R"({"a":[1]})", R"([{"op":"remove","path":"/a/1"}])", "error: operation 0: there is nothing at /a/1"},
      {R"({"a":[1]})", R"([{"op":"remove","path":"/a/18446744073709551616"}])",
       "error: operation 0: there is nothing at /a/18446744073709551616"},
      {"{}", R"([{"op":"remove","path":""}])", "error: operation 0: the whole document cannot be removed"},
      {"{}", R"([{"op":"replace","path":"/a","value":1}])", "error: operation 0: there is nothing at /a"},
      {"{}", R"([{"op":"copy","from":"/a","path":"/b"}])", "error: operation 0: there is nothing at /a"},
      {"{}", R"([{"op":"copy","path":"/b"}])", "error: operation 0: \"from\" must be a string"},
      {R"({"a":{}})", R"([{"op":"move","from":"/a","path":"/a/b"}])",
       "error: operation 0: /a/b is inside what is moved there"},
      {R"({"a":1})", R"([{"op":"add","path":"/b","value":1},{"op":"test","path":"/a","value":2}])",
       "error: operation 1: test /a: the value is another"},
  };
  for (const PatchRow& row : rows) {
    EXPECT_EQ(show(apply_json_patch(js(row.target), js(row.patch))), row.expected) << row.patch;
  }
}

TEST(JsonPatch, BombsAreRefused) {
  json::array doubling;
  for (int i = 0; i < 100; ++i) {
    doubling.push_back({{"op", "copy"}, {"from", ""}, {"path", fmt::format("/k{}", i)}});
  }
  EXPECT_EQ(show(apply_json_patch(js(R"({"a":1})"), doubling)),
            "error: operation 16: the patch copies too much");
  // A long text is one value, and so is a long name.
  const std::string mebi(1 << 20, 'x');
  for (const json::value& large : {json::value(mebi), json::value(json::object{{mebi, 1}})}) {
    json::array copies;
    for (int i = 0; i < 4; ++i) {
      copies.push_back({{"op", "copy"}, {"from", "/a"}, {"path", fmt::format("/b{}", i)}});
    }
    EXPECT_EQ(show(apply_json_patch(json::object{{"a", large}}, copies)),
              "error: operation 3: the patch copies too much");
  }

  json::array deepening;
  for (int i = 0; i < 1000; ++i) deepening.push_back({{"op", "move"}, {"from", "/a"}, {"path", "/b"}});
  for (int i = 0; i < 1000; ++i) {
    deepening.push_back(
        {{"op", "add"}, {"path", std::string("/x") + std::string(static_cast<size_t>(i) * 2, 'x')}});
  }
  EXPECT_FALSE(apply_json_patch(js(R"({"a":1})"), deepening).ok());

  std::string nested(150, '[');
  json::value deep_value = js(nested + std::string(150, ']'));
  json::array chain;
  chain.push_back({{"op", "add"}, {"path", "/a"}, {"value", deep_value}});
  std::string deep_path = "/a";
  for (int i = 0; i < 100; ++i) deep_path += "/0";
  chain.push_back({{"op", "replace"}, {"path", deep_path}, {"value", deep_value}});
  Result<json::value> chained = apply_json_patch(js("{}"), chain);
  ASSERT_FALSE(chained.ok());
  EXPECT_TRUE(chained.error().message.ends_with("would be nested more than 200 deep"))
      << chained.error().message;

  json::array huge(1'000'000, json::value(0));
  json::array inserts;
  for (int i = 0; i < 10'000; ++i) inserts.push_back({{"op", "add"}, {"path", "/0"}, {"value", 1}});
  EXPECT_EQ(show(apply_json_patch(huge, inserts)), "error: operation 19: the patch moves too many elements");
  inserts.push_back(1);
  EXPECT_EQ(show(apply_json_patch(huge, inserts)),
            "error: a JSON patch may have 10000 operations, this one has 10001");
}

TEST(MergePatch, FollowsTheRfc) {
  const PatchRow rows[] = {
      {R"({"a":"b"})", R"({"a":"c"})", R"({"a":"c"})"},
      {R"({"a":"b"})", R"({"b":"c"})", R"({"a":"b","b":"c"})"},
      {R"({"a":"b"})", R"({"a":null})", "{}"},
      {R"({"a":"b","b":"c"})", R"({"a":null})", R"({"b":"c"})"},
      {R"({"a":["b"]})", R"({"a":"c"})", R"({"a":"c"})"},
      {R"({"a":"c"})", R"({"a":["b"]})", R"({"a":["b"]})"},
      {R"({"a":{"b":"c"}})", R"({"a":{"b":"d","c":null}})", R"({"a":{"b":"d"}})"},
      {R"({"a":[{"b":"c"}]})", R"({"a":[1]})", R"({"a":[1]})"},
      {R"(["a","b"])", R"(["c","d"])", R"(["c","d"])"},
      {R"({"a":"b"})", R"(["c"])", R"(["c"])"},
      {R"({"a":"foo"})", "null", "null"},
      {R"({"e":null})", R"({"a":1})", R"({"e":null,"a":1})"},
      {R"([1,2])", R"({"a":"b","c":null})", R"({"a":"b"})"},
      {"{}", R"({"a":{"bb":{"ccc":null}}})", R"({"a":{"bb":{}}})"},
      {R"({"z":1,"y":2,"x":3})", R"({"y":null,"w":4})", R"({"z":1,"x":3,"w":4})"},
  };
  for (const PatchRow& row : rows) {
    EXPECT_EQ(show(apply_merge_patch(js(row.target), js(row.patch))), row.expected) << row.patch;
  }
  std::string deep;
  for (int i = 0; i < 300; ++i) deep += "{\"a\":";
  deep += "1" + std::string(300, '}');
  EXPECT_EQ(show(apply_merge_patch(js("{}"), js(deep))), "error: the patch is nested more than 200 deep");
}

TEST(MergePatch, TheDifferencePatchesOneIntoTheOther) {
  Rng rng(3);
  auto random = [&](auto&& self, int depth) -> json::value {
    if (depth > 3 || rng.chance(30)) return static_cast<int64_t>(rng.below(3));
    json::object out;
    for (uint64_t n = rng.below(5); n > 0; --n) out[fmt::format("k{}", rng.below(6))] = self(self, depth + 1);
    return out;
  };
  for (int i = 0; i < 5000; ++i) {
    json::value before = random(random, 0);
    json::value after = random(random, 0);
    json::value patch = merge_patch_between(before, after);
    ASSERT_EQ(apply_merge_patch(before, patch).value(), after);
    ASSERT_EQ(json::serialize(merge_patch_between(after, after)),
              after.is_object() ? "{}" : json::serialize(after));
  }
}

std::string strategic(std::string_view target, std::string_view patch, const Resource& resource = kPods) {
  return show(apply_strategic_patch(js(target), js(patch), resource));
}

TEST(StrategicPatch, MergesListsByTheirKey) {
  const PatchRow rows[] = {
      {R"({"spec":{"containers":[{"name":"a","image":"1"},{"name":"b","image":"2"}]}})",
       R"({"spec":{"containers":[{"name":"b","image":"3"}]}})",
       R"({"spec":{"containers":[{"name":"a","image":"1"},{"name":"b","image":"3"}]}})"},
      {R"({"spec":{"containers":[{"name":"a"}]}})", R"({"spec":{"containers":[{"name":"z","image":"3"}]}})",
       R"({"spec":{"containers":[{"name":"z","image":"3"},{"name":"a"}]}})"},
      {R"({"spec":{"containers":[{"name":"a"},{"name":"b"}]}})",
       R"({"spec":{"containers":[{"name":"a","$patch":"delete"}]}})",
       R"({"spec":{"containers":[{"name":"b"}]}})"},
      {R"({"spec":{"containers":[{"name":"a"},{"name":"b"}]}})",
       R"({"spec":{"containers":[{"name":"c"},{"$patch":"replace"}]}})",
       R"({"spec":{"containers":[{"name":"c"}]}})"},
      {R"({"c":{"containers":[{"name":"a","ports":[{"containerPort":1,"name":"x"},{"containerPort":2}]}]}})",
       R"({"c":{"containers":[{"name":"a","ports":[{"containerPort":2,"name":"y"}]}]}})",
       R"({"c":{"containers":[{"name":"a","ports":[{"containerPort":1,"name":"x"},{"containerPort":2,"name":"y"}]}]}})"},
      {R"({"env":[{"name":"A","value":"1"}]})", R"({"env":[{"name":"A","value":null,"valueFrom":{}}]})",
       R"({"env":[{"name":"A","valueFrom":{}}]})"},
      {R"({"volumeMounts":[{"mountPath":"/a","name":"v"}]})",
       R"({"volumeMounts":[{"mountPath":"/a","readOnly":true}]})",
       R"({"volumeMounts":[{"mountPath":"/a","name":"v","readOnly":true}]})"},
      {R"({"tolerations":[{"key":"a"}]})", R"({"tolerations":[{"key":"b"}]})",
       R"({"tolerations":[{"key":"b"}]})"},
      {R"({"args":["a","b"]})", R"({"args":["c"]})", R"({"args":["c"]})"},
      {R"({"hostAliases":[{"ip":"1","hostnames":["a"]}]})",
       R"({"hostAliases":[{"ip":"1","hostnames":["b"]}]})",
       R"({"hostAliases":[{"ip":"1","hostnames":["b"]}]})"},
      {R"({"metadata":{"ownerReferences":[{"uid":"1"}]}})",
       R"({"metadata":{"ownerReferences":[{"uid":"1","$patch":"delete"}]}})",
       R"({"metadata":{"ownerReferences":[]}})"},
      {R"({"status":{"conditions":[{"type":"Ready","status":"False"},{"type":"X"}]}})",
       R"({"status":{"conditions":[{"type":"Ready","status":"True"}]}})",
       R"({"status":{"conditions":[{"type":"Ready","status":"True"},{"type":"X"}]}})"},
      {R"({"topologySpreadConstraints":[{"topologyKey":"a","maxSkew":1}]})",
       R"({"topologySpreadConstraints":[{"topologyKey":"a","maxSkew":2}]})",
       R"({"topologySpreadConstraints":[{"topologyKey":"a","maxSkew":2}]})"},
      {R"({"metadata":{"finalizers":["a","b"]}})", R"({"metadata":{"finalizers":["c","b"]}})",
       R"({"metadata":{"finalizers":["c","a","b"]}})"},
  };
  for (const PatchRow& row : rows) EXPECT_EQ(strategic(row.target, row.patch), row.expected) << row.patch;
  EXPECT_EQ(strategic(R"({"spec":{"ports":[{"port":1,"name":"a"},{"port":2}]}})",
                      R"({"spec":{"ports":[{"port":2,"name":"b"}]}})", kServices),
            R"({"spec":{"ports":[{"port":1,"name":"a"},{"port":2,"name":"b"}]}})");
}

TEST(StrategicPatch, ObeysDirectives) {
  const PatchRow rows[] = {
      {R"({"a":{"x":1,"y":2}})", R"({"a":{"$patch":"replace","z":3}})", R"({"a":{"z":3}})"},
      {R"({"a":{"x":1},"b":2})", R"({"a":{"$patch":"delete"}})", R"({"a":{},"b":2})"},
      {R"({"a":{"x":1}})", R"({"a":{"$patch":"merge","y":2}})", R"({"a":{"x":1,"y":2}})"},
      {R"({"a":1,"b":2})", R"({"a":null})", R"({"b":2})"},
      {R"({"metadata":{"finalizers":["a","b","c"]}})",
       R"({"metadata":{"$deleteFromPrimitiveList/finalizers":["b"]}})",
       R"({"metadata":{"finalizers":["a","c"]}})"},
      {R"({"metadata":{"finalizers":["a","b"]}})",
       R"({"metadata":{"$deleteFromPrimitiveList/finalizers":["a"],"finalizers":["d"]}})",
       R"({"metadata":{"finalizers":["d","b"]}})"},
      {R"({"containers":[{"name":"a"},{"name":"b"},{"name":"c"}]})",
       R"({"$setElementOrder/containers":[{"name":"c"},{"name":"a"}],"containers":[{"name":"a","image":"i"}]})",
       R"({"containers":[{"name":"b"},{"name":"c"},{"name":"a","image":"i"}]})"},
      {R"({"containers":[{"name":"a"},{"name":"b"}]})",
       R"({"$setElementOrder/containers":[{"name":"a"},{"name":"b"},{"name":"n"}],"containers":[{"name":"n"}]})",
       R"({"containers":[{"name":"a"},{"name":"b"},{"name":"n"}]})"},
      {R"({"strategy":{"type":"RollingUpdate","rollingUpdate":{}}})",
       R"({"strategy":{"$retainKeys":["type"],"type":"Recreate"}})", R"({"strategy":{"type":"Recreate"}})"},
      {R"({"volumes":[{"name":"v","emptyDir":{}}]})",
       R"({"volumes":[{"name":"v","$retainKeys":["name","hostPath"],"hostPath":{"path":"/"}}]})",
       R"({"volumes":[{"name":"v","hostPath":{"path":"/"}}]})"},
      {"{}", R"({"a":{"b":null,"$patch":"merge","c":[{"d":null,"e":1}]}})", R"({"a":{"c":[{"e":1}]}})"},
      {R"({"a":[1]})", R"({"a":{"b":1}})", R"({"a":{"b":1}})"},
      {R"({"containers":3})", R"({"containers":[{"name":"a"}]})", R"({"containers":[{"name":"a"}]})"},
  };
  for (const PatchRow& row : rows) EXPECT_EQ(strategic(row.target, row.patch), row.expected) << row.patch;
}

TEST(StrategicPatch, RefusesWhatItCannotDo) {
  const PatchRow rows[] = {
      {"{}", "[]", "error: a strategic merge patch is an object and applies to one"},
      {"{}", R"({"a":{"$patch":"burn"}})", "error: $patch is \"burn\", not one of delete, replace, merge"},
      {"{}", R"({"a":{"$patch":3}})", "error: $patch is \"\", not one of delete, replace, merge"},
      {"{}", R"({"$what":1})", "error: \"$what\" is not a directive"},
      {"{}", R"({"containers":[{"image":"a"}]})", "error: an element of containers lacks its key \"name\""},
      {"{}", R"({"containers":["a"]})", "error: containers holds objects only"},
      {"{}", R"({"finalizers":[{}]})", "error: finalizers holds plain values only"},
      {R"({"a":1})", R"({"$retainKeys":["a"],"b":1})", "error: \"b\" is set but not in $retainKeys"},
      {"{}", R"({"$retainKeys":3})", "error: $retainKeys must be a list"},
      {R"({"finalizers":["a"]})", R"({"$deleteFromPrimitiveList/finalizers":3})",
       "error: $deleteFromPrimitiveList/finalizers must be a list"},
  };
  for (const PatchRow& row : rows) EXPECT_EQ(strategic(row.target, row.patch), row.expected) << row.patch;
  EXPECT_EQ(strategic("{}", "{}", kTfJobs),
            "error: TFJob is a custom resource: it takes no strategic merge patch");
  std::string deep;
  for (int i = 0; i < 300; ++i) deep += "{\"a\":";
  EXPECT_EQ(strategic("{}", deep + "1" + std::string(300, '}')),
            "error: the patch is nested more than 200 deep");
}

}  // namespace
}  // namespace trainyard::kube
