#include "client/packed.h"

#include <gtest/gtest.h>

#include "kube/meta.h"

namespace trainyard::client {
namespace {

Object packable() {
  return std::make_shared<const json::object>(
      json::parse(
          R"({"kind":"Pod","metadata":{"name":"a","resourceVersion":"7"},"status":{"n":1.5,"u":18446744073709551615,
                      "t":"line\nbreak \u00e9"}})")
          .as_object());
}

TEST(PackedTest, TextGivesTheSameDocumentBack) {
  Packed packed(packable(), Form::kText);
  EXPECT_EQ(packed.version(), 7);
  EXPECT_EQ(*packed.object(), *packable());
}

TEST(PackedTest, AmongOthersItGivesTheSameDocumentBack) {
  Patterns patterns;
  json::object other = *packable();
  other["metadata"].as_object()["name"] = "another";
  for (const json::object& document : {*packable(), other, *packable()}) {
    Packed packed(std::make_shared<const json::object>(document), Form::kText, &patterns);
    EXPECT_EQ(packed.version(), 7);
    EXPECT_EQ(*packed.object(), document);
  }
}

TEST(PackedTest, DocumentIsSharedNotCopied) {
  Object whole = packable();
  Packed packed(whole, Form::kDocument);
  EXPECT_EQ(packed.object(), whole);
  EXPECT_EQ(packed.version(), 7);
}

}  // namespace
}  // namespace trainyard::client
