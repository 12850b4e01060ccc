// What Volcano's mutating webhook fills into a Job, done by us because no webhook
// stands before us. Pure.
//
//   queue                 "default"
//   schedulerName         "volcano"
//   maxRetry              3, of the job and of each task (0 means absent)
//   tasks[i].name         "default<i>"
//   tasks[i].minAvailable partitionPolicy: minPartitions x partitionSize, else replicas
//   minAvailable          (absent or 0) the sum of the tasks' minima
//   plugins.svc           [] beside the tensorflow plugin
//   dnsPolicy             ClusterFirstWithHostNet for a template on the host's network
#pragma once

#include "kube/json.h"

namespace trainyard::dialect::vc {

// A copy with the defaults filled in. What has the wrong type is left for decode to
// report; never throws.
json::object with_defaults(const json::object& job);

}  // namespace trainyard::dialect::vc
