#include "server/protobuf_reader.h"

namespace trainyard::server {

std::optional<uint64_t> ProtobufReader::take_varint() {
  uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (rest_.empty()) return std::nullopt;
    uint64_t byte = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    value |= (byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return value;
  }
  return std::nullopt;
}

std::optional<std::string_view> ProtobufReader::take(uint64_t count) {
  if (count > rest_.size()) return std::nullopt;
  std::string_view bytes = rest_.substr(0, count);
  rest_.remove_prefix(count);
  return bytes;
}

std::optional<ProtobufField> ProtobufReader::read() {
  std::optional<uint64_t> tag = take_varint();
  if (!tag || *tag >> 3 == 0 || *tag >> 3 > 0x1fff'ffff) return std::nullopt;
  ProtobufField field;
  field.number = static_cast<int>(*tag >> 3);
  int wire_type = static_cast<int>(*tag & 7);
  if (wire_type == 0) {
    std::optional<uint64_t> value = take_varint();
    if (!value) return std::nullopt;
    field.varint = *value;
    return field;
  }
  if (wire_type == 2) {
    std::optional<uint64_t> size = take_varint();
    std::optional<std::string_view> bytes = size ? take(*size) : std::nullopt;
    if (!bytes) return std::nullopt;
    field.bytes = *bytes;
    return field;
  }
  if (wire_type != 1 && wire_type != 5) return std::nullopt;
  std::optional<std::string_view> bytes = take(wire_type == 1 ? 8 : 4);
  if (!bytes) return std::nullopt;
  for (size_t i = bytes->size(); i-- > 0;) {
    field.varint = field.varint << 8 | static_cast<unsigned char>((*bytes)[i]);
  }
  return field;
}

std::optional<ProtobufField> ProtobufReader::next() {
  if (rest_.empty() || broken_) return std::nullopt;
  std::optional<ProtobufField> field = read();
  broken_ = !field;
  return field;
}

void ProtobufWriter::put_varint(uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>((value & 0x7f) | 0x80);
  bytes_ += static_cast<char>(value);
}

void ProtobufWriter::add_bytes(int number, std::string_view bytes) {
  put_varint(static_cast<uint64_t>(number) << 3 | 2);
  put_varint(bytes.size());
  bytes_ += bytes;
}

void ProtobufWriter::add_varint(int number, uint64_t value) {
  put_varint(static_cast<uint64_t>(number) << 3);
  put_varint(value);
}

}  // namespace trainyard::server
