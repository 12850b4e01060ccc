#include "node/pod_recorder.h"

#include "base/hash.h"
#include "kube/access.h"
#include "kube/meta.h"
#include "kube/objects.h"
#include "kube/utf8.h"

namespace trainyard::node {

void PodRecorder::tell(client::Client& client, const json::object& pod, const PodEvent& event, Time now) {
  std::string uid(kube::uid_of(pod));
  std::string ns(kube::namespace_of(pod));
  const std::string message = kube::beginning_of(event.message, kEventMessageMax);
  auto found = told_.find({uid, event.reason, message});
  if (found != told_.end()) {
    json::object change{{"count", ++found->second.count}, {"lastTimestamp", format_rfc3339(now)}};
    kube::Patch patch{found->second.name, kube::PatchKind::kMerge, std::move(change)};
    if (client::patch(client, kube::kEvents, ns, std::move(patch)).ok()) return;
    told_.erase(found);
  }
  constexpr size_t kNameMax = 230;
  kube::NewEvent told;
  // A list is sorted by name: the time and the turn keep events in the order they were told.
  told.name = fmt::format("{}.{:011x}{:03x}{:02x}", kube::name_of(pod).substr(0, kNameMax),
                          static_cast<uint64_t>(now.ms), turns_++ % 0x1000,
                          fnv1a(uid + event.reason + message) % 0x100);
  told.ns = ns;
  told.involved = kube::involved_object(pod);
  told.type = event.warning ? kube::EventType::kWarning : kube::EventType::kNormal;
  told.reason = event.reason;
  told.message = message;
  told.component = "kubelet";
  told.first = told.last = now;
  json::object body = kube::event(told);
  kube::ensure_object(body, {"source"})["host"] = node_name_;
  if (told_.size() >= kToldMax) told_.clear();
  if (client::create(client, kube::kEvents, ns, std::move(body)).ok()) {
    told_[{uid, event.reason, message}] = {told.name, 1};
  }
}

void PodRecorder::forget(const std::string& pod_uid) {
  auto first = told_.lower_bound({pod_uid, "", ""});
  auto last = first;
  while (last != told_.end() && std::get<0>(last->first) == pod_uid) ++last;
  told_.erase(first, last);
}

}  // namespace trainyard::node
