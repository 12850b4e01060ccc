#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <string_view>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/run.h"

namespace {

// Whoever starts us may have closed them: the next file to be opened would get their number, and
// what is printed would go into it.
void hold_standard_streams() {
  int fd = 0;
  while (fd >= 0 && fd <= STDERR_FILENO) fd = ::open("/dev/null", O_RDWR);
  if (fd > STDERR_FILENO) ::close(fd);
}

bool is_set(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

// Whether standard output is a terminal that can be told where to write.
bool is_terminal() {
  return isatty(STDOUT_FILENO) == 1 && is_set("TERM") && std::string_view(std::getenv("TERM")) != "dumb";
}

}  // namespace

int main(int argc, char** argv) {
  hold_standard_streams();
  std::ios::sync_with_stdio(false);
  const bool terminal = is_terminal();
  const bool bold = terminal && !is_set("NO_COLOR");
  trainyard::cli::Console console{std::cin, std::cout, std::cerr, bold, terminal};
  const int status = trainyard::cli::run(trainyard::cli::read_command_line({argv + 1, argv + argc}), console);
  if (std::cout.flush()) return status;
  std::cerr << "not all that was to be printed could be written\n";
  return status == trainyard::cli::kFine ? trainyard::cli::kInputAtFault : status;
}
