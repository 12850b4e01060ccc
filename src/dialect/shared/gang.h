// Gangs on the wire: PodGroups of the four schedulers, written and read. Pure.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "kube/json.h"
#include "kube/meta.h"
#include "model/job_spec.h"
#include "model/observation.h"

namespace trainyard::dialect {

kube::Resource resource_of(model::GangScheduler scheduler);

// The PodGroup. `meta` is its metadata after name and namespace: labels, annotations,
// ownerReferences, as the dialect writes them.
json::object render_pod_group(const model::Gang& gang, std::string_view name_space, const json::object& meta);

// Whether an annotation of a job says where its gang goes, and so belongs on the PodGroup too.
bool places_gang(std::string_view annotation);

// A stored PodGroup. Only Volcano's phase gates pods; the other schedulers hold the pods
// back themselves, so their groups count as admitted from the start. GangSeen::owned is
// false when the group has no controller; whose it is otherwise is for the caller to say.
model::GangSeen decode_gang(model::GangScheduler scheduler, const json::object& pod_group);

// The gang without what its scheduler's PodGroup has no field for, and with canonical
// amounts: what decode_gang gives back of it. A spec's gang must be like that, or it would
// never equal the stored one and be written again and again.
model::Gang storable(const model::Gang& gang);

// What makes a pod a member, as each scheduler wants it: schedulerName where the template
// has none, and the annotation or label that names the group. `role` is Volcano's task-spec.
void join_gang(json::object& pod, const model::Gang& gang, std::string_view scheduler_name,
               std::string_view role);

// What one pod of this template asks for: the sum over its containers of requests, or of
// limits where a container has no requests. Amounts are canonical quantities.
std::map<std::string, std::string> pod_requests(const json::object& pod_template);

// What the first `min_member` pods ask for together, taken in the order given.
struct GangPart {
  const json::object* pod_template = nullptr;
  int replicas = 0;
};
std::map<std::string, std::string> gang_requests(std::span<const GangPart> parts, int min_member);

}  // namespace trainyard::dialect
