// Journal: where a hub keeps its store. A port; bodies: a SQLite database, nothing at all
// (memory), and the fakes of the tests. Used by one thread at a time.
//
// What is kept: of every object its last change, and of the log the changes after the
// compacted revision with what they superseded.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/store.h"

namespace trainyard::hub {

// What one commit writes: all of it or nothing.
struct Batch {
  std::vector<store::Change> changes;  // in the order of revisions
  std::vector<std::string> texts;      // of their objects, as JSON
  uint64_t uids = 0;                   // how many the store has given
  struct Compaction {
    int64_t revision = 0;
    std::vector<int64_t> superseded;  // changes that nobody can ask for any more
  };
  std::optional<Compaction> compaction;
};

// Fills in the texts.
void write_texts(Batch& batch);

// A kind of object with text of its own, for what outlives the store.
struct KeptResource {
  std::string group, version, kind, plural;
  bool namespaced = true;
  bool has_status = true;

  explicit KeptResource(const kube::Resource& of)
      : group(of.group),
        version(of.version),
        kind(of.kind),
        plural(of.plural),
        namespaced(of.namespaced),
        has_status(of.has_status) {}
  kube::Resource view() const { return {group, version, kind, plural, namespaced, has_status}; }
  auto operator<=>(const KeptResource&) const = default;
};

class Journal {
 public:
  virtual ~Journal() = default;

  // Fills an empty store with what is kept. kUnavailable when that cannot be read.
  virtual Result<Done> load(store::Store& store) = 0;
  // Ok: it is on disk. kUnavailable: it is not, and the next commit may go well.
  // kUnknown: it may or may not be, and this journal must not be written any more.
  // REQUIRES: the batch has its texts.
  virtual Result<Done> commit(const Batch& batch) = 0;
  // Whether a commit takes time and may fail.
  virtual bool is_durable() const = 0;
};

std::unique_ptr<Journal> memory_journal();

// kUnavailable when another process has the file open, or it is no database of ours.
Result<std::unique_ptr<Journal>> open_sqlite_journal(const std::filesystem::path& file);

// What can go when the log up to and including `revision` goes.
Batch::Compaction compaction_up_to(const store::Store& store, int64_t revision);

}  // namespace trainyard::hub
