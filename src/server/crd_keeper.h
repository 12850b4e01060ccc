// CrdKeeper: makes the registry serve what the CustomResourceDefinitions in the hub say,
// from the first one on, and tells their creators so (the condition Established), once objects
// are checked against its schema. When one goes, so do its objects. Resource; thread-safe.
#pragma once

#include <functional>
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
  std::set<std::string> admitted_;  // names of CRDs whose resource has its admission
};

}  // namespace trainyard::server
