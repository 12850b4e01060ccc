#include "server/kubeconfig.h"

#include <gtest/gtest.h>

#include "kube/access.h"
#include "kube/yaml.h"

namespace trainyard::server {
namespace {

TEST(KubeconfigTest, LeadsToThePlane) {
  std::string text =
      kubeconfig_text({.url = "https://127.0.0.1:7", .ca_certificate = "PEM", .token = "secret"});
  auto documents = kube::parse_yaml(text);
  ASSERT_TRUE(documents.ok());
  const json::object& config = documents->at(0).body.get_object();
  EXPECT_EQ(kube::text_at(config, {"current-context"}), "trainyard");
  const json::object& cluster = config.at("clusters").get_array().at(0).get_object();
  EXPECT_EQ(kube::text_at(cluster, {"cluster", "server"}), "https://127.0.0.1:7");
  EXPECT_EQ(kube::text_at(cluster, {"cluster", "certificate-authority-data"}), "UEVN");
  const json::object& user = config.at("users").get_array().at(0).get_object();
  EXPECT_EQ(kube::text_at(user, {"user", "token"}), "secret");
}

}  // namespace
}  // namespace trainyard::server
