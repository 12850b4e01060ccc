#include "sim/cluster.h"

#include <algorithm>

#include "kube/access.h"
#include "kube/scheduling.h"

namespace trainyard::sim {

namespace {
constexpr std::string_view kNamespace = "default";
constexpr int kSweepsMax = 100;

std::string_view namespace_for(const kube::Resource& resource) {
  return resource.namespaced ? kNamespace : std::string_view();
}
}  // namespace

std::string_view to_string(Hand hand) {
  switch (hand) {
    case Hand::kUser:
      return "user";
    case Hand::kKubelet:
      return "kubelet";
    case Hand::kScheduler:
      return "scheduler";
    case Hand::kCollector:
      return "collector";
    case Hand::kOperator:
      return "operator";
  }
  return "";
}

const std::vector<const kube::Resource*>& all_resources() {
  static const std::vector<const kube::Resource*> all{
      &kube::kPods,
      &kube::kServices,
      &kube::kEvents,
      &kube::kTfJobs,
      &kube::kT9kJobs,
      &kube::kVolcanoJobs,
      &kube::kVolcanoPodGroups,
      &kube::kT9kPodGroups,
      &kube::kConfigMaps,
      &kube::kNetworkPolicies,
      &kube::kSecrets,
      &kube::kLeases,
      &kube::kVolcanoCommands,
      &kube::kTensorBoards,
      &kube::kPersistentVolumeClaims,
      &kube::kNodes,
      &kube::kVolcanoQueues,
      &kube::kPriorityClasses,
  };
  return all;
}

namespace {
const kube::Resource* known_resource(const kube::Resource& resource) {
  for (const kube::Resource* known : all_resources()) {
    if (known->plural == resource.plural && known->group == resource.group) return known;
  }
  return nullptr;
}
}  // namespace

store::Object Cluster::create(Author author, const kube::Resource& resource, json::object body) {
  auto result = store_.create(resource, namespace_for(resource), std::move(body), now());
  tell(author, resource);
  return result.ok() ? std::move(result).value() : nullptr;
}

store::Object Cluster::update(Author author, const kube::Resource& resource, json::object body) {
  auto result = store_.update(resource, namespace_for(resource), std::move(body), now());
  tell(author, resource);
  return result.ok() ? std::move(result).value() : nullptr;
}

store::Object Cluster::write_status(Author author, const kube::Resource& resource, std::string_view name,
                                    json::object status) {
  json::object body{{"apiVersion", resource.api_version()},
                    {"kind", kube::jview(resource.kind)},
                    {"metadata", json::object{{"name", kube::jview(name)},
                                              {"namespace", kube::jview(namespace_for(resource))}}},
                    {"status", std::move(status)}};
  auto result = store_.update_status(resource, namespace_for(resource), std::move(body), now());
  tell(author, resource);
  return result.ok() ? std::move(result).value() : nullptr;
}

store::Object Cluster::remove(Author author, const kube::Resource& resource, std::string_view name,
                              const kube::DeleteOptions& options) {
  auto result = store_.remove(resource, namespace_for(resource), name, options, now());
  tell(author, resource);
  return result.ok() ? std::move(result).value() : nullptr;
}

store::Object Cluster::find(const kube::Resource& resource, std::string_view name) const {
  auto found = store_.get(resource, namespace_for(resource), name);
  return found.ok() ? found.value() : nullptr;
}

void Cluster::collect_garbage() {
  for (int sweep = 0; sweep < kSweepsMax; ++sweep) {
    const int written = store_.collect_garbage(now());
    tell_all({Hand::kCollector, -1});
    if (written == 0) return;
  }
}

void Cluster::tell(Author author, const kube::Resource& resource) {
  if (store_.revision() == told_) return;
  const kube::Resource* known = known_resource(resource);
  auto events = store_.events_since(resource, told_);
  CHECK(known != nullptr);
  CHECK(events.ok());
  told_ = store_.revision();
  for (store::WatchEvent& event : events.value()) {
    const bool gone = event.kind == store::ChangeKind::kDeleted;
    Change change{author, now(), event.revision, known, std::move(event.before), nullptr};
    if (!gone) change.after = std::move(event.object);
    for (const Listener& listener : listeners_) listener(change);
  }
}

// One sweep of the collector writes to many resources.
void Cluster::tell_all(Author author) {
  if (store_.revision() == told_) return;
  std::vector<Change> changes;
  for (const kube::Resource* resource : all_resources()) {
    auto events = store_.events_since(*resource, told_);
    CHECK(events.ok());
    for (const store::WatchEvent& event : events.value()) {
      changes.push_back({author, now(), event.revision, resource, event.before,
                         event.kind == store::ChangeKind::kDeleted ? nullptr : event.object});
    }
  }
  told_ = store_.revision();
  std::sort(changes.begin(), changes.end(),
            [](const Change& a, const Change& b) { return a.revision < b.revision; });
  for (const Change& change : changes) {
    for (const Listener& listener : listeners_) listener(change);
  }
}

}  // namespace trainyard::sim
