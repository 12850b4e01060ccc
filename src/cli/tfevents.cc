#include "cli/tfevents.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "base/ascii.h"

namespace trainyard::cli {
namespace {

namespace fs = std::filesystem;

// Numbers in files are little-endian, as this machine's are.
static_assert(std::endian::native == std::endian::little);

constexpr size_t kHeaderBytes = 12;  // length and its checksum
constexpr size_t kFooterBytes = 4;   // checksum of the data

constexpr std::array<uint32_t, 256> make_crc_table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < table.size(); ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82F63B78u : 0u);
    table[byte] = crc;
  }
  return table;
}

template <typename Number>
Number load(std::string_view bytes) {
  Number number{};
  std::memcpy(&number, bytes.data(), sizeof(number));
  return number;
}

// One field of a protobuf message.
struct Field {
  uint64_t number = 0;
  uint64_t integer = 0;    // wire type 0
  std::string_view bytes;  // any other wire type
};

// Walks the fields of a message. Whatever is malformed ends the walk.
class Fields {
 public:
  explicit Fields(std::string_view message) : rest_(message) {}

  bool next(Field& field) {
    uint64_t key = 0;
    if (rest_.empty() || !varint(key)) return false;
    field = {key >> 3, 0, {}};
    switch (key & 7) {
      case 0:
        return varint(field.integer);
      case 1:
        return take(8, field.bytes);
      case 5:
        return take(4, field.bytes);
      case 2: {
        uint64_t size = 0;
        return varint(size) && take(size, field.bytes);
      }
      default:
        return false;
    }
  }

 private:
  bool varint(uint64_t& value) {
    value = 0;
    for (int shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= static_cast<uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }

  bool take(uint64_t size, std::string_view& bytes) {
    if (size > rest_.size()) return false;
    bytes = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return true;
  }

  std::string_view rest_;
};

// The types of tensors that hold one number we can show.
enum class TensorType { kFloat = 1, kDouble = 2, kInt32 = 3, kInt64 = 9 };

std::optional<double> number_in(TensorType type, std::string_view bytes) {
  switch (type) {
    case TensorType::kFloat:
      if (bytes.size() != sizeof(float)) return std::nullopt;
      return load<float>(bytes);
    case TensorType::kDouble:
      if (bytes.size() != sizeof(double)) return std::nullopt;
      return load<double>(bytes);
    case TensorType::kInt32:
      if (bytes.size() != sizeof(int32_t)) return std::nullopt;
      return load<int32_t>(bytes);
    case TensorType::kInt64:
      if (bytes.size() != sizeof(int64_t)) return std::nullopt;
      return static_cast<double>(load<int64_t>(bytes));
  }
  return std::nullopt;
}

bool has_dimensions(std::string_view shape) {
  Fields fields(shape);
  for (Field field; fields.next(field);) {
    if (field.number == 2) return true;
  }
  return false;
}

// TensorProto: the number of a tensor without dimensions.
std::optional<double> number_of_tensor(std::string_view tensor) {
  uint64_t type = 0;
  std::string_view content;
  std::string_view typed;
  std::optional<int64_t> integer;
  Fields fields(tensor);
  for (Field field; fields.next(field);) {
    if (field.number == 1) type = field.integer;
    if (field.number == 2 && has_dimensions(field.bytes)) return std::nullopt;
    if (field.number == 4) content = field.bytes;
    if (field.number == 5 || field.number == 6) typed = field.bytes;
    if (field.number == 7 || field.number == 10) {
      // One varint, by itself or packed.
      Field packed{0, field.integer, {}};
      if (!field.bytes.empty()) Fields("\x08" + std::string(field.bytes)).next(packed);
      integer = static_cast<int64_t>(packed.integer);
    }
  }
  if (type != 1 && type != 2 && type != 3 && type != 9) return std::nullopt;
  if (!content.empty()) return number_in(static_cast<TensorType>(type), content);
  if (!typed.empty()) return number_in(static_cast<TensorType>(type), typed);
  if (integer) return static_cast<double>(*integer);
  return std::nullopt;
}

// Summary.Value
void take_value(std::string_view value, Scalar scalar, std::vector<Scalar>& found) {
  std::optional<double> number;
  Fields fields(value);
  for (Field field; fields.next(field);) {
    if (field.number == 1) scalar.tag = std::string(field.bytes);
    if (field.number == 2 && field.bytes.size() == sizeof(float)) number = load<float>(field.bytes);
    if (field.number == 8) number = number_of_tensor(field.bytes);
  }
  if (!number || scalar.tag.empty()) return;
  scalar.value = *number;
  found.push_back(std::move(scalar));
}

void take_event(std::string_view event, std::vector<Scalar>& found) {
  Scalar scalar;
  std::string_view summary;
  Fields fields(event);
  for (Field field; fields.next(field);) {
    if (field.number == 1 && field.bytes.size() == sizeof(double))
      scalar.wall_time = load<double>(field.bytes);
    if (field.number == 2) scalar.step = static_cast<int64_t>(field.integer);
    if (field.number == 5) summary = field.bytes;
  }
  Fields values(summary);
  for (Field value; values.next(value);) {
    if (value.number == 1) take_value(value.bytes, scalar, found);
  }
}

bool mentions_evaluation(std::string_view text) {
  return text.find("eval") != std::string_view::npos || text.find("val_") != std::string_view::npos ||
         text.find("validation") != std::string_view::npos || text.find("test") != std::string_view::npos;
}

// 0 plain loss of the training, 1 another of its losses, 2 something else; +3 of an evaluation.
int rank_of(std::string_view run, std::string_view tag) {
  std::string name = lower_case(tag);
  std::string leaf = name.substr(name.rfind('/') == std::string::npos ? 0 : name.rfind('/') + 1);
  int rank = 2;
  if (leaf.find("loss") != std::string::npos) rank = 1;
  if (leaf == "loss") rank = 0;
  return mentions_evaluation(lower_case(run)) || mentions_evaluation(name) ? rank + 3 : rank;
}

// The bytes of a regular file from an offset on. Neither follows a link nor waits for a pipe.
std::string read_from(const fs::path& path, uint64_t& offset, size_t bytes_max, bool& began_anew) {
  std::string bytes;
  int file = open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return bytes;
  struct stat about {};
  if (fstat(file, &about) == 0 && S_ISREG(about.st_mode)) {
    auto size = static_cast<uint64_t>(about.st_size);
    began_anew = size < offset;
    if (began_anew) offset = 0;
    bytes.resize(std::min<uint64_t>(size - offset, bytes_max));
    ssize_t got = pread(file, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    bytes.resize(got > 0 ? static_cast<size_t>(got) : 0);
    offset += bytes.size();
  }
  close(file);
  return bytes;
}

}  // namespace

uint32_t masked_crc32c(std::string_view data) {
  static constexpr std::array<uint32_t, 256> kTable = make_crc_table();
  uint32_t crc = 0xFFFFFFFFu;
  for (char c : data) crc = kTable[(crc ^ static_cast<unsigned char>(c)) & 0xFF] ^ (crc >> 8);
  crc ^= 0xFFFFFFFFu;
  return ((crc >> 15) | (crc << 17)) + 0xA282EAD8u;
}

void EventStream::feed(std::string_view bytes, std::vector<Scalar>& found) {
  if (broken_) return;
  pending_.append(bytes);
  while (!broken_ && take_record(found)) {
  }
  if (broken_) at_ = pending_.size();
  pending_.erase(0, at_);
  at_ = 0;
}

bool EventStream::take_record(std::vector<Scalar>& found) {
  std::string_view rest = std::string_view(pending_).substr(at_);
  if (rest.size() < kHeaderBytes) return false;
  auto size = load<uint64_t>(rest);
  if (load<uint32_t>(rest.substr(8)) != masked_crc32c(rest.substr(0, 8)) || size > kEventRecordBytesMax) {
    broken_ = true;
    return false;
  }
  if (rest.size() < kHeaderBytes + size + kFooterBytes) return false;
  std::string_view data = rest.substr(kHeaderBytes, size);
  if (load<uint32_t>(rest.substr(kHeaderBytes + size)) != masked_crc32c(data)) {
    broken_ = true;
    return false;
  }
  take_event(data, found);
  at_ += kHeaderBytes + size + kFooterBytes;
  return true;
}

void ProgressTally::see(std::string_view run, const Scalar& scalar) {
  int rank = rank_of(run, scalar.tag);
  auto take = [&](std::optional<Best>& best, int own_rank) {
    bool better = !best || own_rank < best->rank ||
                  (own_rank == best->rank && scalar.wall_time >= best->scalar.wall_time);
    if (better) best = Best{own_rank, scalar};
  };
  if (rank % 3 != 2) take(loss_, rank);
  take(any_, rank / 3);
}

std::optional<TrainingProgress> ProgressTally::progress() const {
  if (loss_) return TrainingProgress{loss_->scalar.step, loss_->scalar.value, loss_->scalar.tag};
  if (any_) return TrainingProgress{any_->scalar.step, std::nullopt, ""};
  return std::nullopt;
}

std::optional<TrainingProgress> EventFolder::poll() {
  find_files();
  size_t budget = kEventBytesPerPollMax;
  for (auto& [path, file] : files_) read_file(path, file, budget);
  return tally_.progress();
}

void EventFolder::find_files() {
  std::error_code failed;
  fs::recursive_directory_iterator at(folder_, fs::directory_options::skip_permission_denied, failed);
  int entries = 0;
  for (; !failed && at != fs::recursive_directory_iterator() && entries < kEventEntriesMax;
       at.increment(failed)) {
    ++entries;
    if (at.depth() >= kEventDepthMax) at.disable_recursion_pending();
    if (files_.size() >= kEventFilesMax) return;
    if (at->path().filename().native().find("tfevents") == std::string::npos) continue;
    std::error_code unreadable;
    if (at->symlink_status(unreadable).type() == fs::file_type::regular) files_.try_emplace(at->path());
  }
}

void EventFolder::read_file(const fs::path& path, File& file, size_t& budget) {
  if (file.stream.broken() || budget == 0) return;
  bool began_anew = false;
  std::string bytes = read_from(path, file.offset, budget, began_anew);
  if (began_anew) file.stream = EventStream();
  budget -= bytes.size();
  std::vector<Scalar> found;
  file.stream.feed(bytes, found);
  std::string run = path.parent_path().lexically_relative(folder_).generic_string();
  for (const Scalar& scalar : found) tally_.see(run, scalar);
}

}  // namespace trainyard::cli
