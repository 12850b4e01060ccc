// One question of the gRPC health protocol (grpc.health.v1.Health/Check) as bytes of HTTP/2,
// and what the answer means. Pure. Just as much of HTTP/2 as one short exchange needs: headers
// of the answer are not looked into.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace trainyard::node {

// Everything that is sent. `service` is what is asked about, "" for the server as a whole.
std::string grpc_health_request(std::string_view service, std::string_view authority);

struct GrpcVerdict {
  bool serving = false;
  std::string words;  // why not
  bool operator==(const GrpcVerdict&) const = default;
};
// nullopt: more must come. `ended`: the other side has closed.
std::optional<GrpcVerdict> grpc_health_verdict(std::string_view reply, bool ended);

}  // namespace trainyard::node
