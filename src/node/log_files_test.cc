#include "node/log_files.h"

#include <gtest/gtest.h>

#include "node/files.h"
#include "node/log_writer.h"
#include "node/testing.h"

namespace trainyard::node {
namespace {

using testing::TempFolder;

constexpr int64_t kSecond = 1'000'000'000;

std::string read_all(const std::filesystem::path& file, LogQuery query = {}) {
  LogReader reader(file, query, [] { return false; });
  std::string text;
  while (true) {
    Result<bool> more = reader.read(text);
    if (!more.ok() || !*more) return text;
  }
}

TEST(LogEntry, IsOneLine) {
  EXPECT_EQ(log_entry(1'700'000'000'123'456'789, LogStream::kOut, true, "hi"),
            "2023-11-14T22:13:20.123456789Z stdout F hi\n");
  std::optional<LogEntry> entry = parse_log_entry("2023-11-14T22:13:20.1Z stderr P some  text");
  ASSERT_TRUE(entry);
  EXPECT_TRUE(entry->err);
  EXPECT_FALSE(entry->whole);
  EXPECT_EQ(entry->text, "some  text");
  EXPECT_EQ(parse_log_entry("2023-11-14T22:13:20.1Z stdout F ")->text, "");
  for (std::string bad : {"", "x", "t stdout", "t stdout F", "t other F x", "t stdout X y"}) {
    EXPECT_FALSE(parse_log_entry(bad)) << bad;
  }
}

TEST(LogWriter, CutsLinesAndKeepsParts) {
  TempFolder folder;
  std::filesystem::path file = folder.path() / "0.log";
  LogWriter writer(file, 1 << 20, 3);
  writer.write(LogStream::kOut, "one\ntw", kSecond);
  writer.write(LogStream::kErr, "err\n", 2 * kSecond);
  writer.write(LogStream::kOut, "o\n\nend", 3 * kSecond);
  writer.finish(4 * kSecond);
  EXPECT_EQ(*read_whole(file),
            "1970-01-01T00:00:01.000000000Z stdout F one\n"
            "1970-01-01T00:00:02.000000000Z stderr F err\n"
            "1970-01-01T00:00:03.000000000Z stdout F two\n"
            "1970-01-01T00:00:03.000000000Z stdout F \n"
            "1970-01-01T00:00:04.000000000Z stdout P end\n");
  EXPECT_EQ(read_all(file), "one\nerr\ntwo\n\nend");
}

TEST(LogWriter, LongLinesComeBackWhole) {
  TempFolder folder;
  std::filesystem::path file = folder.path() / "0.log";
  LogWriter writer(file, 1 << 20, 3);
  std::string line(40'000, 'x');
  writer.write(LogStream::kOut, line + "\nnext\n", kSecond);
  EXPECT_EQ(read_all(file), line + "\nnext\n");
  LogQuery tail;
  tail.tail_lines = 2;
  EXPECT_EQ(read_all(file, tail), line + "\nnext\n");
}

TEST(LogWriter, RotatesAndKeepsSoMany) {
  TempFolder folder;
  std::filesystem::path file = folder.path() / "0.log";
  LogWriter writer(file, 1000, 3);
  for (int i = 0; i < 100; ++i) writer.write(LogStream::kOut, fmt::format("line {}\n", i), i * kSecond);
  EXPECT_TRUE(std::filesystem::exists(rotated(file, 2)));
  EXPECT_FALSE(std::filesystem::exists(rotated(file, 3)));
  EXPECT_LE(std::filesystem::file_size(file), 1000u);
  std::string text = read_all(file);
  EXPECT_TRUE(text.ends_with("line 98\nline 99\n")) << text;
  LogQuery tail;
  tail.tail_lines = 30;
  std::string wanted;
  for (int i = 70; i < 100; ++i) wanted += fmt::format("line {}\n", i);
  EXPECT_EQ(read_all(file, tail), wanted);
}

TEST(LogReader, TailSinceTimestampsAndLimit) {
  TempFolder folder;
  std::filesystem::path file = folder.path() / "0.log";
  LogWriter writer(file, 1 << 20, 3);
  for (int i = 0; i < 5; ++i) writer.write(LogStream::kOut, fmt::format("l{}\n", i), i * kSecond);
  LogQuery query;
  query.tail_lines = 0;
  EXPECT_EQ(read_all(file, query), "");
  query.tail_lines = 2;
  EXPECT_EQ(read_all(file, query), "l3\nl4\n");
  query.tail_lines = 100;
  EXPECT_EQ(read_all(file, query), "l0\nl1\nl2\nl3\nl4\n");
  query = {};
  query.since = Time{3000};
  EXPECT_EQ(read_all(file, query), "l3\nl4\n");
  query.timestamps = true;
  EXPECT_EQ(read_all(file, query), "1970-01-01T00:00:03.000000000Z l3\n1970-01-01T00:00:04.000000000Z l4\n");
  query = {};
  query.limit_bytes = 4;
  EXPECT_EQ(read_all(file, query), "l0\nl");
}

TEST(LogReader, ALineThatWasNeverEndedIsALine) {
  TempFolder folder;
  std::filesystem::path file = folder.path() / "0.log";
  LogWriter writer(file, 1 << 20, 3);
  writer.write(LogStream::kOut, "one\ntwo\nend", kSecond);
  writer.finish(2 * kSecond);
  LogQuery query;
  const std::pair<int64_t, std::string> cases[] = {
      {0, ""}, {1, "end"}, {2, "two\nend"}, {9, "one\ntwo\nend"}};
  for (const auto& [lines, wanted] : cases) {
    query.tail_lines = lines;
    EXPECT_EQ(read_all(file, query), wanted) << lines;
  }
}

TEST(LogReader, FollowsThroughRotation) {
  TempFolder folder;
  std::filesystem::path file = folder.path() / "0.log";
  bool runs = true;
  LogQuery query;
  query.follow = true;
  LogReader reader(file, query, [&] { return runs; });
  std::string text;
  EXPECT_TRUE(*reader.read(text));
  EXPECT_EQ(text, "");
  LogWriter writer(file, 200, 5);
  std::string wanted;
  for (int i = 0; i < 50; ++i) {
    writer.write(LogStream::kOut, fmt::format("line {}\n", i), kSecond);
    wanted += fmt::format("line {}\n", i);
    EXPECT_TRUE(i % 3 != 0 || *reader.read(text));
  }
  runs = false;
  EXPECT_FALSE(*reader.read(text));
  EXPECT_EQ(text, wanted);
}

TEST(LogFolder, FindsWhatIsKept) {
  TempFolder folder;
  LogFolder logs(folder.path());
  for (int attempt : {0, 1, 10}) {
    std::filesystem::path file = logs.file("ns", "pod", "u1", "main", attempt);
    ASSERT_TRUE(make_folders(file.parent_path()).ok());
    ASSERT_TRUE(write_whole(file, "").ok());
  }
  ASSERT_TRUE(make_folders(logs.file("ns", "pod-2", "u2", "main", 0).parent_path()).ok());
  EXPECT_EQ(logs.attempts("ns", "pod", "u1", "main"), (std::vector<int>{0, 1, 10}));
  std::vector<KeptLog> kept = logs.kept("ns", "pod");
  ASSERT_EQ(kept.size(), 1u);
  EXPECT_EQ(kept[0].pod_uid, "u1");
  EXPECT_EQ(kept[0].container, "main");
  EXPECT_TRUE(logs.kept("ns", "po").empty());
}

TEST(LastLines, IsCutToSize) {
  TempFolder folder;
  std::filesystem::path file = folder.path() / "0.log";
  LogWriter writer(file, 1 << 20, 3);
  for (int i = 0; i < 200; ++i) writer.write(LogStream::kErr, fmt::format("{}\n", i), kSecond);
  EXPECT_EQ(last_lines(file, 2, 100), "198\n199\n");
  EXPECT_EQ(last_lines(file, 100, 8), "198\n199\n");
  EXPECT_EQ(last_lines(folder.path() / "none.log", 2, 100), "");
}

}  // namespace
}  // namespace trainyard::node
