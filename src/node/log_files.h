// Logs on disk: where they are and how they are read. They stay when the pod is gone:
//   <root>/<ns>/<pod>_<uid>/<container>/<attempt>.log[.<n>]
//   <root>/<ns>/<pod>_<uid>/pod.json    whose pod it was
// Written by shims (log_writer.h). Reading is thread-safe: nothing is shared.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "base/time.h"
#include "kube/json.h"

namespace trainyard::node {

struct LogQuery {
  bool follow = false;
  bool previous = false;       // the attempt before the last
  std::optional<int> attempt;  // this one, whichever is the last; `previous` is not looked at
  bool timestamps = false;
  std::optional<int64_t> tail_lines;
  std::optional<int64_t> limit_bytes;
  std::optional<Time> since;
};

// One line of a log file, taken apart.
struct LogEntry {
  std::string_view time;
  bool err = false;
  bool whole = false;  // ends a line
  std::string_view text;
};
std::optional<LogEntry> parse_log_entry(std::string_view line);

// A pod whose logs are kept.
struct KeptLog {
  std::string pod_uid;
  std::string container;
  std::vector<int> attempts;  // rising
  std::filesystem::file_time_type written;
};

// The file beside a pod's logs that describes it.
inline constexpr std::string_view kAboutPod = "pod.json";

class LogFolder {
 public:
  explicit LogFolder(std::filesystem::path root) : root_(std::move(root)) {}

  // REQUIRES: names that Kubernetes allows (no slash, no "..").
  std::filesystem::path file(std::string_view ns, std::string_view pod, std::string_view uid,
                             std::string_view container, int attempt) const;
  std::vector<int> attempts(std::string_view ns, std::string_view pod, std::string_view uid,
                            std::string_view container) const;
  // Every container of every pod that had this name, oldest first.
  std::vector<KeptLog> kept(std::string_view ns, std::string_view pod) const;
  // Writes down whose pod it is, once: names, labels and owners, nothing that may be secret.
  void remember(const json::object& pod) const;
  // The pods that are remembered, as far as remember() keeps them; oldest first.
  std::vector<json::object> remembered(std::string_view ns) const;

 private:
  std::filesystem::path root_;
};

// A log as a pull stream.
class LogReader {
 public:
  // `runs` says whether there may still come more; asked when following.
  LogReader(std::filesystem::path file, LogQuery query, std::function<bool()> runs);

  // Appends what there is now, at most about 64 KiB. False: the end; true with nothing
  // appended: ask again in a while (only when following).
  Result<bool> read(std::string& out);

 private:
  void find_start();
  bool open(int number);
  bool open_next();
  void take(std::string_view line, std::string& out);

  // Fixed.
  std::filesystem::path file_;
  LogQuery query_;
  std::function<bool()> runs_;
  // State.
  Fd fd_;
  uint64_t inode_ = 0;
  std::string rest_;         // of a line that is not whole yet
  bool line_begun_ = false;  // the last entry did not end its line
  bool skipping_ = false;    // the line that is begun is older than `since`
  int64_t skip_lines_ = 0;   // before the tail begins
  std::optional<int64_t> bytes_left_;
  bool ended_ = false;
};

// The end of a log in clear, for messages: at most so many lines and bytes.
std::string last_lines(const std::filesystem::path& file, int lines_max, size_t bytes_max);

}  // namespace trainyard::node
