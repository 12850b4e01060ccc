// Counters: how busy the server is and how it answered, for /metrics. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace trainyard::server {

class Counters {
 public:
  void count_request(std::string_view verb, int code);

  std::atomic<int64_t> open_connections{0};
  std::atomic<int64_t> open_streams{0};  // watches and followed logs
  std::atomic<int64_t> open_tunnels{0};
  std::atomic<int64_t> in_flight{0};
  std::atomic<int64_t> failed_accepts{0};  // for want of files, mostly

  // In the text format of Prometheus.
  std::string text() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, int>, int64_t> requests_;  // by verb and code
};

}  // namespace trainyard::server
