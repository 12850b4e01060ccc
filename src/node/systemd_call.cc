#include "node/systemd_call.h"

#include <errno.h>
#include <fmt/format.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <bit>
#include <chrono>

#include "base/fd.h"
#include "node/files.h"

namespace trainyard::node {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr size_t kHeadSize = 16;
constexpr size_t kMessageMax = 1 << 20;
constexpr uint32_t kSerial = 1;  // of our only call
constexpr std::chrono::seconds kPatience{5};

enum MessageType : uint8_t { kCall = 1, kReturn = 2, kError = 3 };
enum HeaderField : uint8_t {
  kPath = 1,
  kInterface = 2,
  kMember = 3,
  kReplySerial = 5,
  kDestination = 6,
  kSignature = 8
};

// Values one after another, each at a multiple of its own size.
class Marshal {
 public:
  void align(size_t to) { bytes_.resize((bytes_.size() + to - 1) / to * to); }
  void byte(uint8_t value) { bytes_.push_back(static_cast<char>(value)); }
  void number(uint32_t value) {
    align(4);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void text(std::string_view value) {
    number(static_cast<uint32_t>(value.size()));
    bytes_.append(value);
    byte(0);
  }
  void signature(std::string_view value) {
    byte(static_cast<uint8_t>(value.size()));
    bytes_.append(value);
    byte(0);
  }
  // An array whose elements begin at multiples of `element`: its length comes before it.
  template <typename Fill>
  void array(size_t element, Fill fill) {
    number(0);
    size_t length_at = bytes_.size() - 4;
    align(element);
    size_t begin = bytes_.size();
    fill();
    uint32_t length = static_cast<uint32_t>(bytes_.size() - begin);
    bytes_.replace(length_at, sizeof length, reinterpret_cast<const char*>(&length), sizeof length);
  }
  // One "(sv)": a name and a value of the type that `signature` says.
  template <typename Fill>
  void property(std::string_view name, std::string_view type, Fill fill) {
    align(8);
    text(name);
    signature(type);
    fill();
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

uint32_t number_at(std::string_view bytes, size_t at) {
  uint32_t value = 0;
  if (at + sizeof value <= bytes.size()) ::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

size_t padded(size_t size) { return (size + 7) / 8 * 8; }

std::string scope_body(const ScopeRequest& request) {
  Marshal body;
  body.text(request.unit);
  body.text("fail");  // when there is such a unit already
  body.array(8, [&] {
    body.property("Description", "s", [&] { body.text(request.description); });
    body.property("Delegate", "b", [&] { body.number(1); });
    body.property("CollectMode", "s", [&] { body.text("inactive-or-failed"); });
    body.property("PIDs", "au", [&] { body.array(4, [&] { body.number(request.pid); }); });
  });
  body.array(8, [] {});  // units that come with it
  return body.take();
}

class Talk {
 public:
  explicit Talk(Fd socket)
      : socket_(std::move(socket)), until_(std::chrono::steady_clock::now() + kPatience) {}

  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      ssize_t n = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(n));
    }
    return true;
  }
  // So many more bytes, or fewer when they do not come.
  std::string receive(size_t size) {
    std::string bytes;
    while (bytes.size() < size) {
      auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(until_ - std::chrono::steady_clock::now());
      pollfd readable{socket_.get(), POLLIN, 0};
      if (left.count() <= 0 || ::poll(&readable, 1, static_cast<int>(left.count())) <= 0) break;
      std::string part(size - bytes.size(), '\0');
      ssize_t n = ::recv(socket_.get(), part.data(), part.size(), 0);
      if (n <= 0) break;
      bytes.append(part, 0, static_cast<size_t>(n));
    }
    return bytes;
  }
  std::string receive_line() {
    constexpr size_t kLineMax = 512;
    std::string line;
    while (!line.ends_with("\r\n") && line.size() < kLineMax) {
      std::string next = receive(1);
      if (next.empty()) break;
      line += next;
    }
    return line;
  }

 private:
  Fd socket_;
  std::chrono::steady_clock::time_point until_;
};

Error silent(const std::filesystem::path& socket) {
  return {ErrorKind::kUnavailable, fmt::format("systemd does not answer at {}", socket.string())};
}

}  // namespace

std::string scope_message(const ScopeRequest& request) {
  std::string body = scope_body(request);
  Marshal head;
  head.byte('l');
  head.byte(kCall);
  head.byte(0);  // no flags: we wait for the answer
  head.byte(1);  // the protocol's version
  head.number(static_cast<uint32_t>(body.size()));
  head.number(kSerial);
  head.array(8, [&] {
    auto field = [&](HeaderField name, std::string_view type, std::string_view value) {
      head.align(8);
      head.byte(name);
      head.signature(type);
      if (type == "g") {
        head.signature(value);
      } else {
        head.text(value);
      }
    };
    field(kPath, "o", "/org/freedesktop/systemd1");
    field(kInterface, "s", "org.freedesktop.systemd1.Manager");
    field(kMember, "s", "StartTransientUnit");
    field(kDestination, "s", "org.freedesktop.systemd1");
    field(kSignature, "g", "ssa(sv)a(sa(sv))");
  });
  head.align(8);
  return head.take() + body;
}

size_t message_size(std::string_view head) {
  if (head.size() < kHeadSize || head[0] != 'l') return 0;
  size_t size = kHeadSize + padded(number_at(head, 12)) + number_at(head, 4);
  return size <= kMessageMax ? size : 0;
}

Result<Done> read_answer(std::string_view message) {
  if (message.size() < kHeadSize || message_size(message) != message.size()) {
    return Error{ErrorKind::kInvalid, "not a message of D-Bus"};
  }
  if (message[1] == kReturn) return Done{};
  if (message[1] != kError) return Error{ErrorKind::kConflict, "not an answer"};
  std::string_view body = message.substr(kHeadSize + padded(number_at(message, 12)));
  std::string_view words = body.size() < 5 ? "no reason" : body.substr(4, number_at(body, 0));
  return Error{ErrorKind::kForbidden, fmt::format("systemd refuses a scope: {}", words)};
}

Result<Done> ask_for_scope(const std::filesystem::path& socket, const ScopeRequest& request) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket.native().size() >= sizeof address.sun_path) return silent(socket);
  ::memcpy(address.sun_path, socket.c_str(), socket.native().size());
  Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd.valid() || ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return error_of(errno, "reach systemd at", socket.string());
  }
  Talk talk(std::move(fd));
  // Who we are, as the kernel can confirm: the user's number, its digits in hexadecimal.
  std::string digits;
  for (char digit : std::to_string(::getuid())) digits += fmt::format("{:02x}", digit);
  if (!talk.send(std::string(1, '\0') + "AUTH EXTERNAL " + digits + "\r\n")) return silent(socket);
  if (!talk.receive_line().starts_with("OK ")) return silent(socket);
  if (!talk.send("BEGIN\r\n" + scope_message(request))) return silent(socket);
  while (true) {
    std::string message = talk.receive(kHeadSize);
    size_t size = message_size(message);
    if (size == 0) return silent(socket);
    message += talk.receive(size - message.size());
    Result<Done> answer = read_answer(message);
    if (answer.ok() || answer.error().kind != ErrorKind::kConflict) return answer;
  }
}

}  // namespace trainyard::node
