// What hangs below an object and is not the pod's own business: status, resize, scale, binding,
// eviction, finalize, a service account's token. Thread-safe.
#pragma once

#include "server/objects.h"
#include "server/tokens.h"

namespace trainyard::server {

class Subresources {
 public:
  Subresources(Objects& objects, const Tokens& tokens) : objects_(objects), tokens_(tokens) {}

  // False: there is no such subresource, or somebody else answers for it.
  bool handle(const CallRef& call);

 private:
  void scale(const CallRef& call);
  void write_scale(const CallRef& call, json::object scale);
  void bind(const CallRef& call, const json::object& binding);
  void evict(const CallRef& call);
  void finalize(const CallRef& call);
  void issue_token(const CallRef& call);

  Objects& objects_;
  const Tokens& tokens_;
};

// A patch of the Scale itself; kInvalid as patches are.
Result<json::object> patched_scale(const json::object& scale, kube::PatchKind kind, const json::value& patch);

}  // namespace trainyard::server
