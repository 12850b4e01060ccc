#include "server/channels.h"

#include <gtest/gtest.h>

namespace trainyard::server {
namespace {

TEST(ChannelsTest, Frames) {
  EXPECT_EQ(framed(kStdoutChannel, "hi"), std::string("\x01hi"));
  EXPECT_EQ(framed(kErrorChannel, ""), std::string("\x03"));
  EXPECT_FALSE(frame_of(""));
  std::string bytes("\xff\x00", 2);
  ASSERT_TRUE(frame_of(bytes));
  EXPECT_EQ(frame_of(bytes)->channel, kCloseChannel);
  EXPECT_EQ(frame_of(bytes)->data, std::string_view("\0", 1));
}

TEST(ChannelsTest, PiecesBelongToTheChannelOfTheFirst) {
  FrameReader frames;
  EXPECT_FALSE(frames.next("x", false));
  EXPECT_EQ(frames.next(framed(kStdinChannel, "a"), true)->data, "a");
  ASSERT_TRUE(frames.next("\x01", false));
  EXPECT_EQ(frames.next("\x01", false)->channel, kStdinChannel);
  EXPECT_EQ(frames.next("\x01", false)->data, "\x01");
  EXPECT_FALSE(frames.next("", true));
  EXPECT_FALSE(frames.next("x", false));
}

TEST(ChannelsTest, Sizes) {
  EXPECT_EQ(terminal_size_of(R"({"Width":80,"Height":24})"), (TerminalSize{80, 24}));
  for (std::string_view text : {"", "{}", "[]", R"({"Width":0,"Height":24})", R"({"Width":80})",
                                R"({"Width":70000,"Height":1})", R"({"Width":"80","Height":"24"})"}) {
    EXPECT_FALSE(terminal_size_of(text)) << text;
  }
}

}  // namespace
}  // namespace trainyard::server
