// View: all that the operator has seen of the world: one cache per stream of objects,
// and which stream shows what. Value; pure.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "client/cache.h"
#include "client/watcher.h"
#include "dialect/shared/dialect.h"
#include "model/job_spec.h"

namespace trainyard::control {

// On every companion we make, so that only those are watched.
inline constexpr std::string_view kCompanionLabel = "trainyard.dev/companion";

// Positions in View::streams. -1: not watched.
struct DialectStreams {
  int jobs = -1;
  int pods = -1;
  int services = -1;
};

struct View {
  std::vector<client::Stream> streams;
  std::vector<client::Cache> caches;  // one per stream
  std::vector<DialectStreams> dialects;
  std::map<model::GangScheduler, int> gangs;
  std::map<model::CompanionKind, int> companions;
  int tensorboards = -1;
  int commands = -1;

  bool synced() const;
};

// The resources around jobs that are watched unless an operator is told otherwise.
std::vector<kube::Resource> resources_around();

// Streams for the jobs, pods and services of each dialect, and for those of the
// resources `around` that jobs may need.
View make_view(std::span<const dialect::Dialect> dialects, std::span<const kube::Resource> around);

kube::Resource resource_of(model::CompanionKind kind);

}  // namespace trainyard::control
