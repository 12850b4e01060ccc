#include "dialect/volcano/plugin_env.h"

#include <fmt/format.h>

#include "dialect/volcano/containers.h"

namespace trainyard::dialect::vc {

void apply(const EnvPlugin&, int index, json::object& pod) {
  for (const char* name : {"VK_TASK_INDEX", "VC_TASK_INDEX"}) {
    add_env(pod, {{"name", name}, {"value", fmt::to_string(index)}}, Containers::kAll);
  }
}

}  // namespace trainyard::dialect::vc
