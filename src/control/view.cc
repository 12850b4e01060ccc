#include "control/view.h"

#include "base/check.h"
#include "client/keep.h"
#include "dialect/shared/gang.h"

namespace trainyard::control {

using model::CompanionKind;
using model::GangScheduler;

namespace {

constexpr std::array kCompanionKinds = {CompanionKind::kService, CompanionKind::kConfigMap,
                                        CompanionKind::kSecret, CompanionKind::kNetworkPolicy,
                                        CompanionKind::kPersistentVolumeClaim};
constexpr std::array kGangSchedulers = {GangScheduler::kVolcano, GangScheduler::kKubeBatch,
                                        GangScheduler::kCoscheduling, GangScheduler::kT9k};

constexpr int64_t kSmallPage = 100;

int add_stream(View& view, const kube::Resource& resource, std::string_view selector,
               client::Object (*keep)(const client::Object&) = nullptr,
               client::Form form = client::Form::kDocument, kube::Heed heed = kube::Heed::kAll) {
  Result<kube::LabelSelector> labels = kube::LabelSelector::parse(selector);
  CHECK(labels.ok());
  // Who keeps little of what is told also has little of it in memory at once.
  int64_t page = form == client::Form::kText ? kSmallPage : client::kListPageMax;
  view.streams.push_back({resource, *labels, "", keep, form, page});
  view.streams.back().heed = heed;
  return static_cast<int>(view.streams.size()) - 1;
}

}  // namespace

kube::Resource resource_of(CompanionKind kind) {
  switch (kind) {
    case CompanionKind::kService:
      return kube::kServices;
    case CompanionKind::kConfigMap:
      return kube::kConfigMaps;
    case CompanionKind::kSecret:
      return kube::kSecrets;
    case CompanionKind::kNetworkPolicy:
      return kube::kNetworkPolicies;
    case CompanionKind::kPersistentVolumeClaim:
      return kube::kPersistentVolumeClaims;
  }
  CHECK(false);
  return {};
}

std::vector<kube::Resource> resources_around() {
  std::vector<kube::Resource> around;
  around.reserve(kGangSchedulers.size() + kCompanionKinds.size() + 2);
  for (GangScheduler scheduler : kGangSchedulers) around.push_back(dialect::resource_of(scheduler));
  for (CompanionKind kind : kCompanionKinds) around.push_back(resource_of(kind));
  around.push_back(kube::kTensorBoards);
  around.push_back(kube::kVolcanoCommands);
  return around;
}

bool View::synced() const {
  return std::all_of(caches.begin(), caches.end(), [](const client::Cache& cache) { return cache.synced(); });
}

int View::in(int place, std::string_view ns) const {
  if (place < 0) return -1;
  if (namespaces.front().empty()) return place;
  auto found = std::lower_bound(namespaces.begin(), namespaces.end(), ns);
  if (found == namespaces.end() || *found != ns) return -1;
  return static_cast<int>(found - namespaces.begin()) * block_size + place;
}

namespace {

// Repeats the first block for every namespace.
void add_blocks(View& view, std::vector<std::string> namespaces) {
  view.block_size = static_cast<int>(view.streams.size());
  std::sort(namespaces.begin(), namespaces.end());
  namespaces.erase(std::unique(namespaces.begin(), namespaces.end()), namespaces.end());
  if (namespaces.empty() || namespaces.front().empty()) return;
  std::vector<client::Stream> block = std::move(view.streams);
  view.streams.clear();
  for (const std::string& ns : namespaces) {
    for (client::Stream stream : block) {
      stream.ns = ns;
      view.streams.push_back(std::move(stream));
    }
  }
  view.namespaces = std::move(namespaces);
}

}  // namespace

View make_view(std::span<const dialect::Dialect> dialects, std::span<const kube::Resource> around,
               std::vector<std::string> namespaces, client::Form at_rest) {
  View view;
  auto wanted = [&](const kube::Resource& resource) {
    return std::find(around.begin(), around.end(), resource) != around.end();
  };
  // Less of a document that somebody else holds anyway would be a second one.
  using Keep = decltype(client::Stream::keep);
  auto less = [&](Keep keep) { return at_rest == client::Form::kText ? keep : nullptr; };
  for (const dialect::Dialect& dialect : dialects) {
    DialectStreams streams;
    streams.jobs = add_stream(view, dialect.resource, "", less(client::keep_all_but_managers), at_rest);
    streams.pods = add_stream(view, kube::kPods, dialect.pod_selector, less(client::keep_pod), at_rest,
                              kube::Heed::kPod);
    view.streams.back().remains = client::Remains::kKept;
    streams.services = add_stream(view, kube::kServices, dialect.pod_selector, less(client::keep_identity),
                                  at_rest, kube::Heed::kIdentity);
    view.dialects.push_back(streams);
  }
  for (GangScheduler scheduler : kGangSchedulers) {
    kube::Resource resource = dialect::resource_of(scheduler);
    if (wanted(resource)) view.gangs[scheduler] = add_stream(view, resource, "");
  }
  for (CompanionKind kind : kCompanionKinds) {
    kube::Resource resource = resource_of(kind);
    // Claims may be the user's own; of everything else only what we made is of interest.
    bool all = kind == CompanionKind::kPersistentVolumeClaim;
    if (wanted(resource)) view.companions[kind] = add_stream(view, resource, all ? "" : kCompanionLabel);
  }
  if (wanted(kube::kTensorBoards)) view.tensorboards = add_stream(view, kube::kTensorBoards, "");
  if (wanted(kube::kVolcanoCommands)) view.commands = add_stream(view, kube::kVolcanoCommands, "");
  add_blocks(view, std::move(namespaces));
  for (const client::Stream& stream : view.streams) view.caches.emplace_back(stream.form, stream.remains);
  return view;
}

}  // namespace trainyard::control
