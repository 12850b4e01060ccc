#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace trainyard {

void check_failed(const char* fact, const char* file, int line) {
  std::fprintf(stderr, "trainyard: internal error: CHECK(%s) failed at %s:%d\n", fact, file, line);
  std::abort();
}

}  // namespace trainyard
