#include "dialect/t9k/name.h"

#include <gtest/gtest.h>

namespace trainyard::t9k {
namespace {

struct Seen {
  std::string_view name;
  std::string_view uid;
  std::string_view suffix;
};

// Names and uids of live objects, as public pages of T9k show them.
constexpr Seen kSeen[] = {
    {"torch-mnist-trainingjob", "9dcea839-3a99-4b6f-b594-620d79f8377d", "7a8f5"},
    {"gpt-125m", "e2a69076-1c19-46ce-9c70-2cdf20176e01", "d02e2"},
    {"mnist", "cffea855-5ce2-496a-8956-f6e76fe2f565", "40c14"},
    {"mnist", "422e8cc7-163f-4d49-9fb8-d059e490a09b", "12e8d"},
    {"tutorial", "bbc4817d-ba41-4b29-81c2-cefa3a3d376f", "af483"},
};

TEST(T9kName, SuffixIsWhatLiveObjectsHave) {
  for (const Seen& seen : kSeen) EXPECT_EQ(name_suffix(seen.name, seen.uid), seen.suffix) << seen.name;
}

TEST(T9kName, SuffixHasFiveDigitsWhateverTheHash) {
  for (int i = 0; i < 5000; ++i) EXPECT_EQ(name_suffix("job", std::to_string(i)).size(), 5u);
}

TEST(T9kName, WithoutUidTheNameAloneIsHashed) {
  EXPECT_EQ(name_suffix("", ""), "cbf29");  // the offset basis of FNV-1a
  EXPECT_EQ(child_prefix("train", ""), "train-" + name_suffix("train", ""));
}

TEST(T9kName, SmallHashesKeepTheirLeadingZeros) { EXPECT_EQ(name_suffix("train-1000", ""), "08b62"); }

}  // namespace
}  // namespace trainyard::t9k
