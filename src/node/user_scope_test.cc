#include "node/user_scope.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <thread>

#include "base/fd.h"
#include "node/systemd_call.h"
#include "node/testing.h"

namespace trainyard::node {
namespace {

TEST(UserScope, GroupOfAProcess) {
  EXPECT_EQ(unified_group("0::/user.slice/user-1000.slice/session-3.scope\n"),
            "/user.slice/user-1000.slice/session-3.scope");
  EXPECT_EQ(unified_group("9:name=systemd:/init\n4:memory:/a\n0::/b\n"), "/b");
  EXPECT_EQ(unified_group("4:memory:/a\n"), "");
  EXPECT_EQ(unified_group(""), "");
}

TEST(UserScope, HomeIsAroundThePlane) {
  EXPECT_EQ(home_of_plane("/user.slice/trainyard-1-2.scope/trainyard-plane"),
            "/user.slice/trainyard-1-2.scope");
  EXPECT_EQ(home_of_plane("/user.slice/session-3.scope"), std::nullopt);
  // The machine's root is nobody's home.
  EXPECT_EQ(home_of_plane("/trainyard-plane"), std::nullopt);
}

TEST(UserScope, WhoEndsWithTheLastSession) {
  EXPECT_TRUE(below_user_manager("/user.slice/user-1000.slice/user@1000.service/app.slice/a.scope", 1000));
  EXPECT_FALSE(below_user_manager("/user.slice/user-1000.slice/session-3.scope", 1000));
  EXPECT_FALSE(below_user_manager("/user.slice/user-1001.slice/user@1001.service/a.scope", 1000));
}

// The bytes are those of another implementation of the protocol (Python's jeepney).
TEST(SystemdCall, MessageIsWrittenAsTheProtocolSays) {
  const std::string expected =
      "6c010001a800000001000000b600000001016f00190000002f6f72672f667265"
      "656465736b746f702f73797374656d6431000000000000000201730020000000"
      "6f72672e667265656465736b746f702e73797374656d64312e4d616e61676572"
      "0000000000000000030173001200000053746172745472616e7369656e74556e"
      "697400000000000006017300180000006f72672e667265656465736b746f702e"
      "73797374656d6431000000000000000008016700107373612873762961287361"
      "287376292900000007000000612e73636f706500040000006661696c00000000"
      "80000000000000000b0000004465736372697074696f6e000173000001000000"
      "78000000000000000800000044656c6567617465000162000100000000000000"
      "0b000000436f6c6c6563744d6f6465000173000012000000696e616374697665"
      "2d6f722d6661696c656400000000000004000000504944730002617500000000"
      "04000000070000000000000000000000";
  std::string message = scope_message({"a.scope", "x", 7});
  std::string written;
  for (unsigned char one : message) written += fmt::format("{:02x}", one);
  EXPECT_EQ(written, expected);
  EXPECT_EQ(message_size(message.substr(0, 16)), message.size());
  EXPECT_EQ(message_size("HTTP/1.1 400 Bad Request"), 0u);
}

std::string answer(uint8_t type, const std::string& words) {
  std::string body;
  if (!words.empty()) {
    uint32_t size = static_cast<uint32_t>(words.size());
    body.append(reinterpret_cast<const char*>(&size), 4);
    body += words + '\0';
  }
  std::string head("l\0\0\1", 4);
  head[1] = static_cast<char>(type);
  for (uint32_t number : {static_cast<uint32_t>(body.size()), 9u, 0u}) {
    head.append(reinterpret_cast<const char*>(&number), 4);
  }
  return head + body;
}

TEST(SystemdCall, AnswersAreRead) {
  EXPECT_TRUE(read_answer(answer(2, "/org/freedesktop/systemd1/job/1")).ok());
  Result<Done> refused = read_answer(answer(3, "Unit a.scope already exists."));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message, "systemd refuses a scope: Unit a.scope already exists.");
  EXPECT_EQ(read_answer(answer(4, "")).error().kind, ErrorKind::kConflict);
  EXPECT_EQ(read_answer(answer(3, "")).error().message, "systemd refuses a scope: no reason");
  EXPECT_EQ(read_answer("nonsense").error().kind, ErrorKind::kInvalid);
  EXPECT_EQ(read_answer(answer(3, "cut off").substr(0, 20)).error().kind, ErrorKind::kInvalid);
}

// Listens where systemd would, and sends `replies` after the call has come.
class FakeSystemd {
 public:
  FakeSystemd(const std::filesystem::path& path, std::string replies) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    ::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    listener_ = Fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(listener_.get(), 1), 0);
    thread_ = std::thread([this, replies = std::move(replies)] { serve(replies); });
  }
  ~FakeSystemd() { thread_.join(); }

  std::string greeting, call;  // to be read once the answer has come

 private:
  void serve(const std::string& replies) {
    Fd peer(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    auto receive = [&] {
      std::string bytes(4096, '\0');
      ssize_t n = ::recv(peer.get(), bytes.data(), bytes.size(), 0);
      return bytes.substr(0, n > 0 ? static_cast<size_t>(n) : 0);
    };
    greeting = receive();
    (void)::send(peer.get(), "OK 0123456789abcdef\r\n", 21, MSG_NOSIGNAL);
    call = receive();
    (void)::send(peer.get(), replies.data(), replies.size(), MSG_NOSIGNAL);
  }

  Fd listener_;
  std::thread thread_;
};

TEST(SystemdCall, AsksAndWaitsForTheAnswer) {
  testing::TempFolder folder;
  std::filesystem::path socket = folder.path() / "private";
  ScopeRequest request{"a.scope", "x", 7};
  {
    // A signal that nobody asked for comes first.
    FakeSystemd systemd(socket, answer(4, "") + answer(2, "/job/1"));
    Result<Done> asked = ask_for_scope(socket, request);
    EXPECT_TRUE(asked.ok()) << asked.error().message;
    EXPECT_TRUE(systemd.greeting.starts_with(std::string("\0AUTH EXTERNAL 3", 16))) << systemd.greeting;
    EXPECT_EQ(systemd.call, "BEGIN\r\n" + scope_message(request));
  }
  std::filesystem::remove(socket);
  {
    FakeSystemd systemd(socket, answer(2, "/job/1").substr(0, 20));
    EXPECT_EQ(ask_for_scope(socket, request).error().kind, ErrorKind::kInvalid);
  }
  std::filesystem::remove(socket);
  EXPECT_FALSE(ask_for_scope(socket, request).ok());
}

}  // namespace
}  // namespace trainyard::node
