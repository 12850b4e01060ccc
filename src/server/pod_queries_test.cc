#include "server/pod_queries.h"

#include <gtest/gtest.h>

namespace trainyard::server {
namespace {

constexpr Time kLogTime{1'800'000'000'000};

Query query(std::string_view text) { return parse_target("/x?" + std::string(text))->query; }

json::object pod(std::initializer_list<std::string_view> names, std::string_view usual = "") {
  json::array containers;
  for (std::string_view name : names) containers.push_back(json::object{{"name", name}});
  json::object metadata{{"name", "p"}};
  if (!usual.empty()) {
    metadata["annotations"] = json::object{{"kubectl.kubernetes.io/default-container", usual}};
  }
  json::array init{json::object{{"name", "setup"}}};
  return {{"metadata", std::move(metadata)},
          {"spec", json::object{{"containers", std::move(containers)}, {"initContainers", std::move(init)}}}};
}

TEST(PodQueriesTest, Containers) {
  EXPECT_EQ(*container_of(pod({"a"}), ""), "a");
  EXPECT_EQ(*container_of(pod({"a", "b"}), "b"), "b");
  EXPECT_EQ(*container_of(pod({"a"}), "setup"), "setup");
  EXPECT_EQ(*container_of(pod({"a", "b"}, "b"), ""), "b");
  EXPECT_EQ(container_of(pod({"a", "b"}), "").error().message,
            "a container name must be specified for pod p, choose one of: [a b]");
  EXPECT_EQ(container_of(pod({"a"}), "x").error().message, "container x is not valid for pod p");
  EXPECT_FALSE(container_of(pod({}), "").ok());
}

TEST(PodQueriesTest, Logs) {
  Result<LogQuery> log = log_of_query(
      query("follow=true&previous=1&timestamps=true&tailLines=3&limitBytes=10&sinceSeconds=60"), kLogTime);
  ASSERT_TRUE(log.ok());
  EXPECT_TRUE(log->follow && log->previous && log->timestamps);
  EXPECT_EQ(log->tail_lines, 3);
  EXPECT_EQ(log->limit_bytes, 10);
  EXPECT_EQ(log->since, kLogTime - seconds(60));
  EXPECT_EQ(log_of_query(query("sinceTime=2027-01-15T08:00:00Z"), kLogTime)->since, kLogTime);
  for (std::string_view bad : {"follow=x", "tailLines=-1", "limitBytes=0", "sinceSeconds=0",
                               "sinceTime=yesterday", "sinceSeconds=1&sinceTime=2027-01-15T08:00:00Z"}) {
    EXPECT_FALSE(log_of_query(query(bad), kLogTime).ok()) << bad;
  }
}

TEST(PodQueriesTest, Commands) {
  Result<ExecQuery> exec =
      exec_of_query(query("command=sh&command=-c&stdin=true&stdout=true&stderr=true"), false);
  ASSERT_TRUE(exec.ok());
  EXPECT_EQ(exec->command, (std::vector<std::string>{"sh", "-c"}));
  EXPECT_TRUE(exec->in && exec->out && exec->err && !exec->tty);
  Result<ExecQuery> tty = exec_of_query(query("stdin=1&stdout=1&stderr=1&tty=1"), true);
  ASSERT_TRUE(tty.ok());
  EXPECT_FALSE(tty->err);
  EXPECT_FALSE(exec_of_query(query("stdout=1"), false).ok());
  EXPECT_FALSE(exec_of_query(query("command=ls"), false).ok());
}

TEST(PodQueriesTest, Ports) {
  EXPECT_EQ(*ports_of_query(query("ports=80&ports=81,82")), (std::vector<int>{80, 81, 82}));
  for (std::string_view bad : {"", "ports=", "ports=0", "ports=65536", "ports=x", "ports=-1"}) {
    EXPECT_FALSE(ports_of_query(query(bad)).ok()) << bad;
  }
}

TEST(PodQueriesTest, Protocols) {
  EXPECT_EQ(pick_channel("v4.channel.k8s.io, v5.channel.k8s.io")->name, "v5.channel.k8s.io");
  EXPECT_EQ(pick_channel("v4.channel.k8s.io")->protocol, ChannelProtocol::kV4);
  EXPECT_FALSE(pick_channel("channel.k8s.io"));
  EXPECT_FALSE(pick_channel(""));
  EXPECT_TRUE(offers("SPDY/3.1+portforward.k8s.io", kTunnelledPortForward));
}

}  // namespace
}  // namespace trainyard::server
