// tfevents: follows what a training writes for TensorBoard, while it is written.
//
// EventStream is pure: the bytes of one file go in as they appear, scalars come out. A
// record that is not there in full yet is waited for; a record whose checksum is wrong
// ends the file, since nothing after it can be trusted.
//
// EventFolder reads the event files below one folder. It is owned by one thread and never
// waits. The folder belongs to a replica, so its content is not trusted: links are not followed,
// only regular files are read, and how much of it is looked at is limited.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard::cli {

inline constexpr size_t kEventRecordBytesMax = size_t{256} << 20;
inline constexpr size_t kEventBytesPerPollMax = size_t{8} << 20;
inline constexpr int kEventFilesMax = 64;
inline constexpr int kEventEntriesMax = 4096;
inline constexpr int kEventDepthMax = 4;

// One number of a training: TensorFlow 1's simple_value or TensorFlow 2's scalar tensor.
struct Scalar {
  double wall_time = 0;  // seconds since 1970
  int64_t step = 0;
  std::string tag;
  double value = 0;

  bool operator==(const Scalar&) const = default;
};

// CRC-32C, turned and shifted as TFRecord files have it.
uint32_t masked_crc32c(std::string_view data);

class EventStream {
 public:
  // Takes the next bytes of the file; the scalars they complete are added to `found`.
  void feed(std::string_view bytes, std::vector<Scalar>& found);
  bool broken() const { return broken_; }

 private:
  bool take_record(std::vector<Scalar>& found);

  std::string pending_;
  size_t at_ = 0;  // in pending_
  bool broken_ = false;
};

// How far a training has come.
struct TrainingProgress {
  int64_t step = 0;
  std::optional<double> loss;
  std::string tag;  // what `loss` is called there; empty when there is none

  bool operator==(const TrainingProgress&) const = default;
};

// The last step and the last loss among scalars seen one by one. Last is by wall time:
// after a restart steps go back. What is said of the training counts more than what
// is said of an evaluation, and a plain "loss" more than other losses.
class ProgressTally {
 public:
  // `run` is the folder of the file, relative to the folder that is followed.
  void see(std::string_view run, const Scalar& scalar);
  std::optional<TrainingProgress> progress() const;

 private:
  struct Best {
    int rank = 0;  // smaller is better
    Scalar scalar;
  };
  std::optional<Best> loss_;
  std::optional<Best> any_;
};

class EventFolder {
 public:
  explicit EventFolder(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // Reads what is new; nothing when no scalar has been seen so far.
  std::optional<TrainingProgress> poll();

 private:
  struct File {
    uint64_t offset = 0;
    EventStream stream;
  };

  void find_files();
  void read_file(const std::filesystem::path& path, File& file, size_t& budget);

  std::filesystem::path folder_;
  std::map<std::filesystem::path, File> files_;
  ProgressTally tally_;
};

}  // namespace trainyard::cli
