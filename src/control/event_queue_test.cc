#include "control/event_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>

#include "kube/access.h"

namespace trainyard::control {
namespace {

constexpr Time kToldAt{1'700'000'000'000};

json::object job(std::string_view name) {
  return {
      {"apiVersion", "kubeflow.org/v1"},
      {"kind", "TFJob"},
      {"metadata", json::object{{"name", name}, {"namespace", "ns"}, {"uid", fmt::format("uid-{}", name)}}},
      {"spec", json::object{{"large", "yes"}}}};
}

// A server that keeps the Events it is sent; each line "job reason: message".
class Post final : public client::Client {
 public:
  Result<client::Reply> send(kube::Request request) override {
    std::lock_guard lock(mutex_);
    if (refusals_ > 0) {
      --refusals_;
      return Error{kind_, "not now"};
    }
    client::Reply reply;
    if (const auto* create = std::get_if<kube::Create>(&request.verb)) {
      if (!names_.emplace(kube::name_of(create->body)).second)
        return Error{ErrorKind::kAlreadyExists, "there"};
      lines_.insert(fmt::format("{} {}: {}", kube::text_at(create->body, {"involvedObject", "name"}),
                                kube::text_at(create->body, {"reason"}),
                                kube::text_at(create->body, {"message"})));
    }
    if (answers_lost_ > 0) {
      --answers_lost_;
      return Error{ErrorKind::kUnknown, "no answer came"};
    }
    reply.object = std::make_shared<const json::object>();
    return reply;
  }
  // The next are done and nobody hears of it.
  void lose_answers(int times) {
    std::lock_guard lock(mutex_);
    answers_lost_ = times;
  }
  void refuse(int times, ErrorKind kind) {
    std::lock_guard lock(mutex_);
    refusals_ = times;
    kind_ = kind;
  }
  std::set<std::string> lines() {
    std::lock_guard lock(mutex_);
    return lines_;
  }
  int created() {
    std::lock_guard lock(mutex_);
    return static_cast<int>(names_.size());
  }

 private:
  std::mutex mutex_;
  std::set<std::string> lines_;
  std::set<std::string> names_;
  int answers_lost_ = 0;
  int refusals_ = 0;
  ErrorKind kind_ = ErrorKind::kUnavailable;
};

EventQueueOptions quick() {
  EventQueueOptions options;
  options.retry_first = Duration{1};
  options.together = 8;
  return options;
}

TEST(EventQueue, WhatGoesWithOthersIsToldWithThem) {
  Post post;
  EventQueue queue(
      post, [] { return kToldAt; }, quick());
  auto deleted = [&](std::string_view name, bool pod) {
    const char* reason = pod ? "SuccessfulDeletePod" : "SuccessfulDeleteService";
    std::vector<std::string> joins{"TFJobSucceeded"};
    if (!pod) joins.emplace_back("SuccessfulDeletePod");
    queue.tell(job(name), "us",
               {false, reason, fmt::format("Deleted {}: {}-0", pod ? "pod" : "service", name), joins},
               kToldAt);
  };
  queue.tell(job("d"), "us", {false, "ExitedWithCode", "Pod: ns.d-0 exited with code 0"}, kToldAt);
  queue.tell(job("d"), "us", {false, "TFJobSucceeded", "TFJob ns/d successfully completed."}, kToldAt);
  for (const char* name : {"a", "d"}) deleted(name, true);
  for (const char* name : {"a", "b", "d"}) deleted(name, false);
  queue.stop(seconds(20));
  EXPECT_EQ(post.lines(),
            (std::set<std::string>{
                "a SuccessfulDeletePod: Deleted pod: a-0, service: a-0",
                "b SuccessfulDeleteService: Deleted service: b-0",
                "d ExitedWithCode: Pod: ns.d-0 exited with code 0",
                "d TFJobSucceeded: TFJob ns/d successfully completed. Deleted pod: d-0, service: d-0"}));
}

TEST(EventQueue, WhatIsAlikeGoesOutTogether) {
  Post post;
  EventQueue queue(
      post, [] { return kToldAt; }, quick());
  for (const char* pod : {"a-0", "a-1", "a-2"}) {
    queue.tell(job("a"), "us", {false, "SuccessfulCreatePod", fmt::format("Created pod: {}", pod)}, kToldAt);
  }
  queue.tell(job("b"), "us", {false, "SuccessfulCreatePod", "Created pod: b-0"}, kToldAt);
  queue.tell(job("a"), "us", {false, "TFJobSucceeded", "done"}, kToldAt);
  queue.stop(seconds(20));
  EXPECT_EQ(post.lines(),
            (std::set<std::string>{"a SuccessfulCreatePod: Created pod: a-0, a-1, a-2",
                                   "a TFJobSucceeded: done", "b SuccessfulCreatePod: Created pod: b-0"}));
  EventQueueCounts counts = queue.counts();
  EXPECT_EQ(counts.told, 5);
  EXPECT_EQ(counts.sent, 3);
  EXPECT_EQ(counts.combined, 2);
  EXPECT_EQ(counts.lost, 0);
}

TEST(EventQueue, EachWhereEachIsAskedFor) {
  Post post;
  EventQueueOptions options = quick();
  options.combine = false;
  EventQueue queue(
      post, [] { return kToldAt; }, options);
  for (const char* pod : {"a-0", "a-1"}) {
    queue.tell(job("a"), "us", {false, "SuccessfulCreatePod", fmt::format("Created pod: {}", pod)}, kToldAt);
  }
  queue.tell(job("a"), "us", {false, "Gone", "a-0", {"SuccessfulCreatePod"}}, kToldAt);
  queue.stop(seconds(20));
  EXPECT_EQ(post.lines(), (std::set<std::string>{"a Gone: a-0", "a SuccessfulCreatePod: Created pod: a-0",
                                                 "a SuccessfulCreatePod: Created pod: a-1"}));
}

TEST(EventQueue, WhatTheServerCannotTakeNowIsTriedAgain) {
  Post post;
  post.refuse(3, ErrorKind::kUnavailable);
  EventQueue queue(
      post, [] { return kToldAt; }, quick());
  queue.tell(job("a"), "us", {true, "Failed", "why"}, kToldAt);
  queue.stop(seconds(20));
  EXPECT_EQ(post.lines(), std::set<std::string>{"a Failed: why"});
  EXPECT_EQ(queue.counts().lost, 0);
}

TEST(EventQueue, WaitsWhileThereIsMoreUrgentWorkButNotForEver) {
  Post post;
  std::atomic<bool> busy = true;
  EventQueueOptions options = quick();
  options.gather = Duration{0};
  options.busy = [&] { return busy.load(); };
  options.busy_max = seconds(3'600);
  EventQueue patient(
      post, [] { return kToldAt; }, options);
  patient.tell(job("a"), "us", {false, "Began", "now"}, kToldAt);
  options.busy_max = Duration{0};
  EventQueue hasty(
      post, [] { return kToldAt; }, options);
  hasty.tell(job("b"), "us", {false, "Began", "now"}, kToldAt);
  while (hasty.counts().sent < 1) std::this_thread::yield();
  EXPECT_EQ(post.lines(), std::set<std::string>{"b Began: now"});
  busy = false;
  while (patient.counts().sent < 1) std::this_thread::yield();
  EXPECT_EQ(post.lines(), (std::set<std::string>{"a Began: now", "b Began: now"}));
  // Nor when all is to end.
  busy = true;
  patient.tell(job("c"), "us", {false, "Began", "now"}, kToldAt);
  patient.stop(seconds(20));
  EXPECT_EQ(patient.counts().lost, 0);
}

TEST(EventQueue, AnExpiredEventIsToldAnew) {
  Post post;
  EventQueueOptions options = quick();
  options.gather = Duration{0};
  EventQueue queue(
      post, [] { return kToldAt; }, options);
  auto tell = [&](int64_t sent) {
    queue.tell(job("a"), "us", {true, "Failed", "why"}, kToldAt);
    while (queue.counts().sent < sent) std::this_thread::yield();
  };
  tell(1);
  tell(2);
  EXPECT_EQ(post.created(), 1);
  post.refuse(1, ErrorKind::kNotFound);
  tell(3);
  EXPECT_EQ(post.created(), 2);
  EXPECT_EQ(queue.counts().lost, 0);
}

TEST(EventQueue, ATryThatNobodyHeardOfIsNotToldTwice) {
  Post post;
  post.lose_answers(1);
  EventQueue queue(
      post, [] { return kToldAt; }, quick());
  queue.tell(job("a"), "us", {true, "Failed", "why"}, kToldAt);
  queue.stop(seconds(20));
  EXPECT_EQ(post.created(), 1);
  EXPECT_EQ(queue.counts().sent, 1);
  EXPECT_EQ(queue.counts().lost, 0);
}

TEST(EventQueue, OfSeveralThatGoTogetherEachHasItsOwnFate) {
  Post post;
  post.refuse(3, ErrorKind::kForbidden);
  EventQueue queue(
      post, [] { return kToldAt; }, quick());
  for (int i = 0; i < 20; ++i) {
    queue.tell(job(std::to_string(i)), "us", {false, "Began", "now"}, kToldAt);
  }
  queue.stop(seconds(20));
  EXPECT_EQ(queue.counts().sent, 17);
  EXPECT_EQ(queue.counts().lost, 3);
  EXPECT_EQ(post.lines().size(), 17u);
}

TEST(EventQueue, WhatIsRefusedOrFindsNoRoomIsCountedAsLost) {
  Post post;
  post.refuse(1, ErrorKind::kForbidden);
  EventQueueOptions options = quick();
  options.waiting_max = 1;
  EventQueue queue(
      post, [] { return kToldAt; }, options);
  queue.tell(job("a"), "us", {true, "Failed", "one"}, kToldAt);
  queue.tell(job("b"), "us", {true, "Failed", "two"}, kToldAt);
  queue.stop(seconds(20));
  EXPECT_EQ(queue.counts().told, 2);
  EXPECT_EQ(queue.counts().lost, 2);
  EXPECT_EQ(queue.counts().sent, 0);
}

TEST(EventQueue, CombinedMessages) {
  struct Row {
    std::vector<std::string> messages;
    std::string combined;
  };
  for (const Row& row : std::vector<Row>{
           {{"Created pod: a"}, "Created pod: a"},
           {{"Created pod: a-worker-0", "Created pod: a-worker-1"}, "Created pod: a-worker-0, a-worker-1"},
           {{"Pod: n.a-0 exited with code 0", "Pod: n.a-1 exited with code 0"},
            "Pod: n.a-0 exited with code 0, n.a-1 exited with code 0"},
           {{"one", "two"}, "one, two"},
           {{"It is done.", "Deleted pod: a", "Deleted pod: b", "Deleted service: a"},
            "It is done. Deleted pod: a, pod: b, service: a"},
       }) {
    EXPECT_EQ(combined_message(row.messages), row.combined);
  }
  std::vector<std::string> many;
  for (int i = 0; i < 500; ++i) many.push_back(fmt::format("Created pod: train-worker-{}", i));
  std::string combined = combined_message(many);
  EXPECT_LE(combined.size(), 1024u);
  EXPECT_TRUE(combined.ends_with(" more")) << combined;
  many.insert(many.begin(), "All of it is done.");
  EXPECT_LE(combined_message(many).size(), 1024u);
}

}  // namespace
}  // namespace trainyard::control
