#include "control/lowered.h"

#include <gtest/gtest.h>

#include "control/fake_dialect.h"
#include "kube/access.h"

namespace trainyard::control {
namespace {

int lowerings = 0;

dialect::LowerResult counted(const json::object& object, const dialect::Settings&) {
  ++lowerings;
  if (object.at("spec").at("n") == 0) return std::vector<dialect::Problem>{{}};
  model::JobSpec spec;
  spec.name = kube::text_at(object, {"metadata", "name"});
  spec.running_min = static_cast<int>(object.at("spec").at("n").as_int64());
  return spec;
}

client::Object document(std::string_view text) {
  return std::make_shared<const json::object>(json::parse(kube::jview(text)).as_object());
}

class LoweredTest : public ::testing::Test {
 protected:
  LoweredTest() { dialect_.lower = counted; }

  // How often the manifest was read for this.
  int reads(std::string_view text) {
    lowerings = 0;
    last_ = lowered_.of({0, "a", "j"}, document(text), dialect_, {});
    return lowerings;
  }

  dialect::Dialect dialect_{};
  Lowered lowered_;
  dialect::LowerResult last_;
};

TEST_F(LoweredTest, AManifestIsReadOnce) {
  EXPECT_EQ(reads(R"({"metadata":{"name":"j","resourceVersion":"1"},"spec":{"n":1}})"), 1);
  EXPECT_EQ(reads(R"({"metadata":{"name":"j","resourceVersion":"2"},"spec":{"n":1},"status":{"a":1}})"), 0);
  EXPECT_EQ(std::get<model::JobSpec>(last_).running_min, 1);
}

TEST_F(LoweredTest, WhatAWriteOfTheStatusLeavesIsNotReadAgain) {
  static int recalls = 0;
  dialect_.recall = [](const model::JobSpec&, const json::object&) {
    ++recalls;
    return model::JobState{};
  };
  const JobKey key{0, "a", "j"};
  const client::Object before = document(R"({"metadata":{"name":"j","resourceVersion":"1"},"spec":{"n":1}})");
  const client::Object after =
      document(R"({"metadata":{"name":"j","resourceVersion":"2"},"spec":{"n":1},"status":{"a":1}})");
  lowered_.of(key, before, dialect_, {});
  model::JobState state;
  state.restarts = 3;
  lowered_.wrote(key, after, before, state);
  EXPECT_EQ(lowered_.known(key, 1), before) << "the write was of another job than the one that is known";
  lowered_.wrote(key, before, after, state);
  EXPECT_EQ(lowered_.known(key, 2), after);
  EXPECT_EQ(lowered_.recall(key, after, {}, dialect_).restarts, 3);
  EXPECT_EQ(recalls, 0);
  EXPECT_EQ(lowered_.recall(key, document(R"({"status":{"b":1}})"), {}, dialect_).restarts, 0);
  EXPECT_EQ(recalls, 1);
}

TEST_F(LoweredTest, KnowsTheJobOfTheLastPassByItsVersion) {
  const JobKey key{0, "a", "j"};
  EXPECT_EQ(lowered_.known(key, 1), nullptr);
  reads(R"({"metadata":{"name":"j","resourceVersion":"1"},"spec":{"n":1}})");
  ASSERT_NE(lowered_.known(key, 1), nullptr);
  reads(R"({"metadata":{"name":"j","resourceVersion":"2"},"spec":{"n":1},"status":{"a":1}})");
  EXPECT_EQ(lowered_.known(key, 1), nullptr);
  ASSERT_NE(lowered_.known(key, 2), nullptr);
  EXPECT_TRUE(lowered_.known(key, 2)->contains("status"));
  reads(R"({"metadata":{"name":"j"},"spec":{"n":1}})");
  EXPECT_EQ(lowered_.known(key, 0), nullptr);
}

TEST_F(LoweredTest, WhateverElseChangesIsReadAgain) {
  const char* variants[] = {
      R"({"metadata":{"name":"j"},"spec":{"n":1}})",
      R"({"metadata":{"name":"j"},"spec":{"n":2}})",
      R"({"metadata":{"name":"j","uid":"u"},"spec":{"n":2}})",
      R"({"metadata":{"name":"j","uid":"u","annotations":{"a":"b"}},"spec":{"n":2}})",
      R"({"metadata":{"name":"j","uid":"u","annotations":{"a":"c"}},"spec":{"n":2}})",
      R"({"metadata":{"name":"j","uid":"u"},"spec":{"n":2}})",
      R"({"metadata":{"name":"j","uid":"u"},"spec":{"n":2},"more":1})",
      R"({"metadata":{"name":"j","uid":"u"},"spec":{"n":2},"other":1})",
  };
  for (const char* text : variants) EXPECT_EQ(reads(text), 1) << text;
}

TEST_F(LoweredTest, WhatIsInvalidIsNotKept) {
  EXPECT_EQ(reads(R"({"metadata":{"name":"j"},"spec":{"n":0}})"), 1);
  EXPECT_EQ(reads(R"({"metadata":{"name":"j"},"spec":{"n":0}})"), 1);
  EXPECT_EQ(lowered_.size(), 0u);
}

TEST_F(LoweredTest, WhatIsForgottenIsReadAgain) {
  EXPECT_EQ(reads(R"({"metadata":{"name":"j"},"spec":{"n":1}})"), 1);
  lowered_.forget({0, "a", "j"});
  EXPECT_EQ(reads(R"({"metadata":{"name":"j"},"spec":{"n":1}})"), 1);
}

}  // namespace
}  // namespace trainyard::control
