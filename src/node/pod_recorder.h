// PodRecorder: tells people what happens to pods and what they use, as Event objects like a
// kubelet's. The same words about the same object become one Event with a rising count. Best effort: what
// cannot be written is dropped. Resource; one thread.
#pragma once

#include <map>
#include <string>
#include <tuple>

#include "base/time.h"
#include "client/client.h"
#include "node/pod_machine.h"

namespace trainyard::node {

inline constexpr size_t kToldMax = 4096;
inline constexpr size_t kEventMessageMax = 1000;  // bytes; what is longer is told in part

class PodRecorder {
 public:
  explicit PodRecorder(std::string node_name) : node_name_(std::move(node_name)) {}
  void tell(client::Client& client, const json::object& pod, const PodEvent& event, Time now);
  void forget(const std::string& pod_uid);

 private:
  struct Told {
    std::string name;
    int count = 0;
  };
  std::string node_name_;
  uint64_t turns_ = 0;
  std::map<std::tuple<std::string, std::string, std::string>, Told> told_;  // uid, reason, message
};

}  // namespace trainyard::node
