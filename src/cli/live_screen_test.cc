#include "cli/live_screen.h"

#include <gtest/gtest.h>

namespace trainyard::cli {
namespace {

TEST(LiveScreen, TheBlockStaysBelowWhatScrollsBy) {
  LiveScreen screen;
  EXPECT_EQ(screen.update("", {"a", "b"}), "\x1b[?7la\nb\n\x1b[?7h");
  EXPECT_EQ(screen.update("", {"a", "b"}), "");
  EXPECT_EQ(screen.update("log\n", {"a", "b"}), "\x1b[2A\r\x1b[Jlog\n\x1b[?7la\nb\n\x1b[?7h");
  screen.release();
  EXPECT_EQ(screen.update("end\n", {}), "end\n\x1b[?7l\x1b[?7h");
}

}  // namespace
}  // namespace trainyard::cli
