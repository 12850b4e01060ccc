#include "transport/connect.h"

#include <algorithm>
#include <boost/asio/error.hpp>
#include <chrono>

#include "transport/deadline.h"

namespace trainyard::transport {

Awaitable<boost::system::error_code> connect_to_any(Socket& socket,
                                                    std::vector<boost::asio::ip::tcp::endpoint> endpoints,
                                                    Duration limit) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point until = Clock::now() + limit;
  bool late = false;
  boost::system::error_code ignored;
  Deadline deadline(socket.get_executor(), [&] {
    late = true;
    socket.close(ignored);
  });
  boost::system::error_code failed = boost::asio::error::host_not_found;
  auto untried = static_cast<int64_t>(endpoints.size());
  for (const boost::asio::ip::tcp::endpoint& endpoint : endpoints) {
    late = false;
    const auto left = std::chrono::duration_cast<Duration>(until - Clock::now());
    deadline.set(std::max(left / untried--, Duration{1}));
    auto [refused] = co_await socket.async_connect(endpoint, kTuple);
    deadline.clear();
    failed = late ? boost::asio::error::timed_out : refused;
    if (!failed || failed == boost::asio::error::operation_aborted) co_return failed;
    socket.close(ignored);
  }
  co_return failed;
}

}  // namespace trainyard::transport
