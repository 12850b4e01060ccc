// A thin layer over SQLite's C interface: what is opened is closed, and a failure is an
// Error that says whether the work was surely not done. Resources; one thread at a time.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace trainyard::hub {

// kUnavailable when nothing was done; kUnknown when the disk refused to say (a failed
// fsync) or what is on it is damaged.
Error to_error(sqlite3* db, int code, std::string_view while_doing);

class Statement {
 public:
  // REQUIRES: `sql` is right.
  Statement(sqlite3* db, std::string_view sql);
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  ~Statement() { sqlite3_finalize(statement_); }

  Statement& bind(int at, int64_t value);
  Statement& bind(int at, std::string_view value);  // the text lives until reset()
  // SQLITE_ROW, SQLITE_DONE or what went wrong.
  int step() { return statement_ == nullptr ? prepared_ : sqlite3_step(statement_); }
  // Steps a statement that gives no rows, and resets it: SQLITE_DONE or what went wrong.
  int run();
  int64_t integer(int column) const { return sqlite3_column_int64(statement_, column); }
  std::string_view text(int column) const;

 private:
  sqlite3_stmt* statement_ = nullptr;
  int prepared_ = SQLITE_OK;
};

struct CloseDb {
  void operator()(sqlite3* db) const { sqlite3_close_v2(db); }
};
using Db = std::unique_ptr<sqlite3, CloseDb>;

Result<Db> open_db(const std::filesystem::path& file);
// Runs statements that give no rows that matter.
Result<Done> run_sql(sqlite3* db, const std::string& sql, std::string_view while_doing);

}  // namespace trainyard::hub
