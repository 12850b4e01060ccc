// Small pure parts of the node: names, devices, the Node object, what shims are told.
#include <gtest/gtest.h>

#include "kube/access.h"
#include "kube/json.h"
#include "node/checks.h"
#include "node/devices.h"
#include "node/hosts.h"
#include "node/node_object.h"
#include "node/sandbox_support.h"
#include "node/shim_plan.h"
#include "node/testing.h"

namespace trainyard::node {
namespace {

using testing::object;
using testing::parse;

TEST(SandboxSupport, APlainChrootIsNoMount) {
  EXPECT_TRUE(has_root_mount("22 1 8:1 / / rw - ext4 /dev/sda rw\n30 22 0:5 / /proc rw - proc proc rw\n"));
  EXPECT_TRUE(
      has_root_mount("30 22 0:5 / /proc rw - proc proc rw\n31 22 8:1 /new / rw - ext4 /dev/sda rw\n"));
  EXPECT_FALSE(has_root_mount("30 22 0:5 / /proc rw - proc proc rw\n"));
  EXPECT_FALSE(has_root_mount(""));
}

TEST(SandboxSupport, CrunIsTakenWhereItWorks) {
  CgroupLayout v1{false, false, {}, {}, {}};
  CgroupLayout hybrid{false, true, {}, {}, {}};
  CgroupLayout v2{true, false, {}, {}, {}};
  const std::vector<std::string> runc = {"runc"}, both = {"crun", "runc"};
  EXPECT_EQ(runtime_order(v1, false), both);
  EXPECT_EQ(runtime_order(hybrid, true), runc);
  EXPECT_EQ(runtime_order(v2, true), both);
  EXPECT_EQ(runtime_order(v2, false), runc);
  EXPECT_TRUE(
      may_raise_limits("Name:\tx\nCapPrm:\t0000000000000000\nCapEff:\t0000000001000000\nCapBnd:\t0\n"));
  EXPECT_TRUE(may_raise_limits("Name:\tx\nCapEff:\t000001ffffffffff\n"));
  EXPECT_FALSE(may_raise_limits("Name:\tx\nCapPrm:\t000001ffffffffff\nCapEff:\t000001fffeffffff\n"));
  EXPECT_FALSE(may_raise_limits(""));
}

TEST(SandboxSupport, ACommaInThePathIsToldBeforeAnythingStarts) {
  Result<SandboxSupport> support = sandbox_support("/srv/a,b");
  ASSERT_FALSE(support.ok());
  EXPECT_EQ(support.error().message, "/srv/a,b has a comma in its path, which OCI runtimes do not take");
}

TEST(HostsFor, AnswersLikeAClustersDns) {
  std::vector<NamedPod> pods{
      {object(
           R"({"metadata":{"name":"w0","namespace":"a","labels":{"i":"0"}},"spec":{"hostname":"h","subdomain":"sub"}})"),
       "10.0.0.2"},
      {object(R"({"metadata":{"name":"w1","namespace":"a","labels":{"i":"1"}}})"), ""},
      {object(R"({"metadata":{"name":"x","namespace":"b","labels":{"i":"0"}}})"), "10.0.0.3"}};
  std::vector<Object> services{
      object(R"({"metadata":{"name":"s0","namespace":"a"},"spec":{"selector":{"i":"0"}}})"),
      object(R"({"metadata":{"name":"s1","namespace":"a"},"spec":{"selector":{"i":"1"}}})"),
      object(R"({"metadata":{"name":"none","namespace":"a"},"spec":{}})"),
      object(R"({"metadata":{"name":"s","namespace":"b"},"spec":{"selector":{"i":"0"}}})")};
  std::map<std::string, std::string> wanted{
      {"s0", "10.0.0.2"},
      {"s0.a", "10.0.0.2"},
      {"s0.a.svc", "10.0.0.2"},
      {"s0.a.svc.cluster.local", "10.0.0.2"},
      {"h.sub", "10.0.0.2"},
      {"h.sub.a", "10.0.0.2"},
      {"h.sub.a.svc", "10.0.0.2"},
      {"h.sub.a.svc.cluster.local", "10.0.0.2"},
      {"s.b", "10.0.0.3"},
      {"s.b.svc", "10.0.0.3"},
      {"s.b.svc.cluster.local", "10.0.0.3"},
  };
  EXPECT_EQ(hosts_for("a", pods, services, "cluster.local"), wanted);
}

TEST(HostsFor, NamesEndInTheDomainOfTheCluster) {
  std::vector<NamedPod> pods{
      {object(R"({"metadata":{"name":"w","namespace":"a","labels":{"i":"0"}}})"), "10.0.0.2"}};
  std::vector<Object> services{
      object(R"({"metadata":{"name":"s","namespace":"a"},"spec":{"selector":{"i":"0"}}})")};
  std::map<std::string, std::string> wanted{
      {"s", "10.0.0.2"}, {"s.a", "10.0.0.2"}, {"s.a.svc", "10.0.0.2"}, {"s.a.svc.example.org", "10.0.0.2"}};
  EXPECT_EQ(hosts_for("a", pods, services, "example.org"), wanted);
}

TEST(HostAliasesOf, AreReadFromTheSpec) {
  std::map<std::string, std::string> wanted{{"a", "1.2.3.4"}, {"b", "1.2.3.4"}};
  EXPECT_EQ(host_aliases_of(parse(R"({"spec":{"hostAliases":[{"ip":"1.2.3.4","hostnames":["a","b"]}]}})")),
            wanted);
  EXPECT_TRUE(host_aliases_of(parse("{}")).empty());
}

TEST(DeviceLedger, GivesNothingTwice) {
  DeviceLedger ledger;
  const std::vector<int> all{2, 0, 1};
  EXPECT_EQ(ledger.assign("p", "a", 2, all), (std::vector<int>{0, 1}));
  EXPECT_EQ(ledger.assign("p", "a", 2, all), (std::vector<int>{0, 1}));
  EXPECT_EQ(ledger.assign("q", "a", 2, all), std::nullopt);
  EXPECT_EQ(ledger.assign("q", "a", 1, all), (std::vector<int>{2}));
  EXPECT_EQ(ledger.assign("q", "b", 0, all), (std::vector<int>{}));
  EXPECT_EQ(ledger.used(), 3);
  EXPECT_EQ(*DeviceLedger::from_text(ledger.to_text()), ledger);
  ledger.release("p");
  EXPECT_EQ(ledger.assign("r", "a", 2, all), (std::vector<int>{0, 1}));
  EXPECT_FALSE(DeviceLedger::from_text("{}").ok());
}

TEST(NodeObject, SaysWhatAKubeletSays) {
  NodeOptions options;
  options.capacity = {2500, 4096, 0};
  options.gpus = {0};
  MachineFacts facts{"6.1", "Debian", "amd64", "m", "b"};
  json::object first = node_status(options, facts, "process", nullptr, Time{1000});
  EXPECT_EQ(kube::text_at(first, {"capacity", "cpu"}), "2500m");
  EXPECT_EQ(kube::text_at(first, {"allocatable", "memory"}), "4Ki");
  EXPECT_EQ(kube::text_at(first, {"capacity", "nvidia.com/gpu"}), "1");
  json::object second = node_status(options, facts, "process", &first, Time{9000});
  const json::object& ready = second.at("conditions").as_array().back().as_object();
  EXPECT_EQ(kube::text_at(ready, {"type"}), "Ready");
  EXPECT_EQ(kube::text_at(ready, {"lastTransitionTime"}), "1970-01-01T00:00:01Z");
  EXPECT_EQ(kube::text_at(ready, {"lastHeartbeatTime"}), "1970-01-01T00:00:09Z");
  EXPECT_EQ(kube::text_at(node_lease(options, Time{1234}), {"spec", "renewTime"}),
            "1970-01-01T00:00:01.234000Z");
}

TEST(ShimPlan, ComesBackAsItWas) {
  ShimPlan plan;
  plan.argv = {"a", "b c", "\"\n"};
  plan.env = {{"A", "1"}, {"B", ""}};
  plan.cwd = "/x";
  plan.uid = 5;
  plan.container_pid_file = "/p";
  plan.after_argv = {"z"};
  plan.cgroup_procs = {"/sys"};
  plan.log_file = "/l";
  plan.log_bytes_max = 7;
  plan.log_files_max = 2;
  plan.tty = plan.stdin_open = plan.stdin_once = true;
  plan.console_socket = "/c";
  EXPECT_EQ(*read_shim_plan(to_text(plan)), plan);
  ShimState state{1, 2, 3, Time{4}};
  EXPECT_EQ(*read_shim_state(to_text(state)), state);
  ShimExit exit{Time{1}, Time{2}, 137, 9, "why"};
  EXPECT_EQ(*read_shim_exit(to_text(exit)), exit);
  exit.message = "exec: \xFF";
  EXPECT_EQ(read_shim_exit(to_text(exit))->message, "exec: \uFFFD");
  for (std::string bad : {"", "[]", "{}", "{\"argv\":[]}"}) EXPECT_FALSE(read_shim_plan(bad).ok()) << bad;
  EXPECT_FALSE(read_shim_state("{}").ok());
}

TEST(ProbePort, ByNumberAndByName) {
  json::object container = parse(R"({"ports":[{"name":"web","containerPort":80}]})");
  EXPECT_EQ(probe_port(parse(R"({"port":8080})"), container), 8080);
  EXPECT_EQ(probe_port(parse(R"({"port":"8080"})"), container), 8080);
  EXPECT_EQ(probe_port(parse(R"({"port":"web"})"), container), 80);
  EXPECT_EQ(probe_port(parse(R"({"port":"none"})"), container), std::nullopt);
  EXPECT_EQ(probe_port(parse("{}"), container), std::nullopt);
}

TEST(HttpStatusOf, ReadsTheFirstLine) {
  EXPECT_EQ(http_status_of("HTTP/1.1 200 OK\r\n"), 200);
  EXPECT_EQ(http_status_of("HTTP/1.0 503 no\r\nX: y\r\n"), 503);
  EXPECT_EQ(http_status_of("HTTP/1.1 20"), std::nullopt);
  EXPECT_EQ(http_status_of("SSH-2.0\r\n"), 0);
}

}  // namespace
}  // namespace trainyard::node
