#include "server/spdy.h"

#include <zlib.h>

#include <array>

#include "base/check.h"
#include "base/match.h"

namespace trainyard::server::spdy {
namespace {

constexpr uint16_t kVersion = 3;
constexpr size_t kFrameHeader = 8;
constexpr uint8_t kFin = 1;

enum Type : uint16_t { kSynStream = 1, kSynReply = 2, kRstStream = 3, kPing = 6, kGoAway = 7 };

Error bad_spdy(std::string message) { return {ErrorKind::kInvalid, "SPDY: " + std::move(message)}; }

void put32(std::string& out, uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>((value >> shift) & 0xff);
}

uint32_t get(std::string_view bytes, size_t at, size_t count) {
  uint32_t value = 0;
  for (size_t i = 0; i < count; ++i) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}
uint32_t get31(std::string_view bytes, size_t at) { return get(bytes, at, 4) & 0x7fffffff; }

// What both sides know before the first block (SPDY/3, 2.6.10.1): words, each with its
// length before it, then a text.
constexpr std::string_view kWords =
    "options|head|post|put|delete|trace|accept|accept-charset|accept-encoding|accept-language|"
    "accept-ranges|age|allow|authorization|cache-control|connection|content-base|"
    "content-encoding|content-language|content-length|content-location|content-md5|content-range|"
    "content-type|date|etag|expect|expires|from|host|if-match|if-modified-since|if-none-match|"
    "if-range|if-unmodified-since|last-modified|location|max-forwards|pragma|proxy-authenticate|"
    "proxy-authorization|range|referer|retry-after|server|te|trailer|transfer-encoding|upgrade|"
    "user-agent|vary|via|warning|www-authenticate|method|get|status|200 OK|version|HTTP/1.1|url|"
    "public|set-cookie|keep-alive|origin|";
constexpr std::string_view kText =
    "100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505"
    "203 Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request"
    "401 Unauthorized403 Forbidden404 Not Found500 Internal Server Error501 Not Implemented"
    "503 Service UnavailableJan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00"
    " Mon, Tue, Wed, Thu, Fri, Sat, Sun, GMTchunked,text/html,image/png,image/jpg,image/gif,"
    "application/xml,application/xhtml+xml,text/plain,text/javascript,publicprivatemax-age="
    "gzip,deflate,sdchcharset=utf-8charset=iso-8859-1,utf-,*,enq=0.";

const std::string& dictionary() {
  static const std::string kDictionary = [] {
    std::string all;
    for (std::string_view rest = kWords; !rest.empty();) {
      size_t end = rest.find('|');
      put32(all, static_cast<uint32_t>(end));
      all += rest.substr(0, end);
      rest.remove_prefix(end + 1);
    }
    all += kText;
    return all;
  }();
  return kDictionary;
}

Bytef* bytes_of(std::string_view text) {
  // zlib does not write through next_in; its type is older than const.
  return reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
}

void set_dictionary(z_stream& zlib, int (*set)(z_stream*, const Bytef*, uInt)) {
  set(&zlib, bytes_of(dictionary()), static_cast<uInt>(dictionary().size()));
}

// The name/value pairs of a decompressed block.
Result<Headers> parse_block(std::string_view block) {
  size_t at = 0;
  auto take_number = [&](uint32_t& value) {
    if (block.size() - at < 4) return false;
    value = get(block, at, 4);
    at += 4;
    return true;
  };
  auto take_text = [&](std::string& text) {
    uint32_t length = 0;
    if (!take_number(length) || block.size() - at < length) return false;
    text = block.substr(at, length);
    at += length;
    return true;
  };
  uint32_t count = 0;
  if (!take_number(count) || count > block.size() / 8)
    return bad_spdy("a header block that does not hold together");
  Headers headers;
  for (uint32_t i = 0; i < count; ++i) {
    std::string name;
    std::string value;
    if (!take_text(name) || !take_text(value)) return bad_spdy("a header block that ends too soon");
    headers.emplace_back(std::move(name), std::move(value));
  }
  return headers;
}

std::string control(uint16_t type, uint8_t flags, const std::string& body) {
  std::string out;
  put32(out, 0x80000000u | static_cast<uint32_t>(kVersion) << 16 | type);
  put32(out, static_cast<uint32_t>(flags) << 24 | static_cast<uint32_t>(body.size()));
  return out + body;
}

}  // namespace

struct Decoder::Inflater {
  Inflater() { CHECK(inflateInit(&zlib) == Z_OK); }
  ~Inflater() { inflateEnd(&zlib); }
  z_stream zlib{};
};

struct Encoder::Deflater {
  Deflater() {
    CHECK(deflateInit(&zlib, Z_DEFAULT_COMPRESSION) == Z_OK);
    set_dictionary(zlib, deflateSetDictionary);
  }
  ~Deflater() { deflateEnd(&zlib); }
  z_stream zlib{};
};

Decoder::Decoder() : inflater_(std::make_unique<Inflater>()) {}
Decoder::~Decoder() = default;
Encoder::Encoder() : deflater_(std::make_unique<Deflater>()) {}
Encoder::~Encoder() = default;

Result<Headers> Decoder::headers_of(std::string_view block) {
  z_stream& zlib = inflater_->zlib;
  zlib.next_in = bytes_of(block);
  zlib.avail_in = static_cast<uInt>(block.size());
  std::string text;
  std::array<char, 4096> out{};
  while (true) {
    zlib.next_out = reinterpret_cast<Bytef*>(out.data());
    zlib.avail_out = out.size();
    int result = inflate(&zlib, Z_SYNC_FLUSH);
    if (result == Z_NEED_DICT) {
      set_dictionary(zlib, inflateSetDictionary);
      continue;
    }
    if (result != Z_OK && result != Z_BUF_ERROR)
      return bad_spdy("a header block that cannot be decompressed");
    text.append(out.data(), out.size() - zlib.avail_out);
    if (text.size() > kHeaderBlockBytesMax) return bad_spdy("a header block that is too large");
    if (zlib.avail_out > 0) break;
  }
  return parse_block(text);
}

Result<Done> Decoder::decode_control(std::string_view frame, std::vector<Frame>& out) {
  uint32_t type = get(frame, 2, 2);
  bool fin = (get(frame, 4, 1) & kFin) != 0;
  std::string_view body = frame.substr(kFrameHeader);
  size_t fixed = type == kSynStream ? 10 : type == kRstStream ? 8 : type <= kGoAway && type != 4 ? 4 : 0;
  if (body.size() < fixed) return bad_spdy("a frame that is too short");
  if (type == kSynStream || type == kSynReply) {
    Result<Headers> headers = headers_of(body.substr(fixed));
    if (!headers.ok()) return headers.error();
    if (type == kSynStream) {
      out.push_back(SynStream{get31(body, 0), fin, std::move(headers).value()});
    } else {
      out.push_back(SynReply{get31(body, 0), fin, std::move(headers).value()});
    }
  } else if (type == kRstStream) {
    out.push_back(RstStream{get31(body, 0), get(body, 4, 4)});
  } else if (type == kPing) {
    out.push_back(Ping{get(body, 0, 4)});
  } else if (type == kGoAway) {
    out.push_back(GoAway{get31(body, 0)});
  }
  return Done{};
}

Result<std::vector<Frame>> Decoder::feed(std::string_view bytes) {
  buffer_ += bytes;
  std::vector<Frame> frames;
  std::string_view rest = buffer_;
  while (rest.size() >= kFrameHeader) {
    bool is_control = (static_cast<unsigned char>(rest[0]) & 0x80) != 0;
    if (is_control && (get(rest, 0, 2) & 0x7fff) != kVersion) return bad_spdy("another version than 3");
    size_t size = kFrameHeader + get(rest, 5, 3);
    if (size > kFrameBytesMax) return bad_spdy("a frame that is too large");
    if (rest.size() < size) break;
    std::string_view frame = rest.substr(0, size);
    if (is_control) {
      Result<Done> decoded = decode_control(frame, frames);
      if (!decoded.ok()) return decoded.error();
    } else {
      bool fin = (get(frame, 4, 1) & kFin) != 0;
      frames.push_back(Data{get31(frame, 0), fin, std::string(frame.substr(kFrameHeader))});
    }
    rest.remove_prefix(size);
  }
  buffer_.erase(0, buffer_.size() - rest.size());
  return frames;
}

std::string Encoder::block_of(const Headers& headers) {
  std::string text;
  put32(text, static_cast<uint32_t>(headers.size()));
  for (const auto& [name, value] : headers) {
    put32(text, static_cast<uint32_t>(name.size()));
    text += name;
    put32(text, static_cast<uint32_t>(value.size()));
    text += value;
  }
  z_stream& zlib = deflater_->zlib;
  zlib.next_in = bytes_of(text);
  zlib.avail_in = static_cast<uInt>(text.size());
  std::string block;
  std::array<char, 4096> out{};
  do {
    zlib.next_out = reinterpret_cast<Bytef*>(out.data());
    zlib.avail_out = out.size();
    deflate(&zlib, Z_SYNC_FLUSH);
    block.append(out.data(), out.size() - zlib.avail_out);
  } while (zlib.avail_out == 0);
  return block;
}

std::string Encoder::encode(const Frame& frame) {
  auto number = [](uint32_t value) {
    std::string body;
    put32(body, value);
    return body;
  };
  return std::visit(
      Match{
          [&](const SynStream& f) {
            std::string body = number(f.stream) + number(0) + std::string(2, '\0') + block_of(f.headers);
            return control(kSynStream, f.fin ? kFin : 0, body);
          },
          [&](const SynReply& f) {
            return control(kSynReply, f.fin ? kFin : 0, number(f.stream) + block_of(f.headers));
          },
          [&](const RstStream& f) { return control(kRstStream, 0, number(f.stream) + number(f.status)); },
          [&](const Ping& f) { return control(kPing, 0, number(f.id)); },
          [&](const GoAway& f) { return control(kGoAway, 0, number(f.last_stream) + number(0)); },
          [&](const Data& f) {
            CHECK(f.bytes.size() < (1u << 24));
            uint32_t flags = f.fin ? kFin : 0;
            return number(f.stream) + number(flags << 24 | static_cast<uint32_t>(f.bytes.size())) + f.bytes;
          },
      },
      frame);
}

std::string_view header_of(const Headers& headers, std::string_view name) {
  for (const auto& [key, value] : headers) {
    if (key == name) return value;
  }
  return {};
}

}  // namespace trainyard::server::spdy
