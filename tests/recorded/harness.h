// What every replay of recordings shares: finding the files, holding differences, and
// the table of those that were chosen. The table is DIFFERENCES.md: one section per
// folder of recordings, one row per difference. A difference without a row fails the
// test, and so does a row without its difference.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kube/json.h"

namespace trainyard::recorded {

// One thing that is not as it was recorded.
struct Difference {
  std::string file;  // without ".yaml"
  int step = 0;      // from 1
  std::string what;  // "conditions", "pods", "events", ...
  std::string ours;
  std::string theirs;

  bool operator==(const Difference&) const = default;
};

// A row of the table for one step: one that names several ("2, 3, 4") is read as several.
// `from_here` ("4+"): the stories part here for good, so that nothing after this step is
// comparable; its words are for people and are not compared.
struct Row {
  Difference difference;
  bool from_here = false;
  std::string decision;
};

// The folder with the recordings: the environment's TRAINYARD_RECORDINGS, else where the
// build was told they are. "" when there is none.
std::string recordings_folder(const std::string& name);

// The files of a folder, by name.
struct Recording {
  std::string name;  // without ".yaml"
  json::object body;
};
std::vector<Recording> read_recordings(const std::string& folder);

std::vector<Row> read_rows(const std::string& section);
// Whether docs/decisions holds a record of that number ("0008").
bool decision_exists(const std::string& number);
std::string as_row(const Difference& difference, std::string_view decision);

// Everything wrong between what was found and what is in the table, as text; "" when all is well.
std::string compare_with_table(const std::vector<Difference>& found, const std::vector<Row>& rows);

// Keys in order, so that equal documents are equal text.
json::value sorted(const json::value& value);

// Text for the table: one line, compact.
std::string joined(const std::set<std::string>& words, std::string_view by);

}  // namespace trainyard::recorded
