// RunLogs: what the replicas of a job print, line by line as it comes, each line once.
// Resource; one thread. A container that starts again in place is followed again.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "cli/output_log.h"
#include "kube/json.h"
#include "node/log_files.h"
#include "server/pod_access.h"

namespace trainyard::cli {

// Of all replicas together, in one read(): one that prints without end holds nobody up.
inline constexpr size_t kRunLogBytesMax = 1 << 20;

class RunLogs {
 public:
  // `access` is borrowed. `line` is told the replica and a line without its end.
  using Line = std::function<void(const std::string& replica, std::string_view text)>;
  RunLogs(server::PodAccess& access, Line line) : access_(access), line_(std::move(line)) {}

  // Follows the containers of this pod that have begun. Call it with every new state.
  void follow(const json::object& pod, const std::string& replica);
  // Takes what runs of the containers of this pod, perhaps gone, printed that were never seen to begin.
  void catch_up(const json::object& pod, const std::string& replica, const node::LogFolder& kept);
  // Takes what there is now, a chunk of each container in turn until it was kRunLogBytesMax or a
  // little more. True: there is more.
  bool read();
  // Nothing more will come: no container is being followed.
  bool idle() const { return open_.empty(); }

 private:
  using Key = std::tuple<std::string, std::string, int64_t>;  // pod uid, container, restarts
  struct Open {
    std::string replica;
    std::unique_ptr<server::LogReader> reader;
    ShownLines lines;
  };
  // Once for each key.
  void open(const json::object& pod, const Key& key, const std::string& who, bool follow);
  // One chunk; false when the container has no more to give.
  bool take_chunk(Open& open, size_t& taken);

  server::PodAccess& access_;
  Line line_;
  std::map<Key, Open> open_;
  std::set<Key> begun_;
};

}  // namespace trainyard::cli
