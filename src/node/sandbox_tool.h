// Runs the programs that sandboxes and images are made with (runc, skopeo, umoci,
// iptables) to their end and gives back what they said. Never a shell.
//
// Blocks the caller until the program ends or its deadline passes (then it is killed).
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard::node {

struct ToolOptions {
  std::chrono::milliseconds deadline{60'000};
  // In a group of its own a Ctrl-C at the terminal does not reach it.
  bool own_group = true;
  // Told each line of its standard output as it comes.
  std::function<void(std::string_view)> on_line;
};

struct ToolEnd {
  int exit_code = 0;  // 128 + signal when killed by one; 127 when it could not be started
  std::string out;
  std::string err;
  bool timed_out = false;

  bool ok() const { return exit_code == 0; }
};

ToolEnd run_tool(const std::vector<std::string>& argv, const ToolOptions& options = {});

// Where the program is: in PATH, or in the folders that a user's PATH often lacks (/usr/sbin, /sbin).
std::optional<std::filesystem::path> find_tool(std::string_view name);

// What a line of a tool's log says: the value of its msg="...", without escapes; the line where
// there is none. Pure.
std::string message_of(std::string_view line);

// The last line of what a failed tool said, for a message.
std::string last_words(const ToolEnd& end);

}  // namespace trainyard::node
