// The scheduler with workers: a second batch of bindings is under way while the first is settled.
#include <gtest/gtest.h>

#include <condition_variable>

#include "control/scheduler_testing.h"

namespace trainyard::control {
namespace {

using testing::SchedulerYard;
constexpr std::chrono::seconds kElectionPatience{20};

// Carries the first batch out only once a second one has come.
class MeetingClient final : public client::Client {
 public:
  explicit MeetingClient(client::Client& inner) : inner_(inner) {}

  Result<client::Reply> send(kube::Request request) override { return inner_.send(std::move(request)); }
  std::vector<Result<client::Reply>> send_all(std::vector<kube::Request> requests) override {
    std::unique_lock lock(mutex_);
    ++batches_;
    changed_.notify_all();
    met_ = changed_.wait_for(lock, kElectionPatience, [this] { return batches_ >= 2; });
    return inner_.send_all(std::move(requests));
  }
  bool met() {
    std::lock_guard lock(mutex_);
    return met_;
  }

 private:
  client::Client& inner_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int batches_ = 0;
  bool met_ = false;
};

class CountingSink final : public EventSink {
 public:
  void tell(const json::object&, std::string_view, const dialect::EventText& text, Time) override {
    placed += text.reason == "Scheduled";
  }
  int placed = 0;
};

class SchedulerWithWorkers : public ::testing::Test {
 protected:
  void SetUp() override {
    yard.client = &client;
    yard.workers = &workers;
    yard.sink = &sink;
    yard.start();
    for (int n = 0; n < 6; ++n) yard.node(fmt::format("n{}", n), "100");
    yard.gang("g", 600, "1");
    for (int turn = 0; turn < 20 && yard.scheduler().counts().writes == 0; ++turn) {
      yard.carry();
      yard.scheduler().step(yard.now);
    }
  }
  void TearDown() override { workers.stop(); }

  SchedulerYard yard;
  MeetingClient client{yard.tap};
  CountingSink sink;
  Workers workers{3};
};

TEST_F(SchedulerWithWorkers, ASecondBatchIsUnderWayAndNothingIsDecidedMeanwhile) {
  EXPECT_TRUE(client.met());
  EXPECT_EQ(yard.scheduler().counts().writes, 512);
  EXPECT_EQ(yard.scheduler().counts().bound, 256);
  int64_t passes = yard.scheduler().counts().passes;
  EXPECT_EQ(yard.scheduler().next_wake(), Time{0});
  while (yard.scheduler().counts().bound < 600) {
    ASSERT_TRUE(yard.scheduler().step(yard.now));
    EXPECT_EQ(yard.scheduler().counts().passes, passes);
  }
  EXPECT_EQ(sink.placed, 600);
}

TEST_F(SchedulerWithWorkers, WhatWasPlacedIsToldWhenItGoes) {
  EXPECT_EQ(sink.placed, 0);
  yard.scheduler().hand_over(yard.now);
  EXPECT_EQ(yard.scheduler().counts().bound, 512);
  EXPECT_EQ(sink.placed, 512);
}

}  // namespace
}  // namespace trainyard::control
