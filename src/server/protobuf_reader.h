// Protobuf's wire format, read and written. Pure; the reader takes any bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace trainyard::server {

struct ProtobufField {
  int number = 0;
  uint64_t varint = 0;     // of a varint or a fixed number
  std::string_view bytes;  // of a string or message
};

// The fields of one message, in order.
class ProtobufReader {
 public:
  explicit ProtobufReader(std::string_view bytes) : rest_(bytes) {}

  // nullopt at the end, and when the bytes make no sense: then broken() is true.
  std::optional<ProtobufField> next();
  bool broken() const { return broken_; }

 private:
  std::optional<uint64_t> take_varint();
  std::optional<std::string_view> take(uint64_t count);
  std::optional<ProtobufField> read();

  std::string_view rest_;
  bool broken_ = false;
};

// A message being written.
class ProtobufWriter {
 public:
  void add_bytes(int number, std::string_view bytes);
  void add_varint(int number, uint64_t value);
  void add_message(int number, const ProtobufWriter& message) { add_bytes(number, message.bytes_); }
  const std::string& bytes() const { return bytes_; }

 private:
  void put_varint(uint64_t value);

  std::string bytes_;
};

}  // namespace trainyard::server
