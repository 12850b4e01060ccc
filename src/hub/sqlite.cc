#include "hub/sqlite.h"

#include <fmt/format.h>

#include <system_error>

#include "hub/gathered_writes.h"

namespace trainyard::hub {

namespace {

bool is_doubtful(int code, int extended) {
  return extended == SQLITE_IOERR_FSYNC || extended == SQLITE_IOERR_DIR_FSYNC || code == SQLITE_CORRUPT ||
         code == SQLITE_NOTADB;
}

std::string in_words(sqlite3* db, int code, int extended) {
  switch (code) {
    case SQLITE_FULL:
      return "the disk is full";
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return "another process has it open";
    case SQLITE_CORRUPT:
      return "the file is damaged";
    case SQLITE_NOTADB:
      return "the file is no database of ours";
    case SQLITE_READONLY:
      return "the file may not be written";
    case SQLITE_CANTOPEN:
      return "the file cannot be opened";
    case SQLITE_IOERR:
      return fmt::format("the disk does not work as it should: {} failed ({})",
                         extended == SQLITE_IOERR_FSYNC   ? "fsync"
                         : extended == SQLITE_IOERR_WRITE ? "a write"
                                                          : sqlite3_errstr(extended),
                         std::generic_category().message(sqlite3_system_errno(db)));
    default:
      return sqlite3_errmsg(db);
  }
}

}  // namespace

Error to_error(sqlite3* db, int code, std::string_view while_doing) {
  int extended = db == nullptr ? code : sqlite3_extended_errcode(db);
  int primary = code & 0xFF;
  return {is_doubtful(primary, extended) ? ErrorKind::kUnknown : ErrorKind::kUnavailable,
          fmt::format("{}: {}", while_doing, in_words(db, primary, extended))};
}

Statement::Statement(sqlite3* db, std::string_view sql) {
  prepared_ = sqlite3_prepare_v2(db, sql.data(), static_cast<int>(sql.size()), &statement_, nullptr);
}

Statement& Statement::bind(int at, int64_t value) {
  sqlite3_bind_int64(statement_, at, value);
  return *this;
}

Statement& Statement::bind(int at, std::string_view value) {
  sqlite3_bind_text64(statement_, at, value.data(), value.size(), SQLITE_STATIC, SQLITE_UTF8);
  return *this;
}

int Statement::run() {
  if (statement_ == nullptr) return prepared_;
  int code = sqlite3_step(statement_);
  sqlite3_reset(statement_);
  return code;
}

std::string_view Statement::text(int column) const {
  const void* data = sqlite3_column_blob(statement_, column);
  return {static_cast<const char*>(data), static_cast<size_t>(sqlite3_column_bytes(statement_, column))};
}

Result<Db> open_db(const std::filesystem::path& file) {
  sqlite3* raw = nullptr;
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  int code = sqlite3_open_v2(file.c_str(), &raw, flags, gathered_writes_vfs());
  Db db(raw);
  if (code != SQLITE_OK) return to_error(raw, code, fmt::format("cannot open {}", file.string()));
  sqlite3_extended_result_codes(raw, 1);
  return db;
}

Result<Done> run_sql(sqlite3* db, const std::string& sql, std::string_view while_doing) {
  int code = sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return to_error(db, code, while_doing);
  return Done{};
}

}  // namespace trainyard::hub
