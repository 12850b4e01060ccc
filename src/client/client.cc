#include "client/client.h"

#include "base/match.h"

namespace trainyard::client {

namespace {

Result<Object> one(Client& client, const kube::Resource& resource, std::string_view ns, kube::Verb verb) {
  Result<Reply> reply = client.send({resource, std::string(ns), std::move(verb)});
  if (!reply.ok()) return reply.error();
  if (reply->object == nullptr) return Error{ErrorKind::kUnknown, "the server answered without an object"};
  return reply->object;
}

}  // namespace

std::vector<Result<Reply>> Client::send_all(std::vector<kube::Request> requests) {
  std::vector<Result<Reply>> replies;
  replies.reserve(requests.size());
  for (kube::Request& request : requests) replies.push_back(send(std::move(request)));
  return replies;
}

Result<Object> get(Client& client, const kube::Resource& resource, std::string_view ns,
                   std::string_view name) {
  return one(client, resource, ns, kube::Get{std::string(name)});
}

Result<Object> create(Client& client, const kube::Resource& resource, std::string_view ns,
                      json::object body) {
  return one(client, resource, ns, kube::Create{std::move(body)});
}

Result<Object> update(Client& client, const kube::Resource& resource, std::string_view ns,
                      json::object body) {
  return one(client, resource, ns, kube::Update{std::move(body)});
}

Result<Object> update_status(Client& client, const kube::Resource& resource, std::string_view ns,
                             json::object body) {
  return one(client, resource, ns, kube::UpdateStatus{std::move(body)});
}

Result<Object> patch(Client& client, const kube::Resource& resource, std::string_view ns, kube::Patch patch) {
  return one(client, resource, ns, std::move(patch));
}

Result<Done> remove(Client& client, const kube::Resource& resource, std::string_view ns,
                    std::string_view name, kube::DeleteOptions options) {
  Result<Reply> reply =
      client.send({resource, std::string(ns), kube::Delete{std::string(name), std::move(options)}});
  if (!reply.ok()) return reply.error();
  return Done{};
}

Result<Reply> list(Client& client, const kube::Resource& resource, std::string_view ns, kube::List query) {
  return client.send({resource, std::string(ns), std::move(query)});
}

bool is_write(const kube::Request& request) {
  return std::visit(Match{
                        [](const kube::Get&) { return false; },
                        [](const kube::List&) { return false; },
                        [](const kube::Watch&) { return false; },
                        [](const kube::Create&) { return true; },
                        [](const kube::Update&) { return true; },
                        [](const kube::UpdateStatus&) { return true; },
                        [](const kube::Patch&) { return true; },
                        [](const kube::Delete&) { return true; },
                        [](const kube::DeleteCollection&) { return true; },
                    },
                    request.verb);
}

}  // namespace trainyard::client
