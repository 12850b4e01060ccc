// FNV-1a, 64 bits: the hash that names of T9k children are made of, and our own
// cheap fingerprint. Stable across machines and releases.
#pragma once

#include <cstdint>
#include <string_view>

namespace trainyard {

inline constexpr uint64_t kFnvOffset = 0xcbf29ce484222325u;

constexpr uint64_t fnv1a(std::string_view text, uint64_t hash = kFnvOffset) {
  for (char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3u;
  }
  return hash;
}

}  // namespace trainyard
