#include "node/grpc_health.h"

#include <gtest/gtest.h>

namespace trainyard::node {
namespace {

std::string frame_of(int type, int flags, int stream, const std::string& payload) {
  std::string out;
  out += static_cast<char>(payload.size() >> 16);
  out += static_cast<char>(payload.size() >> 8);
  out += static_cast<char>(payload.size());
  out += static_cast<char>(type);
  out += static_cast<char>(flags);
  out += std::string(3, '\0');
  out += static_cast<char>(stream);
  return out + payload;
}

std::string answer_of(int status) {
  std::string message{'\0', '\0', '\0', '\0', '\2', '\x08', static_cast<char>(status)};
  return frame_of(4, 0, 0, "") + frame_of(1, 4, 1, "h") + frame_of(0, 0, 1, message) + frame_of(1, 5, 1, "t");
}

TEST(GrpcHealth, TheQuestionIsOneCall) {
  std::string request = grpc_health_request("model", "127.0.0.1:9000");
  EXPECT_TRUE(request.starts_with("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"));
  EXPECT_NE(request.find("/grpc.health.v1.Health/Check"), std::string::npos);
  EXPECT_TRUE(request.ends_with(std::string("\0\0\0\0\7\x0a\5model", 12)));
  EXPECT_TRUE(grpc_health_request("", "h").ends_with(std::string("\0\0\0\0\0", 5)));
}

TEST(GrpcHealth, WhatAnswersMean) {
  struct Row {
    std::string reply;
    bool ended;
    std::string wanted;  // "more", "yes" or the words
  };
  const Row kRows[] = {
      {"", false, "more"},
      {"", true, "the connection was closed"},
      {frame_of(4, 0, 0, ""), false, "more"},
      {answer_of(1), false, "yes"},
      {answer_of(2), false, "service unhealthy (responded with \"NOT_SERVING\")"},
      {answer_of(0), false, "service unhealthy (responded with \"UNKNOWN\")"},
      {answer_of(1).substr(0, 20), false, "more"},
      {frame_of(4, 0, 0, "") + frame_of(1, 5, 1, "t"), false, "no answer of grpc.health.v1.Health"},
      {frame_of(3, 0, 1, "1234"), false, "the server refused the call"},
      {frame_of(7, 0, 0, "12345678"), false, "the server refused the call"},
      {"HTTP/1.1 400 Bad Request\r\n\r\n", false, "the answer is not HTTP/2"},
      {frame_of(0, 9, 1, std::string("\3\0\0\0\0\2\x08\1ppp", 11)), false, "yes"},
      {frame_of(0, 9, 1, "\x7f"), false, "the answer is not HTTP/2"},
  };
  for (const Row& row : kRows) {
    std::optional<GrpcVerdict> verdict = grpc_health_verdict(row.reply, row.ended);
    std::string told = !verdict ? "more" : verdict->serving ? "yes" : verdict->words;
    EXPECT_EQ(told, row.wanted);
  }
}

}  // namespace
}  // namespace trainyard::node
