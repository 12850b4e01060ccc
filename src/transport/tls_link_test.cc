#include "transport/tls_link.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <cerrno>

#include "transport/testing.h"

namespace trainyard::transport {
namespace {

constexpr int kWaitMs = 20'000;

Fd connected_to(int port) {
  Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  at.sin_port = htons(static_cast<uint16_t>(port));
  CHECK(::connect(socket.get(), reinterpret_cast<sockaddr*>(&at), sizeof at) == 0);
  return socket;
}

// What is answered to one question; "!why" when nothing can be.
std::string asked(const std::string& reply, bool tls) {
  Answering server(reply, tls);
  Fd socket = connected_to(server.port);
  TlsLink link(socket.get());
  std::string question(10'000, 'q'), answer;  // one record: the server reads no more
  for (;;) {
    char buffer[1000];
    ssize_t n = question.empty() ? link.receive(buffer, sizeof buffer) : link.send(question);
    if (n < 0 && errno == EAGAIN) {
      pollfd wait{socket.get(), link.wants(), 0};
      if (::poll(&wait, 1, kWaitMs) == 0) return "!never";
    } else if (n < 0) {
      return "!" + link.why();
    } else if (!question.empty()) {
      question.erase(0, static_cast<size_t>(n));
    } else if (n == 0) {
      return answer;
    } else {
      answer.append(buffer, static_cast<size_t>(n));
    }
  }
}

TEST(TlsLink, AsksWhoeverAnswers) {
  EXPECT_EQ(asked("hello", true), "hello");
  EXPECT_EQ(asked(std::string(50'000, 'x'), true).size(), 50'000u);
  EXPECT_EQ(asked("HTTP/1.1 400 Bad Request\r\n\r\n", false), "!wrong version number");
}

}  // namespace
}  // namespace trainyard::transport
