// FaultyVfs: while it lives, SQLite of this process goes through it, and disks can be
// made to fail. For tests; one at a time.
#pragma once

#include <sqlite3.h>

#include <atomic>

#include "base/check.h"

namespace trainyard::hub {

class FaultyVfs {
 public:
  FaultyVfs() {
    original_ = sqlite3_vfs_find(nullptr);
    CHECK(original_ != nullptr && current() == nullptr);
    current() = this;
    shim_ = *original_;
    shim_.zName = "faulty";
    shim_.szOsFile = static_cast<int>(sizeof(File)) + original_->szOsFile;
    shim_.xOpen = &open;
    CHECK(sqlite3_vfs_register(&shim_, 1) == SQLITE_OK);
  }
  FaultyVfs(const FaultyVfs&) = delete;
  FaultyVfs& operator=(const FaultyVfs&) = delete;
  ~FaultyVfs() {
    sqlite3_vfs_unregister(&shim_);
    sqlite3_vfs_register(original_, 1);
    current() = nullptr;
  }

  std::atomic<bool> full{false};         // writes find no room
  std::atomic<bool> breaks_log{false};   // fsync of the write-ahead log fails
  std::atomic<bool> breaks_main{false};  // fsync of the database fails

 private:
  struct File {
    sqlite3_file base;
    bool is_main;
  };

  static FaultyVfs*& current() {
    static FaultyVfs* vfs = nullptr;
    return vfs;
  }
  static sqlite3_file* real(sqlite3_file* file) {
    return reinterpret_cast<sqlite3_file*>(reinterpret_cast<File*>(file) + 1);
  }

  static int open(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out) {
    FaultyVfs& vfs = *current();
    int code = vfs.original_->xOpen(vfs.original_, name, real(file), flags, out);
    reinterpret_cast<File*>(file)->is_main = (flags & SQLITE_OPEN_MAIN_DB) != 0;
    file->pMethods = real(file)->pMethods == nullptr ? nullptr : methods();
    return code;
  }

  static int write(sqlite3_file* file, const void* data, int size, sqlite3_int64 at) {
    if (current()->full) return SQLITE_FULL;
    return real(file)->pMethods->xWrite(real(file), data, size, at);
  }
  static int sync(sqlite3_file* file, int flags) {
    bool is_main = reinterpret_cast<File*>(file)->is_main;
    if (is_main ? current()->breaks_main : current()->breaks_log) return SQLITE_IOERR_FSYNC;
    return real(file)->pMethods->xSync(real(file), flags);
  }

  static const sqlite3_io_methods* methods() {
    static const sqlite3_io_methods kMethods = [] {
      sqlite3_io_methods m{};
      m.iVersion = 1;
      m.xClose = [](sqlite3_file* f) { return real(f)->pMethods->xClose(real(f)); };
      m.xRead = [](sqlite3_file* f, void* to, int n, sqlite3_int64 at) {
        return real(f)->pMethods->xRead(real(f), to, n, at);
      };
      m.xWrite = &write;
      m.xTruncate = [](sqlite3_file* f, sqlite3_int64 n) { return real(f)->pMethods->xTruncate(real(f), n); };
      m.xSync = &sync;
      m.xFileSize = [](sqlite3_file* f, sqlite3_int64* n) {
        return real(f)->pMethods->xFileSize(real(f), n);
      };
      m.xLock = [](sqlite3_file* f, int how) { return real(f)->pMethods->xLock(real(f), how); };
      m.xUnlock = [](sqlite3_file* f, int how) { return real(f)->pMethods->xUnlock(real(f), how); };
      m.xCheckReservedLock = [](sqlite3_file* f, int* is) {
        return real(f)->pMethods->xCheckReservedLock(real(f), is);
      };
      m.xFileControl = [](sqlite3_file* f, int op, void* arg) {
        return real(f)->pMethods->xFileControl(real(f), op, arg);
      };
      m.xSectorSize = [](sqlite3_file* f) { return real(f)->pMethods->xSectorSize(real(f)); };
      m.xDeviceCharacteristics = [](sqlite3_file* f) {
        return real(f)->pMethods->xDeviceCharacteristics(real(f));
      };
      return m;
    }();
    return &kMethods;
  }

  sqlite3_vfs* original_ = nullptr;
  sqlite3_vfs shim_{};
};

}  // namespace trainyard::hub
