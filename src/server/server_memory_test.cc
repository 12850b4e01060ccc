// What clients that do not read, or send much and slowly, make the server keep; bodies of which nobody can
// say how long they are.
#include <unistd.h>

#include <fstream>

#include "server/server.h"
#include "server/testing.h"

namespace trainyard::server {
namespace {

constexpr size_t kLargeBytes = 2'900'000;

size_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  size_t all = 0;
  size_t resident = 0;
  file >> all >> resident;
  return resident * static_cast<size_t>(::sysconf(_SC_PAGESIZE));
}

TEST(ServerMemoryTest, WatchesThatNobodyReadsShareWhatTheyAreSent) {
  constexpr int kWatches = 80;
  // Each of them would have a copy of its own, twice, of what is stuck: 460 MB.
  constexpr size_t kMost = 250 << 20;
  TestPlane plane;
  ASSERT_EQ(plane.call("POST", kConfigMapsPath, config_text("a", std::string(kLargeBytes, 'x'))).status, 201);
  const size_t before = resident_bytes();
  std::vector<std::unique_ptr<TestClient>> clients;
  for (int i = 0; i < kWatches; ++i) {
    clients.push_back(plane.client());
    clients.back()->start("GET", fmt::format("{}?watch=1", kConfigMapsPath));
    ASSERT_EQ(clients.back()->read_head().status, 200);
  }
  size_t most = 0;
  for (int i = 0; i < 5; ++i) {
    std::string patch = fmt::format(R"({{"data":{{"key":"{}"}}}})", std::string(kLargeBytes, 'a' + i));
    EXPECT_EQ(plane.call("PATCH", fmt::format("{}/a", kConfigMapsPath), patch, "application/merge-patch+json")
                  .status,
              200);
    for (int j = 0; j < 4; ++j) EXPECT_EQ(plane.call("GET", kPodsPath).status, 200);
    most = std::max(most, resident_bytes());
  }
  EXPECT_LT(most, before + kMost) << (most - before) / (1 << 20) << " MB more";
}

std::string head_of_post(size_t length, bool with_token) {
  return fmt::format(
      "POST {} HTTP/1.1\r\nHost: localhost\r\n{}Content-Type: application/json\r\nContent-Length: {}\r\n"
      "Expect: 100-continue\r\n\r\n",
      kConfigMapsPath, with_token ? fmt::format("Authorization: Bearer {}\r\n", test_tls().token) : "",
      length);
}

TEST(ServerMemoryTest, ALargeBodyOfAStrangerIsNotWaitedFor) {
  TestPlane plane;
  auto client = plane.client();
  ASSERT_TRUE(client->send(head_of_post(kLargeBytes, false)));
  EXPECT_EQ(client->read_reply().status, 401);
  EXPECT_TRUE(client->ended());
}

TEST(ServerMemoryTest, LargeBodiesThatComeSlowlyAreSoMany) {
  TestPlane plane({.bodies_bytes_max = 1'000'000});
  const std::string body = config_text("a", std::string(600'000, 'x'));
  auto slow = plane.client();
  ASSERT_TRUE(slow->send(head_of_post(body.size(), true)));
  EXPECT_TRUE(slow->receive().starts_with("HTTP/1.1 100"));
  auto next = plane.client();
  ASSERT_TRUE(next->send(head_of_post(body.size(), true)));
  Reply refused = next->read_reply();
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.headers["retry-after"], "1");
  EXPECT_EQ(plane.call("POST", kConfigMapsPath, config_text("small")).status, 201);
  ASSERT_TRUE(slow->send(body));
  EXPECT_EQ(slow->read_reply().status, 201);
  EXPECT_EQ(plane.call("POST", kConfigMapsPath, config_text("b", std::string(600'000, 'x'))).status, 201);
}

TEST(ServerMemoryTest, AnUnknownTransferEncodingIsRefused) {
  TestPlane plane;
  auto client = plane.client();
  client->send(
      fmt::format("GET /version HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "
                  "{}\r\nTransfer-Encoding: gzip\r\n\r\n",
                  test_tls().token));
  EXPECT_EQ(client->read_reply().status, 400);
  EXPECT_TRUE(client->ended());
}

}  // namespace
}  // namespace trainyard::server
