#include "server/registry.h"

#include <algorithm>

#include "kube/access.h"

namespace trainyard::server {
namespace {

// Groups in the order in which clients look for a plural or short name that several have.
constexpr std::string_view kGroupOrder[] = {
    "",
    "apps",
    "events.k8s.io",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "batch",
    "coordination.k8s.io",
    "discovery.k8s.io",
    "networking.k8s.io",
    "policy",
    "rbac.authorization.k8s.io",
    "scheduling.k8s.io",
    "apiextensions.k8s.io",
    "kubeflow.org",
    "batch.tensorstack.dev",
    "tensorstack.dev",
    "batch.volcano.sh",
    "bus.volcano.sh",
    "scheduling.volcano.sh",
    "scheduling.x-k8s.io",
    "scheduler.tensorstack.dev",
    "scheduling.incubator.k8s.io",
};

size_t rank_of_group(std::string_view group) {
  // Metrics of pods must never be taken for the pods themselves.
  if (group == "metrics.k8s.io") return std::size(kGroupOrder) + 1;
  return static_cast<size_t>(std::find(std::begin(kGroupOrder), std::end(kGroupOrder), group) -
                             std::begin(kGroupOrder));
}

// "v2beta1" as {2, beta, 1}; anything else has stage -1 and goes last, by name.
struct VersionRank {
  int stage = -1;  // 2 stable, 1 beta, 0 alpha
  int major = 0;
  int minor = 0;
  auto operator<=>(const VersionRank&) const = default;
};

int take_number(std::string_view& text) {
  int number = 0;
  size_t digits = 0;
  while (digits < text.size() && digits < 6 && text[digits] >= '0' && text[digits] <= '9') {
    number = number * 10 + (text[digits++] - '0');
  }
  text.remove_prefix(digits);
  return digits == 0 ? -1 : number;
}

VersionRank rank_of_version(std::string_view version) {
  if (!version.starts_with('v')) return {};
  version.remove_prefix(1);
  int major = take_number(version);
  if (major < 0) return {};
  if (version.empty()) return {2, major, 0};
  int stage = version.starts_with("beta") ? 1 : version.starts_with("alpha") ? 0 : -1;
  if (stage < 0) return {};
  version.remove_prefix(stage == 1 ? 4 : 5);
  int minor = take_number(version);
  return minor < 0 || !version.empty() ? VersionRank{} : VersionRank{stage, major, minor};
}

bool comes_before(const ApiResource* a, const ApiResource* b) {
  auto key = [](const ApiResource* entry) {
    return std::tuple(rank_of_group(entry->resource.group), entry->resource.group);
  };
  if (key(a) != key(b)) return key(a) < key(b);
  VersionRank a_version = rank_of_version(a->resource.version);
  VersionRank b_version = rank_of_version(b->resource.version);
  if (a_version != b_version) return a_version > b_version;
  return std::tie(a->resource.version, a->resource.plural) <
         std::tie(b->resource.version, b->resource.plural);
}

}  // namespace

bool ApiResource::has_verb(std::string_view verb) const {
  return std::find(verbs.begin(), verbs.end(), verb) != verbs.end();
}

const Subresource* ApiResource::subresource(std::string_view name) const {
  for (const Subresource& each : subresources) {
    if (each.name == name) return &each;
  }
  return nullptr;
}

Registry::Registry() {
  for (std::unique_ptr<ApiResource>& entry : built_in_resources()) add(std::move(entry));
}

const ApiResource* Registry::find(std::string_view group, std::string_view version,
                                  std::string_view plural) const {
  std::lock_guard lock(mutex_);
  auto found = served_.find(Key(group, version, plural));
  return found == served_.end() ? nullptr : found->second;
}

const ApiResource* Registry::find_kind(std::string_view group, std::string_view version,
                                       std::string_view kind) const {
  std::lock_guard lock(mutex_);
  for (const auto& [key, entry] : served_) {
    if (std::get<0>(key) == group && std::get<1>(key) == version && entry->resource.kind == kind)
      return entry;
  }
  return nullptr;
}

bool Registry::serves(std::string_view group, std::string_view version) const {
  std::lock_guard lock(mutex_);
  auto first = served_.lower_bound(Key(group, version, ""));
  return first != served_.end() && std::get<0>(first->first) == group && std::get<1>(first->first) == version;
}

std::vector<const ApiResource*> Registry::all() const {
  std::vector<const ApiResource*> all;
  {
    std::lock_guard lock(mutex_);
    for (const auto& [key, entry] : served_) all.push_back(entry);
  }
  std::sort(all.begin(), all.end(), comes_before);
  return all;
}

void Registry::add(std::unique_ptr<ApiResource> entry) {
  const kube::Resource& resource = entry->resource;
  served_[Key(resource.group, resource.version, resource.plural)] = entry.get();
  entries_.push_back(std::move(entry));
}

void Registry::withdraw(const Served& served) {
  for (const Key& key : served.keys) served_.erase(key);
}

Result<Done> Registry::put_crd(const json::object& crd) {
  auto entries = resources_of_crd(crd);
  if (!entries.ok()) return entries.error();
  const json::value* spec = kube::find(crd, {"spec"});
  std::string text = spec ? json::serialize(*spec) : std::string();

  std::lock_guard lock(mutex_);
  std::string name(kube::name_of(crd));
  auto before = of_crd_.find(name);
  if (before != of_crd_.end()) {
    if (before->second.spec == text) return Done{};
    withdraw(before->second);
  }
  Served served{std::move(text), {}};
  for (std::unique_ptr<ApiResource>& entry : entries.value()) {
    Key key(entry->resource.group, entry->resource.version, entry->resource.plural);
    if (served_.contains(key)) continue;  // we know it better than its CRD does
    served.keys.push_back(std::move(key));
    add(std::move(entry));
  }
  of_crd_[name] = std::move(served);
  ++generation_;
  return Done{};
}

void Registry::remove_crd(std::string_view crd_name) {
  std::lock_guard lock(mutex_);
  auto found = of_crd_.find(crd_name);
  if (found == of_crd_.end()) return;
  withdraw(found->second);
  of_crd_.erase(found);
  ++generation_;
}

}  // namespace trainyard::server
