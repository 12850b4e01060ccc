// The names that Volcano's wire contract is made of: labels, annotations, keys of the
// status. One constant per name, so that a name is written once.
#pragma once

#include <string_view>

namespace trainyard::dialect::vc {

inline constexpr std::string_view kJobName = "volcano.sh/job-name";
inline constexpr std::string_view kJobNamespace = "volcano.sh/job-namespace";
inline constexpr std::string_view kQueueName = "volcano.sh/queue-name";
inline constexpr std::string_view kTaskSpec = "volcano.sh/task-spec";
inline constexpr std::string_view kTaskIndex = "volcano.sh/task-index";
inline constexpr std::string_view kPartitionId = "volcano.sh/partition-id";
inline constexpr std::string_view kJobVersion = "volcano.sh/job-version";
inline constexpr std::string_view kJobRetryCount = "volcano.sh/job-retry-count";
inline constexpr std::string_view kTemplateUid = "volcano.sh/template-uid";
inline constexpr std::string_view kPreemptable = "volcano.sh/preemptable";
inline constexpr std::string_view kCooldownTime = "volcano.sh/cooldown-time";
inline constexpr std::string_view kRevocableZone = "volcano.sh/revocable-zone";
inline constexpr std::string_view kNumaPolicy = "volcano.sh/numa-topology-policy";
inline constexpr std::string_view kMinAvailableBudget = "volcano.sh/jdb-min-available";
inline constexpr std::string_view kMaxUnavailableBudget = "volcano.sh/jdb-max-unavailable";

// Our memory, in the only free map that the status of a Volcano Job has.
inline constexpr std::string_view kStateKey = "trainyard.dev/state";
inline constexpr std::string_view kPluginPrefix = "plugin-";
inline constexpr std::string_view kClaimPrefix = "volume-pvc-";

inline constexpr std::string_view kDefaultQueue = "default";
inline constexpr std::string_view kDefaultScheduler = "volcano";
inline constexpr int kDefaultMaxRetry = 3;

}  // namespace trainyard::dialect::vc
