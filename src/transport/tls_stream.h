// TlsStream: TLS on a connected socket, either side of it. Includes Asio. All of it is used on
// the one thread of the socket's executor.
//
// OpenSSL reads and writes the socket itself, so a request that has come is read with one
// system call and an answer is sent with one, without buffers in between. try_*() do what can
// be done at once and say what to wait for; async_*() make it a stream for Beast.
//
// After enter() it is a second TLS within the first: the way to a server behind a proxy that speaks TLS
// itself.
#pragma once

#include <openssl/ssl.h>

#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/compose.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/beast/websocket/teardown.hpp>
#include <memory>
#include <string>

#include "transport/awaitable.h"

namespace trainyard::transport {

using Socket = boost::asio::basic_stream_socket<boost::asio::ip::tcp, Io>;

inline constexpr size_t kTlsRecordBytes = 16 * 1024;

class TlsStream {
 public:
  using executor_type = Io;

  enum class Want { kNothing, kToRead, kToWrite };
  // What became of one try: an error, so many bytes, or what to wait for before the next.
  struct Tried {
    boost::system::error_code error;
    size_t bytes = 0;
    Want want = Want::kNothing;
  };

  enum class Side { kServer, kClient };

  // The context outlives it.
  TlsStream(Socket socket, boost::asio::ssl::context& context, Side side);

  executor_type get_executor() { return socket_.get_executor(); }
  Socket& socket() { return socket_; }
  SSL* native_handle() { return ssl_.get(); }

  // What comes after fails: the number of the socket may be somebody else's by then.
  void close();

  // From now on it speaks as a client to whoever is behind the other side; the handshake with them is next.
  // REQUIRES: the first handshake is done, called once. The context outlives it.
  void enter(boost::asio::ssl::context& context);

  Tried try_handshake();
  // The end of the stream is an error: boost::asio::error::eof, or stream_truncated (of
  // boost::asio::ssl::error) where the other side did not say that it was one.
  Tried try_read(void* data, size_t size);
  Tried try_write(const void* data, size_t size);
  // Whether something that was read from the socket may not have been given out.
  bool has_pending() const;

  template <typename Token>
  auto async_wait(Want want, Token&& token) {
    return socket_.async_wait(want == Want::kToWrite ? Socket::wait_write : Socket::wait_read,
                              std::forward<Token>(token));
  }

  template <typename Buffers, typename Token>
  auto async_read_some(const Buffers& buffers, Token&& token) {
    boost::asio::mutable_buffer into;
    for (auto it = boost::asio::buffer_sequence_begin(buffers);
         it != boost::asio::buffer_sequence_end(buffers) && into.size() == 0; ++it) {
      into = *it;
    }
    return transfer([this, into] { return try_read(into.data(), into.size()); }, std::forward<Token>(token));
  }

  template <typename Buffers, typename Token>
  auto async_write_some(const Buffers& buffers, Token&& token) {
    out_.resize(std::min(boost::asio::buffer_size(buffers), kTlsRecordBytes));
    boost::asio::buffer_copy(boost::asio::buffer(out_), buffers);
    return transfer([this] { return try_write(out_.data(), out_.size()); }, std::forward<Token>(token));
  }

 private:
  struct FreeSsl {
    void operator()(SSL* ssl) const { SSL_free(ssl); }
  };

  using SslPtr = std::unique_ptr<SSL, FreeSsl>;

  static SslPtr make_ssl(boost::asio::ssl::context& context, BIO* bio, Side side);
  Tried result_of(int returned);

  // Tries until there is something to tell, which is never told before this returns.
  template <typename Try, typename Token>
  auto transfer(Try attempt, Token&& token) {
    auto step = [this, attempt, tried = Tried{}, is_done = false](
                    auto& self, boost::system::error_code error = {}) mutable {
      if (is_done) return self.complete(tried.error, tried.bytes);
      if (error) return self.complete(error, 0);
      tried = attempt();
      if (tried.want != Want::kNothing) return async_wait(tried.want, std::move(self));
      is_done = true;
      boost::asio::post(socket_.get_executor(), std::move(self));
    };
    return boost::asio::async_compose<Token, void(boost::system::error_code, size_t)>(std::move(step), token,
                                                                                      socket_);
  }

  Socket socket_;
  BIO* bio_;         // over the socket; the outermost SSL owns it
  SslPtr ssl_;       // the innermost; it owns the one around it
  std::string out_;  // what async_write_some() is about
};

// How a WebSocket over it ends.
void teardown(boost::beast::role_type role, TlsStream& stream, boost::system::error_code& error);
void beast_close_socket(TlsStream& stream);
template <typename Handler>
void async_teardown(boost::beast::role_type role, TlsStream& stream, Handler&& handler) {
  boost::system::error_code error;
  teardown(role, stream, error);
  boost::asio::post(stream.get_executor(),
                    [handler = std::forward<Handler>(handler), error]() mutable { handler(error); });
}

}  // namespace trainyard::transport
