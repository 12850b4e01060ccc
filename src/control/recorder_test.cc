#include "control/recorder.h"

#include <gtest/gtest.h>

#include "client/in_process.h"
#include "kube/access.h"

namespace trainyard::control {
namespace {

constexpr Time kNow{1'700'000'000'000};

class RecorderTest : public ::testing::Test {
 protected:
  void tell(std::string_view reason, std::string_view message) {
    recorder_.tell(client_, about_, "us", {true, std::string(reason), std::string(message)}, now_);
    now_ = now_ + Duration{10};
  }
  std::vector<client::Object> events() { return store_.list(kube::kEvents, "ns")->items; }

  Time now_ = kNow;
  store::Store store_;
  client::InProcess client_{store_, [this] { return now_; }};
  Recorder recorder_;
  json::object about_{{"apiVersion", "v1"},
                      {"kind", "Toy"},
                      {"metadata", json::object{{"name", "j"}, {"namespace", "ns"}, {"uid", "u"}}}};
};

TEST_F(RecorderTest, TheSameWordsAreOneEventWithACount) {
  tell("Failed", "quota");
  tell("Failed", "quota");
  tell("Failed", "quota");
  tell("Failed", "other");
  ASSERT_EQ(events().size(), 2u);
  int64_t counted = 0;
  for (const client::Object& event : events()) {
    counted = std::max(counted, kube::int_at(*event, {"count"}).value_or(0));
    EXPECT_EQ(kube::text_at(*event, {"involvedObject", "uid"}), "u");
    EXPECT_EQ(kube::text_at(*event, {"type"}), "Warning");
    EXPECT_EQ(kube::text_at(*event, {"source", "component"}), "us");
  }
  EXPECT_EQ(counted, 3);
}

TEST_F(RecorderTest, AListTellsThemInTheirOrder) {
  for (const char* word : {"Zeta", "Alpha", "Mu"})
    recorder_.tell(client_, about_, "us", {false, word, word}, now_);
  tell("Beta", "later");
  std::vector<std::string> reasons;
  for (const client::Object& event : events()) reasons.emplace_back(kube::text_at(*event, {"reason"}));
  EXPECT_EQ(reasons, (std::vector<std::string>{"Zeta", "Alpha", "Mu", "Beta"}));
}

TEST_F(RecorderTest, AnExpiredEventIsToldAnew) {
  tell("Failed", "quota");
  std::string name(kube::name_of(*events().at(0)));
  ASSERT_TRUE(store_.remove(kube::kEvents, "ns", name, {}, now_).ok());
  tell("Failed", "quota");
  ASSERT_EQ(events().size(), 1u);
  EXPECT_EQ(kube::int_at(*events()[0], {"count"}), 1);
}

TEST_F(RecorderTest, RemembersOnlySoMuch) {
  for (size_t i = 0; i <= kEventsRememberedMax; ++i) tell("Many", std::to_string(i));
  EXPECT_EQ(events().size(), kEventsRememberedMax + 1);
  tell("Many", "0");
  tell("Many", std::to_string(kEventsRememberedMax));
  EXPECT_EQ(events().size(), kEventsRememberedMax + 2);
}

}  // namespace
}  // namespace trainyard::control
