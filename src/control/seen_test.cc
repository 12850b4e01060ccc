#include "control/seen.h"

#include <gtest/gtest.h>

#include "control/fake_dialect.h"
#include "kube/meta.h"

namespace trainyard::control::testing {
namespace {

int pods_read = 0;

// A dialect that counts how often a pod is read.
dialect::Dialect counting() {
  dialect::Dialect dialect = toy();
  dialect.identify = [](const json::object& pod) {
    ++pods_read;
    return toy().identify(pod);
  };
  return dialect;
}

client::Output pod_of(std::string_view owner, std::string_view name, int64_t version,
                      std::string_view phase) {
  return client::Apply{std::make_shared<const json::object>(
      json::object{{"metadata",
                    {{"name", name},
                     {"namespace", "ns"},
                     {"uid", name},
                     {"resourceVersion", std::to_string(version)},
                     {"ownerReferences", json::array{kube::owner_reference("v1", "Toy", "j", owner)}}}},
                   {"status", {{"phase", phase}}}})};
}

client::Output gone(const client::Output& pod) { return client::Delete{std::get<client::Apply>(pod).object}; }

class SeenTest : public ::testing::TestWithParam<client::Form> {
 protected:
  SeenTest() { pods_read = 0; }

  void show(const client::Output& output) { (void)cache_.apply(output, Time{0}); }
  std::string look(const JobKey& key = {0, "ns", "j"}, std::string_view uid = "u") {
    std::string text;
    for (const PodRead& read : seen_.of(key, cache_, uid, dialect_)) {
      text += fmt::format("{} {}; ", read.pod.name, static_cast<int>(read.pod.phase));
    }
    return text;
  }

  client::Cache cache_{GetParam()};
  dialect::Dialect dialect_ = counting();
  SeenOf<PodRead> seen_;
};
INSTANTIATE_TEST_SUITE_P(Forms, SeenTest, ::testing::Values(client::Form::kDocument, client::Form::kText));

TEST_P(SeenTest, ReadsWhatChangedAndNothingElse) {
  show(pod_of("u", "a", 1, "Pending"));
  show(pod_of("u", "b", 2, "Pending"));
  show(pod_of("u", "c", 3, "Pending"));
  show(pod_of("v", "d", 4, "Pending"));
  EXPECT_EQ(look(), "a 0; b 0; c 0; ");
  EXPECT_EQ(pods_read, 3);
  show(pod_of("u", "b", 5, "Running"));
  EXPECT_EQ(look(), "a 0; b 1; c 0; ");
  EXPECT_EQ(pods_read, 4);
  show(gone(pod_of("u", "a", 6, "Pending")));
  show(pod_of("u", "aa", 7, "Running"));
  EXPECT_EQ(look(), "aa 1; b 1; c 0; ");
  EXPECT_EQ(pods_read, 5);
  EXPECT_EQ(look(), "aa 1; b 1; c 0; ");
  EXPECT_EQ(pods_read, 5);
}

TEST_P(SeenTest, OfServicesToo) {
  SeenOf<ServiceRead> services;
  auto count = [&] { return services.of({0, "ns", "j"}, cache_, "u", dialect_).size(); };
  show(pod_of("u", "a", 1, ""));
  show(pod_of("u", "b", 2, ""));
  show(pod_of("another", "c", 3, ""));
  EXPECT_EQ(count(), 2u);
  EXPECT_EQ(count(), 2u);
  EXPECT_EQ(pods_read, 2);
  show(pod_of("u", "b", 4, ""));
  EXPECT_EQ(count(), 2u);
  EXPECT_EQ(pods_read, 3);
  services.forget({0, "ns", "j"});
  EXPECT_EQ(services.size(), 0u);
}

TEST(SeenGangs, ReadsWhatIsAnother) {
  auto group = [](std::string_view uid, std::string_view version, int members) {
    return json::object{{"metadata", {{"name", "j"}, {"uid", uid}, {"resourceVersion", version}}},
                        {"spec", {{"minMember", members}}}};
  };
  SeenGangs gangs;
  const JobKey key{0, "ns", "j"};
  auto members = [&](const json::object& object) {
    return gangs.of(key, model::GangScheduler::kVolcano, object).spec.min_member;
  };
  EXPECT_EQ(members(group("a", "1", 2)), 2);
  EXPECT_EQ(members(group("a", "1", 3)), 2) << "a version never changes";
  EXPECT_EQ(members(group("a", "2", 3)), 3);
  EXPECT_EQ(members(group("b", "2", 4)), 4);
  EXPECT_EQ(members(group("b", "", 5)), 5);
  EXPECT_EQ(members(group("b", "", 6)), 6);
  gangs.forget(key);
  EXPECT_EQ(gangs.size(), 0u);
}

TEST_P(SeenTest, ForgetsAJobAndHasALimit) {
  show(pod_of("u", "a", 1, "Pending"));
  EXPECT_EQ(look(), "a 0; ");
  seen_.forget({0, "ns", "j"});
  EXPECT_EQ(seen_.size(), 0u);
  EXPECT_EQ(look(), "a 0; ");
  EXPECT_EQ(pods_read, 2);
  for (size_t i = 0; i < kSeenMax; ++i) {
    show(pod_of("v", fmt::format("b{}", i), static_cast<int64_t>(i) + 2, "Running"));
  }
  look({0, "ns", "many"}, "v");
  EXPECT_EQ(seen_.size(), kSeenMax);
  EXPECT_EQ(look(), "a 0; ");
  EXPECT_EQ(seen_.size(), 1u);
}

}  // namespace
}  // namespace trainyard::control::testing
