#include "node/devices.h"

#include <algorithm>
#include <set>

#include "kube/access.h"
#include "kube/json.h"

namespace trainyard::node {

std::optional<std::vector<int>> DeviceLedger::assign(const std::string& pod_uid, const std::string& container,
                                                     int count, const std::vector<int>& all) {
  if (count <= 0) return std::vector<int>{};
  auto found = assigned_.find({pod_uid, container});
  if (found != assigned_.end()) return found->second;
  std::set<int> taken;
  for (const auto& [owner, devices] : assigned_) taken.insert(devices.begin(), devices.end());
  std::vector<int> free;
  for (int device : all) {
    if (!taken.contains(device)) free.push_back(device);
  }
  std::sort(free.begin(), free.end());
  if (free.size() < static_cast<size_t>(count)) return std::nullopt;
  free.resize(static_cast<size_t>(count));
  assigned_[{pod_uid, container}] = free;
  return free;
}

void DeviceLedger::release(const std::string& pod_uid) {
  std::erase_if(assigned_, [&](const auto& entry) { return entry.first.first == pod_uid; });
}

int DeviceLedger::used() const {
  int count = 0;
  for (const auto& [owner, devices] : assigned_) count += static_cast<int>(devices.size());
  return count;
}

std::string DeviceLedger::to_text() const {
  json::array out;
  for (const auto& [owner, devices] : assigned_) {
    out.push_back(json::object{{"pod", owner.first},
                               {"container", owner.second},
                               {"devices", json::array(devices.begin(), devices.end())}});
  }
  return json::serialize(out);
}

Result<DeviceLedger> DeviceLedger::from_text(std::string_view text) {
  boost::system::error_code error;
  json::value value = json::parse(kube::jview(text), error);
  if (error || !value.is_array()) return Error{ErrorKind::kInvalid, "devices: not a JSON array"};
  DeviceLedger ledger;
  for (const json::value& each : value.get_array()) {
    if (!each.is_object()) continue;
    const json::object& entry = each.get_object();
    std::vector<int> devices;
    if (const json::array* list = kube::array_at(entry, {"devices"})) {
      for (const json::value& device : *list)
        devices.push_back(static_cast<int>(kube::as_whole(device).value_or(0)));
    }
    ledger.assigned_[{std::string(kube::text_at(entry, {"pod"})),
                      std::string(kube::text_at(entry, {"container"}))}] = std::move(devices);
  }
  return ledger;
}

}  // namespace trainyard::node
