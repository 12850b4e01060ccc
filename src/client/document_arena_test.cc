#include "client/document_arena.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <thread>
#include <vector>

#include "client/http_wire.h"
#include "kube/access.h"

namespace trainyard::client {
namespace {

constexpr const char* kEvent =
    R"({"type":"ADDED","object":{"kind":"PodGroup","metadata":{"name":"g","uid":"u","resourceVersion":"1"},)"
    R"("status":{"phase":"Running","conditions":[{"type":"Scheduled","reason":"tasks in gang are ready to be scheduled"}]}}})";

// Where a part was asked for; the heap's are at multiples of sixteen.
bool is_of_an_arena(const void* part) { return reinterpret_cast<uintptr_t>(part) % 16 == 8; }

Object made_of(std::string_view text) {
  DocumentArena arena(16);
  return arena.whole(std::move(json::parse(kube::jview(text), DocumentArena::storage()).as_object()));
}

TEST(DocumentArena, PartsLieTogetherAndCopiesOnTheHeap) {
  Object event = made_of(kEvent);
  EXPECT_EQ(*event, json::parse(kEvent).as_object());
  const json::object& status = event->at("object").at("status").as_object();
  EXPECT_TRUE(is_of_an_arena(&*status.begin()));
  for (int i = 0; i < 10; ++i) {
    json::object copy = status;
    EXPECT_FALSE(is_of_an_arena(&*copy.begin()));
    copy["phase"] = "a phase with a longer name than the one that was there before";
    copy["more"] = i;
    EXPECT_EQ(copy.size(), 3u);
  }
  EXPECT_EQ(status.at("phase").as_string(), "Running");
}

TEST(DocumentArena, OneWithinAnother) {
  DocumentArena outer(16);
  json::object document(DocumentArena::storage());
  document["before"] = "a text that is too long to lie in its value";
  EXPECT_EQ(*made_of(kEvent), json::parse(kEvent).as_object());
  document["after"] = document["before"];
  Object whole = outer.whole(std::move(document));
  EXPECT_EQ(whole->at("after"), whole->at("before"));
  EXPECT_TRUE(is_of_an_arena(whole->at("after").as_string().data() - 8));
}

TEST(DocumentArena, WhatIsNotFinishedGoesWithIt) {
  DocumentArena arena(16);
  json::error_code fault;
  json::parse(R"({"a":["a text that is too long to lie in its value",)", fault, DocumentArena::storage());
  EXPECT_TRUE(fault);
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

}  // namespace
}  // namespace trainyard::client
