// Under which names the pods of a job find one another: <hostname>.<subdomain>, which
// the Service of the svc plugin resolves. Pure.
#pragma once

#include <string>
#include <vector>

#include "dialect/volcano/spec.h"

namespace trainyard::dialect::vc {

// Of one replica. A template's own hostname and subdomain come first.
std::string host_of(const Spec& spec, const Task& task, int index);

// Of all replicas of the task; one entry when the template fixes the hostname, because
// they all have it then.
std::vector<std::string> hosts_of(const Spec& spec, const Task& task);

}  // namespace trainyard::dialect::vc
