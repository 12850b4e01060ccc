// Network devices of the kernel over its own socket (rtnetlink): made, wired, removed.
// Each LinkSocket speaks to the network namespace in which it was opened, whatever thread
// uses it later. Resource; one thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace trainyard::node {

class LinkSocket {
 public:
  // In the namespace of the calling thread.
  static Result<LinkSocket> open();

  // kNotFound when there is no such device.
  Result<int> index_of(const std::string& name);
  Result<Done> add_bridge(const std::string& name, uint64_t seed);
  // A pair of devices: `name` here, on the bridge and up; `peer` in the namespace of `peer_ns`.
  Result<Done> add_pair(const std::string& name, int bridge, const std::string& peer, int peer_ns);
  Result<Done> add_address(int device, uint32_t address, int bits);
  Result<Done> set_up(int device);
  Result<Done> add_default_route(uint32_t gateway);
  // Nothing to do when there is no such device.
  Result<Done> remove(const std::string& name);

 private:
  explicit LinkSocket(Fd fd) : fd_(std::move(fd)) {}
  Result<Done> ask(std::vector<char>& message, std::string_view doing);

  Fd fd_;
  uint32_t sequence_ = 0;
};

// Runs `work` in a network namespace, in a thread of its own, and waits for it.
// `ns` < 0: in the caller's.
Result<Done> in_network(int ns, const std::function<Result<Done>()>& work);

}  // namespace trainyard::node
