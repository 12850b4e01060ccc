// last_words: the end of what the replica that failed a job had printed, from the logs that are kept. Among
// the lines of many replicas it is hard to find, and those that were stopped print last. Reads files.
#pragma once

#include <string>
#include <string_view>

#include "dialect/shared/dialect.h"
#include "node/log_files.h"

namespace trainyard::cli {

inline constexpr int kLastWordsLinesMax = 10;
inline constexpr size_t kLastWordsBytesMax = 4'000;

// "worker-0"; the name of a pod that is nobody's replica.
std::string replica_of(const dialect::Dialect& dialect, const json::object& pod);

// What the replica's main container printed in its last run, each line indented; "" when that is nothing.
std::string last_words(const node::LogFolder& kept, const dialect::Dialect& dialect, const json::object& job,
                       std::string_view replica);

}  // namespace trainyard::cli
