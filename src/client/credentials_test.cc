#include "client/credentials.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "client/run_program.h"

namespace trainyard::client {
namespace {

using ::testing::HasSubstr;

class CredentialsTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "credentials-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string put(const std::string& name, const std::string& text, mode_t mode = 0600) {
    std::string path = folder_ + "/" + name;
    std::ofstream(path) << text;
    chmod(path.c_str(), mode);
    return path;
  }

  std::string folder_;
};

TEST_F(CredentialsTest, ARotatedTokenIsTakenUpOnceTheOldIsRefused) {
  Access access;
  access.token.file = put("token", "one\n");
  Credentials credentials(access);
  EXPECT_EQ(credentials.current()->token, "one");
  put("token", "two\n");
  credentials.refused();
  EXPECT_EQ(credentials.current()->token, "two");
}

// The old one is valid for a while yet, so no server refuses it.
TEST_F(CredentialsTest, ARotatedTokenIsTakenUpWithinTenSeconds) {
  std::chrono::steady_clock::time_point now{};
  Access access;
  access.token.file = put("token", "one\n");
  Credentials credentials(access, [&] { return now; });
  EXPECT_EQ(credentials.current()->token, "one");
  put("token", "two\n");
  now += std::chrono::seconds(9);
  EXPECT_EQ(credentials.current()->token, "one");
  now += std::chrono::seconds(1);
  EXPECT_EQ(credentials.current()->token, "two");
  std::filesystem::remove(access.token.file);
  now += std::chrono::seconds(10);
  EXPECT_FALSE(credentials.current().ok());
}

TEST_F(CredentialsTest, NobodySpeaksWithAnEmptyToken) {
  Access access;
  access.token.file = put("token", "\n");
  Credentials credentials(access);
  ASSERT_FALSE(credentials.current().ok());
  EXPECT_THAT(credentials.current().error().message, HasSubstr(access.token.file + " is empty"));
  put("token", "one\n");
  EXPECT_EQ(credentials.current()->token, "one");
}

TEST_F(CredentialsTest, MissingFilesAreNamed) {
  Access access;
  access.where = "context 'x' of f";
  access.token.file = folder_ + "/nothing";
  Result<Identity> identity = Credentials(access).current();
  ASSERT_FALSE(identity.ok());
  EXPECT_EQ(identity.error().kind, ErrorKind::kForbidden);
  EXPECT_THAT(identity.error().message, testing::AllOf(HasSubstr("context 'x' of f"), HasSubstr("/nothing")));
}

Access with_plugin(const std::string& command) {
  Access access;
  access.where = "context 'x' of f";
  access.server = "https://a:1";
  ExecPlugin plugin;
  plugin.api_version = "client.authentication.k8s.io/v1";
  plugin.command = command;
  plugin.env = {{"WHO", "me"}};
  plugin.may_ask = false;
  access.exec = plugin;
  return access;
}

// Answers with a token that counts how often it was asked.
constexpr const char* kPlugin = R"(#!/bin/sh
echo x >> "$0.count"
n=$(wc -l < "$0.count" | tr -d ' ')
case "$KUBERNETES_EXEC_INFO" in *ExecCredential*) ;; *) exit 3 ;; esac
echo "{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":\"ExecCredential\",\"status\":{\"token\":\"$WHO-$n\"$EXPIRES}}"
)";

TEST_F(CredentialsTest, APluginIsAskedOnceUntilItsAnswerRunsOut) {
  Credentials lasting(with_plugin(put("lasting", kPlugin, 0700)));
  EXPECT_EQ(lasting.current()->token, "me-1");
  EXPECT_EQ(lasting.current()->token, "me-1");
  lasting.refused();
  EXPECT_EQ(lasting.current()->token, "me-2");
  Access later = with_plugin(put("later", kPlugin, 0700));
  later.exec->env.emplace_back("EXPIRES", ",\"expirationTimestamp\":\"2999-01-01T00:00:00Z\"");
  Credentials valid(later);
  EXPECT_EQ(valid.current()->token, "me-1");
  EXPECT_EQ(valid.current()->token, "me-1");
  Access access = with_plugin(put("short", kPlugin, 0700));
  access.exec->env.emplace_back("EXPIRES", ",\"expirationTimestamp\":\"2001-01-01T00:00:00Z\"");
  Credentials expired(access);
  EXPECT_EQ(expired.current()->token, "me-1");
  EXPECT_EQ(expired.current()->token, "me-2");
}

TEST_F(CredentialsTest, APluginThatDoesNotWorkIsToldAbout) {
  struct Row {
    std::string command;
    std::string says;
  };
  for (const Row& row : {
           Row{folder_ + "/nothing", "No such file"},
           Row{put("fails", "#!/bin/sh\nexit 4\n", 0700), "exit status 4"},
           Row{put("silent", "#!/bin/sh\n", 0700), "it printed no JSON object"},
       }) {
    Access access = with_plugin(row.command);
    access.exec->install_hint = "get it at the shop";
    Result<Identity> identity = Credentials(access).current();
    ASSERT_FALSE(identity.ok()) << row.command;
    EXPECT_THAT(identity.error().message,
                testing::AllOf(HasSubstr("context 'x' of f"), HasSubstr(row.says), HasSubstr(row.command)));
  }
}

// In a pod there is nobody to ask.
TEST_F(CredentialsTest, APluginThatMustAskIsNotRunWithoutATerminal) {
  int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  ASSERT_GE(dup2(nothing, STDIN_FILENO), 0);
  close(nothing);
  Access access = with_plugin(put("asks", kPlugin, 0700));
  access.exec->may_ask = access.exec->must_ask = true;
  Result<Identity> identity = Credentials(access).current();
  ASSERT_FALSE(identity.ok());
  EXPECT_THAT(identity.error().message, HasSubstr("interactiveMode: Always"));
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/asks.count"));
}

TEST_F(CredentialsTest, PluginsGetTheirArguments) {
  constexpr const char* kEcho = R"(#!/bin/sh
echo "{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":\"ExecCredential\",\"status\":{\"token\":\"$#:$1:$2\"}}"
)";
  Access access = with_plugin(put("echo", kEcho, 0700));
  access.exec->args = {"eks", "get token"};
  EXPECT_EQ(Credentials(access).current()->token, "2:eks:get token");
}

TEST_F(CredentialsTest, ARotatedCertificateIsTakenUp) {
  std::chrono::steady_clock::time_point now{};
  Access access;
  access.certificate.file = put("crt", "one");
  access.key.file = put("key", "k1");
  Credentials credentials(access, [&] { return now; });
  EXPECT_EQ(*credentials.current(), (Identity{"", "one", "k1"}));
  put("crt", "two");
  put("key", "k2");
  now += std::chrono::seconds(10);
  EXPECT_EQ(*credentials.current(), (Identity{"", "two", "k2"}));
}

TEST_F(CredentialsTest, AProgramThatDoesNotEndIsEnded) {
  Program program{put("sleeps", "#!/bin/sh\nexec sleep 1000\n", 0700), {}, {}};
  program.time_limit = Duration{50};
  Result<std::string> printed = run_program(program);
  ASSERT_FALSE(printed.ok());
  EXPECT_THAT(printed.error().message, HasSubstr("did not end"));
}

TEST_F(CredentialsTest, WhereTheAccessComesFrom) {
  constexpr const char* kConfig =
      "current-context: c\ncontexts: [{name: c, context: {cluster: k}}]\n"
      "clusters: [{name: k, cluster: {server: 'https://SERVER'}}]\n";
  auto config = [&](const std::string& name, const std::string& server) {
    std::string text = kConfig;
    return put(name, text.replace(text.find("SERVER"), 6, server));
  };
  Surroundings around;
  around.home = folder_;
  around.service_account = folder_;
  Result<Access> none = find_access(around, "", "");
  ASSERT_FALSE(none.ok());
  EXPECT_THAT(none.error().message, HasSubstr(folder_ + "/.kube/config does not exist"));
  put("namespace", "lab\n");
  around.service_host = "fd00::1";
  around.service_port = "6443";
  Result<Access> pod = find_access(around, "", "");
  ASSERT_TRUE(pod.ok());
  EXPECT_EQ(pod->server, "https://[fd00::1]:6443");
  EXPECT_EQ(pod->ns, "lab");
  EXPECT_EQ(pod->token.file, folder_ + "/token");
  std::filesystem::create_directory(folder_ + "/.kube");
  config(".kube/config", "home");
  EXPECT_EQ(find_access(around, "", "")->server, "https://home");
  around.kubeconfig = folder_ + "/nothing:" + config("listed", "listed");
  EXPECT_EQ(find_access(around, "", "")->server, "https://listed");
  EXPECT_EQ(find_access(around, config("given", "given"), "")->server, "https://given");
  EXPECT_FALSE(find_access(around, folder_ + "/nothing", "").ok());
}

}  // namespace
}  // namespace trainyard::client
