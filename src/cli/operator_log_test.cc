#include "cli/operator_log.h"

#include <gtest/gtest.h>

#include <sstream>

namespace trainyard::cli {
namespace {

constexpr Time kNow{1'700'000'000'042};

TEST(OperatorLog, OneLinePerEvent) {
  std::vector<LogField> fields = {{"job", "a/b"}, {"error", "no \"quota\"\nleft"}};
  EXPECT_EQ(log_line(LogForm::kText, LogLevel::kWarning, kNow, "a pass failed", fields),
            "2023-11-14T22:13:20.042Z warn  a pass failed job=a/b error=\"no \\\"quota\\\"\\nleft\"\n");
  EXPECT_EQ(
      log_line(LogForm::kJson, LogLevel::kInfo, kNow, "two\nlines", fields),
      "{\"time\":\"2023-11-14T22:13:20.042Z\",\"level\":\"info\",\"msg\":\"two\\nlines\",\"job\":\"a/b\","
      "\"error\":\"no \\\"quota\\\"\\nleft\"}\n");
  EXPECT_EQ(log_line(LogForm::kText, LogLevel::kInfo, kNow, "two\nlines", {}),
            "2023-11-14T22:13:20.042Z info  two lines\n");
}

TEST(OperatorLog, WhatIsBelowTheLevelIsNotSaid) {
  std::ostringstream out;
  Log log(out, LogForm::kText, LogLevel::kWarning);
  log.say(LogLevel::kInfo, "quiet");
  EXPECT_EQ(out.str(), "");
  log.say(LogLevel::kError, "loud");
  EXPECT_NE(out.str(), "");
}

}  // namespace
}  // namespace trainyard::cli
