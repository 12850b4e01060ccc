#include "control/seen.h"

#include <algorithm>

#include "dialect/shared/gang.h"
#include "dialect/shared/see_pod.h"
#include "kube/meta.h"
#include "kube/pod.h"

namespace trainyard::control {

namespace {

client::ObjectKey key_of_seen(const json::object& object) {
  return {std::string(kube::namespace_of(object)), std::string(kube::name_of(object))};
}

}  // namespace

PodRead PodRead::by(const dialect::Dialect& dialect, const json::object& object) {
  return {key_of_seen(object), kube::version_of(object), dialect.identify(object),
          dialect::see_pod(kube::decode_pod_with(object, dialect::kAttemptAnnotation), {},
                           dialect.main_container)};
}

ServiceRead ServiceRead::by(const dialect::Dialect& dialect, const json::object& object) {
  return {key_of_seen(object), kube::version_of(object), dialect.identify(object),
          std::string(kube::uid_of(object)), kube::is_deleting(object)};
}

template <typename Read>
const std::vector<Read>& SeenOf<Read>::of(const JobKey& key, const client::Cache& cache,
                                          std::string_view job_uid, const dialect::Dialect& dialect) {
  std::vector<Read>& known = jobs_[key];
  std::vector<std::pair<const client::ObjectKey*, const client::Packed*>> owned = cache.packed_of(job_uid);
  auto is_known = [](const auto& there, const Read& read) {
    return read.version == there.second->version() && read.key == *there.first;
  };
  if (std::equal(owned.begin(), owned.end(), known.begin(), known.end(), is_known)) return known;
  std::vector<Read> read;
  read.reserve(owned.size());
  auto before = known.begin();
  // Both are in the order of their keys.
  for (const auto& [name, packed] : owned) {
    while (before != known.end() && before->key < *name) ++before;
    bool unchanged = before != known.end() && before->key == *name && before->version == packed->version();
    read.push_back(unchanged ? std::move(*before) : Read::by(dialect, *packed->object()));
    if (unchanged) ++before;
  }
  size_ += read.size();
  size_ -= known.size();
  known = std::move(read);
  if (size_ > kSeenMax) {
    std::erase_if(jobs_, [&](const auto& job) { return job.first != key; });
    size_ = known.size();
  }
  return known;
}

template <typename Read>
void SeenOf<Read>::forget(const JobKey& key) {
  auto found = jobs_.find(key);
  if (found == jobs_.end()) return;
  size_ -= found->second.size();
  jobs_.erase(found);
}

const model::GangSeen& SeenGangs::of(const JobKey& key, model::GangScheduler scheduler,
                                     const json::object& object) {
  const std::string_view uid = kube::uid_of(object);
  const int64_t version = kube::version_of(object);
  if (jobs_.size() >= kSeenMax && !jobs_.contains(key)) jobs_.clear();
  auto [found, is_new] = jobs_.try_emplace(key);
  Gang& known = found->second;
  // An object without a version is read each time.
  if (is_new || known.version != version || known.uid != uid || version == 0) {
    known = {std::string(uid), version, dialect::decode_gang(scheduler, object)};
  }
  return known.gang;
}

template class SeenOf<PodRead>;
template class SeenOf<ServiceRead>;

}  // namespace trainyard::control
