#include "layers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <string_view>

namespace trainyard::layers {
namespace {

namespace fs = std::filesystem;

struct Room {
  std::string name;
  std::set<std::string> may_include;
};

using Rooms = std::map<std::string, Room>;  // by folder, "dialect/shared"

// Libraries that only some rooms may see, so that their cost and their types stay there.
struct KeptLibrary {
  std::string_view prefix;
  std::vector<std::string_view> rooms;
};
const KeptLibrary kKeptLibraries[] = {
    {"yaml-cpp/", {"kube"}},
    {"simdjson", {"kube"}},
    {"CLI/", {"cli"}},
    {"openssl/", {"cli", "client", "server", "transport"}},
    {"boost/asio", {"client", "server", "transport"}},
    {"boost/beast", {"client", "server", "transport"}},
    {"sqlite3.h", {"hub"}},
};

struct Finding {
  std::string path;
  int line = 0;
  std::string text;

  auto operator<=>(const Finding&) const = default;
};

std::string read(const fs::path& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

Rooms read_rooms(const fs::path& src) {
  Rooms rooms;
  for (const auto& entry : fs::recursive_directory_iterator(src)) {
    if (entry.path().filename() != "CMakeLists.txt") continue;
    std::string text = read(entry.path());
    std::smatch found;
    if (!std::regex_search(text, found, std::regex(R"(trainyard_room\(\s*(\w+)([^)]*)\))"))) continue;
    Room room{found[1], {}};
    std::istringstream words(found[2].str());
    bool in_requires = false;
    for (std::string word; words >> word;) {
      if (word == "REQUIRES" || word == "LINKS") {
        in_requires = word == "REQUIRES";
      } else if (in_requires) {
        room.may_include.insert(word);
      }
    }
    rooms[fs::relative(entry.path().parent_path(), src).generic_string()] = std::move(room);
  }
  return rooms;
}

// The room that a path below src lies in; its folder is a prefix of the path.
const Room* room_of(const Rooms& rooms, std::string_view path) {
  for (size_t slash = path.rfind('/'); slash != std::string_view::npos && slash > 0;
       slash = path.rfind('/', slash - 1)) {
    if (auto found = rooms.find(std::string(path.substr(0, slash))); found != rooms.end())
      return &found->second;
  }
  return nullptr;
}

// Whether `to` can be reached from `from` along the table.
bool reaches(const std::map<std::string, const Room*>& by_name, const std::string& from,
             const std::string& to, std::set<std::string>& seen) {
  if (!seen.insert(from).second) return false;
  auto room = by_name.find(from);
  if (room == by_name.end()) return false;
  for (const std::string& next : room->second->may_include) {
    if (next == to || reaches(by_name, next, to, seen)) return true;
  }
  return false;
}

void check_table(const Rooms& rooms, std::vector<Finding>& findings) {
  std::map<std::string, const Room*> by_name;
  for (const auto& [folder, room] : rooms) by_name[room.name] = &room;
  for (const auto& [folder, room] : rooms) {
    std::string file = folder + "/CMakeLists.txt";
    for (const std::string& required : room.may_include) {
      if (!by_name.contains(required))
        findings.push_back({file, 1, fmt::format("there is no room '{}'", required)});
    }
    std::set<std::string> seen;
    if (reaches(by_name, room.name, room.name, seen)) {
      findings.push_back({file, 1, fmt::format("room '{}' requires itself in a circle", room.name)});
    }
  }
}

std::optional<std::string> wrong_quoted(const Rooms& rooms, const Room& from, const std::string& path) {
  const Room* to = room_of(rooms, path);
  if (to == nullptr) return fmt::format("\"{}\" is in no room; write the path from src/", path);
  if (to->name == from.name || from.may_include.contains(to->name)) return std::nullopt;
  std::string allowed;
  for (const std::string& name : from.may_include) allowed += (allowed.empty() ? "" : " ") + name;
  return fmt::format("room '{}' may not include '{}' (\"{}\"); it may include: {}", from.name, to->name, path,
                     allowed.empty() ? "nothing" : allowed);
}

std::optional<std::string> wrong_library(const Room& from, std::string_view path) {
  for (const KeptLibrary& library : kKeptLibraries) {
    bool kept_from = std::find(library.rooms.begin(), library.rooms.end(), from.name) == library.rooms.end();
    if (path.starts_with(library.prefix) && kept_from) {
      return fmt::format("<{}> belongs to room '{}'; use what that room offers", path,
                         fmt::join(library.rooms, "' or '"));
    }
  }
  return std::nullopt;
}

void check_file(const fs::path& src, const std::string& path, const Rooms& rooms,
                std::vector<Finding>& findings) {
  const Room* room = room_of(rooms, path);
  if (room == nullptr) {
    findings.push_back({path, 1, "lies in no room: its folder has no trainyard_room()"});
    return;
  }
  static const std::regex kInclude(R"(^\s*#\s*include\s*([<"])([^>"]+)[>"])");
  std::ifstream in(src / path);
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    std::smatch found;
    if (!std::regex_search(line, found, kInclude)) continue;
    std::optional<std::string> wrong =
        found[1] == "\"" ? wrong_quoted(rooms, *room, found[2]) : wrong_library(*room, found[2].str());
    if (wrong) findings.push_back({path, number, *wrong});
  }
}

}  // namespace

std::vector<std::string> check(const fs::path& src) {
  Rooms rooms = read_rooms(src);
  std::vector<Finding> findings;
  check_table(rooms, findings);
  for (const auto& entry : fs::recursive_directory_iterator(src)) {
    std::string extension = entry.path().extension();
    if (extension != ".h" && extension != ".cc") continue;
    check_file(src, fs::relative(entry.path(), src).generic_string(), rooms, findings);
  }
  std::sort(findings.begin(), findings.end());
  std::vector<std::string> lines;
  for (const Finding& finding : findings) {
    lines.push_back(fmt::format("{}:{}: {}", finding.path, finding.line, finding.text));
  }
  return lines;
}

}  // namespace trainyard::layers
