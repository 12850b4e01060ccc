#include <unistd.h>

#include <cstdlib>
#include <iostream>

#include "cli/command_line.h"
#include "cli/run.h"

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  bool terminal = isatty(STDOUT_FILENO) == 1;
  bool bold = terminal && std::getenv("NO_COLOR") == nullptr;
  trainyard::cli::Console console{std::cin, std::cout, std::cerr, bold, terminal};
  return trainyard::cli::run(trainyard::cli::read_command_line({argv + 1, argv + argc}), console);
}
