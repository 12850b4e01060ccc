// tasks: the replicas of a job as its status shows them. Pure.
#pragma once

#include "kube/json.h"
#include "model/observation.h"

namespace trainyard::t9k {

struct TasksStatus {
  json::array tasks;       // [{type, restartCount, replicas: [{name, uid, phase, containers}]}]
  json::object aggregate;  // how many are in each phase, zeros included
};

// `previous` is the status as stored: it tells which replicas have had a pod.
TasksStatus project_tasks(const model::Observation& seen, const model::JobState& state,
                          const json::object& previous);

}  // namespace trainyard::t9k
