// Layers: checks that every #include keeps to the table of rooms. The table is not
// written down twice: it is read from the REQUIRES of each room's CMakeLists.txt.
//
// A finding is one line, "path:line: what is wrong", with paths below the checked
// folder. Findings are sorted by path, then line.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace trainyard::layers {

// REQUIRES: `src` is a folder with rooms in it.
std::vector<std::string> check(const std::filesystem::path& src);

}  // namespace trainyard::layers
