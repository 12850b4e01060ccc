#include "tidy.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "rules.h"
#include "unique_names.h"

namespace trainyard::tidy {
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<SourceFile> sources(const fs::path& root) {
  std::vector<SourceFile> files;
  for (const char* folder : {"src", "tests", "bench"}) {
    if (!fs::exists(root / folder)) continue;
    for (auto at = fs::recursive_directory_iterator(root / folder); at != fs::recursive_directory_iterator();
         ++at) {
      if (at->is_directory() && at->path().filename() == "bad_sample") at.disable_recursion_pending();
      std::string extension = at->path().extension();
      if (extension != ".h" && extension != ".cc") continue;
      files.push_back({fs::relative(at->path(), root).generic_string(), read(at->path())});
    }
  }
  std::sort(files.begin(), files.end(),
            [](const SourceFile& a, const SourceFile& b) { return a.path < b.path; });
  return files;
}

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

// A room is a folder below src that holds sources.
void check_readmes(const fs::path& root, const std::vector<SourceFile>& files,
                   std::vector<Finding>& findings) {
  std::map<std::string, bool> rooms;
  for (const SourceFile& file : files) {
    if (file.path.starts_with("src/")) rooms[folder_of(file.path)] = true;
  }
  for (const auto& [room, _] : rooms) {
    std::string path = room + "/README.md";
    if (!fs::exists(root / path)) {
      findings.push_back({path, 1, "missing: what lives here, what never does, which file to open first"});
      continue;
    }
    std::string text = read(root / path);
    auto lines = std::count(text.begin(), text.end(), '\n');
    if (lines > kReadmeLinesMax) {
      findings.push_back(
          {path, 1, fmt::format("{} lines; a room's README has at most {}", lines, kReadmeLinesMax)});
    }
  }
}

// The headers of its own room that a file includes, as "engine/plan.h".
std::set<std::string> own_headers(const SourceFile& file) {
  static const std::regex kInclude(R"re(#include "([^"]+)")re");
  std::string room = folder_of(file.path).substr(4) + "/";
  std::set<std::string> headers;
  for (std::sregex_iterator at(file.text.begin(), file.text.end(), kInclude), end; at != end; ++at) {
    std::string path = (*at)[1];
    if (path.starts_with(room)) headers.insert(path);
  }
  return headers;
}

// A source is reached when a test of its room includes its header, or when a source or a
// header that is reached does. One without a header of its own name goes by those it includes.
bool reached(const SourceFile& file, const std::vector<SourceFile>& files,
             const std::set<std::string>& headers) {
  std::string header = file.path.substr(4, file.path.size() - 7) + ".h";
  bool has_header = std::any_of(files.begin(), files.end(),
                                [&](const SourceFile& other) { return other.path == "src/" + header; });
  if (has_header) return headers.contains(header);
  std::set<std::string> included = own_headers(file);
  return std::any_of(included.begin(), included.end(),
                     [&](const std::string& h) { return headers.contains(h); });
}

bool is_source(const SourceFile& file) {
  return file.path.starts_with("src/") && file.path.ends_with(".cc") && !file.test() && !file.fuzz() &&
         !file.path.ends_with("/main.cc");
}

void check_tested(const std::vector<SourceFile>& files, std::vector<Finding>& findings) {
  std::set<std::string> headers;
  for (const SourceFile& file : files) {
    if (file.path.starts_with("src/") && file.test()) headers.merge(own_headers(file));
  }
  for (size_t before = 0; before != headers.size();) {
    before = headers.size();
    for (const SourceFile& file : files) {
      bool header = file.path.starts_with("src/") && file.header() && headers.contains(file.path.substr(4));
      if (header || (is_source(file) && reached(file, files, headers))) headers.merge(own_headers(file));
    }
  }
  for (const SourceFile& file : files) {
    auto lines = std::count(file.text.begin(), file.text.end(), '\n');
    if (!is_source(file) || lines <= kUntestedLinesMax || reached(file, files, headers)) continue;
    findings.push_back({file.path, 1, fmt::format("{} lines that no test of its room reaches", lines)});
  }
}

}  // namespace

std::vector<std::string> check(const fs::path& root) {
  std::vector<SourceFile> files = sources(root);
  std::vector<Finding> findings;
  for (const SourceFile& file : files) {
    SourceText parts = take_apart(file.text);
    check_banned_words(file, parts, findings);
    check_sizes(file, parts, findings);
    check_header(file, parts, findings);
    check_comments(file, parts, findings);
  }
  check_readmes(root, files, findings);
  check_tested(files, findings);
  check_unique_names(files, findings);
  std::sort(findings.begin(), findings.end());
  std::vector<std::string> lines;
  for (const Finding& finding : findings) {
    lines.push_back(fmt::format("{}:{}: {}", finding.path, finding.line, finding.text));
  }
  return lines;
}

}  // namespace trainyard::tidy
