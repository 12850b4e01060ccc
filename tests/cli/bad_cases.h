// Bad cases: many malformed manifests in one text file, each with the exact messages
// that it must bring about. The format:
//
//   === base                 the manifest that the cases below change
//   apiVersion: v1
//   === name of a case       lines of the base are taken out (-) and put in (+);
//   -kind: Pod               a + without a - before it goes to the end
//   +kind: 7
//   >>>                      then what is printed, without the file's name
//   2: kind: Invalid value: 7: must be a word
//   =:= name of a case       the text below is the whole manifest
//   [
//   >>>
//   ...
#pragma once

#include <string>
#include <vector>

namespace trainyard::cli_suite {

struct BadCase {
  std::string name;
  std::string manifest;
  std::string expected;
  // For rewriting: everything of the case up to and with its ">>>" line.
  std::string head;
  std::string fault;  // the case itself is wrong: an edit does not apply
};

struct BadFile {
  std::string preamble;  // comments and bases, as written before the first case
  std::vector<BadCase> cases;
};

BadFile parse_bad_cases(const std::string& text);

}  // namespace trainyard::cli_suite
