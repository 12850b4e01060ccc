#include "store/binding.h"

#include <gtest/gtest.h>

#include "kube/access.h"
#include "kube/scheduling.h"

namespace trainyard::store {
namespace {

constexpr Time kNow{1'700'000'000'000};

json::object pod(std::string_view name, std::string_view spec) {
  return {{"metadata", json::object{{"name", kube::jview(name)}}},
          {"spec", json::parse(kube::jview(spec)).as_object()}};
}

TEST(Binding, GivesANodeOnce) {
  Store store;
  Object made = *store.create(kube::kPods, "ns", pod("p", "{}"), kNow);
  Result<Object> bound = bind(store, "ns", kube::binding("ns", "p", kube::uid_of(*made), "n"), kNow);
  ASSERT_TRUE(bound.ok());
  EXPECT_EQ(kube::text_at(**bound, {"spec", "nodeName"}), "n");
  Result<Object> again = bind(store, "ns", kube::binding("ns", "p", "", "m"), kNow);
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().kind, ErrorKind::kConflict);
}

TEST(Binding, RefusesWhatIsNotMeant) {
  Store store;
  Object made = *store.create(kube::kPods, "ns", pod("p", "{}"), kNow);
  (void)store.create(kube::kPods, "ns", pod("gated", R"({"schedulingGates": [{"name": "g"}]})"), kNow);
  auto kind = [&](const json::object& binding) {
    Result<Object> bound = bind(store, "ns", binding, kNow);
    return bound.ok() ? std::nullopt : std::optional(bound.error().kind);
  };
  EXPECT_EQ(kind(kube::binding("ns", "p", "another", "n")), ErrorKind::kConflict);
  EXPECT_EQ(kind(kube::binding("ns", "p", "", "")), ErrorKind::kInvalid);
  EXPECT_EQ(kind(kube::binding("ns", "q", "", "n")), ErrorKind::kNotFound);
  EXPECT_EQ(kind(kube::binding("ns", "gated", "", "n")), ErrorKind::kConflict);
  EXPECT_EQ(kube::text_at(**store.get(kube::kPods, "ns", "p"), {"spec", "nodeName"}), "");
}

}  // namespace
}  // namespace trainyard::store
