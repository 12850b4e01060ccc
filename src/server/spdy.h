// The part of SPDY/3.1 that port-forward speaks: frames in both directions, header blocks
// compressed with the protocol's dictionary. No I/O: bytes in, frames out, and back.
//
// Flow control is left out on purpose: the clients that speak this have none.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"

namespace trainyard::server::spdy {

using Headers = std::vector<std::pair<std::string, std::string>>;  // names are lower case

struct SynStream {
  uint32_t stream = 0;
  bool fin = false;
  Headers headers;
  bool operator==(const SynStream&) const = default;
};
struct SynReply {
  uint32_t stream = 0;
  bool fin = false;
  Headers headers;
  bool operator==(const SynReply&) const = default;
};
struct RstStream {
  uint32_t stream = 0;
  uint32_t status = 0;
  bool operator==(const RstStream&) const = default;
};
struct Ping {
  uint32_t id = 0;
  bool operator==(const Ping&) const = default;
};
struct GoAway {
  uint32_t last_stream = 0;
  bool operator==(const GoAway&) const = default;
};
struct Data {
  uint32_t stream = 0;
  bool fin = false;
  std::string bytes;
  bool operator==(const Data&) const = default;
};
using Frame = std::variant<SynStream, SynReply, RstStream, Ping, GoAway, Data>;

inline constexpr size_t kFrameBytesMax = 1 << 20;
inline constexpr size_t kHeaderBlockBytesMax = 64 * 1024;  // decompressed
inline constexpr uint32_t kCancel = 5;                     // RST_STREAM: no longer wanted

// What one side has received: its decompressor remembers everything before. Resource.
class Decoder {
 public:
  Decoder();
  ~Decoder();
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  // The frames that are whole now. Frames of other types are left out. kInvalid: the bytes
  // are no SPDY, or over a limit; nothing that comes later can be understood.
  Result<std::vector<Frame>> feed(std::string_view bytes);

 private:
  struct Inflater;
  Result<Headers> headers_of(std::string_view block);
  Result<Done> decode_control(std::string_view frame, std::vector<Frame>& out);

  std::string buffer_;
  std::unique_ptr<Inflater> inflater_;
};

// What one side sends. Resource.
class Encoder {
 public:
  Encoder();
  ~Encoder();
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;

  std::string encode(const Frame& frame);

 private:
  struct Deflater;
  std::string block_of(const Headers& headers);

  std::unique_ptr<Deflater> deflater_;
};

// The value of a header; "" when there is none.
std::string_view header_of(const Headers& headers, std::string_view name);

}  // namespace trainyard::server::spdy
