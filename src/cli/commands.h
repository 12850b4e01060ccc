// Commands: what the user asked for, as values. command_line.h makes one from argv,
// run.h carries it out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/time.h"
#include "dialect/shared/dialect.h"

namespace trainyard::cli {

// Exit statuses of the process.
inline constexpr int kFine = 0;
inline constexpr int kInputAtFault = 1;
inline constexpr int kUsage = 2;

enum class OutputForm { kText, kYaml, kJson };

struct Validate {
  std::vector<std::string> paths;
  dialect::Settings settings;

  bool operator==(const Validate&) const = default;
};

struct Explain {
  std::vector<std::string> paths;
  OutputForm form = OutputForm::kText;
  std::optional<Time> now;  // none: the time it is
  dialect::Settings settings;

  bool operator==(const Explain&) const = default;
};

struct Convert {
  std::vector<std::string> paths;
  std::string to;  // a dialect's name

  bool operator==(const Convert&) const = default;
};

struct Simulate {
  uint64_t seed = 1;
  uint64_t count = 1;
  bool trace = false;  // of one seed only
  int threads = 0;     // 0: one per core

  bool operator==(const Simulate&) const = default;
};

struct Completion {
  std::string shell;  // bash, zsh or fish

  bool operator==(const Completion&) const = default;
};

struct Version {
  bool operator==(const Version&) const = default;
};

// Text that was asked for: help.
struct Help {
  std::string text;

  bool operator==(const Help&) const = default;
};

// The command line made no sense; the text says why and what would.
struct Misused {
  std::string text;

  bool operator==(const Misused&) const = default;
};

using Command = std::variant<Validate, Explain, Convert, Simulate, Completion, Version, Help, Misused>;

}  // namespace trainyard::cli
