#include <gtest/gtest.h>

#include "base/hash.h"
#include "base/result.h"
#include "base/rng.h"

namespace trainyard {
namespace {

TEST(Hash, IsFnv1a) {
  EXPECT_EQ(fnv1a(""), 0xcbf29ce484222325u);
  EXPECT_EQ(fnv1a("a"), 0xaf63dc4c8601ec8cu);
  EXPECT_EQ(fnv1a("foobar"), 0x85944171f73967e8u);
}

TEST(Rng, SameSeedSameNumbers) {
  Rng a(7), b(7);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(a.next(), b.next());
  EXPECT_EQ(Rng(0).next(), 0xe220a8397b1dcdafu);
}

TEST(Rng, StaysInItsBounds) {
  Rng rng(1);
  for (int i = 0; i < 1000; ++i) {
    int64_t n = rng.between(-2, 2);
    EXPECT_GE(n, -2);
    EXPECT_LE(n, 2);
  }
}

TEST(Result, HoldsAValueOrAnError) {
  Result<int> good = 3;
  Result<int> bad = Error{ErrorKind::kConflict, "changed"};
  EXPECT_EQ(*good, 3);
  EXPECT_EQ(bad.error().kind, ErrorKind::kConflict);
  EXPECT_DEATH((void)bad.value(), "CHECK");
}

}  // namespace
}  // namespace trainyard
