#include "control/seen_pods.h"

#include "dialect/shared/see_pod.h"
#include "kube/meta.h"
#include "kube/pod.h"

namespace trainyard::control {

PodRead read_by(const dialect::Dialect& dialect, const json::object& object) {
  return {{std::string(kube::namespace_of(object)), std::string(kube::name_of(object))},
          kube::version_of(object),
          dialect.identify(object),
          dialect::see_pod(kube::decode_pod(object), {}, dialect.main_container)};
}

const std::vector<PodRead>& SeenPods::of(const JobKey& key, const client::Cache& pods,
                                         std::string_view job_uid, const dialect::Dialect& dialect) {
  std::vector<PodRead>& known = jobs_[key];
  std::vector<PodRead> read;
  auto before = known.begin();
  // Both are in the order of their keys.
  for (const auto& [name, packed] : pods.packed_of(job_uid)) {
    while (before != known.end() && before->key < *name) ++before;
    bool unchanged = before != known.end() && before->key == *name && before->version == packed->version();
    read.push_back(unchanged ? std::move(*before) : read_by(dialect, *packed->object()));
    if (unchanged) ++before;
  }
  size_ += read.size();
  size_ -= known.size();
  known = std::move(read);
  if (size_ > kSeenPodsMax) {
    std::erase_if(jobs_, [&](const auto& job) { return job.first != key; });
    size_ = known.size();
  }
  return known;
}

void SeenPods::forget(const JobKey& key) {
  auto found = jobs_.find(key);
  if (found == jobs_.end()) return;
  size_ -= found->second.size();
  jobs_.erase(found);
}

}  // namespace trainyard::control
