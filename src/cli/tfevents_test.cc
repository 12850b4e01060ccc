// Files of real TensorFlow 2.15 and of examples/trainer, as hexadecimal text, and files
// made here byte by byte.
#include "cli/tfevents.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <fstream>

namespace trainyard::cli {
namespace {

namespace fs = std::filesystem;

// tf.compat.v1.summary.FileWriter: two steps of a loss, the second not a number, and an accuracy.
constexpr std::string_view kTensorFlow1 =
    "3e00000000000000d9d240e709000000119ebeda411a0d627261696e2e4576656e743a3252240a2274656e736f72666c"
    "6f772e636f72652e7574696c2e6576656e74735f77726974657210e373362b00000000000000861bc34b09b59137119e"
    "beda4110012a1e0a0b0a046c6f737315000020400a0f0a086163637572616379150000003fffa459352b000000000000"
    "00861bc34b09279237119ebeda4110022a1e0a0b0a046c6f7373150000c07f0a0f0a086163637572616379150000003f"
    "fd35c6d6";

// tf.summary.scalar: two steps of a loss and an accuracy, an event each.
constexpr std::string_view kTensorFlow2 =
    "3e00000000000000d9d240e709000080d79dbeda411a0d627261696e2e4576656e743a3252240a2274656e736f72666c"
    "6f772e636f72652e7574696c2e6576656e74735f777269746572b9e92fa32e00000000000000c5cb57fa09f2ea04d89d"
    "beda4110012a210a1f0a046c6f7373420a0801120022042369d73f4a0b0a090a077363616c61727368a84ae232000000"
    "00000000241956ec0972f904d89dbeda4110012a250a230a086163637572616379420a08011200220496434b3f4a0b0a"
    "090a077363616c617273c24b38932e00000000000000c5cb57fa099b732dd89dbeda4110022a210a1f0a046c6f737342"
    "0a0801120022042210ce3e4a0b0a090a077363616c6172733368f1f83200000000000000241956ec0990872dd89dbeda"
    "4110022a250a230a086163637572616379420a080112002204b29d6f3f4a0b0a090a077363616c61727337d4116d";

// Keras' TensorBoard callback: two epochs, from 0 on.
constexpr std::string_view kKeras =
    "3e00000000000000d9d240e709000040cc9dbeda411a0d627261696e2e4576656e743a3252240a2274656e736f72666c"
    "6f772e636f72652e7574696c2e6576656e74735f7772697465721125e7ca3200000000000000241956ec093831ffcc9d"
    "beda412a270a250a0a65706f63685f6c6f7373420a080112002204866f09404a0b0a090a077363616c617273372ebd61"
    "36000000000000004f578cef094b3cffcc9dbeda412a2b0a290a0e65706f63685f6163637572616379420a0801120022"
    "049a999c3e4a0b0a090a077363616c61727399baef1e34000000000000005e33175c0930f61fcd9dbeda4110012a270a"
    "250a0a65706f63685f6c6f7373420a080112002204a234bf3f4a0b0a090a077363616c617273c26f151f380000000000"
    "0000a3797d5709e70120cd9dbeda4110012a2b0a290a0e65706f63685f6163637572616379420a0801120022049a9947"
    "3f4a0b0a090a077363616c617273dd76e83d";

// examples/trainer/trainer.py: steps 5 and 10; only the first of a tag says that it is a scalar.
constexpr std::string_view kTrainer =
    "1800000000000000a37f4b2209c08de10d9ebeda411a0d627261696e2e4576656e743a32afde44895700000000000000"
    "e6ba948c09c9f6e10d9ebeda4110052a4a0a210a046c6f7373420a08011200220497eae73e4a0d0a090a077363616c61"
    "727320010a250a086163637572616379420a0801120022047b145e3f4a0d0a090a077363616c6172732001558479c639"
    "000000000000008b0737f1094b70e20d9ebeda41100a2a2c0a120a046c6f7373420a0801120022047a34623e0a160a08"
    "6163637572616379420a080112002204e17a643ff4e1f8d3";

std::string bytes_of(std::string_view hex) {
  auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(digit(hex[i]) * 16 + digit(hex[i + 1]));
  }
  return bytes;
}

template <typename Number>
std::string raw(Number number) {
  std::string bytes(sizeof(number), '\0');
  std::memcpy(bytes.data(), &number, sizeof(number));
  return bytes;
}

std::string field(int number, const std::string& bytes) {
  return static_cast<char>(number << 3 | 2) + (static_cast<char>(bytes.size()) + bytes);
}

std::string record(const std::string& data) {
  std::string length = raw<uint64_t>(data.size());
  return length + raw(masked_crc32c(length)) + data + raw(masked_crc32c(data));
}

// An event with one value: "tag" and whatever else describes it.
std::string event(double wall_time, char step, const std::string& tag, const std::string& rest) {
  return record("\x09" + raw(wall_time) + "\x10" + step + field(5, field(1, field(1, tag) + rest)));
}

std::string simple(float value) { return "\x15" + raw(value); }
std::string tensor(char type, const std::string& rest) { return field(8, std::string("\x08") + type + rest); }

std::vector<Scalar> scalars_of(const std::string& bytes) {
  EventStream stream;
  std::vector<Scalar> found;
  stream.feed(bytes, found);
  EXPECT_FALSE(stream.broken());
  return found;
}

// "step tag value", one line each.
std::string text_of(const std::vector<Scalar>& scalars) {
  std::string text;
  for (const Scalar& scalar : scalars) {
    char line[80];
    std::snprintf(line, sizeof(line), "%d %s %.4f\n", static_cast<int>(scalar.step), scalar.tag.c_str(),
                  scalar.value);
    text += line;
  }
  return text;
}

TEST(EventStream, ChecksumIsMasked) {
  EXPECT_EQ(masked_crc32c("123456789"), 0xC78AB0E5u);
  EXPECT_EQ(masked_crc32c(raw<uint64_t>(24)), 0x224B7FA3u);
}

TEST(EventStream, ReadsWhatTensorFlow1Writes) {
  EXPECT_EQ(text_of(scalars_of(bytes_of(kTensorFlow1))),
            "1 loss 2.5000\n1 accuracy 0.5000\n2 loss nan\n2 accuracy 0.5000\n");
}

TEST(EventStream, ReadsWhatTensorFlow2Writes) {
  EXPECT_EQ(text_of(scalars_of(bytes_of(kTensorFlow2))), R"TF2(1 loss 1.6829
1 accuracy 0.7940
2 loss 0.4025
2 accuracy 0.9360
)TF2");
}

TEST(EventStream, ReadsWhatKerasWrites) {
  EXPECT_EQ(text_of(scalars_of(bytes_of(kKeras))), R"KERAS(0 epoch_loss 2.1474
0 epoch_accuracy 0.3059
1 epoch_loss 1.4938
1 epoch_accuracy 0.7797
)KERAS");
}

TEST(EventStream, ReadsWhatTheTrainerWrites) {
  EXPECT_EQ(text_of(scalars_of(bytes_of(kTrainer))), R"TRAINER(5 loss 0.4530
5 accuracy 0.8675
10 loss 0.2209
10 accuracy 0.8925
)TRAINER");
}

TEST(EventStream, EveryCutOfAFileGivesTheSame) {
  std::string bytes = bytes_of(kTrainer);
  std::vector<Scalar> whole = scalars_of(bytes);
  for (size_t cut = 0; cut <= bytes.size(); ++cut) {
    EventStream stream;
    std::vector<Scalar> found;
    stream.feed(std::string_view(bytes).substr(0, cut), found);
    EXPECT_LE(found.size(), whole.size());
    stream.feed(std::string_view(bytes).substr(cut), found);
    EXPECT_EQ(found, whole) << "cut at " << cut;
  }
}

TEST(EventStream, EveryDamagedByteEndsTheFileThere) {
  std::string bytes = bytes_of(kTrainer);
  std::vector<Scalar> whole = scalars_of(bytes);
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x40);
    EventStream stream;
    std::vector<Scalar> found;
    stream.feed(damaged, found);
    EXPECT_TRUE(stream.broken()) << "byte " << i;
    ASSERT_LT(found.size(), whole.size());
    EXPECT_TRUE(std::equal(found.begin(), found.end(), whole.begin()));
    stream.feed(bytes, found);
    EXPECT_LT(found.size(), whole.size()) << "a broken file stays broken";
  }
}

TEST(EventStream, NumbersOfEveryType) {
  const std::string no_dimensions = field(2, "");
  struct Row {
    std::string rest;
    std::string text;
  };
  const std::vector<Row> rows = {
      {simple(1.5f), "3 x 1.5000\n"},
      {tensor(1, no_dimensions + field(4, raw(0.25f))), "3 x 0.2500\n"},
      {tensor(1, field(5, raw(0.25f))), "3 x 0.2500\n"},
      {tensor(1, std::string("\x2d") + raw(0.25f)), "3 x 0.2500\n"},
      {tensor(2, field(4, raw(0.125))), "3 x 0.1250\n"},
      {tensor(2, field(6, raw(0.125))), "3 x 0.1250\n"},
      {tensor(3, field(4, raw<int32_t>(-7))), "3 x -7.0000\n"},
      {tensor(3, std::string("\x38\x07")), "3 x 7.0000\n"},
      {tensor(9, field(10, "\x07")), "3 x 7.0000\n"},
      {tensor(9, field(4, raw<int64_t>(1 << 20))), "3 x 1048576.0000\n"},
      {tensor(1, ""), ""},                                                     // no number in it
      {tensor(1, field(2, field(2, "\x08\x02")) + field(4, raw(0.25f))), ""},  // has dimensions
      {tensor(1, field(4, "abc")), ""},                                        // of a wrong size
      {tensor(7, field(8, "text")), ""},                                       // a string
      {field(5, "histogram"), ""},
      {"\x15\x01", ""},  // ends too early
  };
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(text_of(scalars_of(event(1, 3, "x", rows[i].rest))), rows[i].text) << "row " << i;
  }
}

TEST(EventStream, AnImpossibleLengthIsNoReasonToWait) {
  std::string length = raw<uint64_t>(kEventRecordBytesMax + 1);
  EventStream stream;
  std::vector<Scalar> found;
  stream.feed(length + raw(masked_crc32c(length)), found);
  EXPECT_TRUE(stream.broken());
}

TEST(ProgressTally, LastIsByTimeAndTrainingComesFirst) {
  struct Seen {
    std::string run;
    Scalar scalar;
  };
  struct Row {
    std::vector<Seen> seen;
    std::optional<TrainingProgress> wanted;
  };
  const std::vector<Row> rows = {
      {{}, std::nullopt},
      {{{"", {1, 4, "accuracy", 0.5}}}, TrainingProgress{4, std::nullopt, ""}},
      {{{"", {1, 4, "loss", 0.5}}, {"", {2, 5, "accuracy", 0.9}}}, TrainingProgress{4, 0.5, "loss"}},
      // A restart: the steps go back, the time does not.
      {{{"", {1, 90, "loss", 0.1}}, {"", {2, 10, "loss", 0.6}}}, TrainingProgress{10, 0.6, "loss"}},
      // Files are read in the order of their names, not of their times.
      {{{"", {2, 10, "loss", 0.6}}, {"", {1, 90, "loss", 0.1}}}, TrainingProgress{10, 0.6, "loss"}},
      {{{"train", {1, 3, "epoch_loss", 0.4}}, {"validation", {2, 3, "epoch_loss", 0.7}}},
       TrainingProgress{3, 0.4, "epoch_loss"}},
      {{{"", {1, 3, "loss", 0.4}}, {"", {2, 3, "val_loss", 0.7}}}, TrainingProgress{3, 0.4, "loss"}},
      {{{"", {1, 3, "loss", 0.4}}, {"", {2, 3, "regularization_loss", 0.7}}},
       TrainingProgress{3, 0.4, "loss"}},
      {{{"", {1, 3, "train/Loss", 0.4}}}, TrainingProgress{3, 0.4, "train/Loss"}},
      {{{"eval", {1, 3, "loss", 0.4}}}, TrainingProgress{3, 0.4, "loss"}},
  };
  for (size_t i = 0; i < rows.size(); ++i) {
    ProgressTally tally;
    for (const Seen& seen : rows[i].seen) tally.see(seen.run, seen.scalar);
    EXPECT_EQ(tally.progress(), rows[i].wanted) << "row " << i;
  }
}

class EventFolderTest : public testing::Test {
 protected:
  EventFolderTest() {
    std::string name = (fs::temp_directory_path() / "tfevents.XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~EventFolderTest() override { fs::remove_all(folder_); }

  void append(const std::string& path, const std::string& bytes) {
    fs::create_directories((folder_ / path).parent_path());
    std::ofstream(folder_ / path, std::ios::binary | std::ios::app) << bytes;
  }

  fs::path folder_;
};

TEST_F(EventFolderTest, FollowsFilesAsTheyGrow) {
  EventFolder events(folder_ / "logs");
  EXPECT_EQ(events.poll(), std::nullopt);
  std::string bytes = bytes_of(kTrainer);
  append("logs/train/events.out.tfevents.1.host.2.0.v2", bytes.substr(0, 60));
  EXPECT_EQ(events.poll(), std::nullopt);
  append("logs/train/events.out.tfevents.1.host.2.0.v2", bytes.substr(60, 100));
  ASSERT_TRUE(events.poll());
  EXPECT_EQ(events.poll()->step, 5);
  append("logs/train/events.out.tfevents.1.host.2.0.v2", bytes.substr(160));
  EXPECT_EQ(events.poll()->step, 10);
  append("logs/train/events.out.tfevents.2.host.3.0.v2", event(4e9, 6, "loss", simple(0.5f)));
  EXPECT_EQ(events.poll(), (TrainingProgress{6, 0.5, "loss"}));
}

TEST_F(EventFolderTest, AFileThatBeganAnewIsReadAnew) {
  append("tfevents.a", event(1, 1, "loss", simple(1)) + event(1, 2, "loss", simple(1)));
  EventFolder events(folder_);
  EXPECT_EQ(events.poll()->step, 2);
  fs::remove(folder_ / "tfevents.a");
  append("tfevents.a", event(2, 7, "loss", simple(1)));
  EXPECT_EQ(events.poll()->step, 7);
}

TEST_F(EventFolderTest, NeitherFollowsLinksNorWaitsForPipes) {
  append("outside/tfevents.a", event(1, 1, "loss", simple(1)));
  fs::create_directories(folder_ / "in");
  fs::create_symlink(folder_ / "outside/tfevents.a", folder_ / "in/tfevents.link");
  fs::create_directory_symlink(folder_ / "outside", folder_ / "in/linked");
  ASSERT_EQ(mkfifo((folder_ / "in/tfevents.pipe").c_str(), 0600), 0);
  EventFolder events(folder_ / "in");
  EXPECT_EQ(events.poll(), std::nullopt);
}

TEST_F(EventFolderTest, LooksAtALimitedNumberOfFiles) {
  for (int i = 0; i < kEventFilesMax + 5; ++i) {
    append("tfevents." + std::to_string(i), event(1, 1, "loss", simple(1)));
  }
  append("a/b/c/d/e/f/tfevents.deep", event(9, 9, "loss", simple(1)));
  EventFolder events(folder_);
  EXPECT_EQ(events.poll()->step, 1);
}

}  // namespace
}  // namespace trainyard::cli
