#include "client/http_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "base/match.h"
#include "client/http_testing.h"
#include "kube/objects.h"

namespace trainyard::client {
namespace {

using ::testing::HasSubstr;

class IgnorePipes : public testing::Environment {
 public:
  void SetUp() override { signal(SIGPIPE, SIG_IGN); }
};
const testing::Environment* const kIgnore = testing::AddGlobalTestEnvironment(new IgnorePipes);

TEST(HttpClient, RequestsGoOutWholeAndConnectionsAreKept) {
  Mailbox<Heard> heard;
  TestServer server([&](Peer& peer, const Heard& request) {
    heard.put(request);
    peer.answer(200, kHeardPod);
    return true;
  });
  Access access = access_to(server);
  access.server += "/base/";
  access.token.data = "secret";
  auto client = client_of(access);
  Result<Reply> reply = client->send(get_pod());
  ASSERT_TRUE(reply.ok()) << reply.error().message;
  EXPECT_EQ(kube::name_of(*reply->object), "p");
  Heard first = *heard.take();
  EXPECT_EQ(first.method, "GET");
  EXPECT_EQ(first.target, "/base/api/v1/namespaces/ns/pods/p");
  EXPECT_EQ(first.headers["authorization"], "Bearer secret");
  EXPECT_EQ(first.headers["host"], fmt::format("127.0.0.1:{}", server.port()));
  ASSERT_TRUE(client->send(create_pod()).ok());
  Heard second = *heard.take();
  EXPECT_EQ(second.method, "POST");
  EXPECT_EQ(second.headers["content-type"], "application/json");
  EXPECT_EQ(json::parse(second.body), json::parse(kHeardPod));
  EXPECT_EQ(server.connections(), 1);
}

TEST(HttpClient, ManyThreadsSendAtOnce) {
  TestServer server([&](Peer& peer, const Heard&) {
    peer.answer(200, kHeardPod);
    return true;
  });
  auto client = client_of(access_to(server));
  std::vector<std::thread> threads;
  std::atomic<int> fine{0};
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 20; ++n) fine += client->send(get_pod()).ok() ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(fine, 160);
  EXPECT_LE(server.connections(), 16);
}

TEST(HttpClient, WhatCannotBeReachedWasNotDone) {
  Access access;
  {
    TestServer closed([](Peer&, const Heard&) { return false; });
    access = access_to(closed);
  }
  Result<Reply> reply = client_of(access)->send(create_pod());
  ASSERT_FALSE(reply.ok());
  EXPECT_EQ(reply.error().kind, ErrorKind::kUnavailable);
  EXPECT_THAT(reply.error().message, testing::AllOf(HasSubstr(access.server), HasSubstr("refused")));
}

TEST(HttpClient, AWriteWithoutAnswerMayHaveBeenDone) {
  std::atomic<int> requests{0};
  TestServer server([&](Peer&, const Heard&) {
    ++requests;
    return false;
  });
  auto client = client_of(access_to(server));
  Result<Reply> written = client->send(create_pod());
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.error().kind, ErrorKind::kUnknown);
  EXPECT_EQ(requests, 1);
  Result<Reply> read = client->send(get_pod());
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().kind, ErrorKind::kUnavailable);
}

TEST(HttpClient, ASlowAnswerIsGivenUp) {
  Mailbox<int> done;
  TestServer server([&](Peer&, const Heard&) {
    done.take();
    return false;
  });
  HttpOptions options;
  options.request_timeout = Duration{50};
  auto client = client_of(access_to(server), options);
  Result<Reply> written = client->send(create_pod());
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.error().kind, ErrorKind::kUnknown);
  EXPECT_THAT(written.error().message, HasSubstr("no answer within"));
  done.put(1);
}

TEST(HttpClient, AReadIsRepeatedWhenTheKeptConnectionWasClosed) {
  // Says that it keeps the connection, and drops it at the next request.
  std::atomic<int> served{0};
  TestServer server([&](Peer& peer, const Heard&) {
    if (served++ % 2 == 1) return false;
    peer.answer(200, kHeardPod);
    return true;
  });
  auto client = client_of(access_to(server));
  ASSERT_TRUE(client->send(get_pod()).ok());
  EXPECT_TRUE(client->send(get_pod()).ok());
  EXPECT_EQ(served, 3);
}

TEST(HttpClient, BusyServersAreAskedAgainWhenTheySay) {
  std::atomic<int> served{0};
  TestServer server([&](Peer& peer, const Heard&) {
    if (served++ < 2) {
      peer.answer(429, "{}", "Retry-After: 0\r\n");
    } else {
      peer.answer(201, kHeardPod);
    }
    return true;
  });
  EXPECT_TRUE(client_of(access_to(server))->send(create_pod()).ok());
  EXPECT_EQ(served, 3);
}

TEST(HttpClient, BusyForTooLongIsTheCallersToWait) {
  std::atomic<int> served{0};
  TestServer server([&](Peer& peer, const Heard&) {
    ++served;
    peer.answer(429, R"({"kind":"Status","message":"later"})", "Retry-After: 600\r\n");
    return true;
  });
  Result<Reply> reply = client_of(access_to(server))->send(create_pod());
  ASSERT_FALSE(reply.ok());
  EXPECT_EQ(reply.error(), (Error{ErrorKind::kUnavailable, "later"}));
  EXPECT_EQ(served, 1);
}

TEST(HttpClient, WhoLostTheRightToWriteWhileItWaitedDoesNotWrite) {
  std::atomic<bool> leads{true};
  std::atomic<int> writes{0};
  TestServer server([&](Peer& peer, const Heard& request) {
    if (request.method == "GET") {
      peer.answer(200, kHeardPod);
    } else {
      ++writes;
      leads = false;
      peer.answer(429, "{}", "Retry-After: 0\r\n");
    }
    return true;
  });
  HttpOptions options;
  options.may_write = [&](std::string_view resource) { return resource == "pods" && leads; };
  auto client = client_of(access_to(server), options);
  const Error refused{ErrorKind::kUnavailable, "the right to write is lost: nothing is written"};
  for (size_t count : {1u, 3u}) {
    leads = true;
    writes = 0;
    std::vector<Result<Reply>> replies = client->send_all(std::vector<kube::Request>(count, create_pod()));
    ASSERT_EQ(replies.size(), count);
    for (const Result<Reply>& reply : replies) {
      ASSERT_FALSE(reply.ok());
      EXPECT_EQ(reply.error(), refused);
    }
    EXPECT_LE(writes, static_cast<int>(count)) << "each once at most";
  }
  EXPECT_TRUE(client->send(get_pod()).ok()) << "reading is everybody's";
}

TEST(HttpClient, RefusedCredentialsAreAskedForOnceMore) {
  std::atomic<int> served{0};
  TestServer server([&](Peer& peer, const Heard&) {
    if (served++ == 0) {
      peer.answer(401, R"({"kind":"Status","reason":"Unauthorized","message":"Unauthorized"})");
    } else {
      peer.answer(200, kHeardPod);
    }
    return true;
  });
  Access access = access_to(server);
  access.token.data = "t";
  EXPECT_TRUE(client_of(access)->send(get_pod()).ok());
  EXPECT_EQ(served, 2);
}

TEST(HttpClient, LongListsComeInPages) {
  TestServer server([&](Peer& peer, const Heard& request) {
    bool more = request.target.find("continue=") == std::string::npos;
    EXPECT_THAT(request.target, HasSubstr("limit="));
    peer.answer(200, fmt::format(R"({{"metadata":{{"resourceVersion":"{}","continue":"{}"}},"items":[{}]}})",
                                 more ? 9 : 9, more ? "next" : "", kHeardPod));
    return true;
  });
  Result<Reply> reply = client_of(access_to(server))->send({kube::kPods, "", kube::List{}});
  ASSERT_TRUE(reply.ok()) << reply.error().message;
  EXPECT_EQ(reply->items.size(), 2u);
  EXPECT_EQ(reply->revision, 9);
  EXPECT_EQ(reply->continue_token, "");
}

TEST(HttpClient, PagesThatHaveGrownTooOldAreAskedForInOnePiece) {
  TestServer server([&](Peer& peer, const Heard& request) {
    if (request.target.find("continue=") != std::string::npos) {
      peer.answer(410, R"({"kind":"Status","reason":"Expired","message":"too old"})");
    } else {
      bool paged = request.target.find("limit=") != std::string::npos;
      peer.answer(200,
                  fmt::format(R"({{"metadata":{{"resourceVersion":"{}","continue":"{}"}},"items":[{}]}})",
                              paged ? 9 : 12, paged ? "next" : "", kHeardPod));
    }
    return true;
  });
  Result<Reply> reply = client_of(access_to(server))->send({kube::kPods, "", kube::List{}});
  ASSERT_TRUE(reply.ok()) << reply.error().message;
  EXPECT_EQ(reply->items.size(), 1u);
  EXPECT_EQ(reply->revision, 12);
}

using Told = std::variant<WatchEvent, std::optional<Error>>;

WatchSink into(Mailbox<Told>& box) {
  return {[&box](WatchEvent event) { box.put(std::move(event)); },
          [&box](const std::optional<Error>& error) { box.put(error); }};
}

std::string shown(const std::optional<Told>& told) {
  if (!told) return "nothing";
  return std::visit(
      Match{[](const WatchEvent& event) {
              return fmt::format("{} {}", static_cast<int>(event.kind), kube::name_of(*event.object));
            },
            [](const std::optional<Error>& error) {
              return error ? fmt::format("error {} {}", static_cast<int>(error->kind), error->message)
                           : "end";
            }},
      *told);
}

kube::Request watch_pods() { return {kube::kPods, "ns", kube::Watch{{}, {}, "5"}}; }

TEST(HttpWatch, EventsComeAsTheyHappen) {
  Mailbox<int> go_on;
  TestServer server([&](Peer& peer, const Heard& request) {
    EXPECT_THAT(request.target, HasSubstr("watch=1&resourceVersion=5"));
    peer.begin_chunks();
    std::string line = fmt::format("{{\"type\":\"ADDED\",\"object\":{}}}\n", kHeardPod);
    peer.chunk(line.substr(0, 20));
    peer.chunk(line.substr(20));
    go_on.take();
    peer.chunk(fmt::format("{{\"type\":\"DELETED\",\"object\":{}}}\n", kHeardPod));
    peer.chunk("");
    return true;
  });
  Mailbox<Told> box;
  auto client = client_of(access_to(server));
  auto watch = client->open(watch_pods(), into(box));
  EXPECT_EQ(shown(box.take()), "0 p");
  go_on.put(1);
  EXPECT_EQ(shown(box.take()), "2 p");
  EXPECT_EQ(shown(box.take()), "end");
}

TEST(HttpWatch, TheEndSaysWhy) {
  const std::string gone = R"({"kind":"Status","code":410,"reason":"Expired","message":"too old"})";
  std::atomic<int> mode{0};
  TestServer server([&](Peer& peer, const Heard&) {
    if (mode == 0) {
      peer.answer(410, gone);
    } else {
      peer.begin_chunks();
      if (mode == 1)
        peer.chunk("{\"type\":\"ERROR\",\"object\":" + gone + "}\n{\"type\":\"ADDED\",\"object\":{}}\n");
      if (mode == 2) peer.chunk("nonsense\n");
    }
    return mode == 0;
  });
  auto client = client_of(access_to(server));
  for (const char* expected : {"error 4 too old", "error 4 too old", "error 6 a line of the watch"}) {
    Mailbox<Told> box;
    auto watch = client->open(watch_pods(), into(box));
    EXPECT_THAT(shown(box.take()), testing::StartsWith(expected));
    ++mode;
  }
  Mailbox<Told> box;
  auto watch = client->open(watch_pods(), into(box));
  EXPECT_THAT(shown(box.take()), HasSubstr("closed the connection"));
}

TEST(HttpWatch, TellsThatTheServerAgreedAndNothingOfTheSortWhenItRefused) {
  bool agrees = true;
  Mailbox<int> go_on;
  TestServer server([&](Peer& peer, const Heard&) {
    if (!agrees) {
      peer.answer(403, R"({"kind":"Status","code":403,"reason":"Forbidden","message":"no"})");
      return false;
    }
    peer.begin_chunks();
    go_on.take();
    return false;
  });
  auto client = client_of(access_to(server));
  Mailbox<std::string> told;
  WatchSink sink{[&](const WatchEvent&) { told.put("event"); },
                 [&](const std::optional<Error>&) { told.put("closed"); }, [&] { told.put("opened"); }};
  auto watch = client->open(watch_pods(), sink);
  EXPECT_EQ(told.take(), "opened");  // before it says anything
  go_on.put(1);
  EXPECT_EQ(told.take(), "closed");
  agrees = false;
  watch = client->open(watch_pods(), sink);
  EXPECT_EQ(told.take(), "closed");
}

// Who opens watches tries again when it hears of the end.
TEST(HttpWatch, ABusyServerIsNotAskedBeforeItSays) {
  TestServer server([&](Peer& peer, const Heard&) {
    peer.answer(429, R"({"kind":"Status","message":"later"})", "Retry-After: 1\r\n");
    return true;
  });
  auto client = client_of(access_to(server));
  Mailbox<std::string> told;
  WatchSink sink{[&](const WatchEvent&) { told.put("event"); },
                 [&](const std::optional<Error>& error) { told.put(error->message); },
                 {}};
  const auto begun = std::chrono::steady_clock::now();
  auto watch = client->open(watch_pods(), sink);
  EXPECT_EQ(told.take(), "later");
  EXPECT_GE(std::chrono::steady_clock::now() - begun, std::chrono::seconds(1));
}

// Told when the client has hung up.
TestServer::Handler one_pod_then_silence(Mailbox<int>& hung_up) {
  return [&hung_up](Peer& peer, const Heard&) {
    peer.begin_chunks();
    peer.chunk(fmt::format("{{\"type\":\"ADDED\",\"object\":{}}}\n", kHeardPod));
    peer.receive();
    hung_up.put(1);
    return false;
  };
}

// Whoever stands between may have lost the server without a word.
TEST(HttpWatch, AWatchThatIsSilentForTooLongEnds) {
  Mailbox<int> hung_up;
  TestServer server(one_pod_then_silence(hung_up));
  HttpOptions options;
  options.silence_max = Duration{50};
  Mailbox<Told> box;
  auto client = client_of(access_to(server), options);
  auto watch = client->open(watch_pods(), into(box));
  EXPECT_EQ(shown(box.take()), "0 p");
  EXPECT_EQ(shown(box.take()), "end");  // not an error: the server is asked again from where it was
  EXPECT_TRUE(hung_up.take().has_value());
}

TEST(HttpWatch, AFailureToConnectIsTold) {
  Access access;
  {
    TestServer closed([](Peer&, const Heard&) { return false; });
    access = access_to(closed);
  }
  Mailbox<Told> box;
  auto client = client_of(access);
  auto watch = client->open(watch_pods(), into(box));
  EXPECT_THAT(shown(box.take()), testing::StartsWith("error 6 cannot reach"));
}

TEST(HttpWatch, NothingIsToldAfterTheHandleIsDropped) {
  Mailbox<int> hung_up;
  TestServer server(one_pod_then_silence(hung_up));
  Mailbox<Told> box;
  auto client = client_of(access_to(server));
  auto watch = client->open(watch_pods(), into(box));
  EXPECT_EQ(shown(box.take()), "0 p");
  watch.reset();
  EXPECT_TRUE(hung_up.take().has_value());
  // From inside a call, too.
  std::unique_ptr<OpenWatch> own;
  Mailbox<int> called;
  Mailbox<int> opened;
  WatchSink sink{[&](const WatchEvent&) {
                   opened.take();
                   own.reset();
                   called.put(1);
                 },
                 [&](const std::optional<Error>&) { called.put(2); }};
  own = client->open(watch_pods(), sink);
  opened.put(1);
  EXPECT_EQ(called.take(), 1);
  EXPECT_TRUE(hung_up.take().has_value());
}

TEST(HttpStream, BytesComeAsTheyAre) {
  Mailbox<int> go_on;
  TestServer server([&](Peer& peer, const Heard&) {
    peer.begin_chunks();
    peer.chunk("step 1\nste");
    go_on.take();
    peer.chunk("p 2\n");
    peer.chunk("");
    return true;
  });
  Mailbox<std::string> box;
  auto client = client_of(access_to(server));
  auto stream =
      client->open_stream("/log", {[&](std::string_view bytes) { box.put(std::string(bytes)); },
                                   [&](const std::optional<Error>& e) { box.put(e ? "error" : "end"); }});
  EXPECT_EQ(box.take(), "step 1\nste");
  go_on.put(1);
  EXPECT_EQ(box.take(), "p 2\n");
  EXPECT_EQ(box.take(), "end");
}

}  // namespace
}  // namespace trainyard::client
