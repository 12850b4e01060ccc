// What the private network of a plane looks like: its range of addresses, the names of its
// devices, the hosts file of a pod. Pure.
//
// One bridge per plane, one pair of devices per pod. A range has room for as many pods as a
// Linux bridge has ports (1,024).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace trainyard::node {

// Addresses in the order in which people read them: 10.0.0.1 is 0x0a000001.
struct Subnet {
  uint32_t base = 0;
  int bits = 22;

  uint32_t size() const { return uint32_t{1} << (32 - bits); }
  uint32_t gateway() const { return base + 1; }
  bool contains(uint32_t address) const { return address - base < size(); }
  bool operator==(const Subnet&) const = default;
};

std::string address_text(uint32_t address);
std::optional<uint32_t> parse_address(std::string_view text);
// "10.1.4.0/22".
std::string subnet_text(const Subnet& subnet);
std::optional<Subnet> parse_subnet(std::string_view text);

// A range of 10.0.0.0/8 that no route of the machine touches, the same for the same seed as
// long as it is free. `routes` is the text of /proc/net/route; lines of the device `own` do
// not count. nullopt when all are taken.
std::optional<Subnet> pick_subnet(uint64_t seed, std::string_view routes, std::string_view own);
bool is_free(const Subnet& subnet, std::string_view routes, std::string_view own);

// The next address after `last` that nobody has; nullopt when all are taken.
std::optional<uint32_t> pick_address(const Subnet& subnet, const std::set<uint32_t>& taken, uint32_t last);

// At most 15 characters, as the kernel wants it. `plane` is 8 hexadecimal digits.
std::string bridge_name(std::string_view plane);
std::string pair_prefix(std::string_view plane);
std::string pair_name(std::string_view plane, const Subnet& subnet, uint32_t address);

// `own`: the names of the pod itself, the whole one first, as `hostname -f` wants it. `hosts`: name ->
// address, several names separated by spaces allowed.
std::string hosts_text(std::string_view own, std::string_view ip,
                       const std::map<std::string, std::string>& hosts);

}  // namespace trainyard::node
