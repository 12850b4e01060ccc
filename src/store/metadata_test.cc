#include "store/metadata.h"

#include <gtest/gtest.h>

namespace trainyard::store {
namespace {

TEST(MetadataTest, ObjectNames) {
  for (std::string_view good : {"a", "a-b", "a.b", "0", "a--b", "train-worker-0", "a1.b2-c3"}) {
    EXPECT_TRUE(is_object_name(good)) << good;
  }
  for (std::string_view bad : {"", "A", "-a", "a-", ".a", "a.", "a..b", "a.-b", "a-.b", "a_b", "a/b"}) {
    EXPECT_FALSE(is_object_name(bad)) << bad;
  }
  EXPECT_TRUE(is_object_name(std::string(253, 'a')));
  EXPECT_FALSE(is_object_name(std::string(254, 'a')));
}

TEST(MetadataTest, FinalizersComeAndGo) {
  json::object object{{"metadata", json::object{{"name", "a"}}}};
  set_finalizer(object, "x", true);
  set_finalizer(object, "x", true);
  set_finalizer(object, "y", true);
  EXPECT_EQ(json::serialize(object), R"({"metadata":{"name":"a","finalizers":["x","y"]}})");
  set_finalizer(object, "x", false);
  set_finalizer(object, "y", false);
  EXPECT_EQ(json::serialize(object), R"({"metadata":{"name":"a"}})");
}

TEST(MetadataTest, OnlyWhatIsNeitherMetadataNorStatusCounts) {
  json::object a{{"metadata", 1}, {"status", 1}, {"spec", 1}};
  json::object b{{"metadata", 2}, {"status", 2}, {"spec", 1}};
  EXPECT_FALSE(differs_beyond_status(a, b));
  b["data"] = 1;
  EXPECT_TRUE(differs_beyond_status(a, b));
  EXPECT_TRUE(differs_beyond_status(b, a));
}

}  // namespace
}  // namespace trainyard::store
