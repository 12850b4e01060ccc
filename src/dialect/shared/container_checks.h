// Checks of one container of a pod template. Pure; see template.h, which is its caller.
#pragma once

#include <set>
#include <string>

#include "dialect/shared/reader.h"

namespace trainyard::dialect {

// What the containers of one pod share: the volumes they may mount, the names taken so far.
struct ContainerNames {
  std::set<std::string> volumes;
  std::set<std::string> taken;
};

void check_container(const Reader& container, ContainerNames& names);

}  // namespace trainyard::dialect
