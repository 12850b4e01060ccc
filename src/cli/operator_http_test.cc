#include "cli/operator_http.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

namespace trainyard::cli {
namespace {

// What a server on loopback answers to these bytes, to the end of the connection.
std::string said_to(int port, const std::string& bytes) {
  Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  timeval patience{20, 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(bytes.size()));
  std::string answer;
  char buffer[4096];
  for (ssize_t got; (got = ::recv(socket.get(), buffer, sizeof buffer, 0)) > 0;) answer.append(buffer, got);
  return answer;
}

TEST(OperatorHttp, AnswersGetWithPages) {
  auto listener = OperatorHttp::start("127.0.0.1:0", [](std::string_view path) {
    if (path == "/large") return Page{200, std::string(3'000'000, 'x')};
    return path == "/healthz" ? Page{200, "ok\n"} : Page{503, "no " + std::string(path)};
  });
  ASSERT_TRUE(listener.ok()) << listener.error().message;
  int port = (*listener)->port();
  EXPECT_EQ(said_to(port, "GET /healthz?verbose HTTP/1.1\r\nHost: a\r\n\r\n"),
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 3\r\n"
            "Connection: close\r\n\r\nok\n");
  EXPECT_TRUE(said_to(port, "GET /readyz HTTP/1.1\r\n\r\n").ends_with("\r\n\r\nno /readyz"));
  EXPECT_TRUE(said_to(port, "HEAD /healthz HTTP/1.1\r\n\r\n").ends_with("\r\n\r\n"));
  EXPECT_TRUE(said_to(port, "POST / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 405 "));
  EXPECT_GT(said_to(port, "GET /large HTTP/1.1\r\n\r\n").size(), 3'000'000u);
}

TEST(OperatorHttp, Addresses) {
  EXPECT_EQ(*read_listen_address(":8080"), (ListenAddress{"", 8080}));
  EXPECT_EQ(*read_listen_address("127.0.0.1:0"), (ListenAddress{"127.0.0.1", 0}));
  EXPECT_EQ(*read_listen_address("[::1]:81"), (ListenAddress{"::1", 81}));
  for (const char* wrong : {"", "8080", ":", ":x", ":70000", "a:-1"}) {
    EXPECT_FALSE(read_listen_address(wrong).ok()) << wrong;
  }
}

}  // namespace
}  // namespace trainyard::cli
