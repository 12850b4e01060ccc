#include "cli/output_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace trainyard::cli {
namespace {

constexpr size_t kGap = 2;
constexpr size_t kIndent = 4;
constexpr double kDurationMsMax = 1e15;

// How many columns of a terminal a text takes: bytes that continue a character take none.
size_t columns_of(std::string_view text) {
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

void write_json(std::string& out, const json::value& value, size_t depth) {
  auto line = [&](size_t deep) {
    out += '\n';
    out.append(deep * kIndent, ' ');
  };
  if (const json::object* object = value.if_object(); object != nullptr && !object->empty()) {
    out += '{';
    bool first = true;
    for (const json::key_value_pair& pair : *object) {
      if (!first) out += ',';
      first = false;
      line(depth + 1);
      out += json::serialize(pair.key());
      out += ": ";
      write_json(out, pair.value(), depth + 1);
    }
    line(depth);
    out += '}';
    return;
  }
  if (const json::array* array = value.if_array(); array != nullptr && !array->empty()) {
    out += '[';
    for (size_t i = 0; i < array->size(); ++i) {
      if (i > 0) out += ',';
      line(depth + 1);
      write_json(out, (*array)[i], depth + 1);
    }
    line(depth);
    out += ']';
    return;
  }
  out += json::serialize(value);
}

// Milliseconds in a unit, 0 for what is none.
double unit_ms(std::string_view unit) {
  if (unit == "ms") return 1;
  if (unit == "s" || unit.empty()) return 1000;
  if (unit == "m") return 60'000;
  if (unit == "h") return 3'600'000;
  if (unit == "d") return 86'400'000;
  return 0;
}

}  // namespace

std::string on_one_line(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = ' ';
  }
  return out;
}

std::vector<size_t> widths_of(const std::vector<Cells>& rows) {
  std::vector<size_t> widths;
  for (const Cells& cells : rows) {
    widths.resize(std::max(widths.size(), cells.size()));
    for (size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], columns_of(cells[i]));
  }
  return widths;
}

std::string row_of(const Cells& cells, const std::vector<size_t>& widths) {
  std::string out;
  for (size_t i = 0; i < cells.size(); ++i) {
    std::string cell = on_one_line(cells[i]);
    out += cell;
    if (i + 1 == cells.size()) break;
    size_t width = i < widths.size() ? widths[i] : 0;
    out.append(width - std::min(width, columns_of(cell)) + kGap, ' ');
  }
  while (out.ends_with(' ')) out.pop_back();
  return out + "\n";
}

std::string table_of(const std::vector<Cells>& rows) {
  std::vector<size_t> widths = widths_of(rows);
  std::string out;
  for (const Cells& cells : rows) out += row_of(cells, widths);
  return out;
}

std::string indented(const std::string& text) {
  std::string out;
  size_t at = 0;
  while (at < text.size()) {
    size_t end = text.find('\n', at);
    out += "  " + text.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return out;
}

std::string age_of(const std::optional<Time>& since, Time now) {
  if (!since) return "<unknown>";
  return format_duration(std::max(now - *since, Duration{0}));
}

std::string cpu_of(int64_t millicores) { return fmt::format("{}m", millicores); }

std::string memory_of(int64_t bytes) {
  if (bytes >= int64_t{10} << 30) return fmt::format("{:.1f}Gi", static_cast<double>(bytes) / (1 << 30));
  return fmt::format("{}Mi", bytes >> 20);
}

std::string pretty_json(const json::value& value) {
  std::string out;
  write_json(out, value, 0);
  return out + "\n";
}

std::optional<Duration> read_duration(std::string_view text) {
  if (text.empty()) return std::nullopt;
  double total = 0;
  while (!text.empty()) {
    double number = 0;
    auto [end, failed] =
        std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
    if (failed != std::errc() || number < 0) return std::nullopt;
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    size_t letters = 0;
    while (letters < text.size() && text[letters] >= 'a' && text[letters] <= 'z') ++letters;
    double unit = unit_ms(text.substr(0, letters));
    if (unit == 0) return std::nullopt;
    text.remove_prefix(letters);
    total += number * unit;
    if (total > kDurationMsMax) return std::nullopt;
  }
  return Duration{static_cast<int64_t>(total)};
}

}  // namespace trainyard::cli
