#include "cli/operator_report.h"

#include <gtest/gtest.h>

#include <sstream>

#include "cli/dialects.h"
#include "control/reconciler.h"

namespace trainyard::cli {
namespace {

TEST(OperatorReport, TheLogSaysWhatIsWrongWithAJob) {
  std::ostringstream out;
  Log log(out, LogForm::kText, LogLevel::kInfo);
  control::OperatorMetrics metrics;
  OperatorReport report(log, metrics, {all_dialects().begin(), all_dialects().end()}, 0);
  control::Pass pass;
  report.passed({0, "ns", "mnist"}, pass, {}, {});
  EXPECT_EQ(out.str(), "");
  pass.invalid = "spec.x: Required value";
  report.passed({0, "ns", "mnist"}, pass, {}, {});
  EXPECT_NE(out.str().find("warn  job is not valid, so nothing is made for it kind=" +
                           std::string(all_dialects()[0].resource.kind) +
                           " job=ns/mnist problems=\"spec.x: Required value\"\n"),
            std::string::npos)
      << out.str();
}

}  // namespace
}  // namespace trainyard::cli
