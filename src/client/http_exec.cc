#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <boost/beast/websocket.hpp>
#include <deque>
#include <semaphore>

#include "base/fd.h"
#include "client/http_core.h"
#include "client/http_wire.h"

namespace trainyard::client {
namespace {

namespace websocket = beast::websocket;

constexpr size_t kPieceBytes = 32 * 1024;
constexpr int kPiecesAhead = 4;
constexpr char kChannelIn = 0;
constexpr char kChannelOut = 1;
constexpr char kChannelErr = 2;
constexpr char kChannelEnd = 3;
constexpr char kChannelSize = 4;
constexpr char kChannelClose = '\xFF';

// A command under way. On the I/O thread, but for `room`.
struct Session {
  Session(HttpClient::Core& of, const std::shared_ptr<Contexts>& contexts, ExecIo ends)
      : core(of), io(std::move(ends)), socket(of.io, contexts, of.server.tls) {}

  HttpClient::Core& core;
  ExecIo io;
  websocket::stream<Link> socket;
  std::deque<std::string> unsent;
  bool writing = false;
  bool half_closes = false;  // the protocol can tell the end of the input
  std::optional<Result<int>> ended;
  std::counting_semaphore<> room{kPiecesAhead};
};
using SessionPtr = std::shared_ptr<Session>;

Awaitable<void> write_all(SessionPtr session) {
  while (!session->unsent.empty()) {
    auto [failed, sent] = co_await session->socket.async_write(asio::buffer(session->unsent.front()), kTuple);
    bool was_input = session->unsent.front()[0] == kChannelIn;
    session->unsent.pop_front();
    if (was_input) session->room.release();
    if (failed) break;
  }
  session->writing = false;
}

void post_message(const SessionPtr& session, std::string message) {
  session->unsent.push_back(std::move(message));
  if (session->writing) return;
  session->writing = true;
  asio::co_spawn(session->socket.get_executor(), write_all(session), asio::detached);
}

void take_message(Session& session, std::string_view message) {
  if (message.empty()) return;
  std::string_view data = message.substr(1);
  switch (message.front()) {
    case kChannelOut:
      if (!data.empty() && session.io.out) session.io.out(data);
      return;
    case kChannelErr:
      if (!data.empty() && session.io.err) session.io.err(data);
      return;
    case kChannelEnd:
      if (!data.empty()) session.ended = exit_code_of(data);
      return;
    default:
      return;
  }
}

Awaitable<std::optional<Error>> shake_hands(Session& session, const std::string& path,
                                            const Identity& identity) {
  HttpClient::Core& core = session.core;
  Result<Done> dialled = co_await core.dial(session.socket.next_layer());
  if (!dialled.ok()) co_return dialled.error();
  session.socket.next_layer().expires_never();
  websocket::stream_base::timeout limits{std::chrono::seconds(30), std::chrono::seconds(60), true};
  session.socket.set_option(limits);
  session.socket.set_option(websocket::stream_base::decorator([&](websocket::request_type& request) {
    core.tell_headers({"GET", path, {}, ""}, identity, [&](std::string_view name, std::string_view value) {
      request.insert({name.data(), name.size()}, {value.data(), value.size()});
    });
    request.set(http::field::sec_websocket_protocol, "v5.channel.k8s.io, v4.channel.k8s.io");
  }));
  session.socket.binary(true);
  websocket::response_type answer;
  std::string target = core.server.path + path;
  auto [failed] = co_await session.socket.async_handshake(answer, core.host_header(), target, kTuple);
  if (failed == websocket::error::upgrade_declined) {
    co_return error_of(static_cast<int>(answer.result_int()), answer.body(), false);
  }
  if (failed) co_return core.unreachable(told(failed, core.options));
  session.half_closes = answer[http::field::sec_websocket_protocol] == "v5.channel.k8s.io";
  co_return std::nullopt;
}

// Reads our input and hands it on, until its end or until `stop` is written to.
void read_input(const SessionPtr& session, int stop) {
  std::vector<char> piece(kPieceBytes);
  while (true) {
    session->room.acquire();
    pollfd waits[] = {{session->io.in, POLLIN, 0}, {stop, POLLIN, 0}};
    if (poll(waits, 2, -1) < 0 && errno != EINTR) return;
    if (waits[1].revents != 0) return;
    ssize_t got = read(session->io.in, piece.data(), piece.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) {
      session->room.release();
      continue;
    }
    std::string message(1, kChannelIn);
    if (got > 0) {
      message.append(piece.data(), static_cast<size_t>(got));
    } else {
      message = {kChannelClose, kChannelIn};
    }
    bool ends = got <= 0;
    asio::post(session->socket.get_executor(), [session, ends, message = std::move(message)]() mutable {
      if (!ends || session->half_closes) post_message(session, std::move(message));
    });
    if (ends) return;
  }
}

Awaitable<Result<int>> follow(SessionPtr session, std::string path, Identity identity,
                              std::function<void()> on_open) {
  std::optional<Error> refused = co_await shake_hands(*session, path, identity);
  if (refused) co_return *refused;
  if (session->io.size) {
    post_message(session, fmt::format("{}{{\"Width\":{},\"Height\":{}}}", kChannelSize,
                                      session->io.size->first, session->io.size->second));
  }
  on_open();
  beast::flat_buffer buffer;
  while (!session->ended) {
    auto [failed, got] = co_await session->socket.async_read(buffer, kTuple);
    if (failed) {
      co_return Error{ErrorKind::kUnknown,
                      fmt::format("the command may still run: {}", told(failed, session->core.options))};
    }
    std::string message = beast::buffers_to_string(buffer.data());
    buffer.consume(buffer.size());
    take_message(*session, message);
  }
  Result<int> ended = *session->ended;
  session->socket.next_layer().close();
  co_return ended;
}

}  // namespace

Result<int> HttpClient::exec(const std::string& path, ExecIo io) {
  Result<Identity> identity = core_->credentials.current();
  if (!identity.ok()) return identity.error();
  Result<std::shared_ptr<Contexts>> contexts = core_->contexts_for(*identity);
  if (!contexts.ok()) return contexts.error();
  bool has_input = io.in >= 0;
  auto session = std::make_shared<Session>(*core_, *contexts, std::move(io));
  Fd stop(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  std::thread input;
  auto on_open = [&] {
    if (has_input) input = std::thread([session, fd = stop.get()] { read_input(session, fd); });
  };
  auto ended = wait_for<Result<int>>(core_->io, [&] { return follow(session, path, *identity, on_open); });
  if (input.joinable()) {
    uint64_t one = 1;
    ssize_t written = write(stop.get(), &one, sizeof one);
    CHECK(written == sizeof one);
    session->room.release();
    input.join();
  }
  return ended;
}

}  // namespace trainyard::client
