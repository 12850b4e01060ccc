#include "kube/access.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace trainyard::kube {
namespace {

// Keys of every length that is compared in its own way, and for each those that differ from it
// in one character, or by one at the end.
TEST(Access, FindsAKeyAndNoOtherOfItsLength) {
  for (size_t size = 1; size <= 40; ++size) {
    const std::string key(size, 'k');
    for (size_t at = 0; at < size; ++at) {
      std::string other = key;
      other[at] = 'x';
      const json::object object{{other, "other"}, {key + "k", "longer"}, {key, "found"}};
      EXPECT_EQ(text_at(object, {key}), "found") << size;
      EXPECT_EQ(text_at(object, {other}), "other") << size << " " << at;
      const json::object without{{other, "other"}, {key + "k", "longer"}};
      EXPECT_EQ(find(without, {key}), nullptr) << size << " " << at;
    }
  }
}

TEST(Access, FindsInLargeObjectsAndBelow) {
  json::object object;
  for (int i = 0; i < 40; ++i) object[fmt::format("key-{}", i)] = json::object{{"", i}, {"n", i}};
  EXPECT_EQ(int_at(object, {"key-39", "n"}), 39);
  EXPECT_EQ(int_at(object, {"key-39", ""}), 39);
  EXPECT_EQ(int_at(object, {"key-40", "n"}), std::nullopt);
  EXPECT_EQ(int_at(object, {"key-39", "n", "m"}), std::nullopt);
}

}  // namespace
}  // namespace trainyard::kube
