// Commands in pods, over the WebSocket that an API server gives.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/sha.h>

#include "client/http_client.h"
#include "client/http_testing.h"
#include "kube/objects.h"

namespace trainyard::client {
namespace {

using ::testing::HasSubstr;

std::string accept_key(const std::string& key) {
  std::string text = key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  unsigned char digest[SHA_DIGEST_LENGTH];
  SHA1(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest);
  return kube::encode_base64({reinterpret_cast<const char*>(digest), sizeof digest});
}

void send_frame(Peer& peer, const std::string& payload) {
  std::string frame = "\x82";
  frame += static_cast<char>(payload.size());
  peer.send(frame + payload);
}

// A message of the client, unmasked; pings and the like are passed over.
std::string next_message(Peer& peer) {
  while (true) {
    std::string head = peer.exactly(2);
    if (head.empty()) return "";
    size_t size = static_cast<unsigned char>(head[1]) & 0x7f;
    std::string mask = peer.exactly(4);
    std::string payload = size == 0 ? "" : peer.exactly(size);
    for (size_t i = 0; i < payload.size(); ++i) payload[i] = static_cast<char>(payload[i] ^ mask[i % 4]);
    if ((head[0] & 0x0f) == 2) return payload;
  }
}

bool upgrade(Peer& peer, const Heard& request) {
  peer.send(
      fmt::format("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                  "Sec-WebSocket-Accept: {}\r\nSec-WebSocket-Protocol: v5.channel.k8s.io\r\n\r\n",
                  accept_key(request.headers.at("sec-websocket-key"))));
  return true;
}

TEST(HttpExec, InputGoesInOutputAndExitCodeComeBack) {
  std::string got;
  TestServer server([&](Peer& peer, const Heard& request) {
    EXPECT_THAT(request.headers.at("sec-websocket-protocol"), HasSubstr("v5.channel.k8s.io"));
    EXPECT_EQ(request.headers.at("authorization"), "Bearer t");
    upgrade(peer, request);
    for (std::string message = next_message(peer); !message.empty(); message = next_message(peer)) {
      if (message[0] == '\xff') break;
      got += message;
    }
    send_frame(peer, "\x01hello");
    send_frame(peer, "\x02oops");
    send_frame(peer,
               "\x03"
               R"({"kind":"Status","details":{"causes":[{"reason":"ExitCode","message":"7"}]}})");
    return false;
  });
  Access access = access_to(server);
  access.token.data = "t";
  auto client = client_of(access);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  Fd reader(ends[0]);
  Fd writer(ends[1]);
  ASSERT_EQ(write(writer.get(), "typed", 5), 5);
  writer.reset();
  std::string out;
  std::string err;
  ExecIo io;
  io.in = reader.get();
  io.size = {80, 24};
  io.out = [&](std::string_view bytes) { out += bytes; };
  io.err = [&](std::string_view bytes) { err += bytes; };
  Result<int> code = client->exec("/exec", io);
  ASSERT_TRUE(code.ok()) << code.error().message;
  EXPECT_EQ(*code, 7);
  EXPECT_EQ(out, "hello");
  EXPECT_EQ(err, "oops");
  EXPECT_THAT(got, testing::AllOf(HasSubstr(R"({"Width":80,"Height":24})"), HasSubstr("typed")));
}

TEST(HttpExec, OpenInputDoesNotHoldTheEndUp) {
  TestServer server([&](Peer& peer, const Heard& request) {
    upgrade(peer, request);
    send_frame(peer,
               "\x03"
               R"({"kind":"Status","status":"Success"})");
    return false;
  });
  auto client = client_of(access_to(server));
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  Fd reader(ends[0]);
  Fd writer(ends[1]);
  ExecIo io;
  io.in = reader.get();
  EXPECT_EQ(*client->exec("/exec", io), 0);
}

TEST(HttpExec, RefusalsAreTold) {
  std::atomic<bool> hangs_up{false};
  TestServer server([&](Peer& peer, const Heard& request) {
    if (hangs_up) {
      upgrade(peer, request);
    } else {
      peer.answer(404, R"({"kind":"Status","reason":"NotFound","message":"no such pod"})");
    }
    return false;
  });
  auto client = client_of(access_to(server));
  Result<int> refused = client->exec("/exec", {});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error(), (Error{ErrorKind::kNotFound, "no such pod"}));
  hangs_up = true;
  Result<int> lost = client->exec("/exec", {});
  ASSERT_FALSE(lost.ok());
  EXPECT_EQ(lost.error().kind, ErrorKind::kUnknown);
}

}  // namespace
}  // namespace trainyard::client
