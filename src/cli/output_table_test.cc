#include "cli/output_table.h"

#include <gtest/gtest.h>

namespace trainyard::cli {
namespace {

TEST(OutputTable, ColumnsAreAsWideAsTheirWidestCell) {
  EXPECT_EQ(table_of({{"NAME", "STATE", "AGE"}, {"a", "Running", "5s"}, {"long-name", "", "1h"}}),
            "NAME       STATE    AGE\n"
            "a          Running  5s\n"
            "long-name           1h\n");
  EXPECT_EQ(table_of({}), "");
  EXPECT_EQ(table_of({{"名前", "X"}, {"abc", "Y"}}), "名前   X\nabc  Y\n");
  EXPECT_EQ(table_of({{"a\nb\x1b[0m", "c"}}), "a b [0m  c\n");
  EXPECT_EQ(row_of({"a", "wider than before", "c"}, {4, 2}), "a     wider than before  c\n");
}

TEST(OutputTable, LinesAreIndented) {
  EXPECT_EQ(indented("a\nb\n"), "  a\n  b\n");
  EXPECT_EQ(indented(""), "");
}

TEST(OutputTable, Durations) {
  struct Row {
    std::string_view text;
    std::optional<Duration> duration;
  };
  for (const Row& row : {
           Row{"90s", seconds(90)},
           Row{"90", seconds(90)},
           Row{"1h30m", seconds(5400)},
           Row{"1.5h", seconds(5400)},
           Row{"250ms", Duration{250}},
           Row{"0s", Duration{0}},
           Row{"2d", seconds(172'800)},
           Row{"", std::nullopt},
           Row{"-5s", std::nullopt},
           Row{"soon", std::nullopt},
           Row{"5 s", std::nullopt},
           Row{"5parsecs", std::nullopt},
           Row{"99999999999999999999h", std::nullopt},
           Row{"inf", std::nullopt},
       }) {
    EXPECT_EQ(read_duration(row.text), row.duration) << row.text;
  }
}

TEST(OutputTable, AgesAndAmounts) {
  EXPECT_EQ(age_of(Time{1000}, Time{6000}), "5s");
  EXPECT_EQ(age_of(Time{9000}, Time{6000}), "0s");
  EXPECT_EQ(age_of(std::nullopt, Time{0}), "<unknown>");
  EXPECT_EQ(cpu_of(1500), "1500m");
  EXPECT_EQ(memory_of(200 << 20), "200Mi");
  EXPECT_EQ(memory_of(int64_t{16} << 30), "16.0Gi");
}

TEST(OutputTable, JsonWithLineEnds) {
  EXPECT_EQ(pretty_json(json::parse(R"({"a":[1,{"b":"x\"y"}],"c":{},"d":[],"e":null})")),
            "{\n"
            "    \"a\": [\n"
            "        1,\n"
            "        {\n"
            "            \"b\": \"x\\\"y\"\n"
            "        }\n"
            "    ],\n"
            "    \"c\": {},\n"
            "    \"d\": [],\n"
            "    \"e\": null\n"
            "}\n");
}

}  // namespace
}  // namespace trainyard::cli
