#include "node/capabilities.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

namespace trainyard::node {
namespace {

TEST(Capabilities, AreAddedAndDroppedInContainerdsOrder) {
  struct Case {
    CapabilityWishes wishes;
    bool privileged;
    size_t count;
    std::string_view has;
    std::string_view lacks;
  };
  constexpr int kLast = 40;
  const Case cases[] = {
      {{}, false, 14, "CAP_CHOWN", "CAP_SYS_PTRACE"},
      {{{"SYS_PTRACE"}, {}}, false, 15, "CAP_SYS_PTRACE", "CAP_SYS_ADMIN"},
      {{{"cap_sys_ptrace"}, {}}, false, 15, "CAP_SYS_PTRACE", "CAP_SYS_ADMIN"},
      {{{}, {"NET_RAW"}}, false, 13, "CAP_CHOWN", "CAP_NET_RAW"},
      {{{}, {"ALL"}}, false, 0, "", "CAP_CHOWN"},
      {{{"NET_BIND_SERVICE"}, {"all"}}, false, 1, "CAP_NET_BIND_SERVICE", "CAP_CHOWN"},
      {{{"ALL"}, {"SYS_ADMIN"}}, false, 40, "CAP_SYS_PTRACE", "CAP_SYS_ADMIN"},
      {{{"SYS_PTRACE"}, {"SYS_PTRACE"}}, false, 14, "CAP_CHOWN", "CAP_SYS_PTRACE"},
      {{{}, {"ALL"}}, true, 41, "CAP_SYS_ADMIN", ""},
  };
  for (const Case& each : cases) {
    std::vector<std::string_view> held = capabilities_of(each.wishes, each.privileged, kLast);
    std::string said = fmt::format("+{} -{}: {}", each.wishes.added, each.wishes.dropped, held);
    EXPECT_EQ(held.size(), each.count) << said;
    auto holds = [&](std::string_view one) { return std::find(held.begin(), held.end(), one) != held.end(); };
    EXPECT_EQ(holds(each.has), !each.has.empty()) << said;
    EXPECT_FALSE(holds(each.lacks)) << said;
  }
}

TEST(Capabilities, AreThoseThatTheKernelHas) {
  EXPECT_EQ(capabilities_of({{"ALL"}, {}}, false, 37).size(), 38u);
  EXPECT_EQ(capabilities_of({{"BPF"}, {"ALL"}}, false, 37).size(), 0u);
}

TEST(Capabilities, OnesThatThereAreNotAreNamed) {
  EXPECT_EQ(unknown_capability({{"SYS_PTRACE", "ALL"}, {"CAP_NET_RAW"}}), "");
  EXPECT_EQ(unknown_capability({{"SYS_PTRACED"}, {}}), "SYS_PTRACED");
  EXPECT_EQ(unknown_capability({{}, {"CAP_"}}), "CAP_");
}

}  // namespace
}  // namespace trainyard::node
