// KeptSnapshot: the snapshot of one pass carried over to the next, so that a pass reads again only what may
// have changed. Equal to what assemble() makes of the same documents, but for the order of its gangs (by id),
// the numbers in its tables, and classes that no pod has any more. Pure; it refers to itself.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "sched/assembly.h"
#include "sched/gangs_from.h"

namespace trainyard::sched {

// What may have changed since the snapshot before.
struct Changes {
  bool all = true;              // nobody knows, or other things than pods and groups
  std::set<uint64_t> families;  // of pods and groups that came, changed or went, or are assumed elsewhere
};

class KeptSnapshot {
 public:
  explicit KeptSnapshot(FrontOptions options) : options_(std::move(options)) {}
  KeptSnapshot(const KeptSnapshot&) = delete;
  KeptSnapshot& operator=(const KeptSnapshot&) = delete;

  // REQUIRES: the same `shapes` every time; without `all`, groups that stay are in the order they were in.
  const Snapshot& update(const Documents& documents, const Shapes& shapes, const Changes& changes);
  // By gang: gang_print (group_status.h).
  const std::vector<uint64_t>& prints() const { return prints_; }
  // Another number when anything that decides may have changed.
  uint64_t revision() const { return revision_; }

 private:
  using Families = std::set<uint64_t>;
  // Some of the documents, and where its groups are among all.
  struct Part {
    Documents documents;
    std::vector<int> places;
  };

  static Part part_of(const Documents& documents, const Families& families);
  bool has_volumes(const VolumesFound* volumes) const;
  void read_all(const Documents& documents, const Shapes& shapes);
  void follow_groups(const std::vector<const GroupSeen*>& groups, const Families& families);
  bool replace_gangs(const Families& families, const Part& part);
  std::vector<size_t> make_spots(const std::vector<size_t>& gone, const std::vector<const Gang*>& fresh);
  bool replace_others(const Families& families, const Part& part);

  const FrontOptions options_;
  std::optional<VolumesFound> volumes_;  // that it was made with
  Snapshot snapshot_;
  std::optional<Assembly> assembly_;      // of the snapshot's cluster
  std::vector<uint64_t> families_;        // by gang
  std::vector<uint64_t> prints_;          // by gang
  std::vector<uint64_t> group_families_;  // by place among the documents
  std::vector<uint64_t> other_families_;  // of the pods that others placed
  uint64_t revision_ = 0;
};

}  // namespace trainyard::sched
