// Tidy: walks a source tree and applies the rules. Reads files, changes none.
//
// A finding is one line, "path:line: what is wrong", with paths below `root`, sorted.
// Folders named bad_sample are left out, unless they are the root itself.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace trainyard::tidy {

std::vector<std::string> check(const std::filesystem::path& root);

}  // namespace trainyard::tidy
