#include "client/alike.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"

namespace trainyard::client {
namespace {

constexpr uint16_t kNowhere = 0xffff;
constexpr size_t kCopyMin = 6;  // a shorter one is no shorter than what it stands for
constexpr size_t kTriesMax = 32;
constexpr int kHashBits = 11;

size_t hash_of(const char* begin) {
  uint32_t four = 0;
  std::memcpy(&four, begin, sizeof four);
  return (four * 2654435761u) >> (32 - kHashBits);
}

// How many bytes at the two places are the same, `most` at most; eight at a time.
size_t same_bytes(const char* a, const char* b, size_t most) {
  size_t same = 0;
  for (uint64_t left = 0, right = 0; same + sizeof left <= most; same += sizeof left) {
    std::memcpy(&left, a + same, sizeof left);
    std::memcpy(&right, b + same, sizeof right);
    if (left != right) break;
  }
  while (same < most && a[same] == b[same]) ++same;
  return same;
}

// Numbers in groups of seven bits, the lowest first.
void put(std::string& to, size_t number) {
  for (; number >= 0x80; number >>= 7) to.push_back(static_cast<char>(0x80 | (number & 0x7f)));
  to.push_back(static_cast<char>(number));
}

size_t take(std::string_view& from) {
  size_t number = 0;
  for (int shift = 0;; shift += 7) {
    CHECK(!from.empty());
    auto group = static_cast<unsigned char>(from.front());
    from.remove_prefix(1);
    number |= static_cast<size_t>(group & 0x7f) << shift;
    if (group < 0x80) return number;
  }
}

}  // namespace

Pattern::Pattern(std::string text)
    : text_(std::move(text)), first_(size_t{1} << kHashBits, kNowhere), next_(text_.size(), kNowhere) {
  CHECK(text_.size() <= kPatternBytesMax);
  for (size_t at = text_.size() < kCopyMin ? 0 : text_.size() - kCopyMin + 1; at-- > 0;) {
    uint16_t& first = first_[hash_of(text_.data() + at)];
    next_[at] = first;
    first = static_cast<uint16_t>(at);
  }
}

Pattern::Copy Pattern::longest(std::string_view rest) const {
  Copy best;
  if (rest.size() < kCopyMin) return best;
  size_t tries = 0;
  for (uint16_t at = first_[hash_of(rest.data())]; at != kNowhere && tries < kTriesMax;
       at = next_[at], ++tries) {
    const size_t most = std::min(rest.size(), text_.size() - at);
    const char* here = text_.data() + at;
    // A longer one has to go on where the best so far does not.
    if (best.length >= most || here[best.length] != rest[best.length]) continue;
    const size_t same = same_bytes(here, rest.data(), most);
    if (same > best.length) best = {at, same};
  }
  return best;
}

std::string Pattern::difference(std::string_view text) const {
  std::string out;
  out.reserve(text.size() / 2);
  size_t own = 0;
  for (size_t at = 0; at < text.size();) {
    Copy copy = longest(text.substr(at));
    if (copy.length < kCopyMin) {
      ++at;
      continue;
    }
    put(out, at - own);
    out += text.substr(own, at - own);
    put(out, copy.from);
    put(out, copy.length);
    at += copy.length;
    own = at;
  }
  put(out, text.size() - own);
  out += text.substr(own);
  return out;
}

std::string Pattern::whole(std::string_view difference) const {
  std::string text;
  while (true) {
    size_t own = take(difference);
    text += difference.substr(0, own);
    difference.remove_prefix(own);
    if (difference.empty()) return text;
    size_t from = take(difference);
    text.append(text_, from, take(difference));
  }
}

std::optional<Alike> Patterns::shorten(std::string_view text) {
  if (text.size() > kPatternBytesMax) return std::nullopt;
  // A copy has no room to spare.
  auto exact = [](const std::string& found) { return std::string(found.begin(), found.end()); };
  for (size_t i = 0; i < known_.size(); ++i) {
    std::string difference = known_[i]->difference(text);
    if (difference.size() * 2 > text.size()) continue;
    std::swap(known_[0], known_[i]);
    return Alike{known_[0], exact(difference)};
  }
  if (known_.size() >= kPatternsMax) return std::nullopt;
  known_.push_back(std::make_shared<const Pattern>(std::string(text)));
  std::swap(known_.front(), known_.back());
  return Alike{known_.front(), exact(known_.front()->difference(text))};
}

}  // namespace trainyard::client
