#include "control/workers.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>

namespace trainyard::control {
namespace {

TEST(Workers, EverythingGivenIsDoneBeforeTheEnd) {
  std::atomic<int> done{0};
  {
    Workers workers(3);
    for (int i = 0; i < 100; ++i) workers.run([&] { ++done; });
  }
  EXPECT_EQ(done.load(), 100);
}

TEST(Workers, WhatIsUrgentDoesNotWaitForTheOthers) {
  Workers workers(1);
  std::promise<void> let_go;
  std::shared_future<void> gate = let_go.get_future().share();
  workers.run([gate] { gate.wait_for(std::chrono::seconds(20)); });
  std::promise<void> renewed;
  workers.run_urgent([&] { renewed.set_value(); });
  EXPECT_EQ(renewed.get_future().wait_for(std::chrono::seconds(20)), std::future_status::ready);
  while (!workers.busy()) std::this_thread::yield();
  let_go.set_value();
  while (workers.busy()) std::this_thread::yield();
  EXPECT_EQ(workers.threads(), 1);
}

TEST(Workers, SeveralAtOnce) {
  Workers workers(2);
  std::promise<void> first;
  std::promise<void> second;
  std::shared_future<void> first_is_here = first.get_future().share();
  std::shared_future<void> second_is_here = second.get_future().share();
  std::atomic<int> met{0};
  auto ready = std::future_status::ready;
  workers.run([&] {
    first.set_value();
    if (second_is_here.wait_for(std::chrono::seconds(20)) == ready) ++met;
  });
  workers.run([&] {
    second.set_value();
    if (first_is_here.wait_for(std::chrono::seconds(20)) == ready) ++met;
  });
  workers.stop();
  EXPECT_EQ(met.load(), 2);
}

}  // namespace
}  // namespace trainyard::control
