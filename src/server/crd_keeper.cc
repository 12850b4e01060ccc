#include "server/crd_keeper.h"

#include <algorithm>

#include "kube/access.h"
#include "server/patched.h"
#include "server/validate_fields.h"
#include "server/validate_values.h"
#include "store/builtin.h"
#include "store/errors.h"

namespace trainyard::server {
namespace {

const ApiResource& crds_of(const Registry& registry) {
  const ApiResource* crds = registry.find("apiextensions.k8s.io", "v1", "customresourcedefinitions");
  CHECK(crds != nullptr);
  return *crds;
}

// The entry of the version that is stored, or of another one when that is not served; null
// when none is.
const ApiResource* entry_of(const Registry& registry, const json::object& crd) {
  const json::array* versions = kube::array_at(crd, {"spec", "versions"});
  if (versions == nullptr) return nullptr;
  const ApiResource* any = nullptr;
  for (const json::value& version : *versions) {
    if (!version.is_object()) continue;
    const ApiResource* entry =
        registry.find(kube::text_at(crd, {"spec", "group"}), kube::text_at(version.get_object(), {"name"}),
                      kube::text_at(crd, {"spec", "names", "plural"}));
    if (entry == nullptr || !entry->from_crd) continue;
    if (entry->resource.version == entry->storage.version) return entry;
    any = entry;
  }
  return any;
}

// What a kind's CRD demands of its objects, as it is now.
Result<Done> admit_object(const Registry& registry, const kube::Resource& resource, json::object& object,
                          const json::object* before) {
  const ApiResource* now = registry.find(resource.group, resource.version, resource.plural);
  if (now == nullptr || !now->schema) return Done{};
  prune_and_default(*now, object);
  json::value whole(std::move(object));
  store::Causes causes = value_problems(*now->schema, whole, before);
  object = std::move(whole.get_object());
  if (causes.empty()) return Done{};
  return store::invalid_object(resource, kube::name_of(object), std::move(causes));
}

}  // namespace

Result<Done> CrdKeeper::start() {
  hub::WatchSink sink{
      .on_events =
          [this](const std::vector<hub::WatchEvent>& events) {
            for (const hub::WatchEvent& event : events) take(event);
          },
      .on_closed = [](const std::optional<Error>&) {},
  };
  kube::Watch query;
  query.bookmarks = false;
  auto subscription = hub_.watch(crds_of(registry_).storage, "", query, std::move(sink));
  if (!subscription.ok()) return subscription.error();
  subscription_ = std::move(subscription).value();
  return Done{};
}

void CrdKeeper::stop() {
  subscription_.reset();
  decltype(emptying_) last;  // ended without the lock, which their own thread may be waiting for
  std::lock_guard lock(mutex_);
  last.swap(emptying_);
}

void CrdKeeper::take(const hub::WatchEvent& event) {
  switch (event.kind) {
    case store::ChangeKind::kAdded:
    case store::ChangeKind::kModified:
      return serve(event.object);
    case store::ChangeKind::kDeleted:
      return drop(event.object);
    case store::ChangeKind::kBookmark:
      return;
  }
}

void CrdKeeper::serve(const hub::Object& crd) {
  const bool served = registry_.put_crd(*crd).ok();
  if (kube::is_deleting(*crd)) {
    // It is served until it is gone: its objects may have finalizers.
    if (kube::has_finalizer(*crd, store::kCustomResourceCleanup)) later_([this, crd] { empty(crd); });
    return;
  }
  if (!served) return;
  std::optional<kube::Resource> fresh = first_seen(*crd);
  json::object status = status_of_crd(*crd, clock_());
  const json::object* before = kube::object_at(*crd, {"status"});
  const bool is_told = before != nullptr && *before == status;
  if (!fresh && is_told) return;
  json::object body = *crd;
  body["status"] = std::move(status);
  body["metadata"].get_object().erase("resourceVersion");
  later_([this, fresh, is_told, body = std::move(body)]() mutable {
    if (fresh) admit(*fresh);
    if (is_told) return;
    kube::Request request{crds_of(registry_).storage, "", kube::UpdateStatus{std::move(body)}};
    hub_.submit(std::move(request), [](const Result<hub::Answer>&) {});
  });
}

void CrdKeeper::drop(const hub::Object& crd) {
  std::vector<kube::Resource> gone;
  if (const ApiResource* entry = entry_of(registry_, *crd)) gone.push_back(entry->storage);
  registry_.remove_crd(kube::name_of(*crd));
  later_([this, name = std::string(kube::name_of(*crd))] { look_at(name, nullptr); });
  for (const kube::Resource& resource : gone) {
    later_([this, resource] {
      hub_.submit({resource, "", kube::DeleteCollection{}}, [](const Result<hub::Answer>&) {});
    });
  }
}

void CrdKeeper::empty(const hub::Object& crd) {
  if (const ApiResource* entry = entry_of(registry_, *crd)) {
    (void)hub_.call({entry->storage, "", kube::DeleteCollection{}});
    kube::List any;
    any.limit = 1;
    Result<hub::Answer> left = hub_.call({entry->storage, "", any});
    if (!left.ok()) return;
    if (!left->items.empty()) return look_again(crd, entry->storage, left->revision);
  }
  let_go(crd);
}

void CrdKeeper::look_again(const hub::Object& crd, const kube::Resource& content, int64_t revision) {
  hub::WatchSink sink{
      .on_events =
          [this, crd](const std::vector<hub::WatchEvent>& events) {
            auto counts = [](const hub::WatchEvent& event) {
              return event.kind == store::ChangeKind::kDeleted || event.kind == store::ChangeKind::kAdded;
            };
            if (std::any_of(events.begin(), events.end(), counts)) later_([this, crd] { empty(crd); });
          },
      .on_closed = [](const std::optional<Error>&) {},
  };
  kube::Watch query;
  query.version = std::to_string(revision);
  query.bookmarks = false;
  auto subscription = hub_.watch(content, "", query, std::move(sink));
  if (subscription.ok()) look_at(kube::name_of(*crd), std::move(subscription).value());
}

void CrdKeeper::look_at(std::string_view name, std::unique_ptr<hub::Subscription> content) {
  // Those before end without the lock, which their own thread may be waiting for.
  decltype(emptying_)::node_type before;
  std::lock_guard lock(mutex_);
  before = emptying_.extract(std::string(name));
  if (content != nullptr) emptying_.emplace(name, std::move(content));
}

void CrdKeeper::let_go(const hub::Object& crd) {
  json::array others;
  for (const json::value& finalizer : kube::or_empty(kube::array_at(*crd, {"metadata", "finalizers"}))) {
    const json::string* name = finalizer.if_string();
    if (name != nullptr && kube::view(*name) != store::kCustomResourceCleanup) others.push_back(finalizer);
  }
  // One that was changed meanwhile is told of, and let go as it is then.
  json::object patch{
      {"metadata",
       json::object{{"finalizers", std::move(others)},
                    {"resourceVersion", kube::jview(kube::text_at(*crd, {"metadata", "resourceVersion"}))}}}};
  (void)hub_.call({crds_of(registry_).storage, "",
                   kube::Patch{std::string(kube::name_of(*crd)), kube::PatchKind::kMerge, std::move(patch)}});
}

std::optional<kube::Resource> CrdKeeper::first_seen(const json::object& crd) {
  const ApiResource* entry = entry_of(registry_, crd);
  if (entry == nullptr) return std::nullopt;
  std::lock_guard lock(mutex_);
  if (!admitted_.insert(std::string(kube::name_of(crd))).second) return std::nullopt;
  return entry->resource;
}

void CrdKeeper::admit(const kube::Resource& resource) {
  Registry& registry = registry_;
  hub_.set_admission(resource,
                     [&registry, resource](json::object& object, const json::object* before, kube::Part) {
                       return admit_object(registry, resource, object, before);
                     });
  shape_patches(hub_, registry, resource);
  hub_.set_schema(resource, [&registry, resource]() -> std::shared_ptr<const json::object> {
    const ApiResource* now = registry.find(resource.group, resource.version, resource.plural);
    return now == nullptr ? nullptr : now->schema;
  });
}

}  // namespace trainyard::server
