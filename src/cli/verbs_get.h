// The verb `get`: jobs in a table, as documents, or as lines that come as they change.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/connect.h"
#include "cli/console.h"
#include "cli/verbs.h"
#include "dialect/shared/dialect.h"

namespace trainyard::cli {

// What the words after `get` mean. Pure.
struct WhatToGet {
  const dialect::Dialect* only = nullptr;  // null: all kinds
  std::vector<std::string> names;          // as find_job takes them; none: all

  bool operator==(const WhatToGet&) const = default;
};
WhatToGet read_get_words(const std::vector<std::string>& words);

int get_jobs(const GetJobs& verb, const Cluster& cluster, const Console& console);

}  // namespace trainyard::cli
