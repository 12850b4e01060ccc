#include "dialect/shared/restart_policy.h"

#include <gtest/gtest.h>

namespace trainyard::dialect {
namespace {

TEST(RestartPolicy, IsReadAsItIsWritten) {
  for (RestartPolicy policy :
       {RestartPolicy::kNever, RestartPolicy::kOnFailure, RestartPolicy::kAlways, RestartPolicy::kExitCode}) {
    EXPECT_EQ(restart_policy_named(to_string(policy)), policy);
  }
}

TEST(RestartPolicy, IsNeverForAnyOtherWord) {
  for (std::string_view word : {"", "onfailure", "Sometimes"}) {
    EXPECT_EQ(restart_policy_named(word), RestartPolicy::kNever) << word;
  }
}

}  // namespace
}  // namespace trainyard::dialect
