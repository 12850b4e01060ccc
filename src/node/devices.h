// DeviceLedger: which GPUs of this machine belong to which pod's containers. Pure value
// with a text form; the node keeps it on disk, so that a restart gives nothing twice.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace trainyard::node {

class DeviceLedger {
 public:
  // The same as before when it has some already; the lowest that are free otherwise.
  // nullopt when there are not enough.
  std::optional<std::vector<int>> assign(const std::string& pod_uid, const std::string& container, int count,
                                         const std::vector<int>& all);
  void release(const std::string& pod_uid);
  int used() const;

  std::string to_text() const;
  static Result<DeviceLedger> from_text(std::string_view text);
  bool operator==(const DeviceLedger&) const = default;

 private:
  std::map<std::pair<std::string, std::string>, std::vector<int>> assigned_;  // pod's uid, container
};

}  // namespace trainyard::node
