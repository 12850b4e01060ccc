// Network: the private network of a plane's pods: a bridge with an address of its own, and
// for each pod a pair of devices and an address that no other pod has. Resource; thread-safe, where
// no two calls for the same pod meet.
//
// Who has which address is on disk (one file per address, named after it, holding the pod's
// uid), so a plane that comes back knows it. What an earlier life left half made is removed
// when the network is opened. Pods reach one another and this machine; they reach the
// outside only with `masquerade`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "node/network_link.h"
#include "node/network_plan.h"

namespace trainyard::node {

struct NetworkOptions {
  std::string plane;             // 8 hexadecimal digits
  std::filesystem::path folder;  // its own
  bool masquerade = false;
  std::filesystem::path home;  // the network namespace the bridge lives in; "" for the caller's
};

class Network {
 public:
  static Result<std::unique_ptr<Network>> open(NetworkOptions options);
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  const Subnet& subnet() const { return subnet_; }
  std::string bridge() const { return bridge_name(options_.plane); }
  std::vector<std::string> pods() const;
  std::optional<std::string> address_of(const std::string& pod_uid) const;

  // Wires the pod's network namespace. Idempotent. Its address.
  Result<std::string> attach(const std::string& pod_uid, const std::filesystem::path& network_ns);
  // Idempotent.
  Result<Done> detach(const std::string& pod_uid);
  // Takes the bridge away. REQUIRES: no pod is attached.
  Result<Done> close();

 private:
  Network(NetworkOptions options, Fd home, LinkSocket links);
  Result<Done> begin();
  Result<Done> load();
  Result<Done> choose_subnet();
  Result<Done> make_bridge();
  void remove_leftovers();
  struct Reserved {
    uint32_t address = 0;
    bool is_new = false;
  };
  Result<Reserved> reserve(const std::string& pod_uid);
  Result<Done> add_pair(uint32_t address, int pod_ns);
  Result<Done> wire(uint32_t address, int pod_ns);
  // The rules for the outside and for machines whose packet filter looks at bridges.
  std::vector<std::vector<std::string>> filter_rules() const;
  Result<Done> apply_filter();
  void drop_filter();
  std::filesystem::path address_file(uint32_t address) const;

  // Fixed.
  NetworkOptions options_;
  Fd home_;
  LinkSocket links_;
  Subnet subnet_;
  int bridge_index_ = 0;
  // State, guarded by mutex_, as is the use of links_.
  mutable std::mutex mutex_;
  std::map<std::string, uint32_t> addresses_;  // by pod uid
  uint32_t last_ = 0;
};

}  // namespace trainyard::node
