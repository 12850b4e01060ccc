#include "server/event_versions.h"

#include <gtest/gtest.h>

#include "kube/access.h"

namespace trainyard::server {
namespace {

TEST(EventVersionsTest, ThereAndBack) {
  json::object core{{"kind", "Event"},
                    {"apiVersion", "v1"},
                    {"metadata", json::object{{"name", "e"}}},
                    {"involvedObject", json::object{{"name", "p"}}},
                    {"message", "hello"},
                    {"reason", "R"},
                    {"source", json::object{{"component", "c"}}},
                    {"count", 3},
                    {"reportingComponent", "c"}};
  json::object other = to_new_event(core);
  EXPECT_EQ(kube::text_at(other, {"apiVersion"}), "events.k8s.io/v1");
  EXPECT_EQ(kube::text_at(other, {"regarding", "name"}), "p");
  EXPECT_EQ(kube::text_at(other, {"note"}), "hello");
  EXPECT_EQ(kube::text_at(other, {"reason"}), "R");
  EXPECT_EQ(kube::text_at(other, {"reportingController"}), "c");
  EXPECT_EQ(kube::int_at(other, {"deprecatedCount"}), 3);
  EXPECT_FALSE(other.contains("message"));
  EXPECT_EQ(to_core_event(other), core);
}

}  // namespace
}  // namespace trainyard::server
