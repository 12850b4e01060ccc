#include "control/loop.h"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>

#include "client/in_process.h"
#include "kube/access.h"

namespace trainyard::control {
namespace {

// What happened, and a way to wait for it.
class Diary {
 public:
  void write(std::string line) {
    std::lock_guard lock(mutex_);
    lines_.push_back(std::move(line));
    changed_.notify_all();
  }
  bool wait_for(const std::string& line) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds{20},
                             [&] { return std::find(lines_.begin(), lines_.end(), line) != lines_.end(); });
  }
  int count(const std::string& line) {
    std::lock_guard lock(mutex_);
    return static_cast<int>(std::count(lines_.begin(), lines_.end(), line));
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> lines_;
};

// Follows pods with a list and a watch, and does one step for every object it hears of.
class OneStream final : public Steps {
 public:
  explicit OneStream(Diary& diary) : diary_(diary) {}

  std::vector<StreamRequest> requests(Time) override {
    State asked = std::exchange(state_, kBusy);
    if (asked == kList) return {{0, {kube::kPods, "", kube::List{}}}};
    if (asked == kWatch) return {{0, {kube::kPods, "", kube::Watch{}}}};
    return {};
  }
  void on_list(int, const Result<client::Reply>& reply, Time) override {
    diary_.write(reply.ok() ? "listed" : "not listed");
    state_ = kWatch;
  }
  void on_opened(int) override { diary_.write("opened"); }
  void on_event(int, const client::WatchEvent& event, Time) override {
    due_.push_back(std::string(kube::name_of(*event.object)));
  }
  void on_closed(int, const std::optional<Error>& error, Time) override {
    diary_.write(error ? "closed with an error" : "closed");
    state_ = kWatch;
  }
  bool step(Time) override {
    if (due_.empty()) return false;
    diary_.write("step " + due_.back());
    due_.pop_back();
    return true;
  }
  std::optional<Time> next_wake() const override {
    return state_ == kBusy ? std::nullopt : std::optional<Time>(Time{0});
  }

 private:
  enum State { kList, kWatch, kBusy };
  Diary& diary_;
  State state_ = kList;
  std::vector<std::string> due_;
};

// Watches whose events the test sends.
class HandWatches final : public client::WatchSource {
 public:
  explicit HandWatches(Diary& diary) : diary_(diary) {}

  std::unique_ptr<client::OpenWatch> open(const kube::Request&, client::WatchSink sink) override {
    struct Handle final : client::OpenWatch {};
    size_t number = 0;
    {
      std::lock_guard lock(mutex_);
      sinks_.push_back(std::move(sink));
      number = sinks_.size();
    }
    diary_.write(fmt::format("watch {}", number));
    return std::make_unique<Handle>();
  }
  void send(size_t watch, std::string_view name) {
    json::object pod{{"metadata", json::object{{"name", kube::jview(name)}}}};
    sink(watch).on_event({client::EventKind::kAdded, std::make_shared<const json::object>(std::move(pod))});
  }
  void agree_to(size_t watch) { sink(watch).on_opened(); }
  void close(size_t watch, const std::optional<Error>& error) { sink(watch).on_closed(error); }

 private:
  client::WatchSink sink(size_t watch) {
    std::lock_guard lock(mutex_);
    return sinks_.at(watch - 1);
  }
  Diary& diary_;
  std::mutex mutex_;
  std::vector<client::WatchSink> sinks_;
};

class LoopTest : public ::testing::Test {
 protected:
  Diary diary_;
  store::Store store_;
  client::InProcess client_{store_, [] { return Time{1}; }};
  OneStream steps_{diary_};
  HandWatches watches_{diary_};
  Loop loop_{steps_, client_, watches_, [] { return Time{1}; }};
};

TEST_F(LoopTest, ListsThenWatchesThenWorks) {
  loop_.start();
  ASSERT_TRUE(diary_.wait_for("watch 1"));
  EXPECT_EQ(diary_.count("listed"), 1);
  watches_.agree_to(1);
  ASSERT_TRUE(diary_.wait_for("opened"));
  watches_.send(1, "a");
  ASSERT_TRUE(diary_.wait_for("step a"));
  loop_.stop();
  loop_.stop();
}

TEST_F(LoopTest, AWatchThatEndsIsOpenedAgainAndTheOldOneIsNotHeard) {
  loop_.start();
  ASSERT_TRUE(diary_.wait_for("watch 1"));
  watches_.close(1, Error{ErrorKind::kUnavailable, "gone"});
  ASSERT_TRUE(diary_.wait_for("closed with an error"));
  ASSERT_TRUE(diary_.wait_for("watch 2"));
  watches_.agree_to(1);
  watches_.send(1, "late");
  watches_.send(2, "b");
  ASSERT_TRUE(diary_.wait_for("step b"));
  loop_.stop();
  EXPECT_EQ(diary_.count("step late"), 0);
  EXPECT_EQ(diary_.count("opened"), 0);
}

TEST_F(LoopTest, StopsWhileItSleeps) {
  loop_.start();
  ASSERT_TRUE(diary_.wait_for("watch 1"));
  loop_.stop();
  watches_.send(1, "after");
  EXPECT_EQ(diary_.count("step after"), 0);
}

}  // namespace
}  // namespace trainyard::control
