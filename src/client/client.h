// Client: the port through which everything above talks to a Kubernetes API: a store in this process, a
// server over HTTP, a simulated network. Calls are synchronous. HubClient and HttpClient take calls of any
// number of threads at once, and the node relies on it; every other body is used by one thread at a time.
//
// The kind of an error tells what is known: kUnavailable means that nothing was done,
// kUnknown that it may or may not have been done.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kube/json.h"
#include "kube/meta.h"
#include "kube/request.h"

namespace trainyard::client {

// A document that nobody changes any more.
using Object = std::shared_ptr<const json::object>;

enum class EventKind { kAdded, kModified, kDeleted, kBookmark };

// What a watch tells: of a deletion the object as it was last, of a bookmark an object
// with nothing but its resourceVersion.
struct WatchEvent {
  EventKind kind = EventKind::kAdded;
  Object object;
};

struct Reply {
  Object object;              // of get, create, update, patch; of delete where the server gives it
  std::vector<Object> items;  // of list; of deletecollection where the server gives them
  int64_t revision = 0;       // of list
  std::string continue_token;
  std::vector<WatchEvent> events;  // of a watch that is polled: what has happened so far
};

class Client {
 public:
  virtual ~Client() = default;
  // Takes the request over: a store in this process keeps the very document that it is given.
  virtual Result<Reply> send(kube::Request request) = 0;
  // Requests that do not depend on one another: one answer each, in their order. A body that
  // sends several at once says how many; the others send one after the other.
  virtual std::vector<Result<Reply>> send_all(std::vector<kube::Request> requests);
  virtual int parallel_max() const { return 1; }
};

// The calls by name. An object written or read is never null.
Result<Object> get(Client& client, const kube::Resource& resource, std::string_view ns,
                   std::string_view name);
Result<Object> create(Client& client, const kube::Resource& resource, std::string_view ns, json::object body);
Result<Object> update(Client& client, const kube::Resource& resource, std::string_view ns, json::object body);
Result<Object> update_status(Client& client, const kube::Resource& resource, std::string_view ns,
                             json::object body);
Result<Object> patch(Client& client, const kube::Resource& resource, std::string_view ns, kube::Patch patch);
// Nothing is told about the object: some servers answer with a status alone.
Result<Done> remove(Client& client, const kube::Resource& resource, std::string_view ns,
                    std::string_view name, kube::DeleteOptions options);
Result<Reply> list(Client& client, const kube::Resource& resource, std::string_view ns,
                   kube::List query = {});

// Whether a request changes anything at the server.
bool is_write(const kube::Request& request);

}  // namespace trainyard::client
