// Ports of replicas that share one machine without namespaces: every "host:port" of a
// TF_CONFIG stands for a port of its own on loopback, the same for all replicas that name
// it. Pure values; which ports are free is told.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace trainyard::node {

// Below the range that the kernel hands out by itself.
inline constexpr int kLocalPortMin = 20'000;
inline constexpr int kLocalPortMax = 29'999;

// Every "host:port" in the cluster of a TF_CONFIG, sorted, once each; dense or sparse form.
std::vector<std::string> addresses_in(std::string_view tf_config);
// The one that the task of this TF_CONFIG listens at; nullopt when it is not in the cluster.
std::optional<std::string> own_address(std::string_view tf_config);
// The text with every whole occurrence of an address replaced.
std::string replace_addresses(std::string_view text, const std::map<std::string, std::string>& local);
// The 2222 of "host:2222"; nullopt when there is none.
std::optional<int> port_of(std::string_view address);

// Who has which port. A port is kept while a pod uses its cluster (the set of addresses
// that one TF_CONFIG names); the same address is given the same port again when it is
// free, so restarts see what they saw before.
class LocalPorts {
 public:
  // The ports of these addresses, in order. kUnavailable when none is left.
  Result<std::vector<int>> claim(const std::vector<std::string>& addresses, const std::string& pod_uid,
                                 const std::function<bool(int)>& is_free);
  void release(const std::string& pod_uid);
  std::optional<int> find(const std::string& address) const;

  std::string to_text() const;
  static Result<LocalPorts> from_text(std::string_view text);
  bool operator==(const LocalPorts&) const = default;

 private:
  // The replicas of a job name the same addresses, so they share one of these.
  struct Cluster {
    std::vector<std::string> addresses;  // sorted
    std::set<std::string> users;         // uids of pods
    bool operator==(const Cluster&) const = default;
  };
  std::map<std::string, int> ports_;  // by address
  std::vector<Cluster> clusters_;
};

}  // namespace trainyard::node
