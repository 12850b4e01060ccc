// Tables and small texts for people. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "kube/json.h"

namespace trainyard::cli {

using Cells = std::vector<std::string>;

// Columns two spaces apart, as wide as their widest cell; nothing behind the last. The
// first row is the heading. Cells hold no line ends: those are shown as spaces.
std::string table_of(const std::vector<Cells>& rows);

// The widths of a table's columns, for rows that come later.
std::vector<size_t> widths_of(const std::vector<Cells>& rows);
std::string row_of(const Cells& cells, const std::vector<size_t>& widths);

// With spaces for line ends and for all else that a terminal would act on.
std::string on_one_line(std::string_view text);

// Every line two spaces deeper. REQUIRES: the text ends with a line end, or is empty.
std::string indented(const std::string& text);

// "5m", or "<unknown>".
std::string age_of(const std::optional<Time>& since, Time now);
// "850m", "12Mi".
std::string cpu_of(int64_t millicores);
std::string memory_of(int64_t bytes);

// JSON with line ends, four spaces deep, as kubectl prints it. Ends with a newline.
std::string pretty_json(const json::value& value);

// "90s", "1h30m", "2m", "1.5h", "250ms"; a bare number is seconds. nullopt when it is none.
std::optional<Duration> read_duration(std::string_view text);

}  // namespace trainyard::cli
