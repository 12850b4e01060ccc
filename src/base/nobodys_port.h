// NobodysPort: a TCP port of 127.0.0.1 at which nobody listens, nor can as long as this lives: what
// connects is refused. For tests: any fixed port may be somebody's. Resource, stays.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "base/check.h"
#include "base/fd.h"

namespace trainyard {

class NobodysPort {
 public:
  NobodysPort() : held_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* any = reinterpret_cast<sockaddr*>(&address);
    CHECK(::bind(held_.get(), any, size) == 0);
    CHECK(::getsockname(held_.get(), any, &size) == 0);
    number_ = ntohs(address.sin_port);
  }
  NobodysPort(const NobodysPort&) = delete;
  NobodysPort& operator=(const NobodysPort&) = delete;

  int number() const { return number_; }

 private:
  Fd held_;
  int number_ = 0;
};

}  // namespace trainyard
