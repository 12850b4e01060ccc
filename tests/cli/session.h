// Session: one command line carried out in this process, as text in and text out.
#pragma once

#include <string>
#include <vector>

namespace trainyard::cli_suite {

struct Session {
  std::string out;
  std::string err;
  int status = 0;
};

Session run_session(const std::vector<std::string>& arguments, const std::string& standard_input = "");

// "$ trainyard validate a.yaml", then what was printed, then the exit status if not 0.
std::string transcript(const std::vector<std::string>& arguments);

// Whether golden files are to be written anew instead of compared (TRAINYARD_REWRITE=1).
bool rewriting();
std::string read_text(const std::string& path);
void write_text(const std::string& path, const std::string& text);

}  // namespace trainyard::cli_suite
