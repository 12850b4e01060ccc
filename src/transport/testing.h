// For tests of what asks a server over a socket.
#pragma once

#include <arpa/inet.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <sys/socket.h>

#include <string>
#include <thread>

#include "base/check.h"
#include "base/fd.h"

namespace trainyard::transport {

// Gives a server a certificate that nobody has signed.
inline void certify(SSL_CTX* context) {
  constexpr long kSecondsValid = 3600;
  EVP_PKEY* key = EVP_EC_gen("P-256");
  X509* certificate = X509_new();
  X509_gmtime_adj(X509_getm_notBefore(certificate), 0);
  X509_gmtime_adj(X509_getm_notAfter(certificate), kSecondsValid);
  X509_set_pubkey(certificate, key);
  X509_sign(certificate, key, EVP_sha256());
  CHECK(SSL_CTX_use_certificate(context, certificate) == 1);
  CHECK(SSL_CTX_use_PrivateKey(context, key) == 1);
  X509_free(certificate);
  EVP_PKEY_free(key);
}

// Says the same to one who asks, in the open or by TLS with a certificate that nobody has signed.
class Answering {
 public:
  Answering(std::string reply, bool tls) : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    CHECK(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&at), sizeof at) == 0);
    CHECK(::listen(listener_.get(), 1) == 0);
    socklen_t size = sizeof at;
    CHECK(::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&at), &size) == 0);
    port = ntohs(at.sin_port);
    thread_ = std::thread([this, reply = std::move(reply), tls] {
      Fd client(::accept(listener_.get(), nullptr, nullptr));
      char asked[4096];
      if (tls) return answer_by_tls(client.get(), reply);
      if (::recv(client.get(), asked, sizeof asked, 0) <= 0) return;
      ::send(client.get(), reply.data(), reply.size(), MSG_NOSIGNAL);
    });
  }
  ~Answering() { thread_.join(); }

  int port = 0;

 private:
  static void answer_by_tls(int socket, const std::string& reply) {
    SSL_CTX* context = SSL_CTX_new(TLS_server_method());
    certify(context);
    SSL* ssl = SSL_new(context);
    SSL_set_fd(ssl, socket);
    char asked[4096];
    if (SSL_accept(ssl) == 1 && SSL_read(ssl, asked, sizeof asked) > 0) {
      SSL_write(ssl, reply.data(), static_cast<int>(reply.size()));
      SSL_shutdown(ssl);
    }
    SSL_free(ssl);
    SSL_CTX_free(context);
  }

  Fd listener_;
  std::thread thread_;
};

}  // namespace trainyard::transport
