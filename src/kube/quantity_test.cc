#include "kube/quantity.h"

#include <gtest/gtest.h>

#include "base/rng.h"

namespace trainyard::kube {
namespace {

Quantity q(std::string_view text) {
  Result<Quantity> parsed = Quantity::parse(text);
  EXPECT_TRUE(parsed.ok()) << text;
  return parsed.ok() ? parsed.value() : Quantity();
}

TEST(Quantity, WritesTheCanonicalForm) {
  struct Row {
    std::string_view text, canonical;
  };
  const Row rows[] = {
      {"0", "0"},
      {"-0", "0"},
      {"0Ki", "0"},
      {"1", "1"},
      {"+1", "1"},
      {"-1", "-1"},
      {"0.3", "300m"},
      {"300m", "300m"},
      {"1.5", "1500m"},
      {"1500m", "1500m"},
      {"2000m", "2"},
      {".5", "500m"},
      {"1.", "1"},
      {"0.0000005", "500n"},
      {"1n", "1n"},
      {"1u", "1u"},
      {"1000n", "1u"},
      {"0.1n", "1n"},
      {"-0.1n", "-1n"},
      {"1k", "1k"},
      {"1000", "1k"},
      {"100000", "100k"},
      {"1M", "1M"},
      {"1G", "1G"},
      {"1T", "1T"},
      {"1P", "1P"},
      {"1E", "1E"},
      {"1Ki", "1Ki"},
      {"192Mi", "192Mi"},
      {"1024Ki", "1Mi"},
      {"1Gi", "1Gi"},
      {"1Ti", "1Ti"},
      {"1Pi", "1Pi"},
      {"1Ei", "1Ei"},
      {"1.5Gi", "1536Mi"},
      {"0.5Ki", "512"},
      {"0.1Ki", "102400m"},
      {"1.1Ki", "1126400m"},
      {"1e3", "1e3"},
      {"1E3", "1e3"},
      {"1e+3", "1e3"},
      {"1e-3", "1e-3"},
      {"12e2", "1200"},
      {"1e0", "1"},
      {"1e-12", "1e-9"},
      {"9223372036854775807", "9223372036854775807"},
      {"-9223372036854775808", "-9223372036854775808"},
      {"9223372036854775807m", "9223372036854775807m"},
      {"8191Pi", "8191Pi"},
      {"16Ei", "16Ei"},
      {"000001", "1"},
      {"1e18", "1e18"},
      {"0.000000001", "1n"},
      {"3.000000000000000000000000000000000000000000000000", "3"},
      {"3.000000000000000000000000000000000000000000000001", "3000000001n"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(q(row.text).to_string(), row.canonical) << row.text;
  }
}

TEST(Quantity, RefusesWhatIsNoQuantity) {
  for (std::string_view text :
       {"",    " ",     "+",    "-",     ".",     "m",      "Ki",  "1 ",   " 1",    "1 Gi",  "1K",  "1mi",
        "1i",  "0.1am", "aoeu", ".5i",   "1.1.M", "1+1.0M", "1e",  "1e+",  "1e++1", "1e+-1", "1e-", "1eE",
        "--1", "+-1",   "0x10", "1_000", "1,000", "NaN",    "inf", "1Kii", "1KI",   "1g",    "1GB", "١"}) {
    EXPECT_FALSE(is_valid(text)) << text;
  }
  EXPECT_EQ(Quantity::parse("1GB").error().message, "\"1GB\" is not a quantity");
  EXPECT_EQ(Quantity::parse("1e40").error().message, "quantity \"1e40\" is too large");
  EXPECT_FALSE(is_valid(std::string(1'000'000, '9')));
  EXPECT_FALSE(is_valid("1e99999999999999999999"));
  EXPECT_EQ(q("1e-99999999999999999999").to_string(), "1e-9");
  EXPECT_EQ(q("0e99999999999999999999").to_string(), "0");
  EXPECT_TRUE(is_valid("0." + std::string(1'000'000, '1')));
}

TEST(Quantity, AddsExactlyAndKeepsTheFirstFormat) {
  EXPECT_EQ(q("100m").plus(q("200m")).value().to_string(), "300m");
  EXPECT_EQ(q("1Gi").plus(q("1")).value().to_string(), "1073741825");
  EXPECT_EQ(q("1Gi").plus(q("1024")).value().to_string(), "1048577Ki");
  EXPECT_EQ(q("1024").plus(q("1Gi")).value().to_string(), "1073742848");
  EXPECT_EQ(q("0").plus(q("1Gi")).value().to_string(), "1Gi");
  EXPECT_EQ(q("0.1").plus(q("0.2")).value(), q("0.3"));
  EXPECT_EQ(q("1").minus(q("1m")).value().to_string(), "999m");
  EXPECT_EQ(q("250m").times(4).value().to_string(), "1");
  EXPECT_EQ(q("64Mi").times(3).value().to_string(), "192Mi");
  EXPECT_EQ(q("1").times(-2).value().to_string(), "-2");
}

TEST(Quantity, TellsOverflow) {
  Quantity huge = q("1e29");
  EXPECT_FALSE(huge.plus(huge).ok());
  EXPECT_FALSE(huge.times(2).ok());
  EXPECT_FALSE(q("-1e29").minus(huge).ok());
  EXPECT_FALSE(huge.times(std::numeric_limits<int64_t>::min()).ok());
  EXPECT_EQ(huge.value(), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(q("-1e29").value_milli(), std::numeric_limits<int64_t>::min());
}

TEST(Quantity, ComparesByAmount) {
  EXPECT_EQ(q("1024Ki"), q("1Mi"));
  EXPECT_EQ(q("1"), q("1000m"));
  EXPECT_LT(q("999m"), q("1"));
  EXPECT_LT(q("1G"), q("1Gi"));
  EXPECT_GT(q("-1"), q("-2"));
}

TEST(Quantity, RoundsWholeAndMilliUp) {
  EXPECT_EQ(q("1500m").value(), 2);
  EXPECT_EQ(q("1n").value(), 1);
  EXPECT_EQ(q("-1500m").value(), -1);
  EXPECT_EQ(q("1.5").value_milli(), 1500);
  EXPECT_EQ(q("1u").value_milli(), 1);
  EXPECT_EQ(q("1Gi").value(), 1073741824);
  EXPECT_EQ(Quantity::of_whole(-7).value(), -7);
  EXPECT_EQ(Quantity::of_milli(1500).to_string(), "1500m");
}

TEST(Quantity, ReadsBareNumbersOfADocument) {
  EXPECT_EQ(Quantity::from_json(2).value().to_string(), "2");
  EXPECT_EQ(Quantity::from_json(0.5).value().to_string(), "500m");
  EXPECT_EQ(Quantity::from_json("1Gi").value().to_string(), "1Gi");
  EXPECT_EQ(Quantity::from_json(1e21).value(), q("1e21"));
  EXPECT_FALSE(Quantity::from_json(true).ok());
  EXPECT_FALSE(Quantity::from_json(nullptr).ok());
  EXPECT_FALSE(Quantity::from_json(json::array{}).ok());
}

TEST(Quantity, CanonicalFormReadsBackAsTheSameAmount) {
  Rng rng(7);
  const std::string_view suffixes[] = {"n", "u",  "m",  "",   "k",  "M",  "G",
                                       "T", "Ki", "Mi", "Gi", "Ti", "e3", "e-3"};
  for (int i = 0; i < 20'000; ++i) {
    std::string text = fmt::format("{}{}.{}{}", rng.chance(20) ? "-" : "", rng.next() >> rng.between(16, 62),
                                   rng.below(1000), suffixes[rng.below(std::size(suffixes))]);
    Quantity first = q(text);
    Quantity again = q(first.to_string());
    ASSERT_EQ(first, again) << text;
    ASSERT_EQ(first.to_string(), again.to_string()) << text;
  }
}

}  // namespace
}  // namespace trainyard::kube
