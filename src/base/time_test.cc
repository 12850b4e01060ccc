#include "base/time.h"

#include <gtest/gtest.h>

namespace trainyard {
namespace {

TEST(Time, WritesAndReadsTheWireForm) {
  Time t = *parse_rfc3339("2023-12-19T02:40:25Z");
  EXPECT_EQ(format_rfc3339(t), "2023-12-19T02:40:25Z");
  EXPECT_EQ(t.ms, 1702953625000);
  EXPECT_EQ(format_rfc3339(Time{0}), "1970-01-01T00:00:00Z");
  EXPECT_EQ(format_rfc3339(Time{-1}), "1969-12-31T23:59:59Z");
}

TEST(Time, TakesFractionsAndOffsets) {
  EXPECT_EQ(parse_rfc3339("1970-01-01T00:00:00.25Z")->ms, 250);
  EXPECT_EQ(parse_rfc3339("1970-01-01T08:00:01+08:00")->ms, 1000);
  EXPECT_EQ(parse_rfc3339("1970-01-01T00:00:00.123456Z")->ms, 123);
}

TEST(Time, RefusesWhatIsNoTime) {
  for (const char* text : {"", "2023", "2023-02-30T00:00:00Z", "2023-01-01T00:00:00", "2023-01-01 00:00:00Z",
                           "2023-01-01T24:00:00Z", "2023-01-01T00:00:00Zx", "2023-01-01T00:00:00.Z"}) {
    EXPECT_FALSE(parse_rfc3339(text)) << text;
  }
}

TEST(Time, DurationsForPeople) {
  EXPECT_EQ(format_duration(seconds(3)), "3s");
  EXPECT_EQ(format_duration(seconds(250)), "4m10s");
  EXPECT_EQ(format_duration(seconds(7500)), "2h5m");
  EXPECT_EQ(format_duration(seconds(7 * 86400)), "7d");
}

}  // namespace
}  // namespace trainyard
