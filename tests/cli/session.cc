#include "session.h"

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "cli/command_line.h"
#include "cli/run.h"

namespace trainyard::cli_suite {

Session run_session(const std::vector<std::string>& arguments, const std::string& standard_input) {
  std::istringstream in(standard_input);
  std::ostringstream out;
  std::ostringstream err;
  int status = cli::run(cli::read_command_line(arguments), cli::Console{in, out, err, false});
  return {out.str(), err.str(), status};
}

std::string transcript(const std::vector<std::string>& arguments) {
  std::string text = "$ trainyard";
  for (const std::string& argument : arguments) text += " " + argument;
  Session session = run_session(arguments);
  text += "\n" + session.out;
  if (!session.err.empty()) text += "[stderr]\n" + session.err;
  if (session.status != 0) text += fmt::format("[exit {}]\n", session.status);
  return text;
}

bool rewriting() {
  const char* wish = std::getenv("TRAINYARD_REWRITE");
  return wish != nullptr && std::string(wish) == "1";
}

std::string read_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void write_text(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

}  // namespace trainyard::cli_suite
