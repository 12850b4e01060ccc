// Loaded before the C library (LD_PRELOAD): fsync and fdatasync fail with EIO while the file
// named by TRAINYARD_FAIL_FSYNC exists. The bytes are left where they are, as a broken disk does.
#include <dlfcn.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace {

int sync_or_fail(const char* name, int fd) {
  const char* file = std::getenv("TRAINYARD_FAIL_FSYNC");
  if (file != nullptr && ::access(file, F_OK) == 0) {
    errno = EIO;
    return -1;
  }
  return reinterpret_cast<int (*)(int)>(::dlsym(RTLD_NEXT, name))(fd);
}

}  // namespace

extern "C" int fsync(int fd) { return sync_or_fail("fsync", fd); }
extern "C" int fdatasync(int fd) { return sync_or_fail("fdatasync", fd); }
