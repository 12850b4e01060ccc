// A VFS of SQLite that hands over together what is written one piece after the other.
//
// SQLite writes each page of the write-ahead log in two pieces, and each page of a checkpoint on its
// own: a commit of ten pages is twenty system calls. Here they wait in memory until something else is
// asked of the file, a sync above all, or there are many; then they go to the disk in one piece.
// What has not been handed over when the process dies was not synced either, so nobody was told of it.
//
// It stands in front of whichever VFS is the default when a file is opened. Thread-safe as SQLite
// wants it: each file belongs to one thread at a time.
#pragma once

#include <sqlite3.h>

namespace trainyard::hub {

// Its name for sqlite3_open_v2, once it is registered. Null when SQLite refuses it.
const char* gathered_writes_vfs();

}  // namespace trainyard::hub
