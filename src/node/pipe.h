// A pipe whose two ends close by themselves, and in every program that is started.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <optional>

#include "base/fd.h"

namespace trainyard::node {

struct Pipe {
  Fd read;
  Fd write;
};

// nullopt when there are no more descriptors; errno says so.
inline std::optional<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return std::nullopt;
  return Pipe{Fd(ends[0]), Fd(ends[1])};
}

}  // namespace trainyard::node
