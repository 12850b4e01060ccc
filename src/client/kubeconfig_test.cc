#include "client/kubeconfig.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/access.h"

namespace trainyard::client {
namespace {

using ::testing::HasSubstr;

constexpr const char* kLab = R"(
apiVersion: v1
kind: Config
current-context: lab
clusters:
- name: lab
  cluster: {server: "https://lab.example:6443", certificate-authority: ca.crt, tls-server-name: api, proxy-url: "http://p:3128"}
- name: open
  cluster: {server: "http://127.0.0.1:8080/base/", insecure-skip-tls-verify: true}
- name: broken
  cluster: {certificate-authority-data: "***"}
users:
- name: me
  user: {client-certificate-data: Q0VSVA==, client-key: me.key}
- name: old
  user: {username: u, password: p}
- name: provider
  user: {auth-provider: {name: gcp}}
- name: half
  user: {client-certificate: a.crt}
- name: cloud
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1
      command: ./get-token
      args: [a, b]
      env: [{name: K, value: V}]
      provideClusterInfo: true
      interactiveMode: Never
- name: alpha
  user: {exec: {apiVersion: client.authentication.k8s.io/v1alpha1, command: x}}
- name: moody
  user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: x, interactiveMode: Maybe}}
- name: asks
  user: {exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: x, interactiveMode: Always}}
- name: given
  user: {token: t, exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: x}}
- name: ghost
  user: {token: t, as-groups: [g]}
- name: file
  user: {token: t, tokenFile: /run/token, as: boss, as-uid: "7", as-groups: [g, h], as-user-extra: {k/a: [v, w]}}
contexts:
- name: lab
  context: {cluster: lab, user: me, namespace: team}
- name: open
  context: {cluster: open}
- {name: old, context: {cluster: open, user: old}}
- {name: provider, context: {cluster: open, user: provider}}
- {name: half, context: {cluster: open, user: half}}
- {name: cloud, context: {cluster: lab, user: cloud}}
- {name: alpha, context: {cluster: open, user: alpha}}
- {name: moody, context: {cluster: open, user: moody}}
- {name: asks, context: {cluster: open, user: asks}}
- {name: given, context: {cluster: open, user: given}}
- {name: ghost, context: {cluster: open, user: ghost}}
- {name: file, context: {cluster: open, user: file}}
- {name: broken, context: {cluster: broken, user: me}}
- {name: nowhere, context: {cluster: missing}}
- {name: nobody, context: {cluster: open, user: missing}}
)";

Result<Access> read(std::string_view context) {
  return read_kubeconfig({{"/home/a/.kube/config", kLab}}, context);
}

TEST(Kubeconfig, TheCurrentContextIsTaken) {
  Result<Access> access = read("");
  ASSERT_TRUE(access.ok()) << access.error().message;
  EXPECT_EQ(access->where, "context 'lab' of /home/a/.kube/config");
  EXPECT_EQ(access->server, "https://lab.example:6443");
  EXPECT_EQ(access->ns, "team");
  EXPECT_EQ(access->tls_server_name, "api");
  EXPECT_EQ(access->proxy_url, "http://p:3128");
  EXPECT_EQ(access->ca, (Material{"", "/home/a/.kube/ca.crt"}));
  EXPECT_EQ(access->certificate, (Material{"CERT", ""}));
  EXPECT_EQ(access->key, (Material{"", "/home/a/.kube/me.key"}));
}

TEST(Kubeconfig, AnotherContextWithoutUser) {
  Result<Access> access = read("open");
  ASSERT_TRUE(access.ok()) << access.error().message;
  EXPECT_TRUE(access->insecure);
  EXPECT_TRUE(access->token.empty());
}

TEST(Kubeconfig, TokenFilesWinOverTokens) {
  Result<Access> access = read("file");
  ASSERT_TRUE(access.ok()) << access.error().message;
  EXPECT_EQ(access->token, (Material{"", "/run/token"}));
}

TEST(Kubeconfig, WhomWeSpeakFor) {
  Result<Access> access = read("file");
  ASSERT_TRUE(access.ok()) << access.error().message;
  EXPECT_EQ(access->as_user, "boss");
  EXPECT_EQ(access->as_uid, "7");
  EXPECT_EQ(access->as_groups, (std::vector<std::string>{"g", "h"}));
  EXPECT_EQ(access->as_extra, (std::vector<std::pair<std::string, std::string>>{{"k/a", "v"}, {"k/a", "w"}}));
}

struct FaultRow {
  std::string context;
  std::string says;
};

TEST(Kubeconfig, FaultsNameTheFileAndTheEntry) {
  for (const FaultRow& row : {
           FaultRow{"missing", "/home/a/.kube/config: there is no context 'missing' (there are: lab, open,"},
           FaultRow{"old", "user 'old' of /home/a/.kube/config: username and password"},
           FaultRow{"provider", "auth-provider 'gcp'"},
           FaultRow{"half", "user 'half' of /home/a/.kube/config: client-key is missing"},
           FaultRow{"alpha", "exec.apiVersion is 'client.authentication.k8s.io/v1alpha1'"},
           FaultRow{"moody", "user 'moody' of /home/a/.kube/config: exec.interactiveMode is 'Maybe'"},
           FaultRow{"ghost",
                    "user 'ghost' of /home/a/.kube/config: as-uid, as-groups and as-user-extra need"},
           FaultRow{"broken", "cluster 'broken' of /home/a/.kube/config: server is missing"},
           FaultRow{"nowhere", "context 'nowhere' of /home/a/.kube/config: there is no cluster 'missing'"},
           FaultRow{"nobody", "context 'nobody' of /home/a/.kube/config: there is no user 'missing'"},
       }) {
    Result<Access> access = read(row.context);
    ASSERT_FALSE(access.ok()) << row.context;
    EXPECT_THAT(access.error().message, HasSubstr(row.says));
  }
}

TEST(Kubeconfig, TextThatIsNoKubeconfigIsRefused) {
  for (const FaultRow& row : {
           FaultRow{"a: [", "f: line "},
           FaultRow{"kind: Pod", "f: kind is 'Pod'"},
           FaultRow{"[]", "f: this is not a kubeconfig"},
           FaultRow{"", "no current-context is set"},
           FaultRow{"current-context: x", "there is no context 'x'"},
       }) {
    Result<Access> access = read_kubeconfig({{"f", row.context}}, "");
    ASSERT_FALSE(access.ok()) << row.context;
    EXPECT_THAT(access.error().message, HasSubstr(row.says));
  }
}

TEST(Kubeconfig, OfSeveralFilesTheFirstWordCounts) {
  constexpr const char* kFirst = R"(
contexts: [{name: x, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "https://first"}}]
)";
  constexpr const char* kSecond = R"(
current-context: x
clusters: [{name: c, cluster: {server: "https://second"}}]
users: [{name: u, user: {client-certificate: c.pem, client-key: k.pem}}]
)";
  Result<Access> access = read_kubeconfig({{"/a/one", kFirst}, {"/b/two", kSecond}}, "");
  ASSERT_TRUE(access.ok()) << access.error().message;
  EXPECT_EQ(access->server, "https://first");
  EXPECT_EQ(access->key.file, "/b/k.pem");
}

TEST(Kubeconfig, PluginsAreTold) {
  Result<Access> access = read("cloud");
  ASSERT_TRUE(access.ok()) << access.error().message;
  ASSERT_TRUE(access->exec.has_value());
  EXPECT_EQ(access->exec->command, "/home/a/.kube/get-token");
  EXPECT_EQ(access->exec->args, (std::vector<std::string>{"a", "b"}));
  EXPECT_FALSE(access->exec->may_ask);
  json::value told = json::parse(exec_info(*access, "PEM", false));
  EXPECT_EQ(kube::text_at(told.get_object(), {"spec", "cluster", "certificate-authority-data"}), "UEVN");
  EXPECT_EQ(kube::text_at(told.get_object(), {"apiVersion"}), "client.authentication.k8s.io/v1");
  EXPECT_FALSE(access->exec->must_ask);
  EXPECT_TRUE(read("asks")->exec->must_ask);
}

TEST(Kubeconfig, WhoHasATokenAsksNoPlugin) {
  Result<Access> access = read("given");
  ASSERT_TRUE(access.ok()) << access.error().message;
  EXPECT_EQ(access->token.data, "t");
  EXPECT_FALSE(access->exec.has_value());
}

// As `aws eks update-kubeconfig` and `gcloud container clusters get-credentials` write them.
constexpr const char* kClouds = R"(
apiVersion: v1
kind: Config
preferences: {}
current-context: arn:aws:eks:eu-west-1:1234:cluster/lab
clusters:
- name: arn:aws:eks:eu-west-1:1234:cluster/lab
  cluster: {server: "https://0A.gr7.eu-west-1.eks.example.com", certificate-authority-data: UEVN}
- name: gke_lab_europe-west1_lab
  cluster:
    server: https://10.1.2.3
    certificate-authority-data: UEVN
    extensions: [{name: client.authentication.k8s.io/exec, extension: {audience: lab}}]
contexts:
- name: arn:aws:eks:eu-west-1:1234:cluster/lab
  context: {cluster: "arn:aws:eks:eu-west-1:1234:cluster/lab", user: "arn:aws:eks:eu-west-1:1234:cluster/lab"}
- name: gke_lab_europe-west1_lab
  context: {cluster: gke_lab_europe-west1_lab, user: gke_lab_europe-west1_lab}
users:
- name: arn:aws:eks:eu-west-1:1234:cluster/lab
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1beta1
      args: [--region, eu-west-1, eks, get-token, --cluster-name, lab, --output, json]
      command: aws
      env:
      - {name: AWS_PROFILE, value: lab}
- name: gke_lab_europe-west1_lab
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1beta1
      command: gke-gcloud-auth-plugin
      args: null
      env: null
      installHint: Install gke-gcloud-auth-plugin for use with kubectl
      interactiveMode: IfAvailable
      provideClusterInfo: true
)";

TEST(Kubeconfig, AsCloudsWriteThem) {
  Result<Access> eks = read_kubeconfig({{"/f", kClouds}}, "");
  ASSERT_TRUE(eks.ok()) << eks.error().message;
  EXPECT_EQ(eks->ca.data, "PEM");
  EXPECT_EQ(eks->exec->command, "aws");  // looked up in PATH
  EXPECT_EQ(eks->exec->args.size(), 8u);
  EXPECT_EQ(eks->exec->env, (std::vector<std::pair<std::string, std::string>>{{"AWS_PROFILE", "lab"}}));
  EXPECT_TRUE(eks->exec->may_ask);
  EXPECT_EQ(exec_info(*eks, "PEM", false),
            R"({"apiVersion":"client.authentication.k8s.io/v1beta1","kind":"ExecCredential",)"
            R"("spec":{"interactive":false}})");
  Result<Access> gke = read_kubeconfig({{"/f", kClouds}}, "gke_lab_europe-west1_lab");
  ASSERT_TRUE(gke.ok()) << gke.error().message;
  EXPECT_TRUE(gke->exec->args.empty());
  EXPECT_EQ(gke->exec->install_hint, "Install gke-gcloud-auth-plugin for use with kubectl");
  EXPECT_EQ(exec_info(*gke, "PEM", true),
            R"({"apiVersion":"client.authentication.k8s.io/v1beta1","kind":"ExecCredential",)"
            R"("spec":{"interactive":true,"cluster":{"server":"https://10.1.2.3",)"
            R"("certificate-authority-data":"UEVN","config":{"audience":"lab"}}}})");
}

TEST(Kubeconfig, WhatPluginsPrintIsRead) {
  constexpr const char* kV1 = "client.authentication.k8s.io/v1";
  Result<ExecCredential> read = read_exec_credential(
      R"({"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential",
          "status":{"token":"t","expirationTimestamp":"1970-01-01T00:00:09Z"}})",
      kV1);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(*read, (ExecCredential{"t", "", "", Time{9000}}));
  for (
      const FaultRow& row : {
          FaultRow{"hello", "no JSON"},
          FaultRow{R"({"kind":"Pod"})", "no ExecCredential"},
          FaultRow{R"({"kind":"ExecCredential","apiVersion":"v0"})", "of v0"},
          FaultRow{R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1"})", "neither"},
          FaultRow{
              R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"clientKeyData":"k"}})",
              "without its certificate"},
          FaultRow{
              R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"t","expirationTimestamp":"x"}})",
              "expirationTimestamp"},
      }) {
    Result<ExecCredential> bad = read_exec_credential(row.context, kV1);
    ASSERT_FALSE(bad.ok()) << row.context;
    EXPECT_THAT(bad.error().message, HasSubstr(row.says));
  }
}

TEST(Kubeconfig, UrlsAreTakenApart) {
  struct Row {
    std::string url;
    Endpoint endpoint;
  };
  for (const Row& row : {
           Row{"https://a:6443", {true, "a", "6443", "", ""}},
           Row{"https://a", {true, "a", "443", "", ""}},
           Row{"http://a/b/c/", {false, "a", "80", "/b/c", ""}},
           Row{"https://[::1]:7/x", {true, "::1", "7", "/x", ""}},
           Row{"http://u:p@proxy:3128", {false, "proxy", "3128", "", "u:p"}},
           Row{"http://u:p%40ss%2f%@proxy:3128", {false, "proxy", "3128", "", "u:p@ss/%"}},
           Row{"host:1", {true, "host", "1", "", ""}},
       }) {
    Result<Endpoint> read = read_url(row.url);
    ASSERT_TRUE(read.ok()) << row.url;
    EXPECT_EQ(*read, row.endpoint) << row.url;
  }
  for (std::string_view bad :
       {"", "https://", "socks5://a:1", "https://a:b", "https://a b", "https://a:1?x"}) {
    EXPECT_FALSE(read_url(bad).ok()) << bad;
  }
}

TEST(Kubeconfig, ProxiesSpeakHttpOrTlsOrSocks) {
  struct Row {
    std::string url;
    Endpoint endpoint;
  };
  for (const Row& row : {
           Row{"proxy:3128", {false, "proxy", "3128", "", ""}},
           Row{"http://proxy", {false, "proxy", "80", "", ""}},
           Row{"https://u:p@proxy", {true, "proxy", "443", "", "u:p"}},
           Row{"https://proxy:3129", {true, "proxy", "3129", "", ""}},
           Row{"socks5://u:p@proxy", {false, "proxy", "1080", "", "u:p", true}},
           Row{"socks5h://[::1]:9", {false, "::1", "9", "", "", true}},
       }) {
    Result<Endpoint> read = read_proxy_url(row.url);
    ASSERT_TRUE(read.ok()) << row.url;
    EXPECT_EQ(*read, row.endpoint) << row.url;
  }
  for (std::string_view bad : {"", "ftp://a:1", "https://", "socks4://a:1", "socks5://", "socks5://a:b"}) {
    EXPECT_FALSE(read_proxy_url(bad).ok()) << bad;
  }
}

TEST(Kubeconfig, AuthoritiesOfUrls) {
  EXPECT_EQ(authority_of(*read_url("https://a")), "a:443");
  EXPECT_EQ(authority_of(*read_url("https://[fd00::1]:6443")), "[fd00::1]:6443");
}

TEST(Kubeconfig, ProxiesOfTheEnvironment) {
  Access access;
  access.server = "https://api.lab.example:6443";
  EXPECT_EQ(proxy_for(access, "http://p:1", ""), "http://p:1");
  EXPECT_EQ(proxy_for(access, "http://p:1", "other, lab.example"), "");
  EXPECT_EQ(proxy_for(access, "http://p:1", ".example"), "");
  EXPECT_EQ(proxy_for(access, "http://p:1", "*"), "");
  EXPECT_EQ(proxy_for(access, "http://p:1", "*.lab.example"), "");
  EXPECT_EQ(proxy_for(access, "http://p:1", "*.other.example, 10.0.0.0/8"), "http://p:1");
  access.proxy_url = "http://own:1";
  EXPECT_EQ(proxy_for(access, "http://p:1", "*"), "http://own:1");
  access = {};
  access.server = "https://127.0.0.1:6443";
  EXPECT_EQ(proxy_for(access, "http://p:1", ""), "");
}

TEST(Kubeconfig, NetworksWithoutAProxy) {
  struct Row {
    std::string_view host, no_proxy;
    bool excepted;
  };
  for (const Row& row : {
           Row{"10.96.0.1", "10.0.0.0/8", true},
           Row{"10.96.0.1", "192.168.0.0/16, 10.96.0.0/12", true},
           Row{"10.112.0.1", "10.96.0.0/12", false},
           Row{"10.96.0.1", "10.96.0.1/32", true},
           Row{"10.96.0.2", "10.96.0.1/32", false},
           Row{"10.96.0.1", "0.0.0.0/0", true},
           Row{"[fd00:1::1]", "fd00::/8", true},
           Row{"[fe00:1::1]", "fd00::/8", false},
           Row{"10.96.0.1", "fd00::/8", false},
           Row{"10.96.0.1", "10.0.0.0/33", false},
           Row{"10.96.0.1", "10.0.0.0/", false},
           Row{"10.96.0.1", "10.0.0.0/8x", false},
           Row{"api.lab.example", "10.0.0.0/8", false},
       }) {
    Access access;
    access.server = "https://" + std::string(row.host) + ":6443";
    EXPECT_EQ(proxy_for(access, "http://p:1", row.no_proxy), row.excepted ? "" : "http://p:1")
        << row.host << " " << row.no_proxy;
  }
}

}  // namespace
}  // namespace trainyard::client
