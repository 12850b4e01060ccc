// Runs a program to its end and gives back what it printed. Its complaints (stderr) go
// where ours go. Not pure: starts a process and waits for it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace trainyard::client {

struct Program {
  std::string command;  // looked up in PATH when it has no slash
  std::vector<std::string> args;
  std::vector<std::pair<std::string, std::string>> env;  // besides ours
  bool reads_terminal = false;                           // gets our standard input
  Duration time_limit{60'000};                           // not for one that asks a person
};

// kNotFound when there is no such program; kUnavailable when it fails or takes too long.
Result<std::string> run_program(const Program& program);

}  // namespace trainyard::client
