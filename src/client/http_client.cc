#include "client/http_client.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <mutex>

#include "base/match.h"
#include "client/http_core.h"
#include "client/http_wire.h"
#include "client/watcher.h"

// g++ 12 takes the frames of inlined coroutines for memory of somebody else's.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
#endif

namespace trainyard::client {
namespace {

constexpr size_t kStreamPieceBytes = 16 * 1024;  // of a stream, at once
constexpr uint64_t kBodyMax = 512ULL * 1024 * 1024;
constexpr uint64_t kErrorBodyMax = 1024 * 1024;

std::string environment(const char* small, const char* large) {
  const char* value = std::getenv(small);
  if (value == nullptr) value = std::getenv(large);
  return value == nullptr ? "" : value;
}

// An answer, and whether the request may be sent again.
struct Exchange {
  Result<RawReply> reply;
  std::optional<Duration> retry_after;
  bool stale = false;  // the kept connection had been closed: nothing came back
};

Error lost(const HttpClient::Core& core, const RawRequest& request, const error_code& failed) {
  bool writes = request.method != "GET";
  return {writes ? ErrorKind::kUnknown : ErrorKind::kUnavailable,
          fmt::format("{} ({}): {} {}: {}", core.access.server, core.access.where, request.method,
                      request.path, told(failed, core.options))};
}

bool is_held_back(const HttpOptions& options, const RawRequest& raw) {
  return raw.method != "GET" && options.may_write && !options.may_write(raw.resource);
}

Awaitable<Exchange> talk(HttpClient::Core& core, std::unique_ptr<Link> link, bool kept, const RawRequest& raw,
                         const Identity& identity) {
  if (is_held_back(core.options, raw)) {
    core.give_back(std::move(link));
    co_return Exchange{Error{ErrorKind::kUnavailable, "the right to write is lost: nothing is written"},
                       std::nullopt};
  }
  link->expires_after(core.options.request_timeout);
  error_code unsent = co_await link->write(core.text_of(raw, identity));
  if (unsent) {
    co_return Exchange{lost(core, raw, unsent), std::nullopt, kept && unsent != beast::error::timeout};
  }
  http::response_parser<http::string_body> parser;
  parser.body_limit(kBodyMax);
  parser.eager(true);
  error_code unheard = co_await read_whole(*link, parser);
  if (unheard) {
    bool nothing_came = !parser.got_some() && unheard != beast::error::timeout;
    co_return Exchange{lost(core, raw, unheard), std::nullopt, kept && nothing_came};
  }
  http::response<http::string_body>& response = parser.get();
  std::string wait(response[http::field::retry_after]);
  RawReply reply{static_cast<int>(response.result_int()), std::string(response[http::field::content_type]),
                 std::move(response.body())};
  if (parser.keep_alive() && link->buffer().size() == 0) core.give_back(std::move(link));
  co_return Exchange{std::move(reply), retry_after_of(wait), false};
}

void tell_answer(const HttpClient::Core& core, const RawRequest& raw, int status,
                 std::chrono::steady_clock::time_point begun) {
  if (!core.options.on_answer) return;
  auto took = std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now() - begun);
  core.options.on_answer(raw.verb, raw.resource, status, took);
}

Awaitable<Exchange> exchange_on_a_link(HttpClient::Core& core, const RawRequest& raw,
                                       const Identity& identity, std::shared_ptr<Contexts> contexts) {
  if (std::unique_ptr<Link> kept = core.take_idle(contexts)) {
    Exchange done = co_await talk(core, std::move(kept), true, raw, identity);
    if (!done.stale || raw.method != "GET") co_return done;
  }
  auto link = std::make_unique<Link>(core.io, contexts, core.server.tls);
  Result<Done> dialled = co_await core.dial(*link);
  if (!dialled.ok()) co_return Exchange{dialled.error(), std::nullopt, false};
  co_return co_await talk(core, std::move(link), false, raw, identity);
}

Awaitable<Exchange> exchange(HttpClient::Core& core, const RawRequest& raw, const Identity& identity,
                             std::shared_ptr<Contexts> contexts) {
  co_await core.gate.enter();
  auto begun = std::chrono::steady_clock::now();
  Exchange done = co_await exchange_on_a_link(core, raw, identity, std::move(contexts));
  core.gate.leave();
  tell_answer(core, raw, done.reply.ok() ? done.reply->status : 0, begun);
  co_return done;
}

// What an open stream and whoever holds it share.
struct Flow {
  std::function<bool(std::string_view)> on_bytes;  // false: enough
  std::function<void(const std::optional<Error>&)> on_closed;
  std::function<void()> on_opened;  // may be empty
  RawRequest request;
  std::optional<Duration> silence_max;
  // Held during calls, so that dropping waits for one; a call may drop its own handle.
  std::recursive_mutex calls;
  bool dropped = false;
  Link* link = nullptr;  // on the I/O thread
  bool enough = false;

  void begin() {
    std::scoped_lock lock(calls);
    if (!dropped && on_opened) on_opened();
  }
  bool tell(std::string_view bytes) {
    std::scoped_lock lock(calls);
    if (!dropped && !enough) enough = !on_bytes(bytes);
    return !dropped && !enough;
  }
  void end(const std::optional<Error>& error) {
    std::scoped_lock lock(calls);
    if (!dropped && !enough) on_closed(error);
  }
  bool over() {
    std::scoped_lock lock(calls);
    return dropped;
  }
};

class StreamHandle final : public OpenWatch {
 public:
  StreamHandle(HttpClient::Core& core, std::shared_ptr<Flow> stream)
      : core_(core), stream_(std::move(stream)) {}
  StreamHandle(const StreamHandle&) = delete;
  StreamHandle& operator=(const StreamHandle&) = delete;
  ~StreamHandle() override {
    {
      std::scoped_lock lock(stream_->calls);
      stream_->dropped = true;
    }
    asio::post(core_.io, [stream = stream_] {
      if (stream->link != nullptr) stream->link->close();
    });
  }

 private:
  HttpClient::Core& core_;
  std::shared_ptr<Flow> stream_;
};

using HeadParser = http::response_parser<http::buffer_body>;

// The body, piece by piece as it comes. nullopt: its end, or that it has been silent for too long.
Awaitable<std::optional<Error>> pump(HttpClient::Core& core, Link& link, HeadParser& parser, Flow& stream) {
  std::vector<char> piece(kStreamPieceBytes);
  link.expires_never();
  while (!parser.is_done()) {
    parser.get().body().data = piece.data();
    parser.get().body().size = piece.size();
    if (stream.silence_max) link.expires_after(*stream.silence_max);
    error_code failed = co_await read_some(link, parser);
    size_t filled = piece.size() - parser.get().body().size;
    if (filled > 0 && !stream.tell({piece.data(), filled})) co_return std::nullopt;
    if (failed == beast::error::timeout) co_return std::nullopt;
    if (failed && failed != http::error::need_buffer) co_return lost(core, stream.request, failed);
  }
  co_return std::nullopt;
}

// How long a busy server wants to be left alone, as far as we wait for it.
std::optional<Duration> pause_wanted(const HttpOptions& options, int status,
                                     std::optional<Duration> retry_after) {
  const bool is_busy = status == 429 || status == 503;
  return is_busy && retry_after && *retry_after <= options.retry_after_max ? retry_after : std::nullopt;
}

// What the server says instead of a stream; told no sooner than it wants to hear of us again.
Awaitable<std::optional<Error>> refusal(HttpClient::Core& core, Link& link, HeadParser& parser) {
  const auto status = static_cast<int>(parser.get().result_int());
  http::response_parser<http::string_body> whole(std::move(parser));
  whole.body_limit(kErrorBodyMax);
  co_await read_whole(link, whole);  // what has come of it is told, whatever ended it
  if (status == 401) core.credentials.refused();
  const std::string wait(whole.get()[http::field::retry_after]);
  if (std::optional<Duration> pause = pause_wanted(core.options, status, retry_after_of(wait))) {
    co_await sleep_for(core.io, *pause);
  }
  co_return error_of(status, whole.get().body(), false);
}

Awaitable<std::optional<Error>> converse(HttpClient::Core& core, Link& link, Flow& stream,
                                         const Identity& identity) {
  auto begun = std::chrono::steady_clock::now();
  Result<Done> dialled = co_await core.dial(link);
  if (!dialled.ok()) co_return dialled.error();
  link.expires_after(core.options.request_timeout);
  error_code unsent = co_await link.write(core.text_of(stream.request, identity));
  if (unsent) co_return lost(core, stream.request, unsent);
  HeadParser parser;
  parser.body_limit(boost::none);
  error_code unheard = co_await read_some(link, parser);  // its head, whole
  tell_answer(core, stream.request, unheard ? 0 : static_cast<int>(parser.get().result_int()), begun);
  if (unheard) co_return lost(core, stream.request, unheard);
  if (parser.get().result_int() != 200) co_return co_await refusal(core, link, parser);
  stream.begin();
  co_return co_await pump(core, link, parser, stream);
}

Awaitable<void> run_stream(HttpClient::Core& core, std::shared_ptr<Flow> stream) {
  Result<Identity> identity = co_await core.identify();
  if (!identity.ok()) {
    stream->end(identity.error());
    co_return;
  }
  Result<std::shared_ptr<Contexts>> contexts = core.contexts_for(*identity);
  if (!contexts.ok()) {
    stream->end(contexts.error());
    co_return;
  }
  if (stream->over()) co_return;
  Link link(core.io, *contexts, core.server.tls);
  stream->link = &link;
  std::optional<Error> error = co_await converse(core, link, *stream, *identity);
  stream->link = nullptr;
  stream->end(error);
}

std::unique_ptr<OpenWatch> start(HttpClient::Core& core, std::shared_ptr<Flow> stream) {
  asio::co_spawn(core.io, run_stream(core, stream), asio::detached);
  return std::make_unique<StreamHandle>(core, std::move(stream));
}

}  // namespace

Result<std::unique_ptr<HttpClient>> HttpClient::make(Access access, HttpOptions options) {
  Result<Endpoint> server = read_url(access.server);
  if (!server.ok()) return server.error();
  std::string proxy_url = proxy_for(
      access,
      server->tls ? environment("https_proxy", "HTTPS_PROXY") : environment("http_proxy", "HTTP_PROXY"),
      environment("no_proxy", "NO_PROXY"));
  std::optional<Endpoint> proxy;
  if (!proxy_url.empty()) {
    Result<Endpoint> read = read_proxy_url(proxy_url);
    if (!read.ok()) {
      return Error{ErrorKind::kInvalid, fmt::format("{}: {}", access.where, read.error().message)};
    }
    proxy = *read;
  }
  auto core = std::make_unique<Core>(std::move(access), std::move(options), *server, proxy);
  if (Result<std::string> ca = core->credentials.authorities(); !ca.ok()) return ca.error();
  return std::unique_ptr<HttpClient>(new HttpClient(std::move(core)));
}

HttpClient::HttpClient(std::unique_ptr<Core> core) : core_(std::move(core)) {}
HttpClient::~HttpClient() = default;

const Access& HttpClient::access() const { return core_->access; }

Result<RawReply> HttpClient::fetch(const RawRequest& request) {
  bool asked_anew = false;
  for (int tries = 0;; ++tries) {
    Result<Identity> identity = core_->credentials.current();
    if (!identity.ok()) return identity.error();
    Result<std::shared_ptr<Contexts>> contexts = core_->contexts_for(*identity);
    if (!contexts.ok()) return contexts.error();
    Exchange done =
        wait_for<Exchange>(core_->io, [&] { return exchange(*core_, request, *identity, *contexts); });
    if (!done.reply.ok()) return done.reply;
    int status = done.reply->status;
    if (status == 401 && !asked_anew) {
      asked_anew = true;
      core_->credentials.refused();
      continue;
    }
    std::optional<Duration> pause = pause_wanted(core_->options, status, done.retry_after);
    if (!pause || tries >= core_->options.retries_max) return done.reply;
    std::this_thread::sleep_for(*pause);
  }
}

namespace {

std::string_view verb_of(const kube::Request& request) {
  return std::visit(Match{
                        [](const kube::Get&) { return "get"; },
                        [](const kube::List&) { return "list"; },
                        [](const kube::Watch&) { return "watch"; },
                        [](const kube::Create&) { return "create"; },
                        [](const kube::Update&) { return "update"; },
                        [](const kube::UpdateStatus&) { return "update"; },
                        [](const kube::Patch&) { return "patch"; },
                        [](const kube::Delete&) { return "delete"; },
                        [](const kube::DeleteCollection&) { return "deletecollection"; },
                    },
                    request.verb);
}

RawRequest raw_of(const kube::Request& request) {
  RawRequest raw;
  raw.verb = verb_of(request);
  raw.resource = request.resource.plural;
  raw.method = kube::method_of(request);
  raw.path = kube::path_of(request);
  raw.body = kube::body_of(request);
  std::string_view type = kube::content_type_of(request);
  if (!type.empty()) raw.headers.emplace_back("Content-Type", type);
  return raw;
}

Result<Reply> ask(HttpClient& client, const kube::Request& request) {
  Result<RawReply> raw = client.fetch(raw_of(request));
  if (!raw.ok()) return raw.error();
  return reply_of(request, raw->status, raw->body);
}

// All of a list, page by page. When the pages have grown too old for the server, once more
// in one piece.
Result<Reply> ask_in_pages(HttpClient& client, kube::Request request) {
  auto& query = std::get<kube::List>(request.verb);
  query.limit = kListPageMax;
  Reply all;
  while (true) {
    Result<Reply> page = ask(client, request);
    if (!page.ok() && page.error().kind == ErrorKind::kGone && !query.continue_token.empty()) {
      query.limit = 0;
      query.continue_token.clear();
      return ask(client, request);
    }
    if (!page.ok()) return page;
    if (query.continue_token.empty()) all.revision = page->revision;
    all.items.insert(all.items.end(), page->items.begin(), page->items.end());
    if (page->continue_token.empty()) return all;
    query.continue_token = page->continue_token;
  }
}

}  // namespace

Result<Reply> HttpClient::send(kube::Request request) {
  if (std::holds_alternative<kube::Watch>(request.verb)) {
    return Error{ErrorKind::kInvalid, "a watch over HTTP is opened, not sent"};
  }
  const auto* list = std::get_if<kube::List>(&request.verb);
  if (list != nullptr && list->limit == 0 && list->continue_token.empty()) {
    return ask_in_pages(*this, std::move(request));
  }
  return ask(*this, request);
}

int HttpClient::parallel_max() const { return core_->options.requests_max; }

std::vector<Result<Reply>> HttpClient::send_all(std::vector<kube::Request> requests) {
  if (requests.size() == 1) return {send(std::move(requests.front()))};
  std::vector<Result<Reply>> replies;
  replies.reserve(requests.size());
  Result<Identity> identity = core_->credentials.current();
  Result<std::shared_ptr<Contexts>> contexts =
      identity.ok() ? core_->contexts_for(*identity) : Result<std::shared_ptr<Contexts>>(identity.error());
  if (!contexts.ok()) {
    replies.assign(requests.size(), Result<Reply>(contexts.error()));
    return replies;
  }
  std::vector<RawRequest> raw;
  for (const kube::Request& request : requests) raw.push_back(raw_of(request));
  std::vector<std::optional<Exchange>> ended = wait_for_all<Exchange>(
      core_->io, raw.size(), [&](size_t i) { return exchange(*core_, raw[i], *identity, *contexts); });
  // What must be sent once more goes alone: send() knows when.
  std::vector<size_t> again;
  std::optional<Duration> pause;
  for (size_t i = 0; i < requests.size(); ++i) {
    const Exchange& done = *ended[i];
    int status = done.reply.ok() ? done.reply->status : 0;
    std::optional<Duration> later = pause_wanted(core_->options, status, done.retry_after);
    if (later) pause = std::max(pause.value_or(Duration{0}), *later);
    if (later || status == 401) again.push_back(i);
    replies.push_back(done.reply.ok() ? reply_of(requests[i], status, done.reply->body)
                                      : Result<Reply>(done.reply.error()));
  }
  if (pause) std::this_thread::sleep_for(*pause);
  for (size_t i : again) replies[i] = send(std::move(requests[i]));
  return replies;
}

std::unique_ptr<OpenWatch> HttpClient::open(const kube::Request& request, WatchSink sink) {
  CHECK(std::holds_alternative<kube::Watch>(request.verb));
  auto stream = std::make_shared<Flow>();
  auto lines = std::make_shared<LineSplitter>();
  auto shared_sink = std::make_shared<WatchSink>(std::move(sink));
  stream->request = raw_of(request);
  stream->silence_max = core_->options.silence_max;
  stream->on_bytes = [lines, shared_sink, heed = request.heed](std::string_view bytes) {
    return lines->feed(bytes, [&](std::string_view line) {
      if (line.empty()) return true;
      Result<WatchEvent> event = event_of(line, heed);
      if (!event.ok()) {
        shared_sink->on_closed(event.error());
        return false;
      }
      shared_sink->on_event(std::move(event).value());
      return true;
    });
  };
  stream->on_closed = [shared_sink](const std::optional<Error>& error) { shared_sink->on_closed(error); };
  stream->on_opened = shared_sink->on_opened;
  return start(*core_, std::move(stream));
}

std::unique_ptr<OpenWatch> HttpClient::open_stream(const std::string& path, ByteSink sink) {
  auto stream = std::make_shared<Flow>();
  stream->request.path = path;
  stream->request.headers.emplace_back("Accept", "*/*");
  stream->on_bytes = [tell = std::move(sink.on_bytes)](std::string_view bytes) {
    tell(bytes);
    return true;
  };
  stream->on_closed = std::move(sink.on_closed);
  return start(*core_, std::move(stream));
}

Result<std::string> HttpClient::read(const std::string& path) {
  Result<RawReply> raw = fetch({"GET", path, {{"Accept", "*/*"}}, ""});
  if (!raw.ok()) return raw.error();
  if (raw->status != 200) return error_of(raw->status, raw->body, false);
  return raw->body;
}

}  // namespace trainyard::client
