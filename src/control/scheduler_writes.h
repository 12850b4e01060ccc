// What a scheduling pass wants written, as requests and events: evictions, bindings, status of
// groups and queues, reasons for pods that wait. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/time.h"
#include "client/client.h"
#include "dialect/shared/dialect.h"
#include "kube/request.h"
#include "sched/decisions.h"
#include "sched/gangs_from.h"

namespace trainyard::control {

// Which pod is meant.
struct PodName {
  std::string uid;
  std::string ns;
  std::string name;
};
inline PodName named(const sched::PodSeen& pod) { return {pod.uid, pod.ns, pod.name}; }

// Which claim is meant.
struct ClaimName {
  std::string uid;
  std::string ns;
  std::string name;
};

// Which volume is meant, as it was when last seen.
struct VolumeName {
  std::string name;
  std::string uid;
  int64_t version = 0;
};

kube::Request bind_request(const PodName& pod, std::string_view node);
// The reason in the condition DisruptionTarget of a pod that its scheduler will delete.
inline constexpr std::string_view kPreemptionByScheduler = "PreemptionByScheduler";
// Says first that the pod goes because of its scheduler, so that nobody charges it for that. The answer is
// asked for the version.
kube::Request mark_evicted_request(const PodName& pod, const sched::Eviction& eviction, Time now);
// Says that it does not go after all.
kube::Request unmark_request(const PodName& pod, Time now);
// The claim's volume is to be made for this node.
kube::Request select_node_request(const ClaimName& claim, std::string_view node);
// The volume is the claim's, on condition that it is still the one that was seen.
kube::Request claim_volume_request(const VolumeName& volume, const ClaimName& claim);
// On condition that nobody has written to it since it was marked, which made it that version: a deletion that
// was held up for long must not meet a pod that another scheduler lets stay.
kube::Request evict_request(const PodName& pod, std::string marked);
// The condition PodScheduled=False.
kube::Request tell_pod_request(const PodName& pod, std::string_view message, Time now);
// The new status of a PodGroup or Queue, on condition that it is still the one that was seen.
kube::Request status_request(const kube::Resource& resource, const json::object& seen, json::object status);

// In words, for events.
std::string eviction_text(const sched::Eviction& eviction);
// "its 4 pods start together: needs ...".
std::string waiting_text(const sched::Gang& gang, const sched::Waiting& waiting);
// The words without what is in brackets and without figures: amounts that are free change with
// every other pod, and a backlog that is told each time would cost a write for each of its pods.
std::string gist(std::string_view message);

// Done, or about something that is gone.
bool is_settled(const Result<client::Reply>& reply);

// As an event speaks of it.
json::object reference_to(const PodName& pod);

}  // namespace trainyard::control
