#include "server/watch_stream.h"

#include <gtest/gtest.h>

#include "kube/access.h"
#include "kube/yaml.h"
#include "server/testing.h"

namespace trainyard::server {
namespace {

constexpr Time kWatchTime{1'800'000'000'000};
constexpr size_t kRoomBytes = 5 * kFreeOfRoomBytes;

// A hub whose watch says what a test tells it to.
class ScriptedHub final : public hub::Hub {
 public:
  void set_admission(const kube::Resource&, store::Admission) override {}
  void set_shaping(const kube::Resource&, store::Shaping) override {}
  void set_schema(const kube::Resource&, store::SchemaSource) override {}
  void submit(kube::Request, Respond) override {}
  Result<hub::Answer> call(kube::Request) override { return Error{ErrorKind::kUnavailable, "not here"}; }
  Result<std::unique_ptr<hub::Subscription>> watch(const kube::Resource&, std::string_view,
                                                   const kube::Watch&, hub::WatchSink given) override {
    if (refusal) return *refusal;
    sink = std::move(given);
    return std::make_unique<hub::Subscription>();
  }
  int64_t revision() const override { return 1; }
  std::optional<std::string> failed() const override { return std::nullopt; }

  std::optional<Error> refusal;
  hub::WatchSink sink;
};

// `bytes`: of the value that makes it large.
hub::WatchEvent event(store::ChangeKind kind, std::string_view name, size_t bytes = 0) {
  json::object object{{"kind", "ConfigMap"},
                      {"apiVersion", "v1"},
                      {"metadata", json::object{{"name", name}, {"resourceVersion", "7"}}}};
  if (bytes > 0) object["data"] = json::object{{"key", std::string(bytes, 'x')}};
  return {kind, 7, std::make_shared<const json::object>(std::move(object)), nullptr, bytes};
}

class WatchStreamTest : public testing::Test {
 protected:
  WatchView view(Shape shape = Shape::kObject) {
    return {.api = registry_.find("", "v1", "configmaps"), .form = {Encoding::kJson, shape}, .clock = [] {
              return kWatchTime;
            }};
  }
  static json::object parsed(std::string_view line) { return kube::parse_json(line)->get_object(); }

  Registry registry_;
  Room room_{kRoomBytes};
  LineCache lines_{room_};
  ScriptedHub hub_;
};

TEST_F(WatchStreamTest, EachEventIsALine) {
  EXPECT_EQ(
      event_line(view(), event(store::ChangeKind::kModified, "a"), false),
      R"({"type":"MODIFIED","object":{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","resourceVersion":"7"}}})"
      "\n");
  json::object gone = parsed(error_line(view(), {ErrorKind::kGone, "too old"}));
  EXPECT_EQ(kube::text_at(gone, {"type"}), "ERROR");
  EXPECT_EQ(kube::int_at(gone, {"object", "code"}), 410);
  EXPECT_EQ(kube::text_at(gone, {"object", "reason"}), "Expired");
  json::object table = parsed(event_line(view(Shape::kTable), event(store::ChangeKind::kAdded, "a"), false));
  EXPECT_EQ(kube::text_at(table, {"object", "kind"}), "Table");
  json::object meta =
      parsed(event_line(view(Shape::kPartialMetadata), event(store::ChangeKind::kAdded, "a"), false));
  EXPECT_EQ(kube::text_at(meta, {"object", "kind"}), "PartialObjectMetadata");
}

TEST_F(WatchStreamTest, PulledInOrderThenTheEnd) {
  auto stream = open_watch(hub_, lines_, "", {}, view()).value();
  int woken = 0;
  stream->on_ready([&] { ++woken; });
  std::string out;
  EXPECT_EQ(pull(*stream, out), Stream::State::kOpen);
  EXPECT_EQ(out, "");
  hub_.sink.on_events({event(store::ChangeKind::kAdded, "a"), event(store::ChangeKind::kDeleted, "a")});
  EXPECT_EQ(woken, 1);
  EXPECT_EQ(pull(*stream, out), Stream::State::kOpen);
  EXPECT_LT(out.find("ADDED"), out.find("DELETED"));
  hub_.sink.on_closed(Error{ErrorKind::kGone, "too old"});
  EXPECT_EQ(woken, 2);
  out.clear();
  EXPECT_EQ(pull(*stream, out), Stream::State::kEnded);
  EXPECT_NE(out.find("\"ERROR\""), std::string::npos);
}

TEST_F(WatchStreamTest, TheBeginningMayBeLongTheRestMayNot) {
  auto stream = open_watch(hub_, lines_, "", {}, view()).value();
  std::vector<hub::WatchEvent> many(3 * kWatchBacklogMax, event(store::ChangeKind::kAdded, "a"));
  hub_.sink.on_events(many);
  std::string out;
  EXPECT_EQ(pull(*stream, out), Stream::State::kOpen);
  EXPECT_GE(out.size(), kStreamChunkBytes);
  hub_.sink.on_events(many);
  out.clear();
  EXPECT_EQ(pull(*stream, out), Stream::State::kBroken);
}

TEST_F(WatchStreamTest, LargeEventsAreOneTextForAllWhoSendThem) {
  const hub::WatchEvent small = event(store::ChangeKind::kAdded, "small");
  const hub::WatchEvent large = event(store::ChangeKind::kModified, "large", 2 * kFreeOfRoomBytes);
  std::vector<std::shared_ptr<Stream>> streams;
  std::vector<SharedText> texts;
  for (int i = 0; i < 200; ++i) {
    streams.push_back(open_watch(hub_, lines_, "", {}, view()).value());
    hub_.sink.on_events({small, large, small});
    SharedText text;
    EXPECT_EQ(streams.back()->pull(text), Stream::State::kOpen);
    EXPECT_NE(text->find("small"), std::string::npos);
    EXPECT_LT(text->size(), kFreeOfRoomBytes);
    EXPECT_EQ(streams.back()->pull(texts.emplace_back()), Stream::State::kOpen);
    EXPECT_EQ(texts.back(), texts.front());
    EXPECT_EQ(streams.back()->pull(text), Stream::State::kOpen);
    EXPECT_NE(text->find("small"), std::string::npos);
  }
  EXPECT_EQ(room_.used(), texts.front()->size());
  // Another form has a text of its own.
  auto other = open_watch(hub_, lines_, "", {}, view(Shape::kTable)).value();
  hub_.sink.on_events({large});
  std::string table;
  EXPECT_EQ(pull(*other, table), Stream::State::kOpen);
  EXPECT_NE(table.find("columnDefinitions"), std::string::npos);
  texts.clear();
  streams.clear();
  EXPECT_EQ(room_.used(), 0U);
}

TEST_F(WatchStreamTest, WhoIsFarBehindInBytesIsCutOff) {
  auto stream = open_watch(hub_, lines_, "", {}, view()).value();
  hub_.sink.on_events({});
  const hub::WatchEvent large = event(store::ChangeKind::kModified, "a", kWatchBacklogBytesMax / 2);
  std::string out;
  for (int i = 0; i < 3; ++i) {
    hub_.sink.on_events({large, large});
    for (int j = 0; j < 2; ++j) EXPECT_EQ(pull(*stream, out), Stream::State::kOpen);
  }
  EXPECT_EQ(out.find("MODIFIED"), size_t{9});
  hub_.sink.on_events({large, large, event(store::ChangeKind::kModified, "a", 1)});
  out.clear();
  EXPECT_EQ(pull(*stream, out), Stream::State::kBroken);
  EXPECT_EQ(out, "");
}

TEST_F(WatchStreamTest, WithoutRoomTheStreamBreaks) {
  auto one = open_watch(hub_, lines_, "", {}, view()).value();
  hub_.sink.on_events({event(store::ChangeKind::kAdded, "a", 3 * kFreeOfRoomBytes)});
  SharedText kept;
  EXPECT_EQ(one->pull(kept), Stream::State::kOpen);
  auto other = open_watch(hub_, lines_, "", {}, view()).value();
  hub_.sink.on_events({event(store::ChangeKind::kAdded, "b", 3 * kFreeOfRoomBytes)});
  std::string out;
  EXPECT_EQ(pull(*other, out), Stream::State::kBroken);
}

TEST_F(WatchStreamTest, ARefusalIsTheHubs) {
  hub_.refusal = Error{ErrorKind::kGone, "too old"};
  EXPECT_EQ(open_watch(hub_, lines_, "", {}, view()).error().kind, ErrorKind::kGone);
}

}  // namespace
}  // namespace trainyard::server
