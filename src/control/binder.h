// Binder: the small scheduler of the embedded plane: gives pods to nodes as placement.h
// decides and tells those that wait why. Steps (steps.h); driven by a loop.
//
// A pod that waits gets the condition PodScheduled=False with the reason, written once per
// change of words (not of amounts), so a backlog costs nothing. Volcano's groups are let in (Inqueue) as they
// come: pods of a group are placed one by one here.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "client/cache.h"
#include "client/watcher.h"
#include "control/placement.h"
#include "control/recorder.h"
#include "control/steps.h"

namespace trainyard::control {

class Binder final : public Steps {
 public:
  Binder(client::Client& client, PlacementOptions options);

  std::vector<StreamRequest> requests(Time now) override;
  void on_list(int stream, const Result<client::Reply>& reply, Time now) override;
  void on_event(int stream, const client::WatchEvent& event, Time now) override;
  void on_closed(int stream, const std::optional<Error>& error, Time now) override;
  bool step(Time now) override;
  std::optional<Time> next_wake() const override;

 private:
  enum Stream { kPodStream, kNodeStream, kGroupStream };

  void take_in(int stream, const std::vector<client::Output>& outputs, Time now);
  // Each answers whether it is settled; if not, it is tried again soon.
  bool bind(const Placed& placed, const Bind& where, Time now);
  bool admit(const json::object& group);
  bool tell(const Placed& placed, const Wait& why, Time now);

  // Fixed.
  client::Client& client_;
  PlacementOptions options_;
  // State; all of it can be lost.
  std::vector<client::Watcher> watchers_;
  std::vector<client::Cache> caches_;
  std::map<std::string, std::string> assumed_;  // pod uid -> node, until the cache shows it
  Recorder recorder_;
  bool dirty_ = false;
  std::optional<Time> retry_;
};

}  // namespace trainyard::control
