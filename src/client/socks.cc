#include "client/socks.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include "base/check.h"

namespace trainyard::client {
namespace {

constexpr char kVersion = 5;
constexpr char kPasswordVersion = 1;
constexpr char kConnect = 1;
// Ways to say who one is.
constexpr char kNobody = 0;
constexpr char kWithPassword = 2;
// Kinds of addresses.
constexpr char kAddress4 = 1;
constexpr char kName = 3;
constexpr char kAddress6 = 4;
constexpr size_t kTextMax = 255;

std::string counted_text(std::string_view text) {
  return std::string(1, static_cast<char>(static_cast<unsigned char>(text.size()))) + std::string(text);
}

// The kind of the address and the address.
std::string address_of(const std::string& host) {
  in6_addr bytes{};  // large enough for both
  if (inet_pton(AF_INET, host.c_str(), &bytes) == 1) {
    return std::string(1, kAddress4) + std::string(reinterpret_cast<const char*>(&bytes), 4);
  }
  if (inet_pton(AF_INET6, host.c_str(), &bytes) == 1) {
    return std::string(1, kAddress6) + std::string(reinterpret_cast<const char*>(&bytes), 16);
  }
  return std::string(1, kName) + counted_text(host);
}

std::string_view refusal(unsigned char code) {
  switch (code) {
    case 1:
      return "general failure";
    case 2:
      return "its rules do not allow it";
    case 3:
      return "the network is unreachable";
    case 4:
      return "the host is unreachable";
    case 5:
      return "the connection was refused";
    case 6:
      return "it took too long";
    case 7:
      return "it does not know how to connect";
    case 8:
      return "it does not know this kind of address";
    default:
      return "it does not say why";
  }
}

Error refused(std::string_view why) {
  return {ErrorKind::kUnavailable, fmt::format("the SOCKS proxy does not connect us: {}", why)};
}

}  // namespace

SocksDialogue::SocksDialogue(std::string_view user_info, std::string host, uint16_t port)
    : user_(user_info.substr(0, user_info.find(':'))), host_(std::move(host)), port_(port) {
  if (size_t colon = user_info.find(':'); colon != std::string_view::npos) {
    password_ = user_info.substr(colon + 1);
  }
}

Result<std::string> SocksDialogue::begin() const {
  for (const std::string* text : {&user_, &password_, &host_}) {
    if (text->size() > kTextMax) {
      return Error{ErrorKind::kInvalid,
                   fmt::format("a SOCKS proxy takes names and passwords of {} bytes at most", kTextMax)};
    }
  }
  if (user_.empty()) return std::string{kVersion, 1, kNobody};
  return std::string{kVersion, 2, kNobody, kWithPassword};
}

std::string SocksDialogue::ask_for_server() {
  at_ = At::kReply;
  wanted_ = 5;  // version, answer, nothing, kind of the address, its first byte
  std::string text = std::string{kVersion, kConnect, 0} + address_of(host_);
  text += static_cast<char>(port_ >> 8);
  text += static_cast<char>(port_ & 0xff);
  return text;
}

std::string SocksDialogue::tell_password() {
  at_ = At::kPassword;
  wanted_ = 2;
  return std::string(1, kPasswordVersion) + counted_text(user_) + counted_text(password_);
}

Result<std::string> SocksDialogue::hear(std::string_view bytes) {
  CHECK(bytes.size() == wanted_);
  switch (at_) {
    case At::kMethod:
      if (bytes[0] != kVersion) return refused("it speaks something else");
      if (bytes[1] == kNobody) return ask_for_server();
      if (bytes[1] == kWithPassword && !user_.empty()) return tell_password();
      return refused(user_.empty() ? "it wants a name and a password" : "it takes no name and password");
    case At::kPassword:
      if (bytes[1] != 0) return refused("it does not know the name and password");
      return ask_for_server();
    case At::kReply:
      if (bytes[0] != kVersion) return refused("it speaks something else");
      if (bytes[1] != 0) return refused(refusal(static_cast<unsigned char>(bytes[1])));
      // The rest of an address that nobody needs, and a port.
      at_ = At::kAddress;
      if (bytes[3] != kAddress4 && bytes[3] != kAddress6 && bytes[3] != kName) {
        return refused("it speaks something else");
      }
      wanted_ = (bytes[3] == kAddress4   ? 3
                 : bytes[3] == kAddress6 ? 15
                                         : size_t{static_cast<unsigned char>(bytes[4])}) +
                2;
      return std::string();
    case At::kAddress:
      at_ = At::kDone;
      return std::string();
    case At::kDone:
      break;
  }
  return refused("it goes on speaking");
}

}  // namespace trainyard::client
