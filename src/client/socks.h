// SocksDialogue: what a client says to a SOCKS5 proxy (RFC 1928, with the names and passwords of RFC 1929)
// to be connected with a server, whose name the proxy looks up. A machine: bytes in, bytes out. Pure.
//
//   send begin(); then, until is_done(): read wanted() bytes, and send what hear() answers, if anything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace trainyard::client {

class SocksDialogue {
 public:
  // `user_info`: "user:password", "" for none.
  SocksDialogue(std::string_view user_info, std::string host, uint16_t port);

  // kInvalid when the proxy could not be told: a name of more than 255 bytes.
  Result<std::string> begin() const;
  // How many bytes come next. REQUIRES: not done.
  size_t wanted() const { return wanted_; }
  // Takes them. kUnavailable, with the reason, when the proxy refuses.
  Result<std::string> hear(std::string_view bytes);
  bool is_done() const { return at_ == At::kDone; }

 private:
  enum class At { kMethod, kPassword, kReply, kAddress, kDone };

  std::string ask_for_server();
  std::string tell_password();

  // Fixed.
  std::string user_;
  std::string password_;
  std::string host_;
  uint16_t port_;
  // State.
  At at_ = At::kMethod;
  size_t wanted_ = 2;
};

}  // namespace trainyard::client
