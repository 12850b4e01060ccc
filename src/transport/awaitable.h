// How our coroutines wait for sockets and timers. Includes Asio.
#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace trainyard::transport {

// Every connection belongs to the one thread that runs its context.
using Io = boost::asio::io_context::executor_type;

template <typename T>
using Awaitable = boost::asio::awaitable<T, Io>;

// A failed operation answers with its error code, as the first of a tuple; it does not throw.
inline constexpr auto kTuple = boost::asio::as_tuple(boost::asio::use_awaitable_t<Io>{});

}  // namespace trainyard::transport
