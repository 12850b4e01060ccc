// View: all that the operator has seen of the world: one cache per stream of objects,
// and which stream shows what. Value; pure.
//
// Streams stand in blocks of equal shape, one block per namespace that is watched, or a
// single one for all namespaces. What names a stream below names its place in a block;
// in() finds the stream itself. Everything but the caches stays as it was made, so other
// threads may read it.
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

// Places in a block of View::streams. -1: not watched.
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
  std::vector<std::string> namespaces{""};  // of the blocks; "" alone for all
  int block_size = 0;

  bool synced() const;
  // The stream at this place for objects of a namespace; -1 when it is not watched.
  int in(int place, std::string_view ns) const;
  int place_of(int stream) const { return stream % block_size; }
  // The cache at this place for a namespace. REQUIRES: it is watched.
  client::Cache& cache(int place, std::string_view ns) { return caches[in(place, ns)]; }
  const client::Cache& cache(int place, std::string_view ns) const { return caches[in(place, ns)]; }
};

// The resources around jobs that are watched unless an operator is told otherwise.
std::vector<kube::Resource> resources_around();

// Streams for the jobs, pods and services of each dialect, and for those of the
// resources `around` that jobs may need; in these namespaces, or in all when there are none.
// `at_rest`: how the first three are kept: as text, with the parts that are read and no others, or
// as the documents that came.
View make_view(std::span<const dialect::Dialect> dialects, std::span<const kube::Resource> around,
               std::vector<std::string> namespaces = {}, client::Form at_rest = client::Form::kText);

kube::Resource resource_of(model::CompanionKind kind);

}  // namespace trainyard::control
