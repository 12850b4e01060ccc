#include "rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <regex>

namespace trainyard::tidy {
namespace {

struct Ban {
  std::regex words;
  std::string_view instead;
};

// Banned in pure rooms, tests of theirs included: what they do must not depend on it.
const std::vector<Ban>& pure_bans() {
  static const std::vector<Ban> kBans = {
      {std::regex(R"(\b(system|steady|high_resolution|utc)_clock\b)"),
       "take a Time as a parameter (base/time.h)"},
      {std::regex(
           R"(\b(gettimeofday|clock_gettime|localtime\w*|std::time)\b|\btime\s*\(\s*(0|NULL|nullptr)\s*\))"),
       "take a Time as a parameter (base/time.h)"},
      {std::regex(R"(\b(s?rand|drand48)\s*\(|\brandom_device\b|\bmt19937\w*)"), "take an Rng (base/rng.h)"},
      {std::regex(R"(\bgetenv\b)"), "take a setting as a parameter"},
      {std::regex(R"(\bstd::(jthread|thread|async|mutex|shared_mutex|atomic\w*|condition_variable)\b)"),
       "no threads here; control and cli own them"},
      {std::regex(R"(\b(this_thread|u?sleep(_for|_until)?)\s*(::|\())"), "set Plan::wake"},
      {std::regex(R"(\bstd::(filesystem|[io]?fstream|cout|cerr|clog|cin)\b|\bfopen\b)"),
       "take text and give text back; cli reads and writes"},
      {std::regex(R"(\b(std::|fmt::)?f?(printf|puts|print)\s*\()"), "give text back; cli prints"},
  };
  return kBans;
}

// Banned everywhere but in tests.
const std::vector<Ban>& common_bans() {
  static const std::vector<Ban> kBans = {
      {std::regex(R"(\bassert\s*\()"), "use CHECK (base/check.h): it stays on in production"},
      {std::regex(R"(\busing\s+namespace\s+std\s*;)"), "name what is used"},
      {std::regex(R"(\bnlohmann\b)"), "use kube/json.h"},
      {std::regex(R"(\bstd::(sprintf|strtok|strcpy|strcat)\b|\b(sprintf|strtok|strcpy|strcat)\s*\()"),
       "use fmt::format"},
      {std::regex(R"(\b(rand|srand)\s*\()"), "take an Rng (base/rng.h)"},
  };
  return kBans;
}

bool starts_with_any(std::string_view path, std::initializer_list<std::string_view> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view p) { return path.starts_with(p); });
}

// The one place that may speak before the process dies.
bool may_print(std::string_view path) { return path == "src/base/check.cc"; }

void apply(const std::vector<Ban>& bans, const SourceFile& file, const SourceText& parts,
           std::vector<Finding>& findings) {
  for (size_t i = 0; i < parts.lines.size(); ++i) {
    for (const Ban& ban : bans) {
      std::smatch found;
      if (!std::regex_search(parts.lines[i].code, found, ban.words)) continue;
      findings.push_back(
          {file.path, static_cast<int>(i) + 1, fmt::format("'{}': {}", found.str(), ban.instead)});
    }
  }
}

// A container without order may be looked things up in, never walked. Whether it is
// walked cannot be seen from one line, so its owner says so in a comment.
void check_unordered(const SourceFile& file, const SourceText& parts, std::vector<Finding>& findings) {
  static const std::regex kUnordered(R"(\bunordered_(multi)?(map|set)\s*<)");
  for (size_t i = 0; i < parts.lines.size(); ++i) {
    if (!std::regex_search(parts.lines[i].code, kUnordered)) continue;
    bool excused = parts.lines[i].comment.find("never walked") != std::string::npos ||
                   (i > 0 && parts.lines[i - 1].comment.find("never walked") != std::string::npos);
    if (!excused) {
      findings.push_back(
          {file.path, static_cast<int>(i) + 1,
           "an unordered container: use std::map or a sorted vector, or say '// never walked'"});
    }
  }
}

bool looks_like_code(const std::string& comment) {
  // Examples in contracts are indented by two spaces or more and are welcome.
  static const std::regex kCode(
      R"(^// ?(([\w:<>,*&.\[\]>-]+ )*[\w:<>*&.\[\]>-]+(\(.*\)| = .*);|return\b.*;|(if|for|while|switch) \(.*\) ?\{?|\} ?(else.*)?|#include .*)$)");
  return std::regex_match(comment, kCode);
}

}  // namespace

bool in_pure_room(std::string_view path) {
  return starts_with_any(path, {"src/base/", "src/kube/", "src/model/", "src/dialect/", "src/engine/",
                                "src/sched/", "src/store/"});
}

void check_banned_words(const SourceFile& file, const SourceText& parts, std::vector<Finding>& findings) {
  if (in_pure_room(file.path) && !file.test() && !file.fuzz() && !may_print(file.path)) {
    apply(pure_bans(), file, parts, findings);
    check_unordered(file, parts, findings);
  }
  if (!file.test()) apply(common_bans(), file, parts, findings);
}

void check_sizes(const SourceFile& file, const SourceText& parts, std::vector<Finding>& findings) {
  if (file.test()) return;
  int lines = static_cast<int>(parts.lines.size()) - 1;
  if (lines > kFileLinesMax) {
    findings.push_back({file.path, 1, fmt::format("{} lines; a file has at most {}", lines, kFileLinesMax)});
  }
  for (const FunctionSpan& function : parts.functions()) {
    if (function.line_count <= kFunctionLinesMax) continue;
    findings.push_back(
        {file.path, function.first_line,
         fmt::format("{} lines; a function has at most {}", function.line_count, kFunctionLinesMax)});
  }
}

void check_header(const SourceFile& file, const SourceText& parts, std::vector<Finding>& findings) {
  if (!file.header()) return;
  if (parts.lines.front().comment.empty()) {
    findings.push_back({file.path, 1, "a header opens with its contract: what it is, purity, invariants"});
  }
  bool once = std::any_of(parts.lines.begin(), parts.lines.end(),
                          [](const SourceLine& line) { return line.code.starts_with("#pragma once"); });
  if (!once) findings.push_back({file.path, 1, "no #pragma once"});
}

void check_comments(const SourceFile& file, const SourceText& parts, std::vector<Finding>& findings) {
  static const std::regex kReminder(R"(\b(TODO|FIXME|XXX|HACK)\b)");
  for (size_t i = 0; i < parts.lines.size(); ++i) {
    const std::string& comment = parts.lines[i].comment;
    std::smatch found;
    if (std::regex_search(comment, found, kReminder)) {
      findings.push_back(
          {file.path, static_cast<int>(i) + 1, fmt::format("'{}': do it, or leave it out", found.str())});
    } else if (looks_like_code(comment)) {
      findings.push_back({file.path, static_cast<int>(i) + 1, "code in a comment: delete it"});
    }
  }
}

}  // namespace trainyard::tidy
