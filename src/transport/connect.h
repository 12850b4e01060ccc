// Connecting to a name that stands for several addresses. Includes Asio; used on the one thread of the
// socket's executor.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/system/error_code.hpp>
#include <vector>

#include "base/time.h"
#include "transport/awaitable.h"
#include "transport/tls_stream.h"

namespace trainyard::transport {

// To the first that answers, in their order. Of the time that is left each gets its share: behind one that
// is silent another may answer. No error: it is connected. asio::error::timed_out: nobody answered in time.
// Whoever closes the socket meanwhile ends it. REQUIRES: the socket is not open.
Awaitable<boost::system::error_code> connect_to_any(Socket& socket,
                                                    std::vector<boost::asio::ip::tcp::endpoint> endpoints,
                                                    Duration limit);

}  // namespace trainyard::transport
