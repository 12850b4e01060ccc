#include "server/line_cache.h"

#include <gtest/gtest.h>

namespace trainyard::server {
namespace {

store::Object an_object() { return std::make_shared<const json::object>(json::object{{"a", 1}}); }

TEST(LineCacheTest, ALineIsSharedWhileSomebodySendsIt) {
  Room room(100);
  LineCache lines(room);
  store::Object object = an_object();
  LineKey key{.object = object.get()};
  EXPECT_EQ(lines.find(key, object), nullptr);
  SharedText first = lines.keep(key, object, std::string(60, 'x'));
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(lines.find(key, object), first);
  EXPECT_EQ(lines.keep(key, object, std::string(60, 'x')), first);
  EXPECT_EQ(room.used(), 60U);
  LineKey table = key;
  table.shape = Shape::kTable;
  EXPECT_EQ(lines.find(table, object), nullptr);
  first.reset();
  EXPECT_EQ(lines.find(key, object), nullptr);
  EXPECT_EQ(room.used(), 0U);
}

TEST(LineCacheTest, ThereIsRoomForSoMuch) {
  Room room(100);
  LineCache lines(room);
  store::Object one = an_object();
  store::Object other = an_object();
  SharedText kept = lines.keep({.object = one.get()}, one, std::string(60, 'x'));
  EXPECT_EQ(lines.keep({.object = other.get()}, other, std::string(60, 'y')), nullptr);
  kept.reset();
  EXPECT_NE(lines.keep({.object = other.get()}, other, std::string(60, 'y')), nullptr);
}

TEST(LineCacheTest, AnotherObjectAtTheSameAddressIsAnotherLine) {
  Room room(100);
  LineCache lines(room);
  store::Object object = an_object();
  LineKey key{.object = object.get()};
  SharedText kept = lines.keep(key, object, "old");
  // As if the address had been given again while the old line is still being sent.
  store::Object later(std::make_shared<int>(0), object.get());
  EXPECT_NE(lines.find(key, object), nullptr);
  object.reset();
  EXPECT_EQ(lines.find(key, later), nullptr);
  EXPECT_EQ(*lines.keep(key, later, "new"), "new");
}

}  // namespace
}  // namespace trainyard::server
