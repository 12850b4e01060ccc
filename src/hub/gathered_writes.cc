#include "hub/gathered_writes.h"

#include <algorithm>
#include <memory>
#include <new>
#include <string>
#include <string_view>

namespace trainyard::hub {

namespace {

// SQLite's own VFS takes less than 128 KB at a time: of more it writes a part, or says that the disk is full.
constexpr size_t kPieceBytesMax = 64 * 1024;

// REQUIRES: lies where SQLite made room for it; `base` is first, so that each is found by the other.
struct File {
  sqlite3_file base{};
  std::unique_ptr<char[]> memory;  // of the file behind
  std::string pending;             // written, and not handed over
  sqlite3_int64 pending_at = 0;

  sqlite3_file* behind() { return reinterpret_cast<sqlite3_file*>(memory.get()); }
  const sqlite3_io_methods& methods() { return *behind()->pMethods; }

  bool goes_on(sqlite3_int64 at) const {
    return at == pending_at + static_cast<sqlite3_int64>(pending.size());
  }

  // What could not be written is not tried again: whoever asked for it is told, and takes it back.
  int hand_over() {
    if (pending.empty()) return SQLITE_OK;
    int code = methods().xWrite(behind(), pending.data(), static_cast<int>(pending.size()), pending_at);
    pending.clear();
    return code;
  }
};

File& file_of(sqlite3_file* file) { return *reinterpret_cast<File*>(file); }

int write(sqlite3_file* file, const void* data, int size, sqlite3_int64 at) {
  File& own = file_of(file);
  std::string_view rest(static_cast<const char*>(data), static_cast<size_t>(size));
  if (!own.goes_on(at)) {
    if (int code = own.hand_over(); code != SQLITE_OK) return code;
    own.pending_at = at;
  }
  while (!rest.empty()) {
    const size_t fits = std::min(rest.size(), kPieceBytesMax - own.pending.size());
    own.pending.append(rest.substr(0, fits));
    rest.remove_prefix(fits);
    if (own.pending.size() < kPieceBytesMax) continue;
    const sqlite3_int64 next = own.pending_at + static_cast<sqlite3_int64>(kPieceBytesMax);
    if (int code = own.hand_over(); code != SQLITE_OK) return code;
    own.pending_at = next;
  }
  return SQLITE_OK;
}

int close(sqlite3_file* file) {
  File& own = file_of(file);
  int written = own.hand_over();
  int closed = own.methods().xClose(own.behind());
  own.~File();
  return written != SQLITE_OK ? written : closed;
}

// Everything but a write happens after what was written before it.
template <auto Method, typename... Args>
int after_writes(sqlite3_file* file, Args... args) {
  File& own = file_of(file);
  if (int code = own.hand_over(); code != SQLITE_OK) return code;
  return (own.methods().*Method)(own.behind(), args...);
}

template <auto Method>
int asked(sqlite3_file* file) {
  File& own = file_of(file);
  return (own.methods().*Method)(own.behind());
}

// Without shared memory and mapping: the journal is the only one that has its file open.
const sqlite3_io_methods kMethods = [] {
  using M = sqlite3_io_methods;
  sqlite3_io_methods methods{};
  methods.iVersion = 1;
  methods.xClose = &close;
  methods.xRead = &after_writes<&M::xRead, void*, int, sqlite3_int64>;
  methods.xWrite = &write;
  methods.xTruncate = &after_writes<&M::xTruncate, sqlite3_int64>;
  methods.xSync = &after_writes<&M::xSync, int>;
  methods.xFileSize = &after_writes<&M::xFileSize, sqlite3_int64*>;
  methods.xLock = &after_writes<&M::xLock, int>;
  methods.xUnlock = &after_writes<&M::xUnlock, int>;
  methods.xCheckReservedLock = &after_writes<&M::xCheckReservedLock, int*>;
  methods.xFileControl = &after_writes<&M::xFileControl, int, void*>;
  methods.xSectorSize = &asked<&M::xSectorSize>;
  methods.xDeviceCharacteristics = &asked<&M::xDeviceCharacteristics>;
  return methods;
}();

int open(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out) {
  sqlite3_vfs* behind = sqlite3_vfs_find(nullptr);
  File* own = new (file) File;
  const auto size = static_cast<size_t>(behind->szOsFile);
  own->memory = std::make_unique<char[]>(size);
  int code = behind->xOpen(behind, name, own->behind(), flags, out);
  if (own->behind()->pMethods == nullptr) {
    own->~File();
    file->pMethods = nullptr;
    return code;
  }
  own->base.pMethods = &kMethods;
  return code;
}

}  // namespace

const char* gathered_writes_vfs() {
  static sqlite3_vfs vfs = [] {
    sqlite3_vfs own = *sqlite3_vfs_find(nullptr);
    own.pNext = nullptr;
    own.zName = "gathered-writes";
    own.szOsFile = static_cast<int>(sizeof(File));
    own.xOpen = &open;
    return own;
  }();
  static const int registered = sqlite3_vfs_register(&vfs, 0);
  return registered == SQLITE_OK ? vfs.zName : nullptr;
}

}  // namespace trainyard::hub
