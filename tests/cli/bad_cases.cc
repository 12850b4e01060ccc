#include "bad_cases.h"

#include <algorithm>
#include <sstream>

namespace trainyard::cli_suite {
namespace {

using Lines = std::vector<std::string>;

Lines lines_of(const std::string& text) {
  Lines lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string joined(const Lines& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

// Applies blocks of -lines and +lines to the base.
std::string edited(Lines base, const Lines& edits, std::string& fault) {
  size_t at = 0;
  while (at < edits.size()) {
    Lines out;
    Lines in;
    while (at < edits.size() && edits[at].starts_with("-")) out.push_back(edits[at++].substr(1));
    while (at < edits.size() && edits[at].starts_with("+")) in.push_back(edits[at++].substr(1));
    if (out.empty() && in.empty()) {
      fault = "neither - nor +: " + edits[at];
      return "";
    }
    auto place = out.empty() ? base.end() : std::search(base.begin(), base.end(), out.begin(), out.end());
    if (!out.empty() && place == base.end()) {
      fault = "not in the base: " + out[0];
      return "";
    }
    place = base.erase(place, place + static_cast<std::ptrdiff_t>(out.size()));
    base.insert(place, in.begin(), in.end());
  }
  return joined(base);
}

}  // namespace

BadFile parse_bad_cases(const std::string& text) {
  BadFile file;
  Lines base;
  Lines body;
  Lines expected;
  std::string head_line;
  bool in_expected = false;
  auto finish = [&] {
    if (head_line.empty()) return;
    std::string name = head_line.substr(4);
    if (name == "base") {
      base = body;
      file.cases.push_back({"base", "", "", head_line + "\n" + joined(body), ""});
    } else {
      BadCase one{name, "", joined(expected), head_line + "\n" + joined(body) + ">>>\n", ""};
      one.manifest = head_line.starts_with("=:=") ? joined(body) : edited(base, body, one.fault);
      file.cases.push_back(std::move(one));
    }
    body.clear();
    expected.clear();
  };
  for (const std::string& line : lines_of(text)) {
    if (line.starts_with("=== ") || line.starts_with("=:= ")) {
      finish();
      head_line = line;
      in_expected = false;
    } else if (head_line.empty()) {
      file.preamble += line + "\n";
    } else if (line == ">>>") {
      in_expected = true;
    } else {
      (in_expected ? expected : body).push_back(line);
    }
  }
  finish();
  return file;
}

}  // namespace trainyard::cli_suite
