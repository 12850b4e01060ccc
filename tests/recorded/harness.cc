#include "harness.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "base/check.h"
#include "kube/access.h"
#include "kube/yaml.h"

namespace trainyard::recorded {
namespace {

namespace fs = std::filesystem;

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  CHECK(in.good());
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string trimmed(std::string_view text) {
  size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(' ') - first + 1));
}

std::string escaped(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '|' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out.empty() ? "-" : out;
}

std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> cells(1);
  for (size_t i = 1; i < line.size(); ++i) {
    if (line[i] == '\\' && i + 1 < line.size()) {
      cells.back() += line[++i];
    } else if (line[i] == '|') {
      cells.back() = trimmed(cells.back());
      cells.emplace_back();
    } else {
      cells.back() += line[i];
    }
  }
  cells.pop_back();
  for (std::string& cell : cells) {
    if (cell == "-") cell.clear();
  }
  return cells;
}

std::vector<Row> rows_of(std::string_view line) {
  if (!line.starts_with("|")) return {};
  std::vector<std::string> cells = cells_of(line);
  if (cells.size() != 6 || cells[0] == "file" || cells[0].starts_with("--")) return {};
  std::vector<Row> rows;
  std::string_view steps = cells[1];
  while (!steps.empty()) {
    std::string step = trimmed(steps.substr(0, steps.find(',')));
    Difference difference{cells[0], std::atoi(step.c_str()), cells[2], cells[3], cells[4]};
    rows.push_back({std::move(difference), step.ends_with("+"), cells[5]});
    size_t comma = steps.find(',');
    steps = comma == std::string_view::npos ? "" : steps.substr(comma + 1);
  }
  return rows;
}

// The recordings were written by a tool to which n and y are words, not booleans.
std::string with_quoted_words(std::string text) {
  for (std::string_view bare : {": n}", ": y}"}) {
    for (size_t at = text.find(bare); at != std::string::npos; at = text.find(bare, at + 1)) {
      text.replace(at, bare.size(), fmt::format(": '{}'}}", bare[2]));
    }
  }
  return text;
}

}  // namespace

std::string recordings_folder(const std::string& name) {
  const char* given = std::getenv("TRAINYARD_RECORDINGS");
  fs::path folder = fs::path(given != nullptr ? given : TRAINYARD_RECORDINGS) / name;
  return fs::is_directory(folder) ? folder.string() : "";
}

std::vector<Recording> read_recordings(const std::string& folder) {
  std::vector<fs::path> paths;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".yaml") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<Recording> recordings;
  for (const fs::path& path : paths) {
    Result<std::vector<kube::Document>> documents = kube::parse_yaml(with_quoted_words(read_file(path)));
    CHECK(documents.ok() && documents->size() == 1);
    recordings.push_back({path.stem().string(), documents->front().body.as_object()});
  }
  return recordings;
}

std::vector<Row> read_rows(const std::string& section) {
  std::vector<Row> rows;
  std::ifstream in(TRAINYARD_DIFFERENCES);
  CHECK(in.good());
  bool inside = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("## ")) inside = line == "## " + section;
    if (!inside) continue;
    for (Row& row : rows_of(line)) rows.push_back(std::move(row));
  }
  return rows;
}

bool decision_exists(const std::string& number) {
  for (const fs::directory_entry& entry : fs::directory_iterator(TRAINYARD_DECISIONS)) {
    if (entry.path().filename().string().starts_with(number + "-")) return true;
  }
  return false;
}

std::string as_row(const Difference& difference, std::string_view decision) {
  return fmt::format("| {} | {} | {} | {} | {} | {} |", difference.file, difference.step, difference.what,
                     escaped(difference.ours), escaped(difference.theirs), decision);
}

std::string compare_with_table(const std::vector<Difference>& found, const std::vector<Row>& rows) {
  std::string wrong;
  std::map<std::string, int> parted;  // file -> the step from which it is not compared
  std::vector<bool> used(rows.size(), false);
  for (const Row& row : rows) {
    if (row.from_here) parted[row.difference.file] = row.difference.step;
    if (!decision_exists(row.decision)) {
      wrong += "no such decision:\n" + as_row(row.difference, row.decision) + "\n";
    }
  }
  for (const Difference& difference : found) {
    auto apart = parted.find(difference.file);
    bool after = apart != parted.end() && difference.step >= apart->second;
    bool listed = false;
    for (size_t i = 0; i < rows.size(); ++i) {
      bool covers = rows[i].from_here ? rows[i].difference.file == difference.file &&
                                            rows[i].difference.step == difference.step
                                      : !after && rows[i].difference == difference;
      if (!covers) continue;
      used[i] = true;
      listed = true;
    }
    if (!listed && !after) wrong += "not in the table:\n" + as_row(difference, "") + "\n";
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    if (!used[i])
      wrong += "in the table, and yet the same:\n" + as_row(rows[i].difference, rows[i].decision) + "\n";
  }
  return wrong;
}

json::value sorted(const json::value& value) {
  if (const json::array* list = value.if_array()) {
    json::array out;
    for (const json::value& each : *list) out.push_back(sorted(each));
    return out;
  }
  const json::object* object = value.if_object();
  if (object == nullptr) return value;
  std::map<std::string, json::value> members;
  for (const auto& member : *object) members[std::string(kube::view(member.key()))] = sorted(member.value());
  json::object out;
  for (auto& [key, each] : members) out[key] = std::move(each);
  return out;
}

std::string joined(const std::set<std::string>& words, std::string_view by) {
  std::string all;
  for (const std::string& word : words) {
    if (!all.empty()) all += by;
    all += word;
  }
  return all;
}

}  // namespace trainyard::recorded
