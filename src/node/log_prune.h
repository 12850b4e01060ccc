// Which kept logs go when there are too many: first those that are too old, then the oldest
// until the rest fits. What a live container writes to never goes. The decision is pure;
// prune_logs() carries it out on a folder of log_files.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/time.h"

namespace trainyard::node {

struct LogLimits {
  Duration age_max{14LL * 24 * 3600 * 1000};
  int64_t bytes_max = 2LL << 30;
  bool operator==(const LogLimits&) const = default;
};

// The log of one run of one container, its rotated files with it.
struct LogRun {
  std::filesystem::path file;  // without the number of a rotation
  Time written;                // last
  int64_t bytes = 0;
  bool live = false;
};

// Indexes of the runs that go, oldest first.
std::vector<size_t> runs_to_prune(const std::vector<LogRun>& runs, const LogLimits& limits, Time now);

// What there is below `root`; `is_live` tells of a pod's uid.
std::vector<LogRun> log_runs(const std::filesystem::path& root,
                             const std::function<bool(const std::string& uid)>& is_live);
// How many bytes were given back. Folders that are left empty go too.
int64_t prune_logs(const std::filesystem::path& root, const LogLimits& limits, Time now,
                   const std::function<bool(const std::string& uid)>& is_live);

}  // namespace trainyard::node
