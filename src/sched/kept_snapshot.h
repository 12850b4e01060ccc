// KeptSnapshot: the snapshot of one pass carried over to the next, so that a pass reads again only what may
// have changed. Equal to what assemble() makes of the same documents, but for the order of its gangs, the
// numbers in its tables, and classes that no pod has any more. With it goes what a pass begins with, and what
// queues are told: sums, followed change by change. Pure; it refers to itself.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sched/assembly.h"
#include "sched/gangs_from.h"
#include "sched/group_status.h"
#include "sched/standing.h"

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

  // REQUIRES: the same `shapes` every time.
  const Snapshot& update(DocumentSource& source, const Shapes& shapes, const Changes& changes);
  // REQUIRES: there was an update.
  const Standing& standing() const { return *standing_; }
  const QueueSums& queue_sums() const { return sums_; }
  int find(std::string_view gang) const { return standing_->find(snapshot_.gangs, gang); }  // -1: not there
  uint64_t print_of(int g) const { return notes_[static_cast<size_t>(g)].print; }           // gang_print()
  // The gangs that were read by the last update.
  const std::vector<std::string>& read() const { return read_; }
  // Another number when anything that decides may have changed.
  uint64_t revision() const { return revision_; }

 private:
  using Families = std::set<uint64_t>;
  // What is kept of a gang besides the snapshot.
  struct Note {
    uint64_t family = 0;
    uint64_t print = 0;
    std::string phase = {};  // that its queue counts it under
  };

  bool has_volumes(const VolumesFound* volumes) const;
  void read_all(const Documents& documents, const Shapes& shapes);
  void replace(const Families& families, const Documents& part);
  std::vector<OtherPod> take_others(const Families& families);
  bool put_gang(Snapshot& made, size_t from, std::optional<int> known, bool follows);
  void drop_gang(int g, bool follows);
  void note(int g, int times);

  const FrontOptions options_;
  std::optional<VolumesFound> volumes_;  // that it was made with
  Snapshot snapshot_;
  std::optional<Assembly> assembly_;  // of the snapshot's cluster
  std::optional<Standing> standing_;  // of the snapshot
  QueueSums sums_;
  std::vector<Note> notes_;                // by gang
  std::multimap<uint64_t, int> gangs_of_;  // by family
  std::vector<uint64_t> other_families_;   // of the pods that others placed
  std::vector<std::string> read_;
  uint64_t revision_ = 0;
};

}  // namespace trainyard::sched
