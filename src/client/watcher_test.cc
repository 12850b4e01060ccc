#include "client/watcher.h"

#include <gtest/gtest.h>

#include "base/match.h"
#include "kube/meta.h"

namespace trainyard::client {
namespace {

constexpr Time kStart{1'000'000};

Object object(std::string_view name, int64_t version) {
  return std::make_shared<const json::object>(
      json::object{{"metadata", json::object{{"name", name}, {"resourceVersion", std::to_string(version)}}}});
}

std::string shown(const std::vector<Output>& outputs) {
  std::string text;
  for (const Output& output : outputs) {
    if (!text.empty()) text += "; ";
    text += std::visit(Match{
                           [](const Init&) { return std::string("init"); },
                           [](const Apply& a) { return fmt::format("apply {}", kube::name_of(*a.object)); },
                           [](const Delete& d) { return fmt::format("delete {}", kube::name_of(*d.object)); },
                           [](const InitDone& d) { return fmt::format("done {}", d.revision); },
                           [](const Seen& s) { return fmt::format("seen {}", s.revision); },
                       },
                       output);
  }
  return text;
}

std::string asked(const std::optional<kube::Request>& request) {
  if (!request) return "nothing";
  if (const auto* list = std::get_if<kube::List>(&request->verb)) return "list " + list->continue_token;
  return "watch " + std::get<kube::Watch>(request->verb).version;
}

Result<Reply> page(std::vector<Object> items, int64_t revision, std::string token = "") {
  Reply reply;
  reply.items = std::move(items);
  reply.revision = revision;
  reply.continue_token = std::move(token);
  return reply;
}

Watcher watching(int64_t revision = 7) {
  Watcher watcher(Stream{kube::kPods, {}, ""});
  EXPECT_EQ(asked(watcher.ask(kStart)), "list ");
  watcher.on_list(page({}, revision), kStart);
  EXPECT_EQ(asked(watcher.ask(kStart)), fmt::format("watch {}", revision));
  return watcher;
}

TEST(WatcherTest, ListsThenWatches) {
  Watcher watcher(Stream{kube::kPods, {}, ""});
  EXPECT_EQ(asked(watcher.ask(kStart)), "list ");
  EXPECT_EQ(asked(watcher.ask(kStart)), "nothing");
  EXPECT_EQ(shown(watcher.on_list(page({object("a", 3)}, 5), kStart)), "init; apply a; done 5");
  EXPECT_EQ(asked(watcher.ask(kStart)), "watch 5");
  EXPECT_EQ(shown(watcher.on_event({EventKind::kAdded, object("b", 6)}, kStart)), "apply b");
  EXPECT_EQ(shown(watcher.on_event({EventKind::kDeleted, object("b", 7)}, kStart)), "delete b");
  EXPECT_EQ(shown(watcher.on_event({EventKind::kBookmark, object("", 9)}, kStart)), "seen 9");
  watcher.on_closed(std::nullopt, kStart);
  EXPECT_EQ(asked(watcher.ask(kStart)), "watch 9");
}

TEST(WatcherTest, AsksForWhatTheStreamSelects) {
  Stream stream{kube::kPods, {}, ""};
  stream.fields.add("spec.nodeName", "here");
  Watcher watcher(stream);
  EXPECT_EQ(std::get<kube::List>(watcher.ask(kStart)->verb).fields, stream.fields);
  watcher.on_list(page({}, 5), kStart);
  EXPECT_EQ(std::get<kube::Watch>(watcher.ask(kStart)->verb).fields, stream.fields);
}

TEST(WatcherTest, PagesAreGivenAsTheyComeAndTheRevisionIsThatOfTheFirst) {
  Watcher watcher(Stream{kube::kPods, {}, ""});
  watcher.ask(kStart);
  EXPECT_EQ(shown(watcher.on_list(page({object("a", 3)}, 5, "more"), kStart)), "init; apply a");
  EXPECT_EQ(asked(watcher.ask(kStart)), "list more");
  EXPECT_EQ(shown(watcher.on_list(page({object("b", 6)}, 8), kStart)), "apply b; done 5");
}

TEST(WatcherTest, AFailedPageStartsOver) {
  Watcher watcher(Stream{kube::kPods, {}, ""});
  watcher.ask(kStart);
  watcher.on_list(page({object("a", 3)}, 5, "more"), kStart);
  watcher.ask(kStart);
  EXPECT_EQ(shown(watcher.on_list(Error{ErrorKind::kUnavailable, ""}, kStart)), "");
  EXPECT_EQ(asked(watcher.ask(kStart)), "nothing");
  EXPECT_EQ(watcher.next_ask(), kStart + kRetryFirst);
  EXPECT_EQ(asked(watcher.ask(kStart + kRetryFirst)), "list ");
  EXPECT_EQ(shown(watcher.on_list(page({}, 6), kStart)), "init; done 6");
}

TEST(WatcherTest, GoneMeansAFreshListAtOnce) {
  Watcher watcher = watching();
  watcher.on_closed(Error{ErrorKind::kGone, ""}, kStart);
  EXPECT_EQ(asked(watcher.ask(kStart)), "list ");
}

TEST(WatcherTest, PausesGrowUntilSomethingIsHeard) {
  Watcher watcher = watching();
  Time now = kStart;
  for (int64_t pause : {500, 1000, 2000, 4000, 8000, 16000, 30000, 30000}) {
    watcher.on_closed(Error{ErrorKind::kUnavailable, ""}, now);
    EXPECT_EQ(watcher.next_ask(), now + Duration{pause});
    now = *watcher.next_ask();
    EXPECT_EQ(asked(watcher.ask(now)), "watch 7");
  }
  watcher.on_event({EventKind::kAdded, object("a", 8)}, now);
  watcher.on_closed(Error{ErrorKind::kUnavailable, ""}, now);
  EXPECT_EQ(watcher.next_ask(), now + kRetryFirst);
}

TEST(WatcherTest, TroubleIsOverOnceTheNextWatchIsAgreedTo) {
  Watcher watcher = watching();
  watcher.on_closed(Error{ErrorKind::kUnavailable, "away"}, kStart);
  EXPECT_TRUE(watcher.trouble());
  watcher.on_opened();  // of the watch that has ended
  EXPECT_TRUE(watcher.trouble());
  Time again = *watcher.next_ask();
  EXPECT_EQ(asked(watcher.ask(again)), "watch 7");
  watcher.on_opened();
  EXPECT_FALSE(watcher.trouble());
  // It was not heard yet, so the next pause is longer all the same.
  watcher.on_closed(Error{ErrorKind::kUnavailable, "away"}, again);
  EXPECT_EQ(watcher.next_ask(), again + 2 * kRetryFirst);
}

TEST(WatcherTest, AClockThatWentBackDoesNotMakeAPauseLonger) {
  Watcher watcher = watching();
  watcher.on_closed(Error{ErrorKind::kUnavailable, ""}, kStart);
  EXPECT_EQ(asked(watcher.ask(kStart - seconds(3600))), "watch 7");
}

TEST(WatcherTest, ALittleBackIsBackToo) {
  Watcher watcher = watching();
  watcher.on_closed(Error{ErrorKind::kUnavailable, ""}, kStart);
  EXPECT_EQ(asked(watcher.ask(kStart)), "nothing");
  EXPECT_EQ(asked(watcher.ask(kStart - seconds(100))), "watch 7");
}

TEST(WatcherTest, AWatchThatEndsAtOnceIsNotOpenedWithoutAPause) {
  Watcher watcher = watching();
  watcher.on_closed(std::nullopt, kStart);
  EXPECT_EQ(watcher.next_ask(), kStart + kRetryFirst);
}

// Whoever makes a job after a night in which nothing happened does not wait for it.
TEST(WatcherTest, AWatchThatWasOpenForLongIsOpenedAgainAtOnce) {
  Watcher watcher = watching();
  Time now = kStart;
  for (int i = 0; i < 10; ++i) {
    now = now + seconds(600);
    watcher.on_closed(std::nullopt, now);
    EXPECT_EQ(asked(watcher.ask(now)), "watch 7");
  }
  now = now + seconds(600);
  watcher.on_closed(Error{ErrorKind::kUnavailable, "away"}, now);
  EXPECT_EQ(watcher.next_ask(), now + kRetryFirst);
}

TEST(WatcherTest, AResourceThatIsNotServedIsEmpty) {
  Watcher watcher(Stream{kube::kVolcanoJobs, {}, ""});
  watcher.ask(kStart);
  EXPECT_EQ(shown(watcher.on_list(Error{ErrorKind::kNotFound, ""}, kStart)), "init; done 0");
  EXPECT_EQ(watcher.next_ask(), kStart + kAbsentRetry);
  EXPECT_EQ(asked(watcher.ask(kStart + kAbsentRetry)), "list ");
}

TEST(WatcherTest, ARelistThrowsAwayWhatIsUnderWay) {
  Watcher watcher = watching();
  watcher.relist(kStart);
  EXPECT_EQ(asked(watcher.ask(kStart)), "list ");
  EXPECT_EQ(shown(watcher.on_event({EventKind::kAdded, object("a", 8)}, kStart)), "");
  watcher.on_closed(std::nullopt, kStart);
  watcher.relist(kStart);
  EXPECT_EQ(shown(watcher.on_list(page({object("a", 8)}, 8), kStart)), "");
  EXPECT_EQ(asked(watcher.ask(kStart)), "list ");
  EXPECT_EQ(shown(watcher.on_list(page({object("a", 8)}, 9), kStart)), "init; apply a; done 9");
}

}  // namespace
}  // namespace trainyard::client
