#include "transport/tls_stream.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <boost/asio/error.hpp>
#include <boost/asio/ssl/error.hpp>

#include "transport/testing.h"

namespace trainyard::transport {
namespace {

namespace asio = boost::asio;
using Want = TlsStream::Want;

// The two ends of one connection, both on this thread.
class TlsStreamTest : public testing::Test {
 protected:
  TlsStreamTest() {
    certify(server_context.native_handle());
    asio::ip::tcp::acceptor acceptor(io, {asio::ip::address_v4::loopback(), 0});
    Socket near(io), far(io);
    near.connect(acceptor.local_endpoint());
    acceptor.accept(far);
    client.emplace(std::move(near), client_context, TlsStream::Side::kClient);
    server.emplace(std::move(far), server_context, TlsStream::Side::kServer);
  }

  void shake_hands() {
    bool client_done = false, server_done = false;
    for (int turn = 0; turn < kTurnsMax && !(client_done && server_done); ++turn) {
      client_done = client_done || is_done(client->try_handshake());
      server_done = server_done || is_done(server->try_handshake());
    }
    ASSERT_TRUE(client_done && server_done);
  }

  static bool is_done(const TlsStream::Tried& tried) {
    EXPECT_FALSE(tried.error) << tried.error.message();
    return tried.want == Want::kNothing;
  }

  // Tries until there is something, which on loopback is soon.
  static TlsStream::Tried read(TlsStream& from, std::string& into) {
    TlsStream::Tried tried{.want = Want::kToRead};
    for (int turn = 0; turn < kTurnsMax && tried.want != Want::kNothing; ++turn) {
      tried = from.try_read(into.data(), into.size());
    }
    return tried;
  }

  static constexpr int kTurnsMax = 100'000;

  asio::io_context io{1};
  asio::ssl::context client_context{asio::ssl::context::tls_client};
  asio::ssl::context server_context{asio::ssl::context::tls_server};
  std::optional<TlsStream> client, server;
};

TEST_F(TlsStreamTest, BytesGoBothWays) {
  shake_hands();
  EXPECT_EQ(client->try_write("request", 7).bytes, 7u);
  std::string got(64, '\0');
  EXPECT_EQ(read(*server, got).bytes, 7u);
  EXPECT_EQ(got.substr(0, 7), "request");
  EXPECT_EQ(server->try_write("answer", 6).bytes, 6u);
  EXPECT_EQ(read(*client, got).bytes, 6u);
  EXPECT_EQ(got.substr(0, 6), "answer");
}

TEST_F(TlsStreamTest, WhoHasNothingToReadWaits) {
  shake_hands();
  char byte = 0;
  EXPECT_EQ(server->try_read(&byte, 1).want, Want::kToRead);
  EXPECT_FALSE(server->has_pending());
}

TEST_F(TlsStreamTest, WhatWasReadAheadIsPending) {
  shake_hands();
  client->try_write("ab", 2);
  std::string got(1, '\0');
  ASSERT_EQ(read(*server, got).bytes, 1u);
  EXPECT_TRUE(server->has_pending());  // the socket has nothing more
  ASSERT_EQ(read(*server, got).bytes, 1u);
  EXPECT_EQ(got, "b");
}

TEST_F(TlsStreamTest, AFullSocketIsWaitedFor) {
  shake_hands();
  const std::string piece(kTlsRecordBytes, 'x');
  TlsStream::Tried tried;
  for (int turn = 0; turn < kTurnsMax && tried.want == Want::kNothing; ++turn) {
    tried = client->try_write(piece.data(), piece.size());
    ASSERT_FALSE(tried.error);
  }
  EXPECT_EQ(tried.want, Want::kToWrite);
}

TEST_F(TlsStreamTest, AnEndThatWasSaidIsAnEnd) {
  shake_hands();
  SSL_shutdown(client->native_handle());
  std::string got(1, '\0');
  EXPECT_EQ(read(*server, got).error, asio::error::eof);
}

TEST_F(TlsStreamTest, AnEndThatNobodySaidIsTruncated) {
  shake_hands();
  client->socket().shutdown(Socket::shutdown_send);
  std::string got(1, '\0');
  EXPECT_EQ(read(*server, got).error, asio::ssl::error::stream_truncated);
}

TEST_F(TlsStreamTest, NothingIsReadOrSentOnceItIsClosed) {
  shake_hands();
  client->close();
  char byte = 0;
  EXPECT_TRUE(client->try_read(&byte, 1).error);
  EXPECT_TRUE(client->try_write(&byte, 1).error);
}

TEST_F(TlsStreamTest, BeastReadsAndWritesItAsAStream) {
  shake_hands();
  std::string got(8, '\0');
  size_t sent = 0, heard = 0;
  server->async_read_some(asio::buffer(got), [&](const boost::system::error_code& error, size_t bytes) {
    EXPECT_FALSE(error);
    heard = bytes;
  });
  client->async_write_some(std::array{asio::buffer("one ", 4), asio::buffer("two", 3)},
                           [&](const boost::system::error_code& error, size_t bytes) {
                             EXPECT_FALSE(error);
                             sent = bytes;
                           });
  EXPECT_EQ(sent, 0u);  // told later, never from within
  io.run();
  EXPECT_EQ(sent, 7u);
  EXPECT_EQ(heard, 7u);
  EXPECT_EQ(got.substr(0, 7), "one two");
}

}  // namespace
}  // namespace trainyard::transport
