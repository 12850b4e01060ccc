#include "node/shim_child.h"

#include <gtest/gtest.h>

namespace trainyard::node {
namespace {

// A name may be as long as a request; why it cannot be run is kept in the pod's status and in events.
TEST(ShimChildTest, OfALongNameOnlyTheBeginningIsTold) {
  ShimPlan plan;
  for (const std::string& name : {std::string(100'000, 'x'), "/" + std::string(100'000, 'x')}) {
    plan.argv = {name};
    std::variant<Child, StartFailure> started = start_child(plan);
    ASSERT_TRUE(std::holds_alternative<StartFailure>(started));
    EXPECT_TRUE(std::get<StartFailure>(started).message.starts_with("exec: \"" + name.substr(0, 50)));
    EXPECT_LT(std::get<StartFailure>(started).message.size(), 300U);
  }
  plan.argv = {"/bin/true"};
  plan.cwd = "/" + std::string(100'000, 'x');
  std::variant<Child, StartFailure> started = start_child(plan);
  ASSERT_TRUE(std::holds_alternative<StartFailure>(started));
  EXPECT_LT(std::get<StartFailure>(started).message.size(), 300U);
}

}  // namespace
}  // namespace trainyard::node
