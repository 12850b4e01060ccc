#include "client/skim.h"

#include <gtest/gtest.h>

#include "kube/yaml.h"

namespace trainyard::client {
namespace {

TEST(Skim, ManagersAreTakenOutOfAnObjectsMetadata) {
  struct Row {
    std::string_view text;
    std::string_view without;
  };
  for (const Row& row : {
           Row{R"({"metadata":{"name":"a","managedFields":[{"x":["]"]},{"k:{\"n\":\"}]\"}":{}}]},"spec":{}})",
               R"({"metadata":{"name":"a"},"spec":{}})"},
           Row{R"({"metadata":{"managedFields":[],"name":"a"}})", R"({"metadata":{"name":"a"}})"},
           Row{R"({"a":1,"metadata":{"labels":{"metadata":"x"},"managedFields":[1],"uid":"u"}})",
               R"({"a":1,"metadata":{"labels":{"metadata":"x"},"uid":"u"}})"},
           Row{R"({"metadata":{"managedFields":[{}]}})", R"({"metadata":{}})"},
       }) {
    std::string room;
    EXPECT_EQ(without_managers(row.text, {}, room), row.without) << row.text;
    std::string event = fmt::format(R"({{"type":"ADDED","object":{}}})", row.text);
    std::string_view path[] = {"object"};
    EXPECT_EQ(without_managers(event, path, room),
              fmt::format(R"({{"type":"ADDED","object":{}}})", row.without));
    EXPECT_EQ(without_managers(event, {}, room), event);
  }
}

TEST(Skim, WhatOnlyLooksLikeManagersStays) {
  for (std::string_view text : {
           R"({"spec":{"metadata":{"managedFields":[{}]}}})",
           R"({"spec":{"managedFields":[{}]},"metadata":{"name":"a"}})",
           R"({"managedFields":[{}]})",
           R"({"metadata":[{"managedFields":[{}]}]})",
           R"({"metadata":{"annotations":{"a":"\"managedFields\":[{}]"}}})",
           R"({"metadata":{"annotations":{"managedFields":[1]}}})",
           R"({"metadata":{"managedFields":[{}]} })",  // not all of it is as servers write
           R"({"metadata":{"managedFields":[{})",
           R"({"metadata":{"managedFields":[{}])",
           R"({"metadata":{"x":"managedFields":[]}})",
           R"("managedFields":[])",
           "",
       }) {
    std::string room;
    std::string_view left = without_managers(text, {}, room);
    bool parses = kube::parse_json(text).ok();
    if (!parses) {
      EXPECT_FALSE(kube::parse_json(left).ok()) << text;
    } else if (text.find("]} }") == std::string_view::npos) {
      EXPECT_EQ(left, text);
    }
  }
}

TEST(Skim, AListIsGivenItemByItem) {
  struct Row {
    std::string_view text;
    std::vector<std::string> items;
    std::optional<std::string> rest;
  };
  for (const Row& row : {
           Row{R"({"kind":"PodList","metadata":{"items":[1]},"items":[{"a":"]}"},{"b":[{}]}]})",
               {R"({"a":"]}"})", R"({"b":[{}]})"},
               R"({"kind":"PodList","metadata":{"items":[1]},"items":[]})"},
           Row{R"({"items":[{}],"metadata":{"continue":"c"}})",
               {"{}"},
               R"({"items":[],"metadata":{"continue":"c"}})"},
           Row{R"({"items":[]})", {}, R"({"items":[]})"},
           Row{R"({"items":null})", {}, std::nullopt},
           Row{R"({"metadata":{}})", {}, std::nullopt},
           Row{R"({"items":[1]})", {}, std::nullopt},
           Row{R"({ "items":[{}]})", {}, std::nullopt},
           Row{R"({"items":[{},)", {"{}"}, std::nullopt},
           Row{R"({"items":[{})", {"{}"}, std::nullopt},
           Row{R"({"items":[{},1]})", {"{}"}, std::nullopt},
           Row{R"({"items":[{"a")", {}, std::nullopt},
           Row{R"({"kind)", {}, std::nullopt},
           Row{R"({"kind":)", {}, std::nullopt},
           Row{"", {}, std::nullopt},
       }) {
    std::vector<std::string> items;
    std::optional<std::string> rest =
        skim_list(row.text, [&](std::string_view item) { items.emplace_back(item); });
    EXPECT_EQ(items, row.items) << row.text;
    EXPECT_EQ(rest, row.rest) << row.text;
  }
}

constexpr Wanted kA[] = {{"a"}};
constexpr Wanted kSome[] = {{"kind"}, {"m", kA}, {"l", kA}};

TEST(Skim, OfAnObjectWhatIsWanted) {
  struct Row {
    std::string_view text;
    std::string_view left;
  };
  for (const Row& row : {
           Row{R"({"kind":"K","spec":{"kind":[1,{"m":"]}"}]},"m":{"b":1,"a":"\"}","c":null},"n":-1.5e3})",
               R"({"kind":"K","m":{"a":"\"}"}})"},
           Row{R"({"n":1,"l":[{"a":1,"b":2},{},[{"b":1}],"x",{"b":[]}],"s":"x"})",
               R"({"l":[{"a":1},{},[{"b":1}],"x",{}]})"},
           Row{R"({"m":"x","l":7,"kind":{"b":1}})", R"({"m":"x","l":7,"kind":{"b":1}})"},
           Row{R"({"m":{},"l":[],"x":{}})", R"({"m":{},"l":[]})"},
           Row{R"({"x":1})", "{}"},
           Row{"{}", "{}"},
       }) {
    std::string room;
    EXPECT_EQ(with_only(row.text, kSome, room), row.left) << row.text;
  }
}

TEST(Skim, AnObjectThatIsWrittenOtherwiseStaysAsItIs) {
  for (std::string_view text : {
           R"({"x":1} )",
           R"({"x":1}})",
           R"({"x":1,})",
           R"({"x" :1})",
           R"({ "x":1})",
           R"({"x":1)",
           R"({"x":)",
           R"({"\u006d":1})",
           R"({"x)",
           R"({"x")",
           "{",
           "",
           "[]",
           R"("x")",
           R"({"m":{"a":1)",
           R"({"m":{"a":1})",
           R"({"l":[{"a":1})",
           R"({"l":[{"a":1},)",
           R"({"l":[)",
           R"({"m":)",
           R"({x:1})",
           R"({"l":[{"a":1}}])",
       }) {
    std::string room;
    EXPECT_EQ(with_only(text, kSome, room), text);
  }
}

}  // namespace
}  // namespace trainyard::client
