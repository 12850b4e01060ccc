#include "server/tunnel.h"

#include <poll.h>
#include <sys/socket.h>

#include <future>
#include <thread>

#include "server/channels.h"
#include "server/exec_tunnel.h"
#include "server/forward_tunnel.h"
#include "server/spdy.h"
#include "server/spdy_tunnel.h"
#include "server/testing.h"

namespace trainyard::server {
namespace {

// A plane with one pod, and WebSockets to it.
class TunnelTest : public testing::Test {
 protected:
  TunnelTest() { EXPECT_EQ(plane_.call("POST", kPodsPath, pod_text("p")).status, 201); }

  std::unique_ptr<TestClient> open(std::string_view what, std::string_view protocol) {
    auto client = plane_.client();
    client->start("GET", fmt::format("{}/p/{}", kPodsPath, what), "", "", upgrade(protocol));
    Reply reply = client->read_head();
    EXPECT_EQ(reply.status, 101) << reply.body;
    EXPECT_EQ(reply.headers["sec-websocket-protocol"], protocol);
    return client;
  }
  static std::map<std::string, std::string> upgrade(std::string_view protocol) {
    return {{"Upgrade", "websocket"},
            {"Connection", "Upgrade"},
            {"Sec-WebSocket-Version", "13"},
            {"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="},
            {"Sec-WebSocket-Protocol", std::string(protocol)}};
  }
  void say(const Fd& fd, std::string_view text) {
    EXPECT_EQ(::write(fd.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  FakeProcess& process() {
    EXPECT_TRUE(plane_.pods.await([&] { return plane_.pods.process.told != nullptr; }));
    return plane_.pods.process;
  }
  void exit_with(Result<int> code) {
    process().out.reset();
    process().err.reset();
    // The session may be gone, and what it is told through with it, before the call returns.
    std::function<void(Result<int>)> told = process().told;
    told(std::move(code));
  }
  const Fd& far_end(int port) {
    EXPECT_TRUE(plane_.pods.await([&] { return plane_.pods.connected.contains(port); }));
    return plane_.pods.connected[port];
  }

  TestPlane plane_;
};

constexpr std::string_view kExec = "exec?command=sh&stdin=true&stdout=true&stderr=true";

TEST_F(TunnelTest, ACommandTalksAndEnds) {
  auto client = open(kExec, "v5.channel.k8s.io");
  EXPECT_EQ(process().query.command, (std::vector<std::string>{"sh"}));
  client->send_message(framed(kStdinChannel, "hello"));
  EXPECT_EQ(read_from(process().in, 5), "hello");
  client->send_message(framed(kResizeChannel, R"({"Width":99,"Height":9})"));
  EXPECT_TRUE(plane_.pods.await([&] { return plane_.pods.process.columns == 99; }));
  say(process().out, "out");
  EXPECT_EQ(client->read_message(), framed(kStdoutChannel, "out"));
  say(process().err, "err");
  EXPECT_EQ(client->read_message(), framed(kStderrChannel, "err"));
  client->send_message(std::string("\xff\x00", 2));
  EXPECT_EQ(read_from(process().in, 1), "");
  exit_with(7);
  std::string end = client->read_message().value_or("none");
  ASSERT_EQ(end[0], static_cast<char>(kErrorChannel));
  json::object status = kube::parse_json(end.substr(1))->get_object();
  EXPECT_EQ(kube::text_at(status, {"reason"}), "NonZeroExitCode");
  EXPECT_NE(end.find("\"7\""), std::string::npos);
  EXPECT_FALSE(client->read_message());
}

TEST_F(TunnelTest, ASuccessIsToldAfterAllOutput) {
  auto client = open(kExec, "v4.channel.k8s.io");
  std::string big(3'000'000, 'x');
  std::thread talker([&] {
    size_t at = 0;
    while (at < big.size()) {
      ssize_t count = ::write(process().out.get(), big.data() + at, big.size() - at);
      if (count <= 0) break;
      at += static_cast<size_t>(count);
    }
    exit_with(0);
  });
  size_t total = 0;
  std::string last;
  while (std::optional<std::string> message = client->read_message()) {
    if (message->front() == static_cast<char>(kStdoutChannel)) total += message->size() - 1;
    last = *message;
  }
  talker.join();
  EXPECT_EQ(total, big.size());
  EXPECT_NE(last.find("Success"), std::string::npos);
}

TEST_F(TunnelTest, ALeavingClientEndsTheCommand) {
  auto client = open(kExec, "v5.channel.k8s.io");
  process();
  client->drop();
  EXPECT_TRUE(plane_.pods.await([&] { return plane_.pods.process.dropped; }));
}

TEST_F(TunnelTest, StoppingEndsTheCommand) {
  auto client = open("attach?stdin=true&stdout=true", "v5.channel.k8s.io");
  EXPECT_TRUE(process().query.command.empty());
  std::thread reader([&] {
    while (client->read_message()) {
    }
    client->drop();
  });
  plane_.server->stop();
  EXPECT_TRUE(plane_.pods.await([&] { return plane_.pods.process.dropped; }));
  reader.join();
}

// A ping, empty and masked with zeros.
constexpr std::string_view kPing("\x89\x80\0\0\0\0", 6);

TEST_F(TunnelTest, EveryPingIsAnsweredAndOthersAreServedMeanwhile) {
  auto client = open(kExec, "v5.channel.k8s.io");
  std::string pings;
  for (int i = 0; i < 1'000; ++i) pings += kPing;
  std::string pongs;
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(client->send(pings));
    EXPECT_EQ(plane_.call("GET", kPodsPath).status, 200);
  }
  while (pongs.size() < 5'000 * 2) {
    std::string more = client->receive();
    ASSERT_FALSE(more.empty());
    pongs += more;
  }
  for (size_t at = 0; at < pongs.size(); at += 2)
    ASSERT_EQ(pongs.substr(at, 2), std::string_view("\x8a\0", 2));
  client->send_message(framed(kStdinChannel, "hello"));
  EXPECT_EQ(read_from(process().in, 5), "hello");
}

TEST_F(TunnelTest, WhoDoesNotReadDoesNotKeepTheServerFromStopping) {
  auto client = open(kExec, "v5.channel.k8s.io");
  process();
  // Output that nobody reads, until there is no room for more of it.
  const std::string some(65'536, 'x');
  pollfd out{process().out.get(), POLLOUT, 0};
  while (::poll(&out, 1, 300) == 1 && ::send(out.fd, some.data(), some.size(), MSG_DONTWAIT) > 0) {
  }
  std::future<void> stopped = std::async(std::launch::async, [&] { plane_.server->stop(); });
  EXPECT_EQ(stopped.wait_for(std::chrono::seconds(kPatienceSeconds / 2)), std::future_status::ready);
  client->drop();
  stopped.get();
  EXPECT_TRUE(plane_.pods.await([&] { return plane_.pods.process.dropped; }));
}

TEST_F(TunnelTest, ALargeMessageAndOneInFragmentsArriveWhole) {
  auto client = open(kExec, "v5.channel.k8s.io");
  const std::string large(1'000'000, 'x');
  std::thread reader([&] { EXPECT_EQ(read_from(process().in, large.size()), large); });
  client->send_message(framed(kStdinChannel, large));
  reader.join();
  // The first fragment of a message, then the last, each masked with zeros.
  const std::string size = framed(kResizeChannel, R"({"Width":98,"Height":9})");
  ASSERT_TRUE(client->send(std::string("\x02\x83\0\0\0\0", 6) + size.substr(0, 3)));
  ASSERT_TRUE(client->send("\x80" + std::string(1, static_cast<char>(0x80 | (size.size() - 3))) +
                           std::string(4, '\0') + size.substr(3)));
  EXPECT_TRUE(plane_.pods.await([&] { return plane_.pods.process.columns == 98; }));
}

TEST_F(TunnelTest, AMessageThatIsTooLargeOrNotMaskedEndsTheSession) {
  for (std::string_view head : {std::string_view("\x82\xff\0\0\0\0\xff\xff\xff\xff\0\0\0\0", 14),
                                std::string_view("\x82\x02\0a", 4)}) {
    auto client = open(kExec, "v5.channel.k8s.io");
    process();
    ASSERT_TRUE(client->send(head));
    EXPECT_FALSE(client->read_message());
    EXPECT_TRUE(plane_.pods.await([&] { return plane_.pods.process.dropped; }));
  }
}

TEST_F(TunnelTest, CommandsThatHangHoldUpNobodyElse) {
  std::promise<void> release;
  plane_.pods.before_exec = [released = release.get_future().share()] { released.wait(); };
  plane_.pods.append_log("line\n", true);
  std::vector<std::unique_ptr<TestClient>> clients;
  for (int i = 0; i < 70; ++i) {
    clients.push_back(plane_.client());
    clients.back()->start("GET", fmt::format("{}/p/{}", kPodsPath, kExec), "", "",
                          upgrade("v5.channel.k8s.io"));
  }
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(plane_.call("GET", kPodsPath).status, 200);
    EXPECT_EQ(plane_.call("GET", fmt::format("{}/p/log", kPodsPath)).body, "line\n");
  }
  release.set_value();
  for (auto& client : clients) EXPECT_EQ(client->read_head().status, 101);
}

TEST_F(TunnelTest, PortsAsChannels) {
  auto client = open("portforward?ports=80&ports=1", "v4.channel.k8s.io");
  EXPECT_EQ(client->read_message(), std::string("\x00\x50\x00", 3));
  EXPECT_EQ(client->read_message(), std::string("\x01\x50\x00", 3));
  EXPECT_EQ(client->read_message(), std::string("\x02\x01\x00", 3));
  EXPECT_EQ(client->read_message(), std::string("\x03\x01\x00", 3));
  EXPECT_EQ(client->read_message(), framed(3, "nobody listens"));
  client->send_message(framed(0, "ping"));
  EXPECT_EQ(read_from(far_end(80), 4), "ping");
  say(far_end(80), "pong");
  EXPECT_EQ(client->read_message(), framed(0, "pong"));
  plane_.pods.connected[80].reset();
  EXPECT_FALSE(client->read_message());
}

// kubectl's side of a tunnel.
class SpdyClient {
 public:
  explicit SpdyClient(std::unique_ptr<TestClient> client) : client_(std::move(client)) {}

  spdy::Frame next() {
    while (frames_.empty()) {
      std::optional<std::string> message = client_->read_message();
      if (!message) return spdy::GoAway{};
      frames_ = decoder_.feed(*message).value();
    }
    spdy::Frame frame = frames_.front();
    frames_.erase(frames_.begin());
    return frame;
  }
  void open_stream(uint32_t id, const char* type, const char* port, const char* request) {
    std::string bytes = encoder_.encode(
        spdy::SynStream{id, false, {{"streamtype", type}, {"port", port}, {"requestid", request}}});
    client_->send_message(bytes.substr(0, 2));  // as kubectl cuts it
    client_->send_message(bytes.substr(2));
    EXPECT_EQ(next(), (spdy::Frame(spdy::SynReply{id, false, {}})));
  }
  void send(const spdy::Frame& frame) { client_->send_message(encoder_.encode(frame)); }
  TestClient& client() { return *client_; }

 private:
  std::unique_ptr<TestClient> client_;
  spdy::Encoder encoder_;
  spdy::Decoder decoder_;
  std::vector<spdy::Frame> frames_;
};

TEST_F(TunnelTest, PortsThroughTheTunnel) {
  SpdyClient client(open("portforward", "SPDY/3.1+portforward.k8s.io"));
  client.open_stream(1, "error", "80", "0");
  client.open_stream(3, "data", "80", "0");
  client.send(spdy::Data{3, false, "ping"});
  EXPECT_EQ(read_from(far_end(80), 4), "ping");
  say(far_end(80), "pong");
  EXPECT_EQ(client.next(), (spdy::Frame(spdy::Data{3, false, "pong"})));
  client.send(spdy::Ping{1});
  EXPECT_EQ(client.next(), (spdy::Frame(spdy::Ping{1})));
  client.send(spdy::Data{3, true, ""});
  EXPECT_EQ(read_from(far_end(80), 1), "");
  plane_.pods.connected[80].reset();
  EXPECT_EQ(client.next(), (spdy::Frame(spdy::Data{3, true, ""})));
  EXPECT_EQ(client.next(), (spdy::Frame(spdy::Data{1, true, ""})));
  client.open_stream(5, "error", "1", "1");
  client.open_stream(7, "data", "1", "1");
  EXPECT_EQ(client.next(), (spdy::Frame(spdy::Data{5, false, "error forwarding port 1: nobody listens"})));
  client.client().send_message("this is not SPDY at all");
  while (std::holds_alternative<spdy::Data>(client.next())) {
  }
  EXPECT_FALSE(client.client().read_message());
}

TEST_F(TunnelTest, WhatIsSaidBeforeThePodIsReachedWaits) {
  std::promise<void> release;
  plane_.pods.before_connect = [released = release.get_future().share()] { released.wait(); };
  SpdyClient client(open("portforward", "SPDY/3.1+portforward.k8s.io"));
  client.open_stream(1, "error", "80", "0");
  client.open_stream(3, "data", "80", "0");
  client.send(spdy::Data{3, false, "all "});
  client.send(spdy::Data{3, true, "of it"});
  client.send(spdy::Ping{1});
  EXPECT_EQ(client.next(), (spdy::Frame(spdy::Ping{1}))) << "what came before has been taken";
  auto channels = open("portforward?ports=81", "v4.channel.k8s.io");
  channels->send_message(framed(0, "early"));
  release.set_value();
  EXPECT_EQ(read_from(far_end(80), 10), "all of it");
  EXPECT_EQ(read_from(far_end(81), 5), "early");
}

}  // namespace
}  // namespace trainyard::server
