#include "dialect/t9k/words.h"

#include <gtest/gtest.h>

#include "dialect/t9k/testing.h"

namespace trainyard::t9k {
namespace {

using model::Cause;
using model::CauseKind;

TEST(T9kWords, SpokenTimeDropsTrailingZeros) {
  auto spoken = [](std::string_view text) { return spoken_time(*parse_rfc3339(text)); };
  EXPECT_EQ(spoken("2024-08-02T07:03:59Z"), "2024-08-02 07:03:59 UTC");
  EXPECT_EQ(spoken("2024-08-02T07:03:59.5Z"), "2024-08-02 07:03:59.5 UTC");
  EXPECT_EQ(spoken("2024-08-02T07:03:59.05Z"), "2024-08-02 07:03:59.05 UTC");
  EXPECT_EQ(spoken("2024-08-02T07:03:59.009Z"), "2024-08-02 07:03:59 UTC");
}

TEST(T9kWords, EveryCauseHasAWholeSentence) {
  model::JobSpec spec = testing::lowered(testing::job(testing::replica_spec("worker", 1)));
  for (int kind = 0; kind <= static_cast<int>(CauseKind::kInvalid); ++kind) {
    for (const char* role : {"", "worker", "gone"}) {
      Cause cause{.kind = static_cast<CauseKind>(kind), .role = role, .index = 0, .exit_code = 3};
      EXPECT_FALSE(job_failure(spec, cause).ends_with(": ")) << job_failure(spec, cause);
      EXPECT_EQ(job_failure(spec, cause).find("  "), std::string::npos) << job_failure(spec, cause);
      EXPECT_EQ(job_failure(spec, cause).find(":  "), std::string::npos);
      EXPECT_EQ(replica_failure(spec, cause).find("[]"), std::string::npos) << replica_failure(spec, cause);
    }
  }
}

}  // namespace
}  // namespace trainyard::t9k
