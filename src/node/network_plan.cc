#include "node/network_plan.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <sstream>

namespace trainyard::node {
namespace {

constexpr uint32_t kPrivateBase = 10u << 24;
constexpr int kPrivateBits = 8;
constexpr int kSubnetBits = 22;
constexpr uint32_t kSubnetCount = 1u << (kSubnetBits - kPrivateBits);

// The kernel prints addresses as the machine holds them: byte order of the network read as a number.
uint32_t from_kernel(uint32_t n) {
  return std::endian::native == std::endian::little ? __builtin_bswap32(n) : n;
}

}  // namespace

std::string address_text(uint32_t a) {
  return fmt::format("{}.{}.{}.{}", a >> 24, (a >> 16) & 255, (a >> 8) & 255, a & 255);
}

std::optional<uint32_t> parse_address(std::string_view text) {
  uint32_t address = 0;
  for (int part = 0; part < 4; ++part) {
    uint32_t n = 0;
    auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), n);
    if (failure != std::errc() || n > 255) return std::nullopt;
    address = address << 8 | n;
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    if (part == 3) break;
    if (!text.starts_with('.')) return std::nullopt;
    text.remove_prefix(1);
  }
  if (!text.empty()) return std::nullopt;
  return address;
}

std::string subnet_text(const Subnet& subnet) {
  return fmt::format("{}/{}", address_text(subnet.base), subnet.bits);
}

std::optional<Subnet> parse_subnet(std::string_view text) {
  size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  std::optional<uint32_t> base = parse_address(text.substr(0, slash));
  int bits = 0;
  std::string_view rest = text.substr(slash + 1);
  auto [end, failure] = std::from_chars(rest.data(), rest.data() + rest.size(), bits);
  if (!base || failure != std::errc() || end != rest.data() + rest.size()) return std::nullopt;
  if (bits < 8 || bits > 30) return std::nullopt;
  return Subnet{*base, bits};
}

bool is_free(const Subnet& subnet, std::string_view routes, std::string_view own) {
  std::istringstream lines{std::string(routes)};
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string device;
    std::string skip;
    uint32_t target = 0;
    uint32_t mask = 0;
    words >> device >> std::hex >> target >> skip >> skip >> skip >> skip >> skip >> mask;
    if (!words || mask == 0 || device == own) continue;
    uint32_t common = from_kernel(mask) & ~(subnet.size() - 1);
    if ((from_kernel(target) & common) == (subnet.base & common)) return false;
  }
  return true;
}

std::optional<Subnet> pick_subnet(uint64_t seed, std::string_view routes, std::string_view own) {
  for (uint32_t step = 0; step < kSubnetCount; ++step) {
    uint32_t index = static_cast<uint32_t>((seed + step) % kSubnetCount);
    Subnet subnet{kPrivateBase | index << (32 - kSubnetBits), kSubnetBits};
    if (is_free(subnet, routes, own)) return subnet;
  }
  return std::nullopt;
}

std::optional<uint32_t> pick_address(const Subnet& subnet, const std::set<uint32_t>& taken, uint32_t last) {
  uint32_t room = subnet.size() - 3;  // besides the range itself, the gateway and the broadcast
  uint32_t first = subnet.base + 2;
  uint32_t start = subnet.contains(last) && last >= first ? last - first + 1 : 0;
  for (uint32_t step = 0; step < room; ++step) {
    uint32_t address = first + (start + step) % room;
    if (!taken.contains(address)) return address;
  }
  return std::nullopt;
}

std::string bridge_name(std::string_view plane) { return fmt::format("ty{}", plane); }

std::string pair_prefix(std::string_view plane) { return fmt::format("tv{}", plane); }

std::string pair_name(std::string_view plane, const Subnet& subnet, uint32_t address) {
  return fmt::format("{}{:04x}", pair_prefix(plane), address - subnet.base);
}

std::string hosts_text(std::string_view own, std::string_view ip,
                       const std::map<std::string, std::string>& hosts) {
  std::string text =
      "127.0.0.1\tlocalhost\n"
      "::1\tlocalhost ip6-localhost ip6-loopback\n"
      "fe00::0\tip6-localnet\n"
      "ff02::1\tip6-allnodes\n"
      "ff02::2\tip6-allrouters\n";
  if (!ip.empty()) text += fmt::format("{}\t{}\n", ip, own);
  for (const auto& [name, address] : hosts) text += fmt::format("{}\t{}\n", address, name);
  return text;
}

}  // namespace trainyard::node
