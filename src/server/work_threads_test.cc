#include "server/work_threads.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <array>
#include <atomic>
#include <future>
#include <thread>
#include <vector>

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

// Under sanitizers memory that is refused ends the program.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(WorkThreadsTest, WithoutAThreadTheAnswerIsNo) {
  std::vector<std::jthread> others;  // those that have the stacks that were used before
  std::promise<void> release;
  std::promise<void> done;
  for (std::shared_future<void> over = release.get_future().share(); others.size() < 16;) {
    others.emplace_back([over] { over.wait(); });
  }
  WorkThreads threads(1, 10);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_AS, &before), 0);
  const rlimit none{4096, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &none), 0);
  const bool taken = threads.submit([] {});
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &before), 0);
  EXPECT_FALSE(taken);
  EXPECT_TRUE(threads.submit([&] { done.set_value(); }));
  done.get_future().wait();
  release.set_value();
}
#endif

}  // namespace
}  // namespace trainyard::server
