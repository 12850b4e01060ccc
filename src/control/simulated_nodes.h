// SimulatedNodes: plays the kubelets of the nodes that are declared as simulated, as
// simulated_plan.h decides, and clears away the pods of nodes that are gone, once they have been
// for kQuarantine: a node may come after its pods. Steps (steps.h); driven by a loop.
//
// What must be remembered is on the objects: one that starts anew goes on. It costs
// nothing while no simulated node and no pod on one changes.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "client/cache.h"
#include "client/watcher.h"
#include "control/queue.h"
#include "control/simulated_plan.h"
#include "control/steps.h"

namespace trainyard::control {

// As long as Kubernetes waits.
inline constexpr Duration kQuarantine{40'000};

class SimulatedNodes final : public Steps {
 public:
  // Pods of the node named `own` are left alone, whatever becomes of that node.
  SimulatedNodes(client::Client& client, std::string own);

  std::vector<StreamRequest> requests(Time now) override;
  void on_list(int stream, const Result<client::Reply>& reply, Time now) override;
  void on_event(int stream, const client::WatchEvent& event, Time now) override;
  void on_closed(int stream, const std::optional<Error>& error, Time now) override;
  bool step(Time now) override;
  std::optional<Time> next_wake() const override;

 private:
  enum Stream { kNodeStream, kPodStream };

  void take_in(int stream, const std::vector<client::Output>& outputs, Time now);
  void wake_pods_of(std::string_view node, Time now);
  bool synced() const { return caches_[kNodeStream].synced() && caches_[kPodStream].synced(); }
  // What to send for this object; nullopt: nothing. Asks the server whether a node is gone.
  std::optional<kube::Request> look_at(const client::ObjectKey& key, Time now);
  std::optional<kube::Request> look_at_pod(const client::Object& pod, Time now);
  // Since when; nullopt: it is there.
  std::optional<Time> gone_since(std::string_view node, Time now);

  // Fixed.
  client::Client& client_;
  std::string own_;
  // State; all of it can be lost.
  std::vector<client::Watcher> watchers_;
  std::vector<client::Cache> caches_;
  std::map<std::string, Time, std::less<>> gone_;  // nodes that pods name and that are not there
  Queue<client::ObjectKey> queue_;                 // a node has the namespace ""
};

}  // namespace trainyard::control
