// Checks: hooks and probes under way: commands in containers, HTTP, HTTPS, gRPC and TCP to a pod's
// ports. Nothing here waits: begin(), then poll() whenever a descriptor is ready or time
// is up. Resource; the node's one thread.
#pragma once

#include <poll.h>

#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "node/pod_machine.h"
#include "node/runtime.h"
#include "transport/tls_link.h"

namespace trainyard::node {

struct CheckResult {
  ContainerId id;
  CheckKind kind = CheckKind::kLiveness;
  bool ok = false;
  std::string words;
};

class Checks {
 public:
  // `container` is its spec, for ports by name.
  void begin(const ContainerId& id, const RunCheck& check, const json::object& container, Runtime& runtime,
             Time now);
  void add_to(std::vector<pollfd>& fds) const;
  // Those that have come to an end.
  std::vector<CheckResult> poll(Time now);
  std::optional<Time> deadline() const;
  void drop(const std::string& pod_uid);

 private:
  struct UnderWay {
    CheckResult result;
    Time deadline;
    std::unique_ptr<ExecProcess> command;
    Fd socket;
    std::unique_ptr<transport::TlsLink> tls;  // on the socket; null where it is spoken to in the open
    std::string request;                      // still to be sent
    std::string reply;
    bool grpc = false;    // the reply is one of gRPC's health protocol, not HTTP/1.1
    bool sleeps = false;  // time itself is the answer
    bool decided = false;
  };
  void begin_http(UnderWay& check, const json::object& http, const json::object& container, Runtime& runtime);
  void begin_port(UnderWay& check, const json::object& what, const json::object& container, Runtime& runtime);
  static void progress_command(UnderWay& check);
  static void progress_http(UnderWay& check);
  static void judge_reply(UnderWay& check, bool ended);

  std::list<UnderWay> under_way_;
};

// The number of a port that may be given by its name; nullopt when there is none.
std::optional<int> probe_port(const json::object& where, const json::object& container);
// What an HTTP answer means: 200 to 399 is well. nullopt: more is needed.
std::optional<int> http_status_of(std::string_view reply);

}  // namespace trainyard::node
