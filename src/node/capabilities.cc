#include "node/capabilities.h"

#include <algorithm>
#include <array>
#include <span>

#include "base/ascii.h"

namespace trainyard::node {
namespace {

constexpr std::string_view kPrefix = "CAP_";
constexpr std::string_view kAll = "all";

constexpr std::array<std::string_view, 41> kCapabilities = {"CAP_CHOWN",
                                                            "CAP_DAC_OVERRIDE",
                                                            "CAP_DAC_READ_SEARCH",
                                                            "CAP_FOWNER",
                                                            "CAP_FSETID",
                                                            "CAP_KILL",
                                                            "CAP_SETGID",
                                                            "CAP_SETUID",
                                                            "CAP_SETPCAP",
                                                            "CAP_LINUX_IMMUTABLE",
                                                            "CAP_NET_BIND_SERVICE",
                                                            "CAP_NET_BROADCAST",
                                                            "CAP_NET_ADMIN",
                                                            "CAP_NET_RAW",
                                                            "CAP_IPC_LOCK",
                                                            "CAP_IPC_OWNER",
                                                            "CAP_SYS_MODULE",
                                                            "CAP_SYS_RAWIO",
                                                            "CAP_SYS_CHROOT",
                                                            "CAP_SYS_PTRACE",
                                                            "CAP_SYS_PACCT",
                                                            "CAP_SYS_ADMIN",
                                                            "CAP_SYS_BOOT",
                                                            "CAP_SYS_NICE",
                                                            "CAP_SYS_RESOURCE",
                                                            "CAP_SYS_TIME",
                                                            "CAP_SYS_TTY_CONFIG",
                                                            "CAP_MKNOD",
                                                            "CAP_LEASE",
                                                            "CAP_AUDIT_WRITE",
                                                            "CAP_AUDIT_CONTROL",
                                                            "CAP_SETFCAP",
                                                            "CAP_MAC_OVERRIDE",
                                                            "CAP_MAC_ADMIN",
                                                            "CAP_SYSLOG",
                                                            "CAP_WAKE_ALARM",
                                                            "CAP_BLOCK_SUSPEND",
                                                            "CAP_AUDIT_READ",
                                                            "CAP_PERFMON",
                                                            "CAP_BPF",
                                                            "CAP_CHECKPOINT_RESTORE"};

constexpr std::array<std::string_view, 14> kDefaultCapabilities = {
    "CAP_CHOWN",   "CAP_DAC_OVERRIDE", "CAP_FSETID",      "CAP_FOWNER",          "CAP_MKNOD",
    "CAP_NET_RAW", "CAP_SETGID",       "CAP_SETUID",      "CAP_SETFCAP",         "CAP_SETPCAP",
    "CAP_KILL",    "CAP_SYS_CHROOT",   "CAP_AUDIT_WRITE", "CAP_NET_BIND_SERVICE"};

bool means(std::string_view wish, std::string_view capability) {
  std::string wanted = lower_case(wish);
  std::string named = lower_case(capability);
  return wanted == named || wanted == named.substr(kPrefix.size());
}

bool names(const std::vector<std::string>& wishes, std::string_view capability) {
  return std::any_of(wishes.begin(), wishes.end(),
                     [&](const std::string& wish) { return means(wish, capability); });
}

bool names_all(const std::vector<std::string>& wishes) {
  return std::any_of(wishes.begin(), wishes.end(),
                     [](const std::string& wish) { return lower_case(wish) == kAll; });
}

}  // namespace

std::string unknown_capability(const CapabilityWishes& wishes) {
  for (const std::vector<std::string>* list : {&wishes.added, &wishes.dropped}) {
    for (const std::string& wish : *list) {
      bool known =
          lower_case(wish) == kAll || std::any_of(kCapabilities.begin(), kCapabilities.end(),
                                                  [&](std::string_view each) { return means(wish, each); });
      if (!known) return wish;
    }
  }
  return "";
}

std::vector<std::string_view> capabilities_of(const CapabilityWishes& wishes, bool privileged, int last) {
  std::vector<std::string_view> held;
  size_t count = std::min<size_t>(kCapabilities.size(), static_cast<size_t>(last) + 1);
  for (std::string_view each : std::span(kCapabilities).first(count)) {
    bool usual = std::find(kDefaultCapabilities.begin(), kDefaultCapabilities.end(), each) !=
                 kDefaultCapabilities.end();
    bool has = (usual || names_all(wishes.added)) && !names_all(wishes.dropped);
    has = (has || names(wishes.added, each)) && !names(wishes.dropped, each);
    if (has || privileged) held.push_back(each);
  }
  return held;
}

}  // namespace trainyard::node
