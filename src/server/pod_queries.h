// What a request to a running pod asks for: which container, which part of its log, which
// command, which ports, in which protocol. Pure. kInvalid is answered with 400.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "kube/json.h"
#include "server/pod_access.h"
#include "server/uri.h"

namespace trainyard::server {

// The container that is meant: the one named, the one that the annotation
// kubectl.kubernetes.io/default-container names, the only one.
Result<std::string> container_of(const json::object& pod, std::string_view asked);

Result<LogQuery> log_of_query(const Query& query, Time now);
// `attach` has no command.
Result<ExecQuery> exec_of_query(const Query& query, bool attach);
// The ports of `ports=`, in order.
Result<std::vector<int>> ports_of_query(const Query& query);

enum class ChannelProtocol { kV4, kV5 };
struct ChosenChannel {
  ChannelProtocol protocol = ChannelProtocol::kV4;
  std::string name;  // as the client wrote it
};
// The best of those in Sec-WebSocket-Protocol that we speak.
std::optional<ChosenChannel> pick_channel(std::string_view offered);
bool offers(std::string_view offered, std::string_view protocol);

inline constexpr std::string_view kTunnelledPortForward = "SPDY/3.1+portforward.k8s.io";

}  // namespace trainyard::server
