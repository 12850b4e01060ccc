#include "server/counters.h"

#include <fmt/format.h>

namespace trainyard::server {

void Counters::count_request(std::string_view verb, int code) {
  std::lock_guard lock(mutex_);
  ++requests_[{std::string(verb), code}];
}

std::string Counters::text() const {
  std::string out =
      "# HELP apiserver_request_total Requests answered, by verb and code.\n"
      "# TYPE apiserver_request_total counter\n";
  {
    std::lock_guard lock(mutex_);
    for (const auto& [key, count] : requests_) {
      out += fmt::format("apiserver_request_total{{verb=\"{}\",code=\"{}\"}} {}\n", key.first, key.second,
                         count);
    }
  }
  auto gauge = [&](std::string_view name, std::string_view help, int64_t value) {
    out += fmt::format("# HELP {0} {1}\n# TYPE {0} gauge\n{0} {2}\n", name, help, value);
  };
  gauge("trainyard_open_connections", "Connections of clients.", open_connections.load());
  gauge("trainyard_open_streams", "Watches and logs that are being followed.", open_streams.load());
  gauge("trainyard_open_tunnels", "Open exec, attach and port-forward sessions.", open_tunnels.load());
  gauge("trainyard_requests_in_flight", "Requests being answered, streams not counted.", in_flight.load());
  out += fmt::format("# HELP {0} Tries to take a connection that failed.\n# TYPE {0} counter\n{0} {1}\n",
                     "trainyard_failed_accepts_total", failed_accepts.load());
  return out;
}

}  // namespace trainyard::server
