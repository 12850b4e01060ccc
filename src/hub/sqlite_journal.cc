// The journal in a SQLite database. One table holds what every change left behind, by
// revision, so a commit appends rows at the end of one tree: few pages, one fsync.
#include <fcntl.h>

#include <array>
#include <deque>
#include <future>
#include <map>

#include "base/fd.h"
#include "hub/arena.h"
#include "hub/journal.h"
#include "hub/sqlite.h"
#include "kube/access.h"
#include "kube/utf8.h"

namespace trainyard::hub {

namespace {

constexpr int64_t kFormat = 1;
constexpr int kCheckpointPages = 4'000;      // of 4 KB: when the write-ahead log is folded in
constexpr int64_t kFrameBytes = 4'096 + 24;  // of a page in the write-ahead log
constexpr int64_t kRoomBytes = 1 << 20;      // by how much the write-ahead log grows at a time
constexpr int64_t kSpareBytes = kRoomBytes / 4;
constexpr int kZeroBytes = 64 * 1024;
constexpr size_t kDepthMax = 1'000;  // of what was taken in: schemas are nested deep
constexpr size_t kRowsPerChunk = 512;
constexpr size_t kChunksAhead = 8;
constexpr size_t kBytesPerByteOfText = 2;  // about what a document takes in memory

constexpr const char* kPragmas =
    "PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
    "PRAGMA wal_autocheckpoint=0; PRAGMA temp_store=MEMORY; PRAGMA cache_size=-1024;";

// `kind` counts as store::ChangeKind does; `uids` is how many the store had given by then.
constexpr const char* kSchema =
    "BEGIN IMMEDIATE;"
    "CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS resources (id INTEGER PRIMARY KEY, api_group TEXT NOT NULL,"
    "  version TEXT NOT NULL, kind TEXT NOT NULL, plural TEXT NOT NULL,"
    "  namespaced INTEGER NOT NULL, has_status INTEGER NOT NULL);"
    "CREATE TABLE IF NOT EXISTS changes (revision INTEGER PRIMARY KEY, resource INTEGER NOT NULL,"
    "  kind INTEGER NOT NULL, uids INTEGER NOT NULL, json TEXT NOT NULL);"
    "INSERT OR IGNORE INTO meta VALUES ('format', 1), ('revision', 1), ('compacted', 0), ('uids', 0);"
    "COMMIT;";

struct Row {
  int64_t revision = 0;
  int64_t resource = 0;
  int64_t kind = 0;
  std::string text;
  store::Object object;  // null when the text is not an object of that revision
};
using Chunk = std::vector<Row>;

Chunk parse(Chunk chunk) {
  json::parse_options options;
  options.max_depth = kDepthMax;
  size_t bytes = 0;
  for (const Row& row : chunk) bytes += row.text.size();
  Arena* arena = nullptr;
  json::storage_ptr storage = json::make_shared_resource<Arena>(kBytesPerByteOfText * bytes, arena);
  json::parser parser({}, options);
  for (Row& row : chunk) {
    boost::system::error_code error;
    parser.reset(storage);
    parser.write(row.text, error);
    if (error && !kube::is_utf8(row.text)) {
      error.clear();
      parser.reset(storage);
      parser.write(kube::as_utf8(std::move(row.text)), error);
    }
    row.text = {};
    if (error) continue;
    json::value value = parser.release();
    if (!value.is_object()) continue;
    row.object = std::make_shared<const json::object>(std::move(value.get_object()));
    if (kube::version_of(*row.object) != row.revision) row.object = nullptr;
  }
  arena->seal();
  return chunk;
}

class SqliteJournal final : public Journal {
 public:
  SqliteJournal(std::filesystem::path file, Db db)
      : file_(std::move(file)),
        db_(std::move(db)),
        begin_(db_.get(), "BEGIN IMMEDIATE"),
        end_(db_.get(), "COMMIT"),
        insert_(db_.get(), "INSERT INTO changes VALUES (?, ?, ?, ?, ?)"),
        drop_(db_.get(), "DELETE FROM changes WHERE revision = ?"),
        set_meta_(db_.get(), "UPDATE meta SET value = ?2 WHERE name = ?1"),
        insert_resource_(db_.get(), "INSERT INTO resources VALUES (?, ?, ?, ?, ?, ?, ?)") {
    sqlite3_wal_hook(
        db_.get(),
        [](void* self, sqlite3*, const char*, int pages) {
          static_cast<SqliteJournal*>(self)->wal_pages_ = pages;
          return SQLITE_OK;
        },
        this);
  }

  Result<Done> load(store::Store& store) override;
  Result<Done> commit(const Batch& batch) override;
  bool is_durable() const override { return true; }

 private:
  using Ids = std::map<KeptResource, int64_t>;

  Error damaged(std::string_view what) const {
    return {ErrorKind::kUnavailable, fmt::format("{} is damaged: {}", file_.string(), what)};
  }
  Error failed(int code) const {
    return to_error(db_.get(), code, fmt::format("cannot write {}", file_.string()));
  }
  Result<int64_t> meta(std::string_view name);
  Result<Done> load_resources();
  Result<Done> load_changes(store::Store& store, int64_t compacted);
  Result<Done> replay(store::Store& store, const Chunk& chunk, int64_t compacted) const;
  // SQLITE_DONE or what went wrong. Resources seen for the first time go to `added`.
  int write(const Batch& batch, Ids& added);
  int write_resource(const KeptResource& resource, Ids& added, int64_t& id);
  // Lets the write-ahead log grow by many pages at a time. To sync what overwrites a file is several
  // times faster than to sync what makes it longer: its size need not be journaled.
  void make_room();
  // Moves the write-ahead log into the database, now and then.
  void fold_in();

  // Fixed.
  std::filesystem::path file_;
  Db db_;
  Statement begin_;
  Statement end_;
  Statement insert_;
  Statement drop_;
  Statement set_meta_;
  Statement insert_resource_;
  // State.
  Ids ids_;
  std::map<int64_t, KeptResource> resources_;
  uint64_t uids_ = 0;
  int wal_pages_ = 0;
  int64_t wal_room_ = 0;         // how long the file of the write-ahead log is at least
  std::optional<Error> broken_;  // why nothing may be written any more
};

Result<int64_t> SqliteJournal::meta(std::string_view name) {
  Statement read(db_.get(), "SELECT value FROM meta WHERE name = ?");
  read.bind(1, name);
  if (int code = read.step(); code != SQLITE_ROW) {
    return damaged(code == SQLITE_DONE ? fmt::format("it has no {}", name) : sqlite3_errmsg(db_.get()));
  }
  return read.integer(0);
}

Result<Done> SqliteJournal::load_resources() {
  Statement read(db_.get(), "SELECT * FROM resources");
  int code = 0;
  while ((code = read.step()) == SQLITE_ROW) {
    kube::Resource resource{read.text(1), read.text(2),         read.text(3),
                            read.text(4), read.integer(5) != 0, read.integer(6) != 0};
    ids_.emplace(KeptResource(resource), read.integer(0));
    resources_.emplace(read.integer(0), KeptResource(resource));
  }
  if (code != SQLITE_DONE) return damaged(sqlite3_errmsg(db_.get()));
  return Done{};
}

Result<Done> SqliteJournal::load(store::Store& store) {
  Result<int64_t> format = meta("format");
  if (!format.ok()) return format.error();
  if (*format != kFormat) {
    return Error{ErrorKind::kUnavailable,
                 fmt::format("{} was written by another version (format {})", file_.string(), *format)};
  }
  Result<int64_t> revision = meta("revision");
  Result<int64_t> compacted = meta("compacted");
  Result<int64_t> uids = meta("uids");
  if (!revision.ok()) return revision.error();
  if (!compacted.ok()) return compacted.error();
  if (!uids.ok()) return uids.error();
  uids_ = static_cast<uint64_t>(*uids);
  if (Result<Done> done = load_resources(); !done.ok()) return done;
  if (Result<Done> done = load_changes(store, *compacted); !done.ok()) return done;
  store.set_counters(std::max(*revision, store.revision()), *compacted, uids_);
  return Done{};
}

Result<Done> SqliteJournal::load_changes(store::Store& store, int64_t compacted) {
  Statement read(db_.get(), "SELECT revision, resource, kind, json, uids FROM changes ORDER BY revision");
  std::deque<std::future<Chunk>> parsing;
  Chunk chunk;
  int code = SQLITE_ROW;
  while (code == SQLITE_ROW) {
    code = read.step();
    if (code == SQLITE_ROW) {
      chunk.push_back(
          {read.integer(0), read.integer(1), read.integer(2), std::string(read.text(3)), nullptr});
      uids_ = std::max(uids_, static_cast<uint64_t>(read.integer(4)));
    }
    if (chunk.size() == kRowsPerChunk) {
      parsing.push_back(std::async(std::launch::async, parse, std::exchange(chunk, {})));
    }
    while (parsing.size() > (code == SQLITE_ROW ? kChunksAhead : 0)) {
      Result<Done> done = replay(store, parsing.front().get(), compacted);
      parsing.pop_front();
      if (!done.ok()) return done;
    }
  }
  if (code != SQLITE_DONE) return damaged(sqlite3_errmsg(db_.get()));
  return replay(store, parse(std::move(chunk)), compacted);
}

Result<Done> SqliteJournal::replay(store::Store& store, const Chunk& chunk, int64_t compacted) const {
  for (const Row& row : chunk) {
    auto resource = resources_.find(row.resource);
    bool is_kind = row.kind >= 0 && row.kind < static_cast<int64_t>(store::ChangeKind::kBookmark);
    if (row.object == nullptr || resource == resources_.end() || !is_kind) {
      return damaged(fmt::format("the change of revision {} cannot be read", row.revision));
    }
    store.replay(resource->second.view(), static_cast<store::ChangeKind>(row.kind), row.object,
                 row.revision > compacted);
  }
  return Done{};
}

int SqliteJournal::write_resource(const KeptResource& resource, Ids& added, int64_t& id) {
  if (auto known = ids_.find(resource); known != ids_.end()) {
    id = known->second;
    return SQLITE_DONE;
  }
  auto [entry, is_new] = added.emplace(resource, static_cast<int64_t>(ids_.size() + added.size() + 1));
  id = entry->second;
  if (!is_new) return SQLITE_DONE;
  insert_resource_.bind(1, id).bind(2, resource.group).bind(3, resource.version).bind(4, resource.kind);
  insert_resource_.bind(5, resource.plural).bind(6, int64_t{resource.namespaced});
  return insert_resource_.bind(7, int64_t{resource.has_status}).run();
}

int SqliteJournal::write(const Batch& batch, Ids& added) {
  for (size_t i = 0; i < batch.changes.size(); ++i) {
    const store::Change& change = batch.changes[i];
    int64_t id = 0;
    if (int code = write_resource(KeptResource(change.resource), added, id); code != SQLITE_DONE) return code;
    insert_.bind(1, change.event.revision).bind(2, id).bind(3, static_cast<int64_t>(change.event.kind));
    int code = insert_.bind(4, static_cast<int64_t>(batch.uids)).bind(5, batch.texts[i]).run();
    if (code != SQLITE_DONE) return code;
  }
  if (!batch.compaction) return SQLITE_DONE;
  for (int64_t revision : batch.compaction->superseded) {
    if (int code = drop_.bind(1, revision).run(); code != SQLITE_DONE) return code;
  }
  // The rows that would tell how far the counters are may be among those that go.
  const std::pair<std::string_view, int64_t> counters[] = {
      {"compacted", batch.compaction->revision},
      {"revision", batch.changes.empty() ? batch.compaction->revision : batch.changes.back().event.revision},
      {"uids", static_cast<int64_t>(batch.uids)}};
  for (const auto& [name, value] : counters) {
    if (int code = set_meta_.bind(1, name).bind(2, value).run(); code != SQLITE_DONE) return code;
  }
  return SQLITE_DONE;
}

void SqliteJournal::make_room() {
  const int64_t end = (wal_pages_ + 1) * kFrameBytes;
  if (end + kSpareBytes < wal_room_) return;
  sqlite3_file* log = nullptr;
  sqlite3_int64 size = 0;
  if (sqlite3_file_control(db_.get(), "main", SQLITE_FCNTL_JOURNAL_POINTER, &log) != SQLITE_OK) return;
  if (log == nullptr || log->pMethods == nullptr) return;
  if (log->pMethods->xFileSize(log, &size) != SQLITE_OK) return;
  wal_room_ = std::max<int64_t>(size, end);
  if (end + kSpareBytes < wal_room_) return;
  // Zeros are no frames: nobody takes them for a commit. A disk that has no room for them says
  // so again when it is asked to keep a commit.
  static constexpr std::array<char, kZeroBytes> kZeros{};
  for (const int64_t goal = wal_room_ + kRoomBytes; wal_room_ < goal; wal_room_ += kZeroBytes) {
    if (log->pMethods->xWrite(log, kZeros.data(), kZeroBytes, wal_room_) != SQLITE_OK) return;
  }
}

void SqliteJournal::fold_in() {
  if (wal_pages_ < kCheckpointPages) return;
  int code = sqlite3_wal_checkpoint_v2(db_.get(), nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
  if (code == SQLITE_OK) return;
  // A full disk can wait: the log goes on growing. After a failed fsync it is not known what
  // the database holds, and trying again would be told that all is well.
  Error error = failed(code);
  if (error.kind == ErrorKind::kUnknown) broken_ = std::move(error);
}

Result<Done> SqliteJournal::commit(const Batch& batch) {
  if (broken_) return *broken_;
  Ids added;
  make_room();
  int code = begin_.run();
  if (code == SQLITE_DONE) code = write(batch, added);
  if (code == SQLITE_DONE) code = end_.run();
  if (code != SQLITE_DONE) {
    Error error = failed(code);
    if (sqlite3_get_autocommit(db_.get()) == 0) {
      sqlite3_exec(db_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
    }
    return error;
  }
  ids_.merge(added);
  fold_in();
  return Done{};
}

}  // namespace

Result<std::unique_ptr<Journal>> open_sqlite_journal(const std::filesystem::path& file) {
  // There are secrets in it. What SQLite puts beside it gets the same mode.
  Fd(::open(file.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600)).reset();
  Result<Db> db = open_db(file);
  if (!db.ok()) return Error{ErrorKind::kUnavailable, db.error().message};
  std::string opening = fmt::format("cannot open {}", file.string());
  for (const char* sql : {kPragmas, kSchema}) {
    Result<Done> done = run_sql(db->get(), sql, opening);
    if (!done.ok()) return Error{ErrorKind::kUnavailable, done.error().message};
  }
  return std::unique_ptr<Journal>(std::make_unique<SqliteJournal>(file, std::move(db).value()));
}

}  // namespace trainyard::hub
