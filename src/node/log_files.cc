#include "node/log_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>

#include "kube/access.h"
#include "kube/meta.h"
#include "node/files.h"
#include "node/log_writer.h"

namespace trainyard::node {

namespace {

constexpr size_t kChunk = 64 << 10;
constexpr int kRotatedMax = 100;

// Of the file that is there now under that number.
std::optional<uint64_t> inode_of(const std::filesystem::path& file) {
  struct stat about {};
  if (::stat(file.c_str(), &about) != 0) return std::nullopt;
  return about.st_ino;
}

int oldest_number(const std::filesystem::path& file) {
  int oldest = 0;
  while (oldest < kRotatedMax && inode_of(rotated(file, oldest + 1))) ++oldest;
  return oldest;
}

// How many lines a file ends, and whether one more is begun.
struct Lines {
  int64_t whole = 0;
  bool unfinished = false;
};

Lines count_lines(const std::filesystem::path& file) {
  Fd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  Lines lines;
  if (!fd.valid()) return lines;
  std::string rest;
  char buffer[kChunk];
  for (ssize_t n = 0; (n = ::read(fd.get(), buffer, sizeof buffer)) > 0;) {
    rest.append(buffer, static_cast<size_t>(n));
    size_t at = 0;
    for (size_t end = 0; (end = rest.find('\n', at)) != std::string::npos; at = end + 1) {
      std::optional<LogEntry> entry = parse_log_entry(std::string_view(rest).substr(at, end - at));
      if (!entry) continue;
      if (entry->whole) ++lines.whole;
      lines.unfinished = !entry->whole;
    }
    rest.erase(0, at);
  }
  return lines;
}

}  // namespace

std::optional<LogEntry> parse_log_entry(std::string_view line) {
  size_t first = line.find(' ');
  if (first == std::string_view::npos) return std::nullopt;
  size_t second = line.find(' ', first + 1);
  if (second == std::string_view::npos || second + 2 >= line.size() + 0) return std::nullopt;
  std::string_view stream = line.substr(first + 1, second - first - 1);
  char kind = line[second + 1];
  if ((stream != "stdout" && stream != "stderr") || (kind != 'F' && kind != 'P')) return std::nullopt;
  if (line[second + 2] != ' ') return std::nullopt;
  return LogEntry{line.substr(0, first), stream == "stderr", kind == 'F', line.substr(second + 3)};
}

std::filesystem::path LogFolder::file(std::string_view ns, std::string_view pod, std::string_view uid,
                                      std::string_view container, int attempt) const {
  return root_ / ns / fmt::format("{}_{}", pod, uid) / container / fmt::format("{}.log", attempt);
}

std::vector<int> LogFolder::attempts(std::string_view ns, std::string_view pod, std::string_view uid,
                                     std::string_view container) const {
  std::vector<int> numbers;
  std::error_code error;
  std::filesystem::path folder = file(ns, pod, uid, container, 0).parent_path();
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::string name = it->path().filename();
    int number = 0;
    auto [rest, failed] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (failed == std::errc() && std::string_view(rest) == ".log") numbers.push_back(number);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

std::vector<KeptLog> LogFolder::kept(std::string_view ns, std::string_view pod) const {
  std::vector<KeptLog> found;
  std::error_code error;
  std::string prefix = fmt::format("{}_", pod);
  for (std::filesystem::directory_iterator it(root_ / ns, error), end; !error && it != end;
       it.increment(error)) {
    std::string name = it->path().filename();
    if (!name.starts_with(prefix) || name.find('_', prefix.size()) != std::string::npos) continue;
    std::error_code inner;
    for (std::filesystem::directory_iterator each(it->path(), inner); !inner && each != end;
         each.increment(inner)) {
      KeptLog log{name.substr(prefix.size()), each->path().filename(), {}, each->last_write_time(inner)};
      log.attempts = attempts(ns, pod, log.pod_uid, log.container);
      if (!log.attempts.empty()) found.push_back(std::move(log));
    }
  }
  std::sort(found.begin(), found.end(), [](const KeptLog& a, const KeptLog& b) {
    return std::tie(a.written, a.pod_uid, a.container) < std::tie(b.written, b.pod_uid, b.container);
  });
  return found;
}

void LogFolder::remember(const json::object& pod) const {
  std::filesystem::path folder = file(kube::namespace_of(pod), kube::name_of(pod), kube::uid_of(pod), "-", 0)
                                     .parent_path()
                                     .parent_path();
  std::error_code ignored;
  if (std::filesystem::exists(folder / kAboutPod, ignored)) return;
  json::object meta;
  for (std::string_view key :
       {"name", "namespace", "uid", "creationTimestamp", "labels", "ownerReferences"}) {
    if (const json::value* value = kube::find(pod, {"metadata", key})) meta[kube::jview(key)] = *value;
  }
  json::array containers;
  const json::array* all = kube::array_at(pod, {"spec", "containers"});
  for (size_t i = 0; all != nullptr && i < all->size(); ++i) {
    const json::object* one = (*all)[i].if_object();
    if (one != nullptr)
      containers.push_back(json::object{{"name", kube::jview(kube::text_at(*one, {"name"}))}});
  }
  json::object about{{"metadata", std::move(meta)},
                     {"spec", json::object{{"containers", std::move(containers)}}}};
  // Best effort: without it the logs are still found by the name of the pod.
  if (make_folders(folder).ok()) (void)write_soon(folder / kAboutPod, json::serialize(about)).ok();
}

std::vector<json::object> LogFolder::remembered(std::string_view ns) const {
  std::vector<json::object> pods;
  std::error_code error;
  for (std::filesystem::directory_iterator it(root_ / ns, error), end; !error && it != end;
       it.increment(error)) {
    Result<std::string> text = read_whole(it->path() / kAboutPod);
    if (!text.ok()) continue;
    boost::system::error_code wrong;
    json::value about = json::parse(*text, wrong);
    if (!wrong && about.is_object()) pods.push_back(std::move(about.get_object()));
  }
  std::sort(pods.begin(), pods.end(), [](const json::object& a, const json::object& b) {
    return std::pair(kube::creation_time_of(a), kube::uid_of(a)) <
           std::pair(kube::creation_time_of(b), kube::uid_of(b));
  });
  return pods;
}

LogReader::LogReader(std::filesystem::path file, LogQuery query, std::function<bool()> runs)
    : file_(std::move(file)), query_(query), runs_(std::move(runs)), bytes_left_(query.limit_bytes) {
  find_start();
}

// The oldest file, or with a tail the one that holds its first line.
void LogReader::find_start() {
  int oldest = oldest_number(file_);
  int number = oldest;
  if (query_.tail_lines) {
    int64_t wanted = std::max<int64_t>(0, *query_.tail_lines);
    int64_t lines = 0;
    for (number = 0; number <= oldest; ++number) {
      Lines counted = count_lines(rotated(file_, number));
      // What may still be ended is followed from its beginning.
      lines += counted.whole + (number == 0 && counted.unfinished && !query_.follow ? 1 : 0);
      if (lines >= wanted) break;
    }
    number = std::min(number, oldest);
    skip_lines_ = std::max<int64_t>(0, lines - wanted);
  }
  open(number);
}

bool LogReader::open(int number) {
  fd_.reset(::open(rotated(file_, number).c_str(), O_RDONLY | O_CLOEXEC));
  struct stat about {};
  if (!fd_.valid() || ::fstat(fd_.get(), &about) != 0) return false;
  inode_ = about.st_ino;
  return true;
}

// After the end of a file: the one that was begun when it was rotated away.
bool LogReader::open_next() {
  if (!fd_.valid()) return open(oldest_number(file_));
  int number = 0;
  while (number < kRotatedMax) {
    std::optional<uint64_t> inode = inode_of(rotated(file_, number));
    if (!inode) return number > 0 && open(number - 1);  // ours is no longer kept
    if (*inode == inode_) break;
    ++number;
  }
  return number > 0 && open(number - 1);
}

void LogReader::take(std::string_view line, std::string& out) {
  std::optional<LogEntry> entry = parse_log_entry(line);
  if (!entry) return;
  bool begins = !line_begun_;
  line_begun_ = !entry->whole;
  if (begins) {
    std::optional<Time> time = query_.since ? parse_rfc3339(entry->time) : std::nullopt;
    skipping_ = skip_lines_ > 0 || (time && *time < *query_.since);
  }
  if (entry->whole && skip_lines_ > 0) --skip_lines_;
  if (skipping_) return;
  if (begins && query_.timestamps) out += fmt::format("{} ", entry->time);
  out += entry->text;
  if (entry->whole) out += '\n';
}

Result<bool> LogReader::read(std::string& out) {
  size_t before = out.size();
  while (!ended_ && out.size() - before < kChunk) {
    // Asked first: what is written after the answer would be missed otherwise.
    bool more_may_come = query_.follow && runs_();
    char buffer[kChunk];
    ssize_t n = fd_.valid() ? ::read(fd_.get(), buffer, sizeof buffer) : 0;
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Error{ErrorKind::kUnavailable, "the log cannot be read"};
    if (n == 0) {
      if (open_next()) continue;
      if (more_may_come) return true;
      ended_ = true;
      break;
    }
    rest_.append(buffer, static_cast<size_t>(n));
    size_t at = 0;
    for (size_t end = 0; (end = rest_.find('\n', at)) != std::string::npos; at = end + 1) {
      take(std::string_view(rest_).substr(at, end - at), out);
    }
    rest_.erase(0, at);
  }
  if (bytes_left_) {
    int64_t added = static_cast<int64_t>(out.size() - before);
    if (added >= *bytes_left_) {
      out.resize(before + static_cast<size_t>(*bytes_left_));
      ended_ = true;
      added = *bytes_left_;
    }
    *bytes_left_ -= added;
  }
  return !ended_;
}

std::string last_lines(const std::filesystem::path& file, int lines_max, size_t bytes_max) {
  LogQuery query;
  query.tail_lines = lines_max;
  LogReader reader(file, query, [] { return false; });
  std::string text;
  for (;;) {
    Result<bool> more = reader.read(text);
    if (!more.ok() || !*more) break;
    if (text.size() > bytes_max) text.erase(0, text.size() - bytes_max);
  }
  if (text.size() > bytes_max) text.erase(0, text.size() - bytes_max);
  return text;
}

}  // namespace trainyard::node
