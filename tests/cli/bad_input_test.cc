// Malformed manifests: each brings about its exact messages, none crashes anything, none
// takes long.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <ctime>
#include <filesystem>

#include "bad_cases.h"
#include "session.h"

namespace trainyard::cli_suite {
namespace {

namespace fs = std::filesystem;

// A watchdog, not a measurement: processor time, so that a busy machine changes nothing.
constexpr double kSecondsMax = TRAINYARD_SLOW_BUILD ? 30.0 : 1.0;

class Watchdog {
 public:
  ~Watchdog() {
    double taken = static_cast<double>(std::clock() - started_) / CLOCKS_PER_SEC;
    EXPECT_LT(taken, kSecondsMax);
  }

 private:
  std::clock_t started_ = std::clock();
};

// What validate complains about, each line without the name of the file.
std::string complaints(const Session& session) {
  std::istringstream in(session.err);
  std::string text;
  for (std::string line; std::getline(in, line);) {
    const std::string mark = "<stdin>:";
    text += (line.starts_with(mark) ? line.substr(mark.size()) : line) + "\n";
  }
  return text;
}

std::vector<std::string> files() {
  std::vector<std::string> paths;
  for (const auto& entry : fs::directory_iterator(fs::path(TRAINYARD_SOURCE_DIR) / "tests/bad")) {
    if (entry.path().extension() == ".txt") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

class BadInput : public ::testing::TestWithParam<std::string> {};

TEST_P(BadInput, EachCaseHasItsExactMessages) {
  BadFile file = parse_bad_cases(read_text(GetParam()));
  ASSERT_FALSE(file.cases.empty());
  std::string rewritten = file.preamble;
  for (const BadCase& one : file.cases) {
    rewritten += one.head;
    if (one.name == "base") continue;
    SCOPED_TRACE(one.name);
    EXPECT_EQ(one.fault, "");
    Watchdog watchdog;
    Session session = run_session({"validate", "-"}, one.manifest);
    rewritten += complaints(session);
    EXPECT_EQ(session.status, 1);
    EXPECT_NE(session.err, "");
    std::string expected = rewriting() ? complaints(session) : one.expected;
    EXPECT_EQ(complaints(session), expected);
  }
  if (rewriting()) write_text(GetParam(), rewritten);
}

TEST_P(BadInput, NoCommandTakesIt) {
  for (const BadCase& one : parse_bad_cases(read_text(GetParam())).cases) {
    if (one.name == "base") continue;
    SCOPED_TRACE(one.name);
    EXPECT_EQ(run_session({"explain", "-"}, one.manifest).status, 1);
    EXPECT_EQ(run_session({"explain", "-o", "json", "-"}, one.manifest).status, 1);
    EXPECT_EQ(run_session({"convert", "--to", "volcano", "-"}, one.manifest).status, 1);
  }
}

INSTANTIATE_TEST_SUITE_P(Files, BadInput, ::testing::ValuesIn(files()),
                         [](const ::testing::TestParamInfo<std::string>& info) {
                           return fs::path(info.param).stem().string();
                         });

TEST(BadInput, ThereAreTwoHundredOrMore) {
  size_t count = 0;
  for (const std::string& path : files()) {
    for (const BadCase& one : parse_bad_cases(read_text(path)).cases) count += one.name == "base" ? 0 : 1;
  }
  EXPECT_GE(count, 200u);
}

// Manifests that are made here because they are too large or too odd for a text file.
struct MadeCase {
  std::string name;
  std::string manifest;
  std::string says;
};

std::string repeated(std::string_view text, size_t times) {
  std::string all;
  all.reserve(text.size() * times);
  for (size_t i = 0; i < times; ++i) all += text;
  return all;
}

// Each anchor holds ten of the one before.
std::string laughter() {
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i)
    text += fmt::format("a{}: &a{} [{}]\n", i, i, repeated(fmt::format("*a{}, ", i - 1), 10));
  return text;
}

std::vector<MadeCase> made_cases() {
  constexpr size_t kHundredMegabytes = 100 * 1024 * 1024;
  const std::string too_large = "<stdin>: is larger than 3145728 bytes, the most that an API server takes\n";
  return {
      {"100 MB of one value", "a: " + repeated("x", kHundredMegabytes) + "\n", too_large},
      {"100 MB of lines", repeated("- a\n", kHundredMegabytes / 4), too_large},
      {"100 MB of comments", repeated("#\n", kHundredMegabytes / 2), too_large},
      {"deep lists", repeated("[", 1'000'000), "<stdin>:1:10001: too many brackets are open\n"},
      {"deep maps", repeated("{a: ", 700'000), "<stdin>:1:40001: too many brackets are open\n"},
      {"deep block lists", repeated("- ", 1'000'000), "<stdin>:1:201: nested more than 100 deep\n"},
      {"an alias bomb", laughter(), "<stdin>:6:20: more than 500000 values, aliases counted in full\n"},
      {"many keys",
       [] {
         std::string text;
         for (int i = 0; i < 50'000; ++i) text += fmt::format("k{}: 1\n", i);
         return text;
       }(),
       "<stdin>:1: apiVersion: Required value: neither apiVersion nor kind is there\n"},
      {"a NUL", std::string("a: \0b\n", 6), "<stdin>:1:4: the character U+0000 is not allowed\n"},
      {"not UTF-8", "a: \xff\xfe\n", "<stdin>:1:4: the text is not valid UTF-8\n"},
      {"a lone surrogate", "a: \"\\ud800\"\n",
       "<stdin>:1:11: the escape stands for 55296, which is no character\n"},
      {"all bytes",
       [] {
         std::string text;
         for (int i = 1; i < 256; ++i) text += static_cast<char>(i);
         return text;
       }(),
       "<stdin>:1:1: the character U+0001 is not allowed\n"},
  };
}

TEST(BadInput, MadeCasesAreRefusedInTime) {
  for (const MadeCase& one : made_cases()) {
    SCOPED_TRACE(one.name);
    Watchdog watchdog;
    Session session = run_session({"validate", "-"}, one.manifest);
    EXPECT_EQ(session.status, 1);
    EXPECT_EQ(session.out, "");
    EXPECT_EQ(session.err, one.says);
  }
}

}  // namespace
}  // namespace trainyard::cli_suite
