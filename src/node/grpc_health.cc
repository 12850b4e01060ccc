#include "node/grpc_health.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>

namespace trainyard::node {
namespace {

constexpr uint8_t kDataFrame = 0, kHeadersFrame = 1, kResetFrame = 3, kSettingsFrame = 4, kGoAwayFrame = 7;
constexpr uint8_t kEndStream = 1, kEndHeaders = 4, kPadded = 8;
constexpr size_t kFrameHead = 9;
constexpr size_t kHeaderTextMax = 126;  // lengths of one byte

std::string big_endian(uint32_t value, int bytes) {
  std::string out;
  for (int i = bytes - 1; i >= 0; --i) out += static_cast<char>((value >> (8 * i)) & 0xff);
  return out;
}

uint32_t number_of(std::string_view bytes) {
  uint32_t value = 0;
  for (char c : bytes) value = value << 8 | static_cast<uint8_t>(c);
  return value;
}

std::string h2_frame(uint8_t type, uint8_t flags, uint32_t stream, std::string_view payload) {
  std::string out = big_endian(static_cast<uint32_t>(payload.size()), 3);
  out += static_cast<char>(type);
  out += static_cast<char>(flags);
  out += big_endian(stream, 4);
  out += payload;
  return out;
}

// A literal that goes into no table, neither compressed.
std::string h2_header(std::string_view name, std::string_view value) {
  value = value.substr(0, kHeaderTextMax);
  std::string out(1, '\0');
  out += static_cast<char>(name.size());
  out += name;
  out += static_cast<char>(value.size());
  out += value;
  return out;
}

// The status in a HealthCheckResponse: its field 1; 0 when it is not there.
int serving_status(std::string_view message) {
  bool there = message.size() >= 2 && message[0] == 0x08;
  return there ? static_cast<uint8_t>(message[1]) : 0;
}

GrpcVerdict verdict_of(std::string_view data) {
  constexpr size_t kPrefix = 5;  // compressed or not, and the length
  if (data.size() < kPrefix) return {false, "no answer of grpc.health.v1.Health"};
  int status = serving_status(data.substr(kPrefix));
  if (status == 1) return {true, ""};
  constexpr std::array<std::string_view, 4> kNames = {"UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN"};
  std::string_view name =
      static_cast<size_t>(status) < kNames.size() ? kNames[static_cast<size_t>(status)] : "?";
  return {false, fmt::format("service unhealthy (responded with \"{}\")", name)};
}

}  // namespace

std::string grpc_health_request(std::string_view service, std::string_view authority) {
  std::string headers = h2_header(":method", "POST") + h2_header(":scheme", "http") +
                        h2_header(":path", "/grpc.health.v1.Health/Check") +
                        h2_header(":authority", authority) + h2_header("content-type", "application/grpc") +
                        h2_header("te", "trailers");
  std::string message;
  service = service.substr(0, kHeaderTextMax);
  if (!service.empty()) {
    message += '\x0a';
    message += static_cast<char>(service.size());
    message += service;
  }
  std::string data = std::string(1, '\0') + big_endian(static_cast<uint32_t>(message.size()), 4) + message;
  return "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + h2_frame(kSettingsFrame, 0, 0, "") +
         h2_frame(kHeadersFrame, kEndHeaders, 1, headers) + h2_frame(kDataFrame, kEndStream, 1, data);
}

std::optional<GrpcVerdict> grpc_health_verdict(std::string_view reply, bool ended) {
  std::string data;
  while (reply.size() >= kFrameHead) {
    size_t length = number_of(reply.substr(0, 3));
    uint8_t type = static_cast<uint8_t>(reply[3]);
    uint8_t flags = static_cast<uint8_t>(reply[4]);
    uint32_t stream = number_of(reply.substr(5, 4)) & 0x7fffffff;
    if (length > (1u << 20)) return GrpcVerdict{false, "the answer is not HTTP/2"};
    if (reply.size() < kFrameHead + length) break;
    std::string_view payload = reply.substr(kFrameHead, length);
    reply.remove_prefix(kFrameHead + length);
    if (type == kResetFrame || type == kGoAwayFrame) return GrpcVerdict{false, "the server refused the call"};
    if (stream != 1) continue;
    if (type == kDataFrame) {
      size_t padding =
          (flags & kPadded) != 0 && !payload.empty() ? static_cast<uint8_t>(payload[0]) + 1u : 0u;
      if (padding > payload.size()) return GrpcVerdict{false, "the answer is not HTTP/2"};
      if (padding > 0) payload = payload.substr(1, payload.size() - padding);
      data += payload;
    }
    bool over = (type == kDataFrame || type == kHeadersFrame) && (flags & kEndStream) != 0;
    if (over || (type == kHeadersFrame && !data.empty())) return verdict_of(data);
  }
  if (!ended) return std::nullopt;
  return data.empty() ? GrpcVerdict{false, "the connection was closed"} : verdict_of(data);
}

}  // namespace trainyard::node
