// PodGroup.minResources: what the pods that must start together ask for, in the form
// that Kubernetes' quotas use, which is the one Volcano's scheduler reads. Pure.
//
// Keys: pods and count/pods; cpu, memory and ephemeral-storage each bare and with
// requests. and limits.; hugepages and extended resources bare and with requests.
// Of a pod: the sum of its containers, or its largest init container where that is
// more. A container without a request asks for its limit, as Kubernetes fills it in.
//
// Which pods: when the job's minimum is below the sum of the tasks' minima, the first
// pods in order of the tasks; else each task's minimum first, then the rest in order.
// Volcano orders tasks by the value of their priority class first, which a manifest does
// not tell; the order of the manifest is kept, so equal jobs ask for equal amounts.
#pragma once

#include <map>
#include <string>

#include "dialect/volcano/spec.h"
#include "kube/json.h"

namespace trainyard::dialect::vc {

std::map<std::string, std::string> min_resources(const Spec& spec, int min_member);

}  // namespace trainyard::dialect::vc
