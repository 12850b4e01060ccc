// BoardKeeper: runs TensorBoards: for each TensorBoard object a pod and a service, as
// tensorboard_plan.h decides, whether a job made it or a person. Steps (steps.h); driven by
// a loop, one object at a time.
//
// What must be remembered is on the objects: a keeper that starts anew goes on. An object
// that was written to is looked at again when its change comes back.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "client/cache.h"
#include "client/watcher.h"
#include "control/queue.h"
#include "control/recorder.h"
#include "control/steps.h"
#include "control/tensorboard_plan.h"

namespace trainyard::control {

struct BoardOptions {
  BoardSettings settings;
  std::string ns;  // "" for all namespaces
  // Asked before each object and before each write; nothing is done while somebody else leads. Empty: we
  // always do.
  std::function<bool()> leads;
  // Told of an error, after which the object is tried again, ever more seldom; of the same again, not. Empty:
  // nobody is.
  std::function<void(const client::ObjectKey&, const Error&)> trouble;
};

class BoardKeeper final : public Steps {
 public:
  BoardKeeper(client::Client& client, BoardOptions options);

  std::vector<StreamRequest> requests(Time now) override;
  void on_list(int stream, const Result<client::Reply>& reply, Time now) override;
  void on_event(int stream, const client::WatchEvent& event, Time now) override;
  void on_closed(int stream, const std::optional<Error>& error, Time now) override;
  bool step(Time now) override;
  std::optional<Time> next_wake() const override;

  const std::vector<client::Watcher>& watchers() const { return watchers_; }

 private:
  enum Stream { kBoardStream, kPodStream, kServiceStream };

  void take_in(int stream, const std::vector<client::Output>& outputs, Time now);
  void wake_owner(const json::object& child, Time now);
  bool synced() const;
  bool leads() const { return !options_.leads || options_.leads(); }
  // The first error stops it; the rest waits for the next look.
  std::optional<Error> keep(const client::Object& board, Time now, std::optional<Time>& wake);
  void say_refused(const json::object& board, const BoardSeen& seen, Time now);
  std::optional<Error> carry_out(const json::object& board, const BoardStep& step, Time now);
  std::optional<Error> create(const json::object& board, const kube::Resource& resource,
                              const json::object& body, Time now);
  client::Object child_of(const json::object& board, int stream) const;

  // Fixed.
  client::Client& client_;
  BoardOptions options_;
  // State; all of it can be lost.
  std::vector<client::Watcher> watchers_;
  std::vector<client::Cache> caches_;
  Queue<client::ObjectKey> queue_;
  Time not_before_;  // somebody else leads
  Recorder recorder_;
  std::map<client::ObjectKey, std::string> told_;  // what is wrong, as it was told last
};

}  // namespace trainyard::control
