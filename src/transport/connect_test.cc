#include "transport/connect.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/error.hpp>
#include <deque>

#include "base/check.h"

namespace trainyard::transport {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

constexpr Duration kLimit{2'000};

// Whoever takes no more connections lets us wait, as a machine does that is off.
class Silent {
 public:
  explicit Silent(asio::io_context& io)
      : io_(io), acceptor_(io, tcp::endpoint(asio::ip::address_v4::loopback(), 0)) {
    CHECK(::listen(acceptor_.native_handle(), 0) == 0);
    for (int i = 0; i < kWaitingMax; ++i) {
      Socket& one = waiting_.emplace_back(io_);
      one.open(tcp::v4());
      one.non_blocking(true);
      ::connect(one.native_handle(), endpoint().data(), static_cast<socklen_t>(endpoint().size()));
    }
  }
  tcp::endpoint endpoint() const { return acceptor_.local_endpoint(); }

 private:
  static constexpr int kWaitingMax = 8;

  asio::io_context& io_;
  tcp::acceptor acceptor_;
  std::deque<Socket> waiting_;
};

class ConnectTest : public testing::Test {
 protected:
  boost::system::error_code connect(std::vector<tcp::endpoint> endpoints) {
    boost::system::error_code got = asio::error::try_again;
    auto work = [&]() -> Awaitable<void> {
      got = co_await connect_to_any(socket, std::move(endpoints), kLimit);
    };
    asio::co_spawn(io.get_executor(), work, asio::detached);
    io.restart();
    io.run();
    return got;
  }
  tcp::endpoint nobody() {
    tcp::acceptor gone(io, {asio::ip::address_v4::loopback(), 0});
    return gone.local_endpoint();
  }

  asio::io_context io{1};
  tcp::acceptor server{io, {asio::ip::address_v4::loopback(), 0}};
  Socket socket{io};
};

TEST_F(ConnectTest, BehindOneThatRefusesAnotherAnswers) {
  EXPECT_FALSE(connect({nobody(), server.local_endpoint()}));
  EXPECT_EQ(socket.remote_endpoint(), server.local_endpoint());
}

TEST_F(ConnectTest, BehindOneThatIsSilentAnotherAnswers) {
  Silent silent(io);
  EXPECT_FALSE(connect({silent.endpoint(), server.local_endpoint()}));
  EXPECT_EQ(socket.remote_endpoint(), server.local_endpoint());
}

TEST_F(ConnectTest, WhoeverFailsLastIsTold) {
  Silent silent(io);
  EXPECT_EQ(connect({}), asio::error::host_not_found);
  EXPECT_EQ(connect({silent.endpoint(), nobody()}), asio::error::connection_refused);
  EXPECT_EQ(connect({nobody(), silent.endpoint()}), asio::error::timed_out);
}

TEST_F(ConnectTest, WhoeverClosesItEndsIt) {
  Silent silent(io);
  asio::post(io, [this] { asio::post(io, [this] { socket.close(); }); });
  EXPECT_EQ(connect({silent.endpoint(), server.local_endpoint()}), asio::error::operation_aborted);
}

}  // namespace
}  // namespace trainyard::transport
