// The config file of `trainyard operator`: a YAML map of the flags' names, without their
// dashes, to values; lists where a flag may be given several times. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace trainyard::cli {

struct ConfigEntry {
  std::string name;  // a flag's, without "--"
  std::vector<std::string> values;
  int line = 0;

  bool operator==(const ConfigEntry&) const = default;
};

// In the order of the file. kInvalid with "PATH:LINE: what is wrong"; a name that is not
// among `known` is refused, with the nearest one that is.
Result<std::vector<ConfigEntry>> read_operator_config(std::string_view path, std::string_view text,
                                                      const std::vector<std::string_view>& known);

}  // namespace trainyard::cli
