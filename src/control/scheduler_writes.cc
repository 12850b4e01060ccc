#include "control/scheduler_writes.h"

#include <fmt/format.h>

#include "kube/access.h"
#include "kube/scheduling.h"

namespace trainyard::control {
namespace {

json::object meta_with_uid(std::string_view uid) { return json::object{{"uid", kube::jview(uid)}}; }

kube::Request condition_request(const PodName& pod, json::object condition) {
  json::object body{{"metadata", meta_with_uid(pod.uid)},
                    {"status", json::object{{"conditions", json::array{json::value(std::move(condition))}}}}};
  return kube::unheeded(
      kube::kPods, pod.ns,
      kube::Patch{pod.name, kube::PatchKind::kStrategic, std::move(body), kube::Part::kStatus});
}

// A merge leaves what it does not name: members that are no longer there are taken away by name.
void name_what_goes(const json::object& before, json::object& after) {
  for (const auto& member : before) {
    json::value* now = after.if_contains(member.key());
    if (now == nullptr) {
      after[member.key()] = nullptr;
    } else if (member.value().is_object() && now->is_object()) {
      name_what_goes(member.value().get_object(), now->get_object());
    }
  }
}

}  // namespace

kube::Request bind_request(const PodName& pod, std::string_view node) {
  return kube::unheeded(kube::kBindings, pod.ns,
                        kube::Create{kube::binding(pod.ns, pod.name, pod.uid, node)});
}

kube::Request mark_evicted_request(const PodName& pod, const sched::Eviction& eviction, Time now) {
  kube::Request request = condition_request(pod, {{"type", "DisruptionTarget"},
                                                  {"status", "True"},
                                                  {"reason", kube::jview(kPreemptionByScheduler)},
                                                  {"message", eviction_text(eviction)},
                                                  {"lastTransitionTime", format_rfc3339(now)}});
  request.heed = kube::Heed::kIdentity;
  return request;
}

kube::Request unmark_request(const PodName& pod, Time now) {
  return condition_request(pod, {{"type", "DisruptionTarget"},
                                 {"status", "False"},
                                 {"reason", kube::jview(kPreemptionByScheduler)},
                                 {"message", "was to be deleted by its scheduler, and is not after all"},
                                 {"lastTransitionTime", format_rfc3339(now)}});
}

kube::Request select_node_request(const ClaimName& claim, std::string_view node) {
  json::object meta = meta_with_uid(claim.uid);
  meta["annotations"] = json::object{{kube::jview(kube::kSelectedNodeAnnotation), kube::jview(node)}};
  json::object body{{"metadata", std::move(meta)}};
  return kube::unheeded(kube::kPersistentVolumeClaims, claim.ns,
                        kube::Patch{claim.name, kube::PatchKind::kMerge, std::move(body)});
}

kube::Request claim_volume_request(const VolumeName& volume, const ClaimName& claim) {
  json::object meta = meta_with_uid(volume.uid);
  meta["resourceVersion"] = std::to_string(volume.version);
  meta["annotations"] = json::object{{kube::jview(kube::kBoundByControllerAnnotation), "yes"}};
  json::object reference{{"apiVersion", "v1"},
                         {"kind", "PersistentVolumeClaim"},
                         {"namespace", claim.ns},
                         {"name", claim.name},
                         {"uid", claim.uid}};
  json::object body{{"metadata", std::move(meta)},
                    {"spec", json::object{{"claimRef", std::move(reference)}}}};
  return kube::unheeded(kube::kPersistentVolumes, "",
                        kube::Patch{volume.name, kube::PatchKind::kMerge, std::move(body)});
}

kube::Request evict_request(const PodName& pod, std::string marked) {
  kube::DeleteOptions options;
  options.uid = pod.uid;
  options.version = std::move(marked);
  return kube::unheeded(kube::kPods, pod.ns, kube::Delete{pod.name, std::move(options)});
}

kube::Request tell_pod_request(const PodName& pod, std::string_view message, Time now) {
  return condition_request(pod, {{"type", "PodScheduled"},
                                 {"status", "False"},
                                 {"reason", "Unschedulable"},
                                 {"message", kube::jview(message)},
                                 {"lastTransitionTime", format_rfc3339(now)}});
}

kube::Request status_request(const kube::Resource& resource, const json::object& seen, json::object status) {
  if (const json::object* before = kube::object_at(seen, {"status"})) name_what_goes(*before, status);
  json::object meta = meta_with_uid(kube::uid_of(seen));
  meta["resourceVersion"] = kube::jview(kube::text_at(seen, {"metadata", "resourceVersion"}));
  json::object body{{"metadata", std::move(meta)}, {"status", std::move(status)}};
  return {resource, std::string(kube::namespace_of(seen)),
          kube::Patch{std::string(kube::name_of(seen)), kube::PatchKind::kMerge, std::move(body),
                      resource.has_status ? kube::Part::kStatus : kube::Part::kMain}};
}

std::string eviction_text(const sched::Eviction& eviction) {
  // As people call it: a gang's id begins with the API group of its PodGroup.
  std::string_view whom = std::string_view(eviction.beneficiary).substr(eviction.beneficiary.find('/') + 1);
  switch (eviction.cause) {
    case sched::EvictionCause::kPreempted:
      return fmt::format("preempted by {}, which goes before it", whom);
    case sched::EvictionCause::kReclaimed:
      return fmt::format("its queue holds more than its part, which {} needs", whom);
    case sched::EvictionCause::kReleased:
      return "only part of its gang has nodes and the rest does not fit: all give theirs back";
    case sched::EvictionCause::kCompleted:
      return "other members of its gang were made to leave";
  }
  return "";
}

std::string waiting_text(const sched::Gang& gang, const sched::Waiting& waiting) {
  std::string timed_out = waiting.timed_out ? " (longer than its schedule timeout)" : "";
  if (gang.min_member <= 1) return waiting.text + timed_out;
  return fmt::format("waits with the {} pods of {} that start together: {}{}", gang.min_member, gang.name,
                     waiting.text, timed_out);
}

std::string gist(std::string_view message) {
  std::string out(message.size(), ' ');
  size_t size = 0;
  int depth = 0;
  for (char c : message) {
    if (c == '(') ++depth;
    if (depth == 0 && (c < '0' || c > '9')) out[size++] = c;
    if (c == ')') --depth;
  }
  out.resize(size);
  return out;
}

bool is_settled(const Result<client::Reply>& reply) {
  return reply.ok() || reply.error().kind == ErrorKind::kNotFound;
}

json::object reference_to(const PodName& pod) {
  return {{"apiVersion", "v1"},
          {"kind", "Pod"},
          {"metadata", json::object{{"name", pod.name}, {"namespace", pod.ns}, {"uid", pod.uid}}}};
}

}  // namespace trainyard::control
