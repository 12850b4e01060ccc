#include "sim/heap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "sim/heap_operators.h"

namespace trainyard::sim {
namespace {

struct Piece {
  unsigned char* at;
  size_t size;
  unsigned char mark;
};

Piece take(size_t size, int number) {
  const auto mark = static_cast<unsigned char>(number % 251);
  auto* at = static_cast<unsigned char*>(::operator new(size));
  std::memset(at, mark, size);
  return {at, size, mark};
}

bool is_whole(const Piece& piece) {
  return std::all_of(piece.at, piece.at + piece.size, [&](unsigned char c) { return c == piece.mark; });
}

TEST(Heap, BlocksAreAlignedAndApart) {
  HeapScope scope;
  std::vector<Piece> pieces;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 3000; ++i) pieces.push_back(take(static_cast<size_t>(i * 7 % 1400), i));
    for (size_t i = 0; i < pieces.size(); i += 2) {
      EXPECT_TRUE(is_whole(pieces[i]));
      ::operator delete(pieces[i].at, pieces[i].size);
      pieces[i] = take(pieces[i].size, static_cast<int>(i) + 1);
    }
  }
  for (const Piece& piece : pieces) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(piece.at) % __STDCPP_DEFAULT_NEW_ALIGNMENT__, 0U);
    EXPECT_TRUE(is_whole(piece));
    ::operator delete(piece.at);
  }
}

TEST(Heap, OnlyAScopeTakesFromIt) {
  auto before = std::make_unique<std::array<char, 100>>();
  EXPECT_FALSE(is_heap_block(before.get()));
  std::unique_ptr<std::array<char, 100>> inside;
  bool is_served = false;
  {
    HeapScope scope;
    inside = std::make_unique<std::array<char, 100>>();
    is_served = is_heap_block(inside.get());
    before.reset();
  }
  auto after = std::make_unique<std::array<char, 100>>();
  EXPECT_FALSE(is_heap_block(after.get()));
  // What was freed after the scope serves the next one.
  const void* freed = inside.get();
  inside.reset();
  HeapScope again;
  auto next = std::make_unique<std::array<char, 100>>();
  if (is_served) {
    EXPECT_EQ(next.get(), freed);
  }
}

TEST(Heap, AnotherThreadMayFree) {
  std::vector<std::string> texts;
  std::jthread([&] {
    HeapScope scope;
    for (int i = 0; i < 1000; ++i) texts.emplace_back(static_cast<size_t>(20 + i % 900), 'x');
  }).join();
  for (size_t i = 0; i < texts.size(); ++i) EXPECT_EQ(texts[i], std::string(20 + i % 900, 'x'));
  texts.clear();
}

}  // namespace
}  // namespace trainyard::sim
