// Connect: from what the user said to an API that answers.
//
// The order: --kubeconfig or --context; else the embedded plane of --data-dir or of the
// default folder, when it runs; else $KUBECONFIG, ~/.kube/config or the pod's own service
// account. Errors say which was tried.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "cli/verbs.h"
#include "client/client.h"
#include "client/pod_port.h"
#include "client/watch_source.h"

namespace trainyard::cli {

// What a verb works with: the ports, and where in the API it looks. Borrows the ports.
struct Cluster {
  client::Client& client;
  client::WatchSource& watches;
  client::PodPort& pods;
  std::function<Time()> clock;
  std::string ns;  // where jobs without a namespace are
  bool everywhere = false;
  bool ns_said = false;             // the user named the namespace
  std::string where;                // for errors: "context 'lab' of ..."
  std::filesystem::path kept_logs;  // of pods that are gone; "" when nobody keeps them
};

// A connection; the cluster lives as long as it does.
class Connection {
 public:
  virtual ~Connection() = default;
  virtual const Cluster& cluster() const = 0;
  virtual std::string server() const = 0;  // "https://127.0.0.1:6443"
};

Result<std::unique_ptr<Connection>> connect(const Target& target);

}  // namespace trainyard::cli
