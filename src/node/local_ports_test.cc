#include "node/local_ports.h"

#include <gtest/gtest.h>

namespace trainyard::node {
namespace {

const char* kDense =
    R"({"cluster":{"ps":["ps0:2222"],"worker":["w0:2222","w1:22"]},"task":{"type":"worker","index":1}})";
const char* kSparse =
    R"({"cluster":{"ps":["ps0:2222"],"worker":{"1":"w1:2222"}},"task":{"type":"worker","index":1}})";

TEST(LocalPorts, FindsAddresses) {
  EXPECT_EQ(addresses_in(kDense), (std::vector<std::string>{"ps0:2222", "w0:2222", "w1:22"}));
  EXPECT_EQ(addresses_in(kSparse), (std::vector<std::string>{"ps0:2222", "w1:2222"}));
  EXPECT_TRUE(addresses_in("").empty());
  EXPECT_TRUE(addresses_in("[]").empty());
  EXPECT_TRUE(addresses_in(R"({"cluster":{"worker":["no-port",5]}})").empty());
  EXPECT_EQ(own_address(kDense), "w1:22");
  EXPECT_EQ(own_address(kSparse), "w1:2222");
  EXPECT_EQ(own_address(R"({"cluster":{"worker":["a:1"]},"task":{"type":"evaluator","index":0}})"),
            std::nullopt);
}

TEST(LocalPorts, ReplacesWholeAddressesOnly) {
  const std::map<std::string, std::string> local{{"w1:22", "127.0.0.1:20001"},
                                                 {"w1:2222", "127.0.0.1:20002"}};
  EXPECT_EQ(replace_addresses("w1:22,w1:2222", local), "127.0.0.1:20001,127.0.0.1:20002");
  EXPECT_EQ(replace_addresses("xw1:22 a.w1:22 w1:223 grpc://w1:22/", local),
            "xw1:22 a.w1:22 w1:223 grpc://127.0.0.1:20001/");
  EXPECT_EQ(replace_addresses("\"w1:22\"", local), "\"127.0.0.1:20001\"");
  EXPECT_EQ(replace_addresses("", local), "");
}

TEST(LocalPorts, TheSameAddressHasTheSamePort) {
  auto all_free = [](int) { return true; };
  LocalPorts ports;
  int first = ports.claim({"a:1", "c:1"}, "p1", all_free)->front();
  EXPECT_EQ(ports.claim({"c:1", "a:1"}, "p2", all_free)->back(), first);
  EXPECT_NE(ports.claim({"b:1"}, "p1", all_free)->front(), first);
  ports.release("p1");
  EXPECT_EQ(ports.find("a:1"), first);
  EXPECT_EQ(ports.find("b:1"), std::nullopt);
  ports.release("p2");
  EXPECT_EQ(ports.claim({"a:1"}, "p3", all_free)->front(), first);
  EXPECT_EQ(*LocalPorts::from_text(ports.to_text()), ports);
}

TEST(LocalPorts, TakenPortsArePassedOver) {
  LocalPorts ports;
  int taken = ports.claim({"a:1"}, "p", [](int) { return true; })->front();
  LocalPorts others;
  EXPECT_NE(others.claim({"a:1"}, "p", [&](int port) { return port != taken; })->front(), taken);
  EXPECT_EQ(others.claim({"b:1"}, "p", [](int) { return false; }).error().kind, ErrorKind::kUnavailable);
}

TEST(LocalPorts, RefusesWhatIsNotAPort) {
  for (std::string bad : {"a", "a:", ":1", "a:0", "a:65536", "a:1x"})
    EXPECT_EQ(port_of(bad), std::nullopt) << bad;
}

}  // namespace
}  // namespace trainyard::node
