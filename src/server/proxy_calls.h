// Plain HTTP to a pod or a service through the API: /pods/<name>/proxy/<path>. An answer is
// read whole and handed on. Thread-safe. A few threads of its own do the waiting, so a pod
// that is slow holds nobody else up; going away ends what is under way.
#pragma once

#include "server/objects.h"
#include "server/pod_access.h"
#include "server/work_threads.h"

namespace trainyard::server {

class ProxyCalls {
 public:
  ProxyCalls(Objects& objects, PodAccess* pods);
  ~ProxyCalls();
  ProxyCalls(const ProxyCalls&) = delete;
  ProxyCalls& operator=(const ProxyCalls&) = delete;

  // False: the call is not for a proxy.
  bool handle(const CallRef& call);

 private:
  void to_pod(const CallRef& call, const json::object& pod, std::string_view port);
  void to_service(const CallRef& call, const json::object& service, const std::string& port);
  void exchange(const CallRef& call, const PodRef& pod, int port);

  // Fixed.
  Objects& objects_;
  PodAccess* pods_;
  Fd stop_;  // readable once we go
  WorkThreads threads_;
};

}  // namespace trainyard::server
