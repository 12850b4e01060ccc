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

// Memory of one size, taken while a scope lives; empty where scopes do nothing.
std::vector<std::string*> texts_of_a_scope(int count) {
  std::vector<std::string*> texts;
  texts.reserve(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) texts.push_back(new std::string("short"));
  if (is_heap_block(texts.front())) return texts;
  for (const std::string* text : texts) delete text;
  return {};
}

int steps_back(const std::vector<std::string*>& texts) {
  int back = 0;
  for (size_t i = 1; i < texts.size(); ++i) back += texts[i] < texts[i - 1];
  return back;
}

// Seven apart: those that were freed last lie all over the memory.
void free_in_disorder(const std::vector<std::string*>& texts) {
  for (size_t i = 0; i < texts.size(); ++i) delete texts[i * 7 % texts.size()];
}

TEST(Heap, AScopeFindsMemoryInOrder) {
  std::jthread([] {                 // of which nothing has been asked before
    constexpr int kCount = 10'000;  // some chunks
    {
      HeapScope scope;
      free_in_disorder(texts_of_a_scope(kCount));
    }
    HeapScope scope;
    const std::vector<std::string*> texts = texts_of_a_scope(kCount);
    EXPECT_EQ(steps_back(texts), 0);
    free_in_disorder(texts);
  })
      .join();
}

TEST(Heap, WhatOutlivesAScopeIsNotHandedOutAgain) {
  std::jthread([] {
    std::vector<std::string*> kept;
    for (int round = 0; round < 4; ++round) {
      HeapScope scope;
      const std::vector<std::string*> texts = texts_of_a_scope(5000);
      for (size_t i = 0; i < texts.size(); ++i) {
        if (i % 10 == 0) {
          kept.push_back(texts[i]);
          kept.back()->assign("kept ").append(std::to_string(kept.size()));
        } else {
          texts[i]->assign("dropped");
          delete texts[i];
        }
      }
    }
    for (size_t i = 0; i < kept.size(); ++i) EXPECT_EQ(*kept[i], "kept " + std::to_string(i + 1));
    for (const std::string* text : kept) delete text;
  }).join();
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
