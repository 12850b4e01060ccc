#include "store/references.h"

#include <gtest/gtest.h>

#include "kube/yaml.h"

namespace trainyard::store {
namespace {

constexpr kube::Resource kWidgets{"example.org", "v1", "Widget", "widgets", true};

std::string told(const kube::Resource& resource, std::string_view metadata, std::string_view before = "") {
  auto object = [](std::string_view text) {
    return json::object{{"metadata", kube::parse_json(text).value()}};
  };
  const json::object old = object(before.empty() ? "{}" : before);
  std::string text;
  for (const Cause& cause : check_references(object(metadata), before.empty() ? nullptr : &old, resource)) {
    text += fmt::format("{}{} {}", text.empty() ? "" : "; ", cause.reason, cause.field);
  }
  return text;
}

TEST(ReferencesTest, Finalizers) {
  struct Row {
    kube::Resource resource;
    std::string_view metadata, expected;
  };
  for (const Row& row : {
           Row{kube::kConfigMaps, R"({"name":"a"})", ""},
           Row{kube::kConfigMaps, R"({"finalizers":null})", ""},
           Row{kube::kConfigMaps, R"({"finalizers":["example.org/f","kubernetes","orphan"]})", ""},
           Row{kube::kConfigMaps, R"({"finalizers":["example.org/f","nodomain"]})",
               "FieldValueInvalid metadata.finalizers[1]"},
           Row{kWidgets, R"({"finalizers":["nodomain"]})", ""},
           Row{kWidgets, R"({"finalizers":["no name"]})", "FieldValueInvalid metadata.finalizers"},
           Row{kWidgets, R"({"finalizers":[1]})", "FieldValueInvalid metadata.finalizers"},
           Row{kWidgets, R"({"finalizers":["orphan","foregroundDeletion"]})",
               "FieldValueInvalid metadata.finalizers"},
       }) {
    EXPECT_EQ(told(row.resource, row.metadata), row.expected) << row.metadata;
  }
}

TEST(ReferencesTest, Owners) {
  struct Row {
    std::string_view owners, expected;
  };
  for (const Row& row : {
           Row{R"([{"apiVersion":"v1","kind":"A","name":"a","uid":"1","controller":true}])", ""},
           Row{R"([{"apiVersion":"v1","kind":"A","name":"a"}])",
               "FieldValueInvalid metadata.ownerReferences.uid"},
           Row{R"([{"apiVersion":"v1","kind":"Event","name":"a","uid":"1"}])",
               "FieldValueInvalid metadata.ownerReferences"},
           Row{R"(["a"])", "FieldValueInvalid metadata.ownerReferences"},
           Row{R"([{"uid":"1"}])",
               "FieldValueInvalid metadata.ownerReferences.apiVersion; "
               "FieldValueInvalid metadata.ownerReferences.kind; "
               "FieldValueInvalid metadata.ownerReferences.name"},
           Row{R"([{"apiVersion":"v1","kind":"A","name":"a","uid":"1","controller":true},
                   {"apiVersion":"v1","kind":"A","name":"b","uid":"2","controller":true}])",
               "FieldValueInvalid metadata.ownerReferences"},
       }) {
    EXPECT_EQ(told(kWidgets, fmt::format(R"({{"ownerReferences":{}}})", row.owners)), row.expected)
        << row.owners;
  }
}

TEST(ReferencesTest, OnlyWhatChangesIsLookedAt) {
  constexpr std::string_view kOld = R"({"finalizers":["old"],"ownerReferences":[{"name":"a"}]})";
  EXPECT_EQ(told(kube::kConfigMaps, kOld, kOld), "");
  EXPECT_EQ(told(kube::kConfigMaps, R"({"finalizers":["old","new"]})", kOld),
            "FieldValueInvalid metadata.finalizers[0]; FieldValueInvalid metadata.finalizers[1]");
}

}  // namespace
}  // namespace trainyard::store
