// Checks of one container of a pod template. Pure; template.h is their caller.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "dialect/shared/reader.h"
#include "kube/part_fault.h"

namespace trainyard::dialect {

// What the containers of one pod share: the volumes they may mount, the names taken so far.
struct ContainerNames {
  std::set<std::string> volumes;
  std::set<std::string> taken;
};

void check_container(const Reader& container, ContainerNames& names);
// The resources of a container, or of what is described like one.
void check_resources(const Reader& container);

// What an API server would refuse about the part of a pod that the Reader is for.
void report_faults(const Reader& part, const kube::PartFaults& faults);

}  // namespace trainyard::dialect
