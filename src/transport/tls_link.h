// TlsLink: a client's side of TLS on a connected socket, for who polls descriptors and has no executor: the
// node's probes and hooks. Nothing here waits, and nobody's certificate is looked at, as no kubelet does.
// Resource; one thread. Without Asio.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>

struct bio_st;
struct ssl_ctx_st;
struct ssl_st;

namespace trainyard::transport {

class TlsLink {
 public:
  // REQUIRES: the socket is connected, and open for as long as this is.
  explicit TlsLink(int socket);

  // As send() and recv() of the socket: -1 with EAGAIN when the socket must be ready for `wants()` first. The
  // handshake is made on the way. What was not sent may be given again from another place.
  ssize_t send(std::string_view data);
  ssize_t receive(char* into, size_t size);
  short wants() const { return wants_; }           // POLLIN or POLLOUT
  const std::string& why() const { return why_; }  // nothing can be sent, or received, any more

 private:
  ssize_t carry_out(const std::function<int()>& operation);
  bool flush();  // false when something is left
  // What has come, for OpenSSL: as recv().
  ssize_t fetch();
  ssize_t fail();

  struct Free {
    void operator()(ssl_ctx_st* context) const;
    void operator()(ssl_st* ssl) const;
  };
  int socket_;
  std::unique_ptr<ssl_ctx_st, Free> context_;
  std::unique_ptr<ssl_st, Free> ssl_;
  bio_st* in_;   // of ssl_
  bio_st* out_;  // of ssl_
  std::string unsent_;
  short wants_;
  std::string why_;
};

}  // namespace trainyard::transport
