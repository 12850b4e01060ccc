// CrdKeeper: makes the registry serve what the CustomResourceDefinitions in the hub say,
// from the first one on, and tells their creators so (the condition Established), once objects
// are checked against its schema. One that is deleted goes when its objects have gone, which
// are deleted for it. Resource; thread-safe.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "base/result.h"
#include "hub/hub.h"
#include "server/registry.h"

namespace trainyard::server {

class CrdKeeper {
 public:
  // `later` carries out a step soon, on another thread than the hub's.
  using Later = std::function<void(std::function<void()>)>;
  CrdKeeper(hub::Hub& hub, Registry& registry, std::function<Time()> clock, Later later)
      : hub_(hub), registry_(registry), clock_(std::move(clock)), later_(std::move(later)) {}

  Result<Done> start();
  // Hears of nothing more.
  void stop();

 private:
  void take(const hub::WatchEvent& event);
  void serve(const hub::Object& crd);
  void drop(const hub::Object& crd);
  // Deletes the objects of a CRD that is going, and lets it go when none is left. Waits for the hub.
  void empty(const hub::Object& crd);
  // Looks again when one of them has gone, or another has come.
  void look_again(const hub::Object& crd, const kube::Resource& content, int64_t revision);
  // From here on this alone is heard of the objects of that CRD; null: nothing.
  void look_at(std::string_view name, std::unique_ptr<hub::Subscription> content);
  void let_go(const hub::Object& crd);
  // The resource of a CRD whose objects nobody checks yet.
  std::optional<kube::Resource> first_seen(const json::object& crd);
  // From here on objects of a kind whose CRD has a schema keep to it, whoever writes them.
  void admit(const kube::Resource& resource);

  // Fixed.
  hub::Hub& hub_;
  Registry& registry_;
  std::function<Time()> clock_;
  Later later_;
  // State.
  std::unique_ptr<hub::Subscription> subscription_;
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<hub::Subscription>, std::less<>> emptying_;  // by the CRD's name
  std::set<std::string> admitted_;  // names of CRDs whose resource has its admission
};

}  // namespace trainyard::server
