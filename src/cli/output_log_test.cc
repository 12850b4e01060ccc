#include "cli/output_log.h"

#include <gtest/gtest.h>

namespace trainyard::cli {
namespace {

TEST(OutputLog, PathsOfLogsAndCommands) {
  EXPECT_EQ(log_path("a", "p", {}), "/api/v1/namespaces/a/pods/p/log");
  LogAsk ask{"tensorflow", true, true, true, 10, seconds(90)};
  EXPECT_EQ(log_path("a", "p", ask),
            "/api/v1/namespaces/a/pods/p/log?container=tensorflow&follow=true&previous=true&timestamps=true"
            "&tailLines=10&sinceSeconds=90");
  EXPECT_EQ(log_path("a", "p", {.since = Duration{20}}), "/api/v1/namespaces/a/pods/p/log?sinceSeconds=1");
  EXPECT_EQ(exec_path("a", "p", "c", {"sh", "-c", "ls /"}, true, false),
            "/api/v1/namespaces/a/pods/p/exec?command=sh&command=-c&command=ls%20%2F&container=c&stdin=true"
            "&stdout=true&stderr=true");
  EXPECT_EQ(exec_path("a", "p", "", {"sh"}, false, true),
            "/api/v1/namespaces/a/pods/p/exec?command=sh&stdout=true&tty=true");
}

TEST(OutputLog, EveryLineGetsItsPrefix) {
  PrefixedLines lines("w0 | ");
  EXPECT_EQ(lines.feed("a\nb"), "w0 | a\n");
  EXPECT_EQ(lines.feed("c\n\n"), "w0 | bc\nw0 | \n");
  EXPECT_EQ(lines.finish(), "");
  EXPECT_EQ(lines.feed("rest"), "");
  EXPECT_EQ(lines.finish(), "w0 | rest\n");
}

TEST(OutputLog, OfALineThatNeverEndsLittleIsHeldBack) {
  ShownLines lines;
  size_t told = 0;
  size_t longest = 0;
  auto tell = [&](std::string_view line) {
    told += line.size();
    longest = std::max(longest, line.size());
  };
  const std::string bytes(10'000, 'x');
  for (int i = 0; i < 1'000; ++i) lines.feed(bytes, tell);
  EXPECT_EQ(longest, kLineShownMax);
  EXPECT_GT(told + kLineShownMax, 10'000'000u - 1);
  lines.finish(tell);
  EXPECT_EQ(told, 10'000'000u);
  // A line that is just as long as may be stays one.
  std::vector<std::string> whole;
  auto keep = [&](std::string_view line) { whole.emplace_back(line); };
  lines.feed(std::string(kLineShownMax, 'y'), keep);
  lines.feed("\nz\n", keep);
  EXPECT_EQ(whole, (std::vector<std::string>{std::string(kLineShownMax, 'y'), "z"}));
}

}  // namespace
}  // namespace trainyard::cli
