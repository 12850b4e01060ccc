#include "hub/journal.h"

namespace trainyard::hub {

namespace {

class Memory final : public Journal {
 public:
  Result<Done> load(store::Store&) override { return Done{}; }
  Result<Done> commit(const Batch&) override { return Done{}; }
  bool is_durable() const override { return false; }
};

}  // namespace

void write_texts(Batch& batch) {
  batch.texts.reserve(batch.changes.size());
  for (const store::Change& change : batch.changes) {
    batch.texts.push_back(json::serialize(*change.event.object));
  }
}

std::unique_ptr<Journal> memory_journal() { return std::make_unique<Memory>(); }

Batch::Compaction compaction_up_to(const store::Store& store, int64_t revision) {
  return {revision, store.superseded_up_to(revision)};
}

}  // namespace trainyard::hub
