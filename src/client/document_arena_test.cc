#include "client/document_arena.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "client/http_wire.h"

namespace trainyard::client {
namespace {

constexpr const char* kEvent =
    R"({"type":"ADDED","object":{"kind":"PodGroup","metadata":{"name":"g","uid":"u","resourceVersion":"1"},)"
    R"("status":{"phase":"Running","conditions":[{"type":"Scheduled","reason":"tasks in gang are ready to be scheduled"}]}}})";

TEST(DocumentArena, CopiesOfPartsDoNotGrowTheDocument) {
  DocumentArena::Made made = DocumentArena::make(16);
  json::value event = json::parse(kEvent, made.storage);
  made.arena->freeze();
  const size_t before = made.arena->held();
  EXPECT_GT(before, 16u);
  for (int i = 0; i < 10; ++i) {
    json::object status = event.at("object").at("status").as_object();
    status["phase"] = "a phase with a longer name than the one that was there before";
    status["more"] = i;
    EXPECT_EQ(status.size(), 3u);
  }
  EXPECT_EQ(made.arena->held(), before);
}

// A group that waits for days is looked at with every pass.
TEST(DocumentArena, WhatAWatchTellsDoesNotGrowWhileItIsKept) {
  Result<WatchEvent> event = event_of(kEvent);
  ASSERT_TRUE(event.ok());
  const size_t before = ::mallinfo2().uordblks;
  for (int i = 0; i < 10'000; ++i) {
    json::object status = event->object->at("status").as_object();
    EXPECT_EQ(status.size(), 2u);
  }
  EXPECT_LT(::mallinfo2().uordblks, before + (64 << 10));
}

// Documents are shared between threads, and each may copy.
TEST(DocumentArena, CopiesAreMadeOnAnyThread) {
  Result<WatchEvent> event = event_of(kEvent);
  ASSERT_TRUE(event.ok());
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([object = event->object] {
      for (int i = 0; i < 500; ++i) {
        json::object copy = *object;
        EXPECT_EQ(copy, *object);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(DocumentArena, ACopyOutlivesTheDocument) {
  json::value status;
  {
    Result<WatchEvent> event = event_of(kEvent);
    ASSERT_TRUE(event.ok());
    status = json::value(event->object->at("status"));
  }
  EXPECT_EQ(status.at("phase").as_string(), "Running");
}

TEST(DocumentArena, GrowsUntilItIsFrozen) {
  DocumentArena* self = nullptr;
  DocumentArena arena(64, self);
  EXPECT_EQ(self, &arena);
  std::vector<char*> parts;
  for (size_t size = 1; size < 300; ++size) {
    const size_t align = size_t{1} << size % 5;
    char* part = static_cast<char*>(arena.allocate(size, align));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(part) % align, 0u);
    std::fill(part, part + size, static_cast<char>(size));
    parts.push_back(part);
  }
  for (size_t size = 1; size < 300; ++size) {
    EXPECT_EQ(std::count(parts[size - 1], parts[size - 1] + size, static_cast<char>(size)),
              static_cast<int>(size));
    arena.deallocate(parts[size - 1], size, 1);  // nothing, as long as it grows
  }
  arena.freeze();
  const size_t held = arena.held();
  void* more = arena.allocate(1000, 8);
  EXPECT_EQ(arena.held(), held);
  arena.deallocate(more, 1000, 8);
  arena.deallocate(parts[0], 1, 1);
}

}  // namespace
}  // namespace trainyard::client
