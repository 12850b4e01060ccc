#include "dialect/volcano/plugins.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dialect/volcano/testing.h"

namespace trainyard::dialect::vc {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Plugins decoded(std::string_view plugins, std::vector<Problem>& problems) {
  json::object spec = testing::from_yaml("plugins: " + std::string(plugins));
  return decode_plugins(Reader(&spec, "spec", problems));
}

TEST(DecodePlugins, Defaults) {
  std::vector<Problem> problems;
  Plugins plugins = decoded("{tensorflow: [], svc: null, ssh: [], env: []}", problems);
  EXPECT_THAT(problems, IsEmpty());
  EXPECT_THAT(plugins.names(), ElementsAre("env", "ssh", "svc", "tensorflow"));
  EXPECT_FALSE(plugins.svc->publish_not_ready);
  EXPECT_TRUE(plugins.svc->network_policy);
  EXPECT_TRUE(plugins.svc->hosts_in_env);
  EXPECT_EQ(plugins.ssh->path, "/root/.ssh");
  EXPECT_EQ(plugins.ssh->port, 22);
  EXPECT_EQ(plugins.tensorflow->ps, "ps");
  EXPECT_EQ(plugins.tensorflow->evaluator, "evaluator");
  EXPECT_EQ(plugins.tensorflow->port, 2222);
}

TEST(DecodePlugins, Arguments) {
  std::vector<Problem> problems;
  Plugins plugins = decoded(
      "{svc: [--publish-not-ready-addresses=true, -disable-network-policy], tensorflow: [-port, '3333', "
      "--chief=boss]}",
      problems);
  EXPECT_THAT(problems, IsEmpty());
  EXPECT_TRUE(plugins.svc->publish_not_ready);
  EXPECT_FALSE(plugins.svc->network_policy);
  EXPECT_EQ(plugins.tensorflow->port, 3333);
  EXPECT_EQ(plugins.tensorflow->chief, "boss");
  EXPECT_THAT(plugins.names(), ElementsAre("svc", "tensorflow"));
}

TEST(DecodePlugins, NoneAtAll) {
  std::vector<Problem> problems;
  EXPECT_THAT(decoded("{}", problems).names(), IsEmpty());
  EXPECT_THAT(decoded("null", problems).names(), IsEmpty());
  EXPECT_THAT(problems, IsEmpty());
}

TEST(DecodePlugins, EveryFaultIsToldAtItsPlugin) {
  std::vector<Problem> problems;
  decoded("{ssh: [--ssh-key-file-path=here, --ssh-port=x], hcclrank: [], env: [--x=1]}", problems);
  std::vector<std::string> paths;
  for (const Problem& problem : problems) paths.push_back(problem.path);
  EXPECT_THAT(paths, ElementsAre("spec.plugins.ssh", "spec.plugins.ssh", "spec.plugins.hcclrank",
                                 "spec.plugins.env"));
}

}  // namespace
}  // namespace trainyard::dialect::vc
