#include "node/network_plan.h"

#include <gtest/gtest.h>

namespace trainyard::node {
namespace {

constexpr const char* kHead =
    "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n";

std::string routes(std::initializer_list<const char*> lines) {
  std::string text = kHead;
  for (const char* line : lines) text += std::string(line) + "\n";
  return text;
}

TEST(NetworkPlan, ReadsAndWritesAddresses) {
  EXPECT_EQ(address_text(0x0a01fe02), "10.1.254.2");
  EXPECT_EQ(parse_address("10.1.254.2"), 0x0a01fe02u);
  for (const char* text : {"", "10.1.2", "10.1.2.3.4", "10.1.2.256", "10.1.2.x", "10.1.2.3 "}) {
    EXPECT_EQ(parse_address(text), std::nullopt) << text;
  }
  EXPECT_EQ(parse_subnet("10.4.8.0/22"), (Subnet{0x0a040800, 22}));
  EXPECT_EQ(parse_subnet("10.4.8.0"), std::nullopt);
  EXPECT_EQ(parse_subnet("10.4.8.0/99"), std::nullopt);
}

TEST(NetworkPlan, PicksTheSameFreeRangeForTheSameSeed) {
  std::string none = routes({});
  EXPECT_EQ(subnet_text(*pick_subnet(0, none, "ty0")), "10.0.0.0/22");
  EXPECT_EQ(subnet_text(*pick_subnet(65, none, "ty0")), "10.1.4.0/22");
  EXPECT_EQ(*pick_subnet(77, none, "ty0"), *pick_subnet(77, none, "ty0"));
}

TEST(NetworkPlan, GoesRoundRangesThatAreRouted) {
  // 10.0.0.0/22 exactly, 10.0.4.0/24 inside the next range, the default route, and one of our own.
  std::string taken = routes({
      "eth0\t00000000\t0100000A\t0003\t0\t0\t0\t00000000\t0\t0\t0",
      "eth0\t0000000A\t00000000\t0001\t0\t0\t0\t00FCFFFF\t0\t0\t0",
      "eth1\t0004000A\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0",
      "ty0\t0008000A\t00000000\t0001\t0\t0\t0\t00FCFFFF\t0\t0\t0",
  });
  EXPECT_EQ(subnet_text(*pick_subnet(0, taken, "ty0")), "10.0.8.0/22");
  EXPECT_EQ(subnet_text(*pick_subnet(0, taken, "other")), "10.0.12.0/22");
  std::string all = routes({"eth0\t0000000A\t00000000\t0001\t0\t0\t0\t000000FF\t0\t0\t0"});
  EXPECT_EQ(pick_subnet(5, all, "ty0"), std::nullopt);
}

TEST(NetworkPlan, GivesAddressesInTurn) {
  Subnet small{0x0a000000, 29};  // 2 to 6 are for pods
  EXPECT_EQ(pick_address(small, {}, 0), 0x0a000002u);
  EXPECT_EQ(pick_address(small, {0x0a000002}, 0x0a000002), 0x0a000003u);
  // One that was given back is not given again at once.
  EXPECT_EQ(pick_address(small, {}, 0x0a000002), 0x0a000003u);
  EXPECT_EQ(pick_address(small, {0x0a000006}, 0x0a000006), 0x0a000002u);
  EXPECT_EQ(pick_address(small, {0x0a000002, 0x0a000003, 0x0a000004, 0x0a000005, 0x0a000006}, 0x0a000003),
            std::nullopt);
}

TEST(NetworkPlan, NamesFitTheKernel) {
  Subnet subnet{0x0a010400, 22};
  EXPECT_EQ(bridge_name("0badcafe"), "ty0badcafe");
  EXPECT_EQ(pair_name("0badcafe", subnet, 0x0a0107fe), "tv0badcafe03fe");
  EXPECT_LE(pair_name("0badcafe", subnet, 0x0a0107fe).size(), 15u);
}

TEST(NetworkPlan, HostsFileHasThePodAndItsPeers) {
  std::string text = hosts_text("w-0", "10.0.0.2", {{"w-1.ns.svc", "10.0.0.3"}});
  EXPECT_NE(text.find("127.0.0.1\tlocalhost\n"), std::string::npos);
  EXPECT_NE(text.find("10.0.0.2\tw-0\n"), std::string::npos);
  EXPECT_NE(text.find("10.0.0.3\tw-1.ns.svc\n"), std::string::npos);
  EXPECT_NE(hosts_text("h.sub.ns.svc.d\th", "10.0.0.2", {}).find("10.0.0.2\th.sub.ns.svc.d\th\n"),
            std::string::npos);
}

}  // namespace
}  // namespace trainyard::node
