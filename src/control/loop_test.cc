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

// Three pages, each with the token of the next.
class PagedClient final : public client::Client {
 public:
  explicit PagedClient(Diary& diary) : diary_(diary) {}
  Result<client::Reply> send(kube::Request request) override {
    const std::string& token = std::get<kube::List>(request.verb).continue_token;
    diary_.write("sent " + token);
    client::Reply reply;
    reply.continue_token = token.empty() ? "2" : token == "2" ? "3" : "";
    return reply;
  }

 private:
  Diary& diary_;
};

class LoopTest : public ::testing::Test {
 protected:
  // With workers, until it has all pages.
  void read_all(Steps& paged) {
    PagedClient client(diary_);
    Workers workers(2);
    Loop loop(
        paged, client, watches_, [] { return Time{1}; }, &workers);
    loop.start();
    EXPECT_TRUE(diary_.wait_for("all"));
    loop.stop();
    workers.stop();
  }

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

// Asks for a list page by page.
class PagedStream final : public Steps {
 public:
  explicit PagedStream(Diary& diary) : diary_(diary) {}

  std::vector<StreamRequest> requests(Time) override {
    if (!wants_) return {};
    wants_ = false;
    kube::List list;
    list.continue_token = token_;
    return {{0, {kube::kPods, "", std::move(list)}}};
  }
  void on_list(int, const Result<client::Reply>& reply, Time) override {
    std::string next = reply.ok() ? reply->continue_token : "";
    // The next page is on its way while this one is taken in.
    if (!next.empty()) diary_.write(diary_.wait_for("sent " + next) ? "ahead of " + next : "not ahead");
    diary_.write(fmt::format("page '{}'", token_));
    token_ = gives_up_ && next == "2" ? "" : next;
    gives_up_ = false;
    wants_ = !token_.empty() || next == "2";
    if (!wants_) diary_.write("all");
  }
  void on_event(int, const client::WatchEvent&, Time) override {}
  void on_closed(int, const std::optional<Error>&, Time) override {}
  bool step(Time) override { return false; }
  std::optional<Time> next_wake() const override {
    return wants_ ? std::optional<Time>(Time{0}) : std::nullopt;
  }
  void give_up_after_the_first() { gives_up_ = true; }

 private:
  Diary& diary_;
  bool wants_ = true;
  bool gives_up_ = false;
  std::string token_;
};

TEST_F(LoopTest, TheNextPageIsOnItsWayWhileOneIsTakenIn) {
  PagedStream steps(diary_);
  read_all(steps);
  for (const char* page : {"page ''", "page '2'", "page '3'", "ahead of 2", "ahead of 3"}) {
    EXPECT_EQ(diary_.count(page), 1) << page;
  }
  EXPECT_EQ(diary_.count("sent "), 1);
  EXPECT_EQ(diary_.count("sent 2"), 1);
  EXPECT_EQ(diary_.count("sent 3"), 1);
}

TEST_F(LoopTest, APageThatNobodyAsksForIsNotHeard) {
  PagedStream steps(diary_);
  steps.give_up_after_the_first();
  read_all(steps);
  EXPECT_EQ(diary_.count("sent "), 2);  // it began anew
  EXPECT_EQ(diary_.count("page ''"), 2);
  EXPECT_EQ(diary_.count("page '2'"), 1);
  EXPECT_EQ(diary_.count("page '3'"), 1);
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
