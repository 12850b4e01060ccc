#include "client/http_wire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/access.h"

namespace trainyard::client {
namespace {

std::string status_json(int code, std::string_view reason, std::string_view message) {
  return fmt::format(
      R"({{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"{}","message":"{}","code":{}}})",
      reason, message, code);
}

TEST(HttpWire, EveryStatusHasItsKind) {
  struct Row {
    int status;
    std::string reason;
    ErrorKind of_read;
    ErrorKind of_write;
  };
  for (const Row& row : {
           Row{400, "BadRequest", ErrorKind::kInvalid, ErrorKind::kInvalid},
           Row{401, "Unauthorized", ErrorKind::kForbidden, ErrorKind::kForbidden},
           Row{403, "Forbidden", ErrorKind::kForbidden, ErrorKind::kForbidden},
           Row{404, "NotFound", ErrorKind::kNotFound, ErrorKind::kNotFound},
           Row{405, "MethodNotAllowed", ErrorKind::kInvalid, ErrorKind::kInvalid},
           Row{409, "AlreadyExists", ErrorKind::kAlreadyExists, ErrorKind::kAlreadyExists},
           Row{409, "Conflict", ErrorKind::kConflict, ErrorKind::kConflict},
           Row{410, "Expired", ErrorKind::kGone, ErrorKind::kGone},
           Row{413, "RequestEntityTooLarge", ErrorKind::kInvalid, ErrorKind::kInvalid},
           Row{422, "Invalid", ErrorKind::kInvalid, ErrorKind::kInvalid},
           Row{429, "TooManyRequests", ErrorKind::kUnavailable, ErrorKind::kUnavailable},
           Row{500, "InternalError", ErrorKind::kUnavailable, ErrorKind::kUnknown},
           Row{502, "", ErrorKind::kUnavailable, ErrorKind::kUnknown},
           Row{503, "ServiceUnavailable", ErrorKind::kUnavailable, ErrorKind::kUnavailable},
           Row{504, "Timeout", ErrorKind::kUnavailable, ErrorKind::kUnknown},
       }) {
    std::string body = status_json(row.status, row.reason, "because");
    EXPECT_EQ(error_of(row.status, body, false).kind, row.of_read) << row.status;
    EXPECT_EQ(error_of(row.status, body, true).kind, row.of_write) << row.status;
    EXPECT_THAT(error_of(row.status, body, true).message, testing::HasSubstr("because"));
  }
}

TEST(HttpWire, AnAnswerThatIsNoStatusIsShown) {
  EXPECT_EQ(error_of(502, "<html>\nbad gateway\n", false).message,
            "the server answered 502: <html> bad gateway");
  EXPECT_EQ(error_of(404, "", false).message, "the server answered 404");
  EXPECT_LT(error_of(502, std::string(100'000, 'x'), false).message.size(), 400u);
}

TEST(HttpWire, ListsGiveTheirItemsAKind) {
  kube::Request request{kube::kPods, "ns", kube::List{}};
  Result<Reply> reply = reply_of(request, 200,
                                 R"({"kind":"PodList","metadata":{"resourceVersion":"7","continue":"c"},
                                     "items":[{"metadata":{"name":"a"}},{"kind":"Pod","x":1}]})");
  ASSERT_TRUE(reply.ok()) << reply.error().message;
  EXPECT_EQ(reply->revision, 7);
  EXPECT_EQ(reply->continue_token, "c");
  ASSERT_EQ(reply->items.size(), 2u);
  EXPECT_EQ(json::serialize(*reply->items[0]), R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}})");
  EXPECT_EQ(json::serialize(*reply->items[1]), R"({"kind":"Pod","x":1})");
  Result<Reply> none = reply_of(request, 200, R"({"kind":"PodList","metadata":{},"items":null})");
  ASSERT_TRUE(none.ok());
  EXPECT_TRUE(none->items.empty());
}

// As servers write them: item by item, without what only servers read.
TEST(HttpWire, ListsAreReadItemByItem) {
  kube::Request request{kube::kPods, "ns", kube::List{}};
  Result<Reply> reply = reply_of(
      request, 200,
      R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7","continue":"c"},"items":[)"
      R"({"metadata":{"name":"a","managedFields":[{"manager":"x"}]},"spec":{"managedFields":[1]}},)"
      R"({"apiVersion":"v2","kind":"Cat","metadata":{}},{"metadata":{},"kind":"Dog"}]})");
  ASSERT_TRUE(reply.ok()) << reply.error().message;
  EXPECT_EQ(reply->revision, 7);
  EXPECT_EQ(reply->continue_token, "c");
  ASSERT_EQ(reply->items.size(), 3u);
  EXPECT_EQ(json::serialize(*reply->items[0]),
            R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{"managedFields":[1]}})");
  EXPECT_EQ(json::serialize(*reply->items[1]), R"({"apiVersion":"v2","kind":"Cat","metadata":{}})");
  EXPECT_EQ(kube::text_at(*reply->items[2], {"kind"}), "Dog");
  EXPECT_FALSE(reply_of(request, 200, R"({"kind":"PodList","items":[{"a":x}]})").ok());
  EXPECT_FALSE(reply_of(request, 200, R"({"kind":x,"items":[{"a":1}]})").ok());
}

TEST(HttpWire, ADeleteMayAnswerWithAStatusAlone) {
  kube::Request request{kube::kPods, "ns", kube::Delete{"a", {}}};
  Result<Reply> status = reply_of(request, 200, R"({"kind":"Status","status":"Success"})");
  ASSERT_TRUE(status.ok());
  EXPECT_EQ(status->object, nullptr);
  Result<Reply> object = reply_of(request, 202, R"({"kind":"Pod","metadata":{"name":"a"}})");
  ASSERT_TRUE(object.ok());
  ASSERT_NE(object->object, nullptr);
}

TEST(HttpWire, AGarbledAnswerToAWriteIsUnknown) {
  kube::Request unheeded{kube::kPods, "ns", kube::Create{}};
  unheeded.heed = kube::Heed::kNothing;
  EXPECT_EQ(reply_of(unheeded, 201, R"({"kind":"Pod"})").value().object, nullptr);
  EXPECT_EQ(reply_of(unheeded, 500, "{}").error().kind, ErrorKind::kUnknown);
  EXPECT_EQ(reply_of({kube::kPods, "ns", kube::Create{}}, 201, "{").error().kind, ErrorKind::kUnknown);
  EXPECT_EQ(reply_of({kube::kPods, "ns", kube::Get{"a"}}, 200, "[]").error().kind, ErrorKind::kUnavailable);
}

TEST(HttpWire, OfWhatIsToldIsReadWhatSomebodyReads) {
  const std::string pod =
      R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","managedFields":[{"x":1}]},"spec":{"nodeName":"n","volumes":[]}})";
  struct Row {
    kube::Heed heed;
    const char* read;
  };
  for (const Row& row :
       {Row{kube::Heed::kIdentity, R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"}})"},
        Row{kube::Heed::kPod,
            R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"},"spec":{"nodeName":"n"}})"}}) {
    Result<WatchEvent> event = event_of(fmt::format(R"({{"type":"ADDED","object":{}}})", pod), row.heed);
    ASSERT_TRUE(event.ok());
    EXPECT_EQ(json::serialize(*event->object), row.read);
    kube::Request list{kube::kPods, "ns", kube::List{}, {}, row.heed};
    Result<Reply> reply = reply_of(
        list, 200,
        fmt::format(R"({{"kind":"PodList","metadata":{{"resourceVersion":"7"}},"items":[{0},{0}]}})", pod));
    ASSERT_TRUE(reply.ok());
    ASSERT_EQ(reply->items.size(), 2u);
    EXPECT_EQ(json::serialize(*reply->items[1]), row.read);
    // What went wrong is told in words that no pod has.
    Result<WatchEvent> gone =
        event_of(R"({"type":"ERROR","object":)" + status_json(410, "Expired", "old") + "}", row.heed);
    EXPECT_EQ(gone.error().kind, ErrorKind::kGone);
    EXPECT_EQ(gone.error().message, "old");
    Result<WatchEvent> late =
        event_of(R"({"object":)" + status_json(410, "Expired", "old") + R"(,"type":"ERROR"})", row.heed);
    EXPECT_EQ(late.error().message, "old");
    EXPECT_FALSE(event_of(R"({"type":"ADDED"})", row.heed).ok());
  }
}

TEST(HttpWire, WhoItIsIsReadWhereNobodyReadsMore) {
  const char* kIdentity =
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"ns","uid":"u","resourceVersion":"7"}})";
  kube::Request request{kube::kPods, "ns", kube::Create{}};
  request.heed = kube::Heed::kIdentity;
  for (
      const char* body : {
          R"({"kind":"Pod","metadata":{"name":"a","namespace":"ns","uid":"u","resourceVersion":"7"}})",
          R"({"spec":{"metadata":{"name":"no"},"a":["}","\"{",{"uid":"no"}]},"metadata":{"labels":{"name":"no"},"name":"a",
               "managedFields":[{"uid":"no"}],"namespace":"ns","uid":"u","resourceVersion":"7"},"status":"metadata"})",
      }) {
    Result<Reply> made = reply_of(request, 201, body);
    ASSERT_TRUE(made.ok()) << body;
    EXPECT_EQ(json::serialize(*made->object), kIdentity) << body;
  }
  // As no server writes, but as one may: all of it is read.
  Result<Reply> spaced = reply_of(request, 201, R"( {"metadata" : {"name" : "a"}, "x" : 1})");
  ASSERT_TRUE(spaced.ok());
  EXPECT_EQ(json::serialize(*spaced->object), R"({"metadata":{"name":"a"},"x":1})");
  for (const char* bad : {R"({"metadata":{"name":"a","namespace":"ns","uid":"u","resourceVersion":"7"})",
                          R"({"metadata":{"name":"a","namespace":"ns","uid":"u","resourceVersion":"7)",
                          R"({"metadata":{"name":a,"namespace":"ns","uid":"u","resourceVersion":"7"}})"}) {
    EXPECT_EQ(reply_of(request, 201, bad).error().kind, ErrorKind::kUnknown) << bad;
  }
}

TEST(HttpWire, EventsOfAWatch) {
  struct Row {
    std::string type;
    EventKind kind;
  };
  for (const Row& row : {Row{"ADDED", EventKind::kAdded}, Row{"MODIFIED", EventKind::kModified},
                         Row{"DELETED", EventKind::kDeleted}, Row{"BOOKMARK", EventKind::kBookmark}}) {
    Result<WatchEvent> event = event_of(fmt::format(R"({{"type":"{}","object":{{"a":1}}}})", row.type));
    ASSERT_TRUE(event.ok()) << row.type;
    EXPECT_EQ(event->kind, row.kind);
    EXPECT_EQ(json::serialize(*event->object), R"({"a":1})");
  }
  Result<WatchEvent> gone =
      event_of(R"({"type":"ERROR","object":)" + status_json(410, "Expired", "old") + "}");
  ASSERT_FALSE(gone.ok());
  EXPECT_EQ(gone.error(), (Error{ErrorKind::kGone, "old"}));
  for (std::string_view bad : {"", "x", "{}", R"({"type":"ADDED"})", R"({"type":"NEW","object":{}})"}) {
    EXPECT_FALSE(event_of(bad).ok()) << bad;
  }
}

TEST(HttpWire, HowACommandEnded) {
  EXPECT_EQ(*exit_code_of(R"({"kind":"Status","status":"Success"})"), 0);
  EXPECT_EQ(*exit_code_of(R"({"kind":"Status","status":"Failure","reason":"NonZeroExitCode",
                              "details":{"causes":[{"reason":"ExitCode","message":"7"}]}})"),
            7);
  Result<int> none = exit_code_of(status_json(404, "NotFound", "no such container"));
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error(), (Error{ErrorKind::kNotFound, "no such container"}));
  EXPECT_FALSE(exit_code_of("bye").ok());
}

TEST(HttpWire, RetryAfter) {
  EXPECT_EQ(retry_after_of("5"), seconds(5));
  EXPECT_EQ(retry_after_of("0"), seconds(0));
  for (std::string_view bad : {"", "-1", "1.5", "soon", "Wed, 21 Oct 2026 07:28:00 GMT", "999999999"}) {
    EXPECT_EQ(retry_after_of(bad), std::nullopt) << bad;
  }
}

TEST(HttpWire, LinesComeWholeHoweverTheyAreCut) {
  std::string text = "one\ntwo\n\nthree\nrest";
  for (size_t step = 1; step <= text.size(); ++step) {
    LineSplitter splitter;
    std::vector<std::string> lines;
    for (size_t at = 0; at < text.size(); at += step) {
      splitter.feed(std::string_view(text).substr(at, step), [&](std::string_view line) {
        lines.emplace_back(line);
        return true;
      });
    }
    EXPECT_EQ(lines, (std::vector<std::string>{"one", "two", "", "three"})) << step;
    EXPECT_EQ(splitter.rest(), "rest");
  }
  LineSplitter splitter;
  int seen = 0;
  EXPECT_FALSE(splitter.feed("a\nb\nc\n", [&](std::string_view) { return ++seen < 2; }));
  EXPECT_EQ(seen, 2);
}

}  // namespace
}  // namespace trainyard::client
