#include "kube/document_arena.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <memory>
#include <thread>
#include <vector>

namespace trainyard::kube {
namespace {

constexpr const char* kGroup =
    R"({"kind":"PodGroup","metadata":{"name":"g","uid":"u","resourceVersion":"1"},)"
    R"("status":{"phase":"Running","conditions":[{"type":"Scheduled","reason":"tasks in gang are ready to be scheduled"}]}})";

using Shared = std::shared_ptr<const json::object>;

Shared kept_group() {
  return std::make_shared<const json::object>(std::move(parse_document(kGroup).value().get_object()));
}

TEST(DocumentArena, CopiesOfPartsDoNotGrowTheDocument) {
  DocumentArena::Made made = DocumentArena::make(16);
  json::value group = json::parse(kGroup, made.storage);
  made.arena->freeze();
  const size_t before = made.arena->held();
  EXPECT_GT(before, 16u);
  for (int i = 0; i < 10; ++i) {
    json::object status = group.at("status").as_object();
    status["phase"] = "a phase with a longer name than the one that was there before";
    status["more"] = i;
    EXPECT_EQ(status.size(), 3u);
  }
  EXPECT_EQ(made.arena->held(), before);
}

// A group that waits for days is looked at with every pass.
TEST(DocumentArena, WhatIsKeptDoesNotGrow) {
  const Shared group = kept_group();
  const size_t before = ::mallinfo2().uordblks;
  for (int i = 0; i < 10'000; ++i) {
    json::object status = group->at("status").as_object();
    EXPECT_EQ(status.size(), 2u);
  }
  EXPECT_LT(::mallinfo2().uordblks, before + (64 << 10));
}

// Documents are shared between threads, and each may copy.
TEST(DocumentArena, CopiesAreMadeOnAnyThread) {
  const Shared group = kept_group();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([object = group] {
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
    const Shared group = kept_group();
    status = json::value(group->at("status"));
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

// What a server adds to what it was sent.
TEST(DocumentArena, WhatIsAddedToTheDocumentIsNoPartOfTheArena) {
  json::object group = std::move(parse_document(kGroup).value().get_object());
  group["spec"].emplace_object()["queue"] = "a queue with a name that is long enough to need room of its own";
  group.erase("status");
  EXPECT_EQ(json::serialize(group.at("spec")),
            R"({"queue":"a queue with a name that is long enough to need room of its own"})");
}

TEST(DocumentArena, WhatIsNoDocumentIsRefused) {
  EXPECT_FALSE(parse_document("{").ok());
  EXPECT_EQ(parse_document("3").value(), 3);
}

}  // namespace
}  // namespace trainyard::kube
