#include "server/work_threads.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <future>

namespace trainyard::server {
namespace {

TEST(WorkThreadsTest, WhatHangsHoldsUpNothingWhileThereAreThreads) {
  std::promise<void> release;
  std::shared_future<void> released = release.get_future().share();
  std::array<std::promise<void>, 3> done;  // longer than the threads that tell of it
  WorkThreads threads(3, 10);
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(threads.submit([released] { released.wait(); }));
  for (std::promise<void>& one : done) {
    ASSERT_TRUE(threads.submit([&] { one.set_value(); }));
    one.get_future().wait();
  }
  release.set_value();
}

TEST(WorkThreadsTest, SoMuchWaitsAndIsDoneInTheEnd) {
  std::atomic<int> done = 0;
  std::promise<void> begun;
  std::promise<void> release;
  {
    WorkThreads threads(1, 2);
    ASSERT_TRUE(threads.submit([&, released = release.get_future().share()] {
      begun.set_value();
      released.wait();
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
