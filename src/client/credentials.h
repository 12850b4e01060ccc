// Credentials: who we are at a server, fresh at every moment: token files are read again
// when they are rotated, exec plugins run again when what they gave runs out. The edge
// of kubeconfig.h: reads files and starts programs, so a call may take a while.
// Resource; thread-safe.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "client/kubeconfig.h"

namespace trainyard::client {

// What goes into a connection and a request.
struct Identity {
  std::string token;        // "" for none
  std::string certificate;  // PEM, "" for none
  std::string key;

  bool operator==(const Identity&) const = default;
};

// A clock that never goes back: by it files grow old.
using SteadyClock = std::function<std::chrono::steady_clock::time_point()>;

class Credentials {
 public:
  explicit Credentials(Access access, SteadyClock clock = std::chrono::steady_clock::now);
  ~Credentials();
  Credentials(const Credentials&) = delete;
  Credentials& operator=(const Credentials&) = delete;

  // The CA bundle as PEM, "" for the system's. Read at each call.
  Result<std::string> authorities() const;
  // kForbidden when there are no credentials to be had; the message says from where.
  Result<Identity> current();
  // The server did not take what current() gave: ask anew next time.
  void refused();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Where the environment says that a cluster is.
struct Surroundings {
  std::string kubeconfig;  // $KUBECONFIG
  std::string home;        // $HOME
  std::string service_host;
  std::string service_port;
  std::string service_account = "/var/run/secrets/kubernetes.io/serviceaccount";
};
Surroundings surroundings();

// The access of the given kubeconfig file, or, when that is "", of $KUBECONFIG, of
// ~/.kube/config, or of the service account of the pod that we run in.
Result<Access> find_access(const Surroundings& around, const std::string& file, const std::string& context);

}  // namespace trainyard::client
