#include "dialect/volcano/go_duration.h"

#include <gtest/gtest.h>

namespace trainyard::dialect::vc {
namespace {

TEST(GoDuration, Parses) {
  struct Case {
    std::string_view text;
    std::optional<int64_t> millis;
  };
  for (const Case& c : std::initializer_list<Case>{
           {"8s", 8000},
           {"1m30s", 90'000},
           {"1.5h", 5'400'000},
           {"250ms", 250},
           {"0", 0},
           {"0s", 0},
           {".5s", 500},
           {"1h0m0.5s", 3'600'500},
           {"-3s", -3000},
           {"+3s", 3000},
           {"1us", 1},  // rounded up: a short wait stays a wait
           {"1500us", 2},
           {"10\xC2\xB5s", 1},
           {"", std::nullopt},
           {"8", std::nullopt},
           {"s", std::nullopt},
           {"8 s", std::nullopt},
           {"8d", std::nullopt},
           {"1..5s", std::nullopt},
           {".s", std::nullopt},
           {"-", std::nullopt},
           {"99999999999999999999999s", std::nullopt},
           {"9999999999h", std::nullopt},
       }) {
    std::optional<Duration> got = parse_go_duration(c.text);
    ASSERT_EQ(got.has_value(), c.millis.has_value()) << c.text;
    if (got) {
      EXPECT_EQ(got->count(), *c.millis) << c.text;
    }
  }
}

TEST(GoDuration, Formats) {
  struct Case {
    int64_t millis;
    std::string_view text;
  };
  for (const Case& c : std::initializer_list<Case>{{0, "0s"},
                                                   {250, "250ms"},
                                                   {8000, "8s"},
                                                   {1500, "1.5s"},
                                                   {1050, "1.05s"},
                                                   {90'000, "1m30s"},
                                                   {3'600'000, "1h0m0s"},
                                                   {5'400'500, "1h30m0.5s"},
                                                   {-8000, "-8s"}}) {
    EXPECT_EQ(format_go_duration(Duration{c.millis}), c.text);
  }
}

}  // namespace
}  // namespace trainyard::dialect::vc
