#include "transport/tls_stream.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <sys/socket.h>

#include <boost/asio/error.hpp>
#include <boost/asio/ssl/error.hpp>
#include <cerrno>

#include "base/check.h"

namespace trainyard::transport {
namespace {

namespace net = boost::asio;
using boost::system::error_code;

int socket_of(BIO* bio) { return static_cast<int>(reinterpret_cast<intptr_t>(BIO_get_data(bio))); }

bool may_be_tried_again() { return errno == EAGAIN || errno == EINTR; }

int receive_from_socket(BIO* bio, char* data, int size) {
  BIO_clear_retry_flags(bio);
  ssize_t count = ::recv(socket_of(bio), data, static_cast<size_t>(size), 0);
  if (count < 0 && may_be_tried_again()) BIO_set_retry_read(bio);
  if (count == 0 && size > 0) BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
  return static_cast<int>(count);
}

// OpenSSL's own would end the process by SIGPIPE when the client is gone.
int send_to_socket(BIO* bio, const char* data, int size) {
  BIO_clear_retry_flags(bio);
  ssize_t count = ::send(socket_of(bio), data, static_cast<size_t>(size), MSG_NOSIGNAL);
  if (count < 0 && may_be_tried_again()) BIO_set_retry_write(bio);
  return static_cast<int>(count);
}

long control_socket(BIO* bio, int command, long, void*) {
  if (command == BIO_CTRL_EOF) return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0 ? 1 : 0;
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

void set_socket(BIO* bio, int socket) {
  // A BIO has one word for its owner. NOLINTNEXTLINE(performance-no-int-to-ptr)
  BIO_set_data(bio, reinterpret_cast<void*>(static_cast<intptr_t>(socket)));
}

BIO* bio_of(int socket) {
  static BIO_METHOD* const kMethod = [] {
    BIO_METHOD* method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket");
    CHECK(method != nullptr);
    BIO_meth_set_read(method, receive_from_socket);
    BIO_meth_set_write(method, send_to_socket);
    BIO_meth_set_ctrl(method, control_socket);
    return method;
  }();
  BIO* bio = BIO_new(kMethod);
  CHECK(bio != nullptr);
  set_socket(bio, socket);
  BIO_set_init(bio, 1);
  return bio;
}

}  // namespace

TlsStream::TlsStream(Socket socket, net::ssl::context& context, Side side)
    : socket_(std::move(socket)), bio_(bio_of(socket_.native_handle())), ssl_(make_ssl(context, bio_, side)) {
  error_code ignored;
  socket_.native_non_blocking(true, ignored);
}

TlsStream::SslPtr TlsStream::make_ssl(net::ssl::context& context, BIO* bio, Side side) {
  SslPtr ssl(SSL_new(context.native_handle()));
  CHECK(ssl != nullptr);
  SSL_set_bio(ssl.get(), bio, bio);
  side == Side::kServer ? SSL_set_accept_state(ssl.get()) : SSL_set_connect_state(ssl.get());
  SSL_set_read_ahead(ssl.get(), 1);
  SSL_set_mode(ssl.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  return ssl;
}

void TlsStream::enter(net::ssl::context& context) {
  BIO* tunnel = BIO_new(BIO_f_ssl());
  CHECK(tunnel != nullptr);
  BIO_set_ssl(tunnel, ssl_.release(), BIO_CLOSE);
  ssl_ = make_ssl(context, tunnel, Side::kClient);
}

bool TlsStream::has_pending() const {
  if (SSL_has_pending(ssl_.get()) == 1) return true;
  SSL* outer = nullptr;
  BIO_get_ssl(SSL_get_rbio(ssl_.get()), &outer);
  return outer != nullptr && SSL_has_pending(outer) == 1;
}

void TlsStream::close() {
  set_socket(bio_, -1);
  error_code ignored;
  socket_.close(ignored);
}

TlsStream::Tried TlsStream::result_of(int returned) {
  if (returned > 0) return {.bytes = static_cast<size_t>(returned)};
  switch (SSL_get_error(ssl_.get(), returned)) {
    case SSL_ERROR_WANT_READ:
      return {.want = Want::kToRead};
    case SSL_ERROR_WANT_WRITE:
      return {.want = Want::kToWrite};
    case SSL_ERROR_ZERO_RETURN:
      return {.error = net::error::eof};
    case SSL_ERROR_SYSCALL:
      return {.error = errno == 0 ? error_code(net::error::eof)
                                  : error_code(errno, boost::system::system_category())};
    default:
      break;
  }
  unsigned long why = ERR_get_error();
  if (ERR_GET_REASON(why) == SSL_R_UNEXPECTED_EOF_WHILE_READING)
    return {.error = net::ssl::error::stream_truncated};
  return {.error = error_code(static_cast<int>(why), net::error::get_ssl_category())};
}

TlsStream::Tried TlsStream::try_handshake() {
  ERR_clear_error();
  return result_of(SSL_do_handshake(ssl_.get()));
}

TlsStream::Tried TlsStream::try_read(void* data, size_t size) {
  if (size == 0) return {};
  ERR_clear_error();
  errno = 0;
  return result_of(SSL_read(ssl_.get(), data, static_cast<int>(std::min(size, kTlsRecordBytes))));
}

TlsStream::Tried TlsStream::try_write(const void* data, size_t size) {
  if (size == 0) return {};
  ERR_clear_error();
  errno = 0;
  return result_of(SSL_write(ssl_.get(), data, static_cast<int>(std::min(size, kTlsRecordBytes))));
}

void teardown(boost::beast::role_type, TlsStream& stream, error_code& error) {
  SSL_shutdown(stream.native_handle());
  stream.socket().shutdown(Socket::shutdown_send, error);
}

void beast_close_socket(TlsStream& stream) { stream.close(); }

}  // namespace trainyard::transport
