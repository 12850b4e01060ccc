#include "hub/arena.h"

#include <gtest/gtest.h>

#include <thread>

namespace trainyard::hub {
namespace {

constexpr const char* kText =
    R"({"a":{"b":[1,2,{"c":"a text that is long enough to need memory"}]},"d":null})";

json::value parsed(int times = 1) {
  Arena* arena = nullptr;
  json::storage_ptr storage = json::make_shared_resource<Arena>(100, arena);
  json::array all(storage);
  for (int i = 0; i < times; ++i) all.push_back(json::parse(kText, storage));
  arena->seal();
  return all;
}

TEST(ArenaTest, DocumentsAreWhatTheyAreElsewhere) {
  json::value all = parsed(500);
  for (const json::value& one : all.get_array()) EXPECT_EQ(json::serialize(one), kText);
}

TEST(ArenaTest, CopiesOutliveTheirOriginal) {
  json::value copy(nullptr);
  {
    json::value all = parsed();
    json::value changed(all.get_array()[0]);
    changed.get_object()["a"].get_object()["more"] = "another text that is long enough to need memory";
    copy = changed;
  }
  EXPECT_EQ(copy.at("a").at("b").at(2).at("c"), "a text that is long enough to need memory");
  EXPECT_EQ(copy.at("a").at("more"), "another text that is long enough to need memory");
}

TEST(ArenaTest, ManyThreadsMayCopyWhatIsSealed) {
  json::value all = parsed(20);
  std::vector<std::thread> threads;
  for (int n = 0; n < 4; ++n) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        json::object copy(all.get_array()[static_cast<size_t>(i) % 20].get_object());
        copy["d"] = std::string(100, 'x');
        EXPECT_EQ(copy.size(), 2u);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(ArenaTest, LargePiecesAreOnTheirOwn) {
  Arena* arena = nullptr;
  json::storage_ptr storage = json::make_shared_resource<Arena>(100, arena);
  json::string text(std::string(3 << 20, 'x'), storage);
  json::string small("y", storage);
  EXPECT_EQ(text.size(), size_t{3} << 20);
  arena->seal();
  text += "z";
  EXPECT_EQ(text.back(), 'z');
}

}  // namespace
}  // namespace trainyard::hub
