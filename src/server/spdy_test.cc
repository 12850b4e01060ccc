#include "server/spdy.h"

#include <gtest/gtest.h>

namespace trainyard::server::spdy {
namespace {

std::vector<Frame> all_kinds() {
  return {SynStream{1, true, {{"streamtype", "error"}, {"port", "80"}, {"requestid", "0"}}},
          SynStream{3, false, {{"streamtype", "data"}, {"port", "80"}, {"requestid", "0"}}},
          SynReply{1, false, {}},
          Data{3, false, std::string("a\0b", 3)},
          Data{3, true, ""},
          Ping{7},
          RstStream{3, kCancel},
          GoAway{3}};
}

TEST(SpdyTest, WhatOneEncodesTheOtherDecodes) {
  Encoder encoder;
  Decoder decoder;
  for (const Frame& frame : all_kinds()) {
    Result<std::vector<Frame>> frames = decoder.feed(encoder.encode(frame));
    ASSERT_TRUE(frames.ok()) << frames.error().message;
    ASSERT_EQ(frames->size(), 1u);
    EXPECT_EQ(frames->front(), frame);
  }
}

TEST(SpdyTest, BoundariesDoNotMatter) {
  Encoder encoder;
  std::string bytes;
  for (const Frame& frame : all_kinds()) bytes += encoder.encode(frame);
  for (size_t step : {1u, 2u, 7u, 100u}) {
    Decoder decoder;
    std::vector<Frame> seen;
    for (size_t at = 0; at < bytes.size(); at += step) {
      Result<std::vector<Frame>> frames = decoder.feed(std::string_view(bytes).substr(at, step));
      ASSERT_TRUE(frames.ok());
      seen.insert(seen.end(), frames->begin(), frames->end());
    }
    EXPECT_EQ(seen, all_kinds()) << step;
  }
}

TEST(SpdyTest, TheDictionaryIsTheProtocols) {
  Encoder encoder;
  std::string bytes = encoder.encode(SynReply{1, false, {}});
  // After 8 bytes of frame and 4 of stream: zlib's header, then the Adler checksum of the dictionary.
  EXPECT_EQ(bytes.substr(14, 4), "\xe3\xc6\xa7\xc2");
}

TEST(SpdyTest, OtherFramesAreLeftOut) {
  Decoder decoder;
  // SETTINGS without entries, WINDOW_UPDATE of stream 1.
  std::string bytes("\x80\x03\x00\x04\x00\x00\x00\x04\x00\x00\x00\x00", 12);
  bytes += std::string("\x80\x03\x00\x09\x00\x00\x00\x08\x00\x00\x00\x01\x00\x00\x10\x00", 16);
  Result<std::vector<Frame>> frames = decoder.feed(bytes);
  ASSERT_TRUE(frames.ok());
  EXPECT_TRUE(frames->empty());
}

TEST(SpdyTest, NonsenseIsRefused) {
  const std::string kCases[] = {
      std::string("\x80\x02\x00\x01\x00\x00\x00\x00", 8),                                   // version 2
      std::string("\x80\x03\x00\x01\x00\xff\xff\xff", 8),                                   // too large
      std::string("\x80\x03\x00\x01\x00\x00\x00\x04\x00\x00\x00\x01", 12),                  // too short
      std::string("\x80\x03\x00\x02\x00\x00\x00\x08\x00\x00\x00\x01\xff\xff\xff\xff", 16),  // not zlib
      std::string("\x80\x03\x00\x06\x00\x00\x00\x00", 8),  // a ping without id
  };
  for (const std::string& bytes : kCases) {
    Decoder decoder;
    EXPECT_FALSE(decoder.feed(bytes).ok());
  }
}

TEST(SpdyTest, AHeaderBlockThatGrowsTooMuchIsRefused) {
  Encoder encoder;
  Decoder decoder;
  EXPECT_FALSE(decoder.feed(encoder.encode(SynReply{1, false, {{"a", std::string(1 << 20, 'x')}}})).ok());
}

}  // namespace
}  // namespace trainyard::server::spdy
