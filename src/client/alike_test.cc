#include "client/alike.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/rng.h"

namespace trainyard::client {
namespace {

std::string pod_text(int number) {
  return fmt::format(
      R"({{"kind":"Pod","metadata":{{"name":"job-{0}-worker-0","labels":{{"training.kubeflow.org/job-name":"job-{0}",)"
      R"("training.kubeflow.org/replica-type":"worker","training.kubeflow.org/replica-index":"0"}},"uid":"{1:032x}"}},)"
      R"("spec":{{"restartPolicy":"Never","containers":[{{"name":"tensorflow"}}]}},"status":{{"phase":"Pending"}}}})",
      number, static_cast<uint64_t>(number) * 0x9e3779b97f4a7c15u);
}

TEST(AlikeTest, ATextComesBackAsItWas) {
  Pattern pattern(pod_text(0));
  for (const std::string& text :
       {std::string(), std::string("short"), pod_text(0), pod_text(12345), pod_text(1) + pod_text(2),
        pod_text(7).substr(9), std::string("\0\xff\x80 bytes", 9), std::string(300, 'x')}) {
    EXPECT_EQ(pattern.whole(pattern.difference(text)), text);
  }
  for (const std::string& small : {std::string(), std::string("abcde"), std::string("abcdef")}) {
    Pattern tiny(small);
    EXPECT_EQ(tiny.whole(tiny.difference(pod_text(3))), pod_text(3));
    EXPECT_EQ(tiny.whole(tiny.difference("abcdefabcdef")), "abcdefabcdef");
  }
}

TEST(AlikeTest, ARandomTextComesBackAsItWas) {
  Rng rng(7);
  auto random_text = [&](int64_t most) {
    std::string text;
    for (int64_t left = rng.between(0, most); left > 0; --left) {
      text.push_back(static_cast<char>('a' + rng.between(0, 2)));
    }
    return text;
  };
  for (int i = 0; i < 300; ++i) {
    Pattern pattern(random_text(400));
    std::string text = random_text(400);
    ASSERT_EQ(pattern.whole(pattern.difference(text)), text);
  }
}

TEST(AlikeTest, WhatIsAlikeTakesLittle) {
  Patterns patterns;
  for (int i = 0; i < 100; ++i) {
    std::optional<Alike> alike = patterns.shorten(pod_text(i));
    ASSERT_TRUE(alike.has_value());
    EXPECT_EQ(alike->text(), pod_text(i));
    EXPECT_LT(alike->difference.size() * 3, pod_text(i).size());
  }
}

TEST(AlikeTest, PatternsAreFewAndWhatIsLikeNoneIsKeptAsItIs) {
  Patterns patterns;
  auto odd = [](size_t i) {
    std::string text;
    for (size_t k = 0; k < 40; ++k) text += fmt::format("{:x} ", (k + 1) * (i + 3) * 0x9e3779b97f4a7c15u);
    return text;
  };
  for (size_t i = 0; i < kPatternsMax; ++i) EXPECT_TRUE(patterns.shorten(odd(i)).has_value());
  EXPECT_FALSE(patterns.shorten(odd(kPatternsMax)).has_value());
  for (size_t i = 0; i < kPatternsMax; ++i) {
    std::optional<Alike> again = patterns.shorten(odd(i));
    ASSERT_TRUE(again.has_value());
    EXPECT_EQ(again->text(), odd(i));
  }
  EXPECT_FALSE(patterns.shorten(std::string(kPatternBytesMax + 1, 'x')).has_value());
}

}  // namespace
}  // namespace trainyard::client
