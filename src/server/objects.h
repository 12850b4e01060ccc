// The verbs on objects that the hub keeps: get, list, watch, create, update, patch, delete,
// deletecollection. Each understands one call, asks the hub and answers in the form that
// the client wants. Thread-safe.
#pragma once

#include <functional>

#include "hub/hub.h"
#include "server/call.h"
#include "server/line_cache.h"

namespace trainyard::server {

class Objects {
 public:
  using Then = std::function<void(const CallRef& call, hub::Answer& answer)>;

  // `run`: where answers are made that may take long. `lines`: what watches share.
  Objects(hub::Hub& hub, Registry& registry, LineCache& lines, std::function<Time()> clock, Run run)
      : hub_(hub), registry_(registry), lines_(lines), clock_(std::move(clock)), run_(std::move(run)) {}

  // What the method and path of a call without a subresource ask for.
  void handle(const CallRef& call);
  // GET, PUT and PATCH of a part of an object that is a subresource: its status, its resources.
  void handle_part(const CallRef& call, kube::Part part);

  // Asks the hub; an error is answered, anything else is given to `then`.
  void ask(const CallRef& call, kube::Verb verb, kube::WriteOptions options, Then then);
  // The object in the call's path.
  void get(const CallRef& call, Then then);
  // All objects of a kind in the call's namespace.
  void list_of(const CallRef& call, const kube::Resource& resource, Then then);

 private:
  void read_one(const CallRef& call);
  void list(const CallRef& call);
  void watch(const CallRef& call);
  void create(const CallRef& call);
  void update(const CallRef& call, kube::Part part);
  void patch(const CallRef& call, kube::Part part);
  void send_patch(const CallRef& call, kube::Patch verb, kube::WriteOptions options);
  void remove(const CallRef& call);
  void remove_collection(const CallRef& call);

  hub::Hub& hub_;
  Registry& registry_;
  LineCache& lines_;
  std::function<Time()> clock_;
  Run run_;
};

// "get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"; "" for
// a method that the API does not have.
std::string_view verb_of(const HttpRequest& request, const ResourcePath& path, const Query& query);

}  // namespace trainyard::server
