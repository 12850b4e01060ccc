#include "unique_names.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <regex>

namespace trainyard::tidy {
namespace {

struct Declared {
  std::string path;
  bool hidden = false;  // in an anonymous namespace
};

// Types of parameters without their names; overloads may share a name.
std::string types_of(const std::string& parameters) {
  static const std::regex kName(R"(\s*\b\w+( = [^,]*)?(?=,|$))");
  return std::regex_replace(parameters, kName, "");
}

// What a line of code at namespace level declares: "Name" or "name(types)"; nullopt for most lines.
std::optional<std::string> declared_in(const std::string& code) {
  static const std::regex kNothing(
      R"(^(template|using namespace|namespace|extern|friend|static_assert|TEST|TYPED_TEST|INSTANTIATE|MATCHER))");
  static const std::regex kType(R"(^(?:struct|class|enum class|enum|union) (\w+)[^;]*$)");
  static const std::regex kAlias(R"(^using (\w+) =)");
  static const std::regex kValue(R"(^[^=({]*\b(\w+)(?:\[[^\]]*\])*(?: =|\{))");
  static const std::regex kFunction(R"(^[^=(]*[ *&](\w+)\(([^)]*))");
  std::smatch found;
  if (code.empty() || std::string_view(" }#").find(code.front()) != std::string_view::npos)
    return std::nullopt;
  if (std::regex_search(code, found, kNothing)) return std::nullopt;
  if (std::regex_search(code, found, kType) || std::regex_search(code, found, kAlias)) return found.str(1);
  std::smatch value;
  bool is_value = std::regex_search(code, value, kValue);
  bool is_function = std::regex_search(code, found, kFunction);
  if (is_value && (!is_function || value.length() <= found.length())) return value.str(1);
  if (!is_function) return std::nullopt;
  return fmt::format("{}({})", found.str(1), types_of(found.str(2)));
}

// The files that are compiled together: the sources of a folder, or its tests.
std::string unit_of(const SourceFile& file) {
  std::string folder = file.path.substr(0, file.path.rfind('/'));
  return file.test() && file.path.starts_with("src/") ? folder + " tests" : folder;
}

using Names = std::map<std::string, Declared>;  // by what is declared

void check_file(const SourceFile& file, Names& names, std::vector<Finding>& findings) {
  SourceText parts = take_apart(file.text);
  bool hidden = false;
  for (size_t i = 0; i < parts.lines.size(); ++i) {
    const std::string& code = parts.lines[i].code;
    if (code.starts_with("namespace {")) hidden = true;
    if (code.starts_with("}") && parts.lines[i].comment == "// namespace") hidden = false;
    std::optional<std::string> declared = declared_in(code);
    if (!declared) continue;
    auto [known, first] = names.try_emplace(*declared, Declared{file.path, hidden});
    if (first || known->second.path == file.path || (!hidden && !known->second.hidden)) continue;
    std::string other = known->second.path.substr(known->second.path.rfind('/') + 1);
    findings.push_back(
        {file.path, static_cast<int>(i) + 1,
         fmt::format("{} is in {} too: share it, or give it a name of its own", *declared, other)});
  }
}

}  // namespace

void check_unique_names(const std::vector<SourceFile>& files, std::vector<Finding>& findings) {
  std::map<std::string, Names> units;
  for (const SourceFile& file : files) {
    if (!file.path.ends_with(".cc") || file.path.ends_with("/main.cc") || file.fuzz() ||
        file.path.starts_with("bench/")) {
      continue;
    }
    check_file(file, units[unit_of(file)], findings);
  }
}

}  // namespace trainyard::tidy
