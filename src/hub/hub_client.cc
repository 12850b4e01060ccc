#include "hub/hub_client.h"

#include "client/in_process.h"
#include "kube/utf8.h"

namespace trainyard::hub {

namespace {

class Open final : public client::OpenWatch {
 public:
  explicit Open(std::unique_ptr<Subscription> subscription) : subscription_(std::move(subscription)) {}

 private:
  std::unique_ptr<Subscription> subscription_;
};

}  // namespace

Result<client::Reply> HubClient::send(kube::Request request) {
  if (std::holds_alternative<kube::Watch>(request.verb)) {
    return Error{ErrorKind::kInvalid, "a watch is opened, not sent"};
  }
  auto make_readable = [](auto& verb) {
    if constexpr (requires { verb.body; }) kube::make_utf8(verb.body);
  };
  std::visit(make_readable, request.verb);
  Result<Answer> answer = hub_.call(std::move(request));
  if (!answer.ok()) return answer.error();
  client::Reply reply;
  reply.object = std::move(answer.value().object);
  reply.items = std::move(answer.value().items);
  reply.revision = answer->revision;
  reply.continue_token = std::move(answer.value().continue_token);
  return reply;
}

std::unique_ptr<client::OpenWatch> HubWatches::open(const kube::Request& request, client::WatchSink sink) {
  const kube::Watch* query = std::get_if<kube::Watch>(&request.verb);
  CHECK(query != nullptr);
  auto on_closed = sink.on_closed;
  WatchSink inner;
  inner.on_events = [on_event = std::move(sink.on_event)](const std::vector<WatchEvent>& events) {
    for (const WatchEvent& event : events) on_event(client::to_watch_event(event));
  };
  inner.on_closed = std::move(sink.on_closed);
  Result<std::unique_ptr<Subscription>> subscription =
      hub_.watch(request.resource, request.ns, *query, std::move(inner));
  if (!subscription.ok()) {
    on_closed(subscription.error());
    return std::make_unique<Open>(nullptr);
  }
  if (sink.on_opened) sink.on_opened();
  return std::make_unique<Open>(std::move(subscription).value());
}

}  // namespace trainyard::hub
