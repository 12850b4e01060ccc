#include "server/server.h"

#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include "server/testing.h"
#include "store/builtin.h"
#include "store/store_suite.h"

namespace trainyard::server {
namespace {

std::string reason_of(const Reply& reply) { return std::string(kube::text_at(reply.object(), {"reason"})); }

// Opens a watch from the present on.
std::unique_ptr<TestClient> watcher(TestPlane& plane, std::string_view query = "") {
  auto client = plane.client();
  client->start("GET", fmt::format("{}?watch=1{}", kConfigMapsPath, query));
  EXPECT_EQ(client->read_head().status, 200);
  return client;
}

std::string shown_event(const std::optional<std::string>& line) {
  if (!line) return "end";
  json::object event = kube::parse_json(*line)->get_object();
  return fmt::format("{} {}", kube::text_at(event, {"type"}),
                     kube::text_at(event, {"object", "metadata", "name"}));
}

// --- who may come in ---

TEST(ServerSecurityTest, NobodyWithoutAToken) {
  TestPlane plane;
  for (const char* token : {"", "wrong"}) {
    auto client = plane.client({.token = token});
    for (std::string_view target : {std::string_view("/api"), std::string_view("/version"), kPodsPath,
                                    std::string_view("/metrics"), std::string_view("/nowhere")}) {
      Reply reply = client->call("GET", target);
      EXPECT_EQ(reply.status, 401) << target;
      EXPECT_EQ(reason_of(reply), "Unauthorized") << target;
    }
    EXPECT_EQ(client->call("GET", "/readyz").body, "ok");
  }
  EXPECT_EQ(plane.call("GET", "/version").status, 200);
}

TEST(ServerSecurityTest, OurCertificateIsEnough) {
  TestPlane plane;
  auto client = plane.client({.token = "", .certificate = test_tls().admin});
  ASSERT_TRUE(client->connected());
  EXPECT_EQ(client->call("GET", "/version").status, 200);
  // The server's own certificate is not one for clients, another authority's is nobody's.
  KeyPair other = make_authority("other", std::chrono::hours{1}, kTestNow).value();
  for (const KeyPair& wrong : {test_tls().server, other}) {
    auto stranger = plane.client({.token = "", .certificate = wrong});
    EXPECT_EQ(stranger->call("GET", "/version").status, 0);
  }
}

TEST(ServerSecurityTest, AnotherHostOrSiteIsRefused) {
  TestPlane plane;
  for (const char* host : {"evil.example", "localhost.evil.example", "10.0.0.1"}) {
    Reply reply = plane.client({.host = host})->call("GET", "/version");
    EXPECT_EQ(reply.status, 403) << host;
    EXPECT_EQ(reason_of(reply), "Forbidden") << host;
  }
  EXPECT_EQ(plane.call("GET", "/version", "", "", {{"Origin", "https://evil.example"}}).status, 403);
  EXPECT_EQ(plane.call("GET", "/version", "", "", {{"Origin", "https://localhost"}}).status, 200);
}

TEST(ServerSecurityTest, DoubtfulPathsAreRefused) {
  TestPlane plane;
  auto client = plane.client();
  for (const char* path : {"/api/v1/namespaces/../secrets", "/api/v1/namespaces/%2e%2e/pods", "/api//v1",
                           "/api/v1/namespaces/default/pods/a%2fb", "/api/v1/namespaces/default/pods/a%00",
                           "/api/v1/namespaces/default/pods/a%0d%0aX:%20y", "/api/v1/namespaces/%ff/pods"}) {
    Reply reply = client->call("GET", path);
    EXPECT_EQ(reply.status, 400) << path;
    EXPECT_EQ(reason_of(reply), "BadRequest") << path;
  }
}

TEST(ServerSecurityTest, NamesWithControlCharactersAreRefused) {
  TestPlane plane;
  for (const char* name : {"a\\u0000b", "a\\nb", "../a", "A", ""}) {
    Reply reply = plane.call("POST", kConfigMapsPath, config_text(name));
    EXPECT_EQ(reply.status, 422) << name << reply.body;
  }
}

// --- limits ---

TEST(ServerLimitsTest, AHugeBodyIsRefusedBeforeItIsRead) {
  TestPlane plane;
  auto client = plane.client();
  client->send(
      fmt::format("POST {} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n"
                  "Content-Type: application/json\r\nContent-Length: 104857600\r\n\r\n",
                  kConfigMapsPath, test_tls().token));
  Reply reply = client->read_reply();
  EXPECT_EQ(reply.status, 413);
  EXPECT_EQ(reason_of(reply), "RequestEntityTooLarge");
}

TEST(ServerLimitsTest, AHugeChunkedBodyIsRefusedOnTheWay) {
  TestPlane plane;
  auto client = plane.client();
  client->send(
      fmt::format("POST {} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n"
                  "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n",
                  kConfigMapsPath, test_tls().token));
  std::string chunk = "10000\r\n" + std::string(0x10000, 'x') + "\r\n";
  for (int i = 0; i < 60; ++i) {
    if (!client->send(chunk)) break;
  }
  EXPECT_EQ(client->read_reply().status, 413);
}

TEST(ServerLimitsTest, ALongHeaderIsRefused) {
  TestPlane plane;
  auto client = plane.client();
  client->send("GET /version HTTP/1.1\r\nHost: localhost\r\nX: " + std::string(100'000, 'x') + "\r\n\r\n");
  EXPECT_EQ(client->read_reply().status, 431);
}

TEST(ServerLimitsTest, NonsenseIsAnswered) {
  TestPlane plane;
  auto client = plane.client();
  client->send("HELLO\r\n\r\n");
  EXPECT_EQ(client->read_reply().status, 400);
  EXPECT_TRUE(client->ended());
}

TEST(ServerLimitsTest, SlowClientsAreCutOff) {
  TestPlane plane(
      {.handshake = Duration{300}, .idle = Duration{300}, .header = Duration{300}, .body = Duration{300}});
  auto slow_header = plane.client();
  slow_header->send("GET /version HTTP/1.1\r\n");
  auto slow_body = plane.client();
  slow_body->send(
      fmt::format("POST {} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n{{", kConfigMapsPath));
  auto silent = plane.client();
  EXPECT_TRUE(slow_header->ended());
  EXPECT_TRUE(slow_body->ended());
  EXPECT_TRUE(silent->ended());
  EXPECT_EQ(plane.call("GET", "/version").status, 200);
}

TEST(ServerLimitsTest, AHeaderThatTricklesInIsCutOff) {
  TestPlane plane({.header = Duration{300}});
  auto client = plane.client();
  client->send("GET /version HTTP/1.1\r\n");
  int sent = 0;
  while (sent < 1'000 && client->send("X: y\r\n")) {
    ++sent;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_LT(sent, 1'000);
}

// A connection that nobody can take is not tried again and again without a breath.
TEST(ServerLimitsTest, WithoutFilesForConnectionsItWaits) {
  constexpr int kCalls = 200;
  TestPlane plane;
  auto client = plane.client();
  auto failures = [&] {
    std::string text = client->call("GET", "/metrics").body;
    constexpr std::string_view kName = "\ntrainyard_failed_accepts_total ";
    size_t at = text.find(kName);
    return at == std::string::npos ? -1 : std::stol(text.substr(at + kName.size()));
  };
  ASSERT_EQ(failures(), 0);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  int caller = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_GE(caller, 0);
  int spare = ::dup(caller);  // the lowest that is free
  ::close(spare);
  rlimit few = before;
  few.rlim_cur = static_cast<rlim_t>(spare);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(plane.server->port());
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  bool is_connected = ::connect(caller, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  int64_t first = 0;
  for (int i = 0; i < 1000 && first == 0; ++i) first = failures();
  for (int i = 0; i < kCalls; ++i) (void)client->call("GET", "/version");
  int64_t last = failures();
  ::setrlimit(RLIMIT_NOFILE, &before);
  ::close(caller);
  EXPECT_TRUE(is_connected);
  EXPECT_GE(first, 1);
  EXPECT_LT(last - first, kCalls / 2);
  EXPECT_EQ(plane.call("GET", "/version").status, 200);
}

TEST(ServerLimitsTest, ConnectionsAreCounted) {
  TestPlane plane({.connections_max = 2});
  auto first = plane.client();
  auto second = plane.client();
  EXPECT_EQ(first->call("GET", "/version").status, 200);
  EXPECT_EQ(second->call("GET", "/version").status, 200);
  EXPECT_FALSE(plane.client()->connected());
  EXPECT_EQ(first->call("GET", "/version").status, 200);
}

TEST(ServerLimitsTest, WhoHasNotShownWhoItIsKeepsNobodyOut) {
  TestPlane plane({.connections_max = 3});
  auto known = plane.client();
  EXPECT_EQ(known->call("GET", "/version").status, 200);
  std::vector<std::unique_ptr<TestClient>> strangers;
  for (int i = 0; i < 6; ++i) strangers.push_back(plane.client({.token = ""}));
  EXPECT_EQ(strangers.back()->call("GET", "/version").status, 401);
  EXPECT_EQ(strangers.front()->call("GET", "/version").status, 0);
  auto another = plane.client();
  EXPECT_EQ(another->call("GET", "/version").status, 200);
  EXPECT_EQ(known->call("GET", "/version").status, 200);
}

TEST(ServerLimitsTest, WhoDoesNotShowWhoItIsHasLittleTime) {
  TestPlane plane({.stranger = Duration{300}});
  auto known = plane.client();
  EXPECT_EQ(known->call("GET", "/version").status, 200);
  auto stranger = plane.client({.token = ""});
  ASSERT_TRUE(stranger->connected());
  EXPECT_TRUE(stranger->ended());
  EXPECT_EQ(known->call("GET", "/version").status, 200);
}

// --- HTTP ---

TEST(ServerHttpTest, OneConnectionServesManyRequestsAlsoAtOnce) {
  TestPlane plane;
  auto client = plane.client();
  EXPECT_EQ(client->call("POST", kConfigMapsPath, config_text("a")).status, 201);
  EXPECT_EQ(client->call("GET", fmt::format("{}/a", kConfigMapsPath)).status, 200);
  for (int i = 0; i < 3; ++i)
    client->start("GET", fmt::format("{}/{}", kConfigMapsPath, i == 1 ? "none" : "a"));
  EXPECT_EQ(client->read_reply().status, 200);
  EXPECT_EQ(client->read_reply().status, 404);
  EXPECT_EQ(client->read_reply().status, 200);
}

TEST(ServerHttpTest, AWriteIsAnsweredWithWhatIsReadLaterHoweverLarge) {
  TestPlane plane;
  auto client = plane.client();
  for (size_t size : {10, 70'000, 900'000}) {
    std::string body =
        fmt::format(R"({{"metadata":{{"name":"c{}"}},"data":{{"key":"{}"}}}})", size, std::string(size, 'x'));
    Reply made = client->call("POST", kConfigMapsPath, body);
    EXPECT_EQ(made.status, 201);
    EXPECT_GT(made.body.size(), size);
    EXPECT_EQ(client->call("GET", fmt::format("{}/c{}", kConfigMapsPath, size)).body, made.body);
  }
}

TEST(ServerHttpTest, ABodyMayBeAnnounced) {
  TestPlane plane;
  auto client = plane.client();
  std::string body = config_text("a");
  client->send(fmt::format(
      "POST {} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\nExpect: 100-continue\r\n"
      "Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
      kConfigMapsPath, test_tls().token, body.size()));
  EXPECT_EQ(client->read_head().status, 100);
  client->send(body);
  EXPECT_EQ(client->read_reply().status, 201);
}

TEST(ServerHttpTest, DocumentsHaveTags) {
  TestPlane plane;
  for (const char* path : {"/openapi/v3", "/openapi/v3/api/v1", "/apis"}) {
    Reply first = plane.call("GET", path);
    ASSERT_EQ(first.status, 200) << path;
    std::string tag = first.headers["etag"];
    EXPECT_FALSE(tag.empty());
    Reply again = plane.call("GET", path, "", "", {{"If-None-Match", tag}});
    EXPECT_EQ(again.status, 304) << path;
    EXPECT_EQ(again.body, "");
  }
}

// --- watches ---

TEST(ServerWatchTest, EventsComeAsTheyHappen) {
  TestPlane plane;
  plane.call("POST", kConfigMapsPath, config_text("a"));
  auto watch = watcher(plane);
  EXPECT_EQ(shown_event(watch->read_line()), "ADDED a");
  plane.call("POST", kConfigMapsPath, config_text("b"));
  EXPECT_EQ(shown_event(watch->read_line()), "ADDED b");
  plane.call("PATCH", fmt::format("{}/b", kConfigMapsPath), R"({"data":{"key":"new"}})",
             "application/merge-patch+json");
  EXPECT_EQ(shown_event(watch->read_line()), "MODIFIED b");
  plane.call("DELETE", fmt::format("{}/b", kConfigMapsPath));
  EXPECT_EQ(shown_event(watch->read_line()), "DELETED b");
}

TEST(ServerWatchTest, AStreamingListEndsWithABookmark) {
  TestPlane plane;
  plane.call("POST", kConfigMapsPath, config_text("a"));
  auto watch =
      watcher(plane, "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true");
  EXPECT_EQ(shown_event(watch->read_line()), "ADDED a");
  std::optional<std::string> line = watch->read_line();
  ASSERT_TRUE(line);
  json::object event = kube::parse_json(*line)->get_object();
  EXPECT_EQ(kube::text_at(event, {"type"}), "BOOKMARK");
  EXPECT_EQ(kube::text_at(event, {"object", "metadata", "annotations", "k8s.io/initial-events-end"}), "true");
}

TEST(ServerWatchTest, ATimeEndsItProperly) {
  TestPlane plane;
  auto client = plane.client();
  client->start("GET", fmt::format("{}?watch=1&timeoutSeconds=1", kConfigMapsPath));
  EXPECT_EQ(client->read_head().status, 200);
  EXPECT_EQ(client->read_chunk(), "");
}

TEST(ServerWatchTest, AVersionToComeIsLater) {
  TestPlane plane;
  Reply reply = plane.call("GET", fmt::format("{}?watch=1&resourceVersion=999999", kConfigMapsPath));
  EXPECT_EQ(reply.status, 504);
  EXPECT_EQ(reason_of(reply), "Timeout");
}

TEST(ServerWatchTest, TablesForWatchers) {
  TestPlane plane;
  plane.call("POST", kConfigMapsPath, config_text("a"));
  auto client = plane.client();
  client->start("GET", fmt::format("{}?watch=1", kConfigMapsPath), "", "",
                {{"Accept", "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"}});
  EXPECT_EQ(client->read_head().status, 200);
  json::object event = kube::parse_json(*client->read_line())->get_object();
  EXPECT_EQ(kube::text_at(event, {"object", "kind"}), "Table");
  EXPECT_EQ(kube::array_at(event, {"object", "rows"})->size(), 1u);
}

TEST(ServerWatchTest, FiftyWatchersSeeEverything) {
  TestPlane plane;
  std::vector<std::unique_ptr<TestClient>> watchers;
  for (int i = 0; i < 50; ++i) watchers.push_back(watcher(plane));
  // Some leave on the way, without a word.
  for (int i = 0; i < 50; i += 5) watchers[static_cast<size_t>(i)]->drop();
  for (int i = 0; i < 20; ++i) plane.call("POST", kConfigMapsPath, config_text(fmt::format("c{}", i)));
  for (size_t w = 0; w < watchers.size(); ++w) {
    if (w % 5 == 0) continue;
    for (int i = 0; i < 20; ++i)
      ASSERT_EQ(shown_event(watchers[w]->read_line()), fmt::format("ADDED c{}", i)) << w;
  }
}

TEST(ServerWatchTest, AReaderThatDoesNotReadIsCutOff) {
  TestPlane plane({.write = Duration{500}});
  auto watch = watcher(plane);
  auto writer = plane.client();
  ASSERT_EQ(writer->call("POST", kConfigMapsPath, config_text("a")).status, 201);
  // Far more than the sockets between us hold.
  std::string path = fmt::format("{}/a", kConfigMapsPath);
  for (int i = 0; i < 24; ++i) {
    std::string patch = fmt::format(R"({{"data":{{"key":"{}{}"}}}})", i, std::string(1'000'000, 'x'));
    ASSERT_EQ(writer->call("PATCH", path, patch, "application/merge-patch+json").status, 200);
  }
  auto open_streams = [&] {
    std::string text = writer->call("GET", "/metrics").body;
    size_t at = text.find("\ntrainyard_open_streams ");
    return text.substr(at + 24, 1);
  };
  auto end = std::chrono::steady_clock::now() + std::chrono::seconds(kPatienceSeconds);
  while (open_streams() != "0" && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  EXPECT_EQ(open_streams(), "0");
}

// --- kinds that come and go ---

constexpr std::string_view kWidgets =
    R"({"metadata":{"name":"widgets.example.com"},"spec":{"group":"example.com",
  "scope":"Namespaced","names":{"plural":"widgets","singular":"widget","kind":"Widget"},
  "versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object",
  "properties":{"spec":{"type":"object","properties":{"size":{"type":"integer","default":3}}}}}}}]}})";

bool comes_to(TestPlane& plane, const std::string& path, int status) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(kPatienceSeconds);
  while (plane.call("GET", path).status != status) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

TEST(ServerCrdTest, AKindIsServedAsSoonAsItIsMade) {
  TestPlane plane;
  std::string crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  std::string widgets = "/apis/example.com/v1/namespaces/default/widgets";
  EXPECT_EQ(plane.call("GET", widgets).status, 404);
  EXPECT_EQ(plane.call("POST", crds, R"({"metadata":{"name":"nonsense"},"spec":{}})").status, 422);
  auto watch = plane.client();
  watch->start("GET", crds + "?watch=1");
  EXPECT_EQ(watch->read_head().status, 200);
  ASSERT_EQ(plane.call("POST", crds, kWidgets).status, 201);
  Reply made = plane.call("POST", widgets, R"({"metadata":{"name":"w"},"spec":{"unknown":1}})");
  EXPECT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(kube::int_at(made.object(), {"spec", "size"}), 3);
  EXPECT_EQ(kube::find(made.object(), {"spec", "unknown"}), nullptr);
  while (std::optional<std::string> line = watch->read_line()) {
    if (line->find("Established") != std::string::npos) break;
  }
  Reply bad = plane.call("POST", widgets, R"({"metadata":{"name":"bad"},"spec":{"size":"large"}})");
  EXPECT_EQ(bad.status, 422) << bad.body;
  EXPECT_NE(bad.body.find("spec.size in body must be of type integer"), std::string::npos) << bad.body;
  Reply unversioned = plane.call("PUT", widgets + "/w", R"({"metadata":{"name":"w"},"spec":{"size":4}})");
  EXPECT_EQ(unversioned.status, 422) << unversioned.body;
  EXPECT_EQ(plane.call("DELETE", crds + "/widgets.example.com").status, 200);
  EXPECT_TRUE(comes_to(plane, widgets, 404));
}

TEST(ServerCrdTest, AKindGoesWhenItsObjectsHaveGone) {
  TestPlane plane;
  std::string crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  std::string widgets = "/apis/example.com/v1/namespaces/default/widgets";
  std::string definition(kWidgets);  // with the finalizer that a plane gives it
  definition.insert(definition.find("},\"spec\""),
                    fmt::format(R"(,"finalizers":["{}"])", store::kCustomResourceCleanup));
  ASSERT_EQ(plane.call("POST", crds, definition).status, 201);
  ASSERT_EQ(plane.call("POST", widgets, R"({"metadata":{"name":"free"}})").status, 201);
  ASSERT_EQ(
      plane.call("POST", widgets, R"({"metadata":{"name":"held","finalizers":["example.com/f"]}})").status,
      201);
  EXPECT_EQ(plane.call("DELETE", crds + "/widgets.example.com").status, 200);
  EXPECT_TRUE(comes_to(plane, widgets + "/free", 404));
  Reply held = plane.call("GET", widgets + "/held");
  EXPECT_EQ(held.status, 200) << held.body;
  EXPECT_NE(kube::text_at(held.object(), {"metadata", "deletionTimestamp"}), "");
  EXPECT_EQ(plane.call("GET", crds + "/widgets.example.com").status, 200);
  held = plane.call("PATCH", widgets + "/held", R"({"metadata":{"finalizers":null}})",
                    "application/merge-patch+json");
  EXPECT_EQ(held.status, 200) << held.body;
  EXPECT_TRUE(comes_to(plane, crds + "/widgets.example.com", 404));
  EXPECT_TRUE(comes_to(plane, widgets, 404));
}

TEST(ServerStopTest, StoppingEndsWhatIsOpen) {
  TestPlane plane;
  auto watch = watcher(plane);
  auto idle = plane.client();
  EXPECT_EQ(idle->call("GET", "/version").status, 200);
  auto half = plane.client();
  half->send("GET /version HTTP/1.1\r\n");
  plane.server->stop();
  EXPECT_EQ(watch->read_chunk(), "");
  EXPECT_TRUE(idle->ended());
  EXPECT_TRUE(half->ended());
  EXPECT_FALSE(plane.client()->connected());
  plane.server->stop();
}

TEST(ServerStopTest, StoppingUnderLoad) {
  TestPlane plane;
  std::atomic<int> done{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      auto client = plane.client();
      for (int i = 0; i < 10'000; ++i) {
        Reply reply = client->call("POST", kConfigMapsPath, config_text(fmt::format("c{}-{}", t, i)));
        if (reply.status != 201) return;
        ++done;
      }
    });
  }
  while (done < 40) std::this_thread::yield();
  plane.server->stop();
  for (std::thread& thread : threads) thread.join();
  EXPECT_GE(plane.hub->call({kube::kConfigMaps, "default", kube::List{}})->items.size(),
            static_cast<size_t>(done));
}

TEST(ServerStartTest, APortThatIsTakenIsTold) {
  TestPlane plane;
  ServerOptions options;
  options.tls = test_tls();
  options.clock = [] { return kTestNow; };
  options.port = plane.server->port();
  Result<std::unique_ptr<Server>> second = Server::start(options, *plane.hub, plane.registry, nullptr);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().kind, ErrorKind::kUnavailable);
  options.port = 0;
  options.tls.server.key = "nonsense";
  EXPECT_EQ(Server::start(options, *plane.hub, plane.registry, nullptr).error().kind, ErrorKind::kInvalid);
}

// --- the suite of every store, over HTTP ---

ErrorKind kind_of(const Reply& reply) {
  std::string reason = reason_of(reply);
  if (reason == "AlreadyExists") return ErrorKind::kAlreadyExists;
  if (reason == "Conflict") return ErrorKind::kConflict;
  if (reason == "NotFound") return ErrorKind::kNotFound;
  if (reply.status == 410) return ErrorKind::kGone;
  if (reply.status == 403) return ErrorKind::kForbidden;
  return reply.status == 400 || reply.status == 422 || reply.status == 415 ? ErrorKind::kInvalid
                                                                           : ErrorKind::kUnknown;
}

class HttpSubject final : public store::Subject {
 public:
  HttpSubject() {
    Reply made = plane_.call("POST", "/api/v1/namespaces", R"({"metadata":{"name":"ns"}})");
    EXPECT_EQ(made.status, 201) << made.body;
  }
  Result<store::Answer> send(const kube::Request& request) override {
    bool watch = std::holds_alternative<kube::Watch>(request.verb);
    std::string path = kube::path_of(request) + (watch ? "&timeoutSeconds=1" : "");
    Reply reply =
        plane_.call(kube::method_of(request), path, kube::body_of(request), kube::content_type_of(request));
    if (reply.status >= 300 || reply.status == 0) return Error{kind_of(reply), reply.body};
    return watch ? events_of(reply.body) : answer_of(reply.object());
  }
  void collect_garbage() override {}  // the hub does it before it answers

 private:
  static store::Answer answer_of(json::object body) {
    store::Answer answer;
    if (const json::array* items = kube::array_at(body, {"items"})) {
      for (const json::value& item : *items) {
        answer.items.push_back(std::make_shared<const json::object>(item.get_object()));
      }
      answer.revision = kube::version_of(body);
      answer.continue_token = kube::text_at(body, {"metadata", "continue"});
    }
    answer.object = std::make_shared<const json::object>(std::move(body));
    return answer;
  }
  static store::Answer events_of(std::string_view lines) {
    store::Answer answer;
    while (!lines.empty()) {
      size_t end = lines.find('\n');
      json::object event = kube::parse_json(lines.substr(0, end))->get_object();
      lines.remove_prefix(end + 1);
      std::string_view type = kube::text_at(event, {"type"});
      store::ChangeKind kind = type == "ADDED"      ? store::ChangeKind::kAdded
                               : type == "MODIFIED" ? store::ChangeKind::kModified
                               : type == "DELETED"  ? store::ChangeKind::kDeleted
                                                    : store::ChangeKind::kBookmark;
      answer.events.push_back(
          {kind, 0, std::make_shared<const json::object>(event.at("object").get_object()), nullptr});
    }
    return answer;
  }

  TestPlane plane_;
};

}  // namespace
}  // namespace trainyard::server

namespace trainyard::store {

INSTANTIATE_TEST_SUITE_P(Http, StoreSuite, testing::Values(SubjectFactory([] {
                           return std::make_unique<server::HttpSubject>();
                         })));

}  // namespace trainyard::store
