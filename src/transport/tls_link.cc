#include "transport/tls_link.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <climits>

#include "base/check.h"

namespace trainyard::transport {

void TlsLink::Free::operator()(ssl_ctx_st* context) const { SSL_CTX_free(context); }
void TlsLink::Free::operator()(ssl_st* ssl) const { SSL_free(ssl); }

// OpenSSL's own way to a socket would raise SIGPIPE, which means something to a run.
TlsLink::TlsLink(int socket)
    : socket_(socket),
      context_(SSL_CTX_new(TLS_client_method())),
      in_(BIO_new(BIO_s_mem())),
      out_(BIO_new(BIO_s_mem())),
      wants_(POLLOUT) {
  CHECK(context_ != nullptr);
  CHECK(in_ != nullptr);
  CHECK(out_ != nullptr);
  SSL_CTX_set_verify(context_.get(), SSL_VERIFY_NONE, nullptr);
  SSL_CTX_set_mode(context_.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  BIO_set_mem_eof_return(in_, -1);
  ssl_.reset(SSL_new(context_.get()));
  CHECK(ssl_ != nullptr);
  SSL_set_bio(ssl_.get(), in_, out_);
  SSL_set_connect_state(ssl_.get());
}

ssize_t TlsLink::send(std::string_view data) {
  const int size = static_cast<int>(std::min<size_t>(data.size(), INT_MAX));
  return carry_out([&] { return SSL_write(ssl_.get(), data.data(), size); });
}

ssize_t TlsLink::receive(char* into, size_t size) {
  const int most = static_cast<int>(std::min<size_t>(size, INT_MAX));
  return carry_out([&] { return SSL_read(ssl_.get(), into, most); });
}

ssize_t TlsLink::carry_out(const std::function<int()>& operation) {
  for (;;) {
    ERR_clear_error();
    const int done = operation();
    const int error = SSL_get_error(ssl_.get(), done);
    const bool is_sent = flush();
    wants_ = is_sent ? POLLIN : POLLOUT;
    if (done > 0) return done;
    if (error == SSL_ERROR_ZERO_RETURN) return 0;
    if (error != SSL_ERROR_WANT_READ) return fail();
    const ssize_t came = fetch();
    if (came == 0) return 0;
    if (came < 0 && (errno == EAGAIN || errno == EINTR)) return -1;
    if (came < 0) return fail();
  }
}

bool TlsLink::flush() {
  char* data = nullptr;
  const long size = BIO_get_mem_data(out_, &data);
  if (size > 0) unsent_.append(data, static_cast<size_t>(size));
  BIO_reset(out_);
  while (!unsent_.empty()) {
    const ssize_t sent = ::send(socket_, unsent_.data(), unsent_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent <= 0) return false;
    unsent_.erase(0, static_cast<size_t>(sent));
  }
  return true;
}

ssize_t TlsLink::fetch() {
  char buffer[4096];
  const ssize_t came = ::recv(socket_, buffer, sizeof buffer, MSG_DONTWAIT);
  if (came > 0) BIO_write(in_, buffer, static_cast<int>(came));
  return came;
}

ssize_t TlsLink::fail() {
  const char* reason = ERR_reason_error_string(ERR_peek_last_error());
  why_ = reason != nullptr ? reason : "EOF";
  errno = ECONNABORTED;
  return -1;
}

}  // namespace trainyard::transport
