#include "server/work_threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>

namespace trainyard::server {
namespace {

TEST(WorkThreadsTest, WhatHangsHoldsUpNothingWhileThereAreThreads) {
  WorkThreads threads(3, 10);
  std::promise<void> release;
  std::shared_future<void> released = release.get_future().share();
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(threads.submit([released] { released.wait(); }));
  for (int i = 0; i < 3; ++i) {
    std::promise<void> done;
    ASSERT_TRUE(threads.submit([&] { done.set_value(); }));
    done.get_future().wait();
  }
  release.set_value();
}

TEST(WorkThreadsTest, SoMuchWaitsAndIsDoneInTheEnd) {
  std::atomic<int> done = 0;
  {
    WorkThreads threads(1, 2);
    std::promise<void> begun;
    std::promise<void> release;
    ASSERT_TRUE(threads.submit([&] {
      begun.set_value();
      release.get_future().wait();
    }));
    begun.get_future().wait();
    for (int i = 0; i < 2; ++i) EXPECT_TRUE(threads.submit([&] { ++done; }));
    EXPECT_FALSE(threads.submit([&] { ++done; }));
    release.set_value();
  }
  EXPECT_EQ(done, 2);
}

}  // namespace
}  // namespace trainyard::server
