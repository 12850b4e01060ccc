// The env plugin: every container, init containers too, learns its pod's index as
// VK_TASK_INDEX and VC_TASK_INDEX. Pure.
#pragma once

#include "dialect/volcano/plugins.h"
#include "kube/json.h"

namespace trainyard::dialect::vc {

void apply(const EnvPlugin& plugin, int index, json::object& pod);

}  // namespace trainyard::dialect::vc
