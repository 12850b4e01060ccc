// How a server is reached: TLS and whom it trusts, proxies, and for whom we speak.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "client/http_testing.h"

namespace trainyard::client {
namespace {

using ::testing::HasSubstr;

TEST(HttpReach, TlsTrustsItsOwnAuthorityAndShowsItsCertificate) {
  Certificates certificates;
  Pem pem = certificates.issue("server", "IP:127.0.0.1,DNS:api.example");
  Pem me = certificates.issue("someone", "");
  Mailbox<std::string> peers;
  TestServer server(
      [&](Peer& peer, const Heard& request) {
        peers.put(request.peer);
        peer.answer(200, kHeardPod);
        return true;
      },
      &pem, certificates.authority());
  Access access = access_to(server);
  access.ca.data = certificates.authority();
  access.certificate.data = me.certificate;
  access.key.data = me.key;
  for (const char* name : {"", "api.example"}) {
    access.tls_server_name = name;
    Result<Reply> reply = client_of(access)->send(get_pod());
    ASSERT_TRUE(reply.ok()) << reply.error().message;
    EXPECT_EQ(*peers.take(), "someone");
  }
}

TEST(HttpReach, TlsRefusesStrangers) {
  Certificates certificates;
  Certificates others;
  Pem pem = certificates.issue("server", "DNS:other.example");
  std::atomic<int> requests{0};
  TestServer server(
      [&](Peer& peer, const Heard&) {
        ++requests;
        peer.answer(200, kHeardPod);
        return true;
      },
      &pem);
  Access access = access_to(server);
  access.ca.data = certificates.authority();
  Result<Reply> wrong_name = client_of(access)->send(create_pod());
  ASSERT_FALSE(wrong_name.ok());
  EXPECT_EQ(wrong_name.error().kind, ErrorKind::kUnavailable);
  EXPECT_THAT(wrong_name.error().message,
              testing::AllOf(HasSubstr("not trusted for '127.0.0.1'"), HasSubstr("context 'test' of f")));
  access.tls_server_name = "other.example";
  EXPECT_TRUE(client_of(access)->send(get_pod()).ok());
  access.ca.data = others.authority();
  Result<Reply> stranger = client_of(access)->send(get_pod());
  ASSERT_FALSE(stranger.ok());
  EXPECT_THAT(stranger.error().message, HasSubstr("not trusted"));
  EXPECT_EQ(requests, 1);
  access.ca = {};
  access.insecure = true;
  EXPECT_TRUE(client_of(access)->send(get_pod()).ok());
}

// As when a cluster's authority is rotated and the file in the pod with it.
TEST(HttpReach, AuthoritiesAreReadAgainWhenTheServerIsNotTrusted) {
  Certificates before;
  Certificates after;
  Pem pem = after.issue("server", "IP:127.0.0.1");
  TestServer server(
      [&](Peer& peer, const Heard&) {
        peer.answer(200, kHeardPod);
        return true;
      },
      &pem);
  std::string file = testing::TempDir() + "rotated-ca.crt";
  std::ofstream(file) << before.authority();
  Access access = access_to(server);
  access.ca.file = file;
  auto client = client_of(access);
  EXPECT_FALSE(client->send(get_pod()).ok());
  std::ofstream(file) << after.authority();
  Result<Reply> reply = client->send(get_pod());
  EXPECT_TRUE(reply.ok()) << reply.error().message;
  std::filesystem::remove(file);
}

TEST(HttpReach, SpeaksForWhomTheKubeconfigNames) {
  Mailbox<Heard> heard;
  TestServer server([&](Peer& peer, const Heard& request) {
    heard.put(request);
    if (request.target == "/exec") {
      peer.answer(404, "{}");
    } else {
      peer.answer(200, kHeardPod);
    }
    return true;
  });
  Access access = access_to(server);
  access.as_user = "boss";
  access.as_uid = "7";
  access.as_groups = {"g", "h"};
  access.as_extra = {{"example.com/a", "v"}, {"example.com/a", "w"}};
  auto client = client_of(access);
  ASSERT_TRUE(client->send(get_pod()).ok());
  EXPECT_FALSE(client->exec("/exec", {}).ok());
  for (const char* way : {"a request", "a command"}) {
    Heard request = *heard.take();
    EXPECT_EQ(request.headers["impersonate-user"], "boss") << way;
    EXPECT_EQ(request.headers["impersonate-uid"], "7") << way;
    EXPECT_EQ(request.headers["impersonate-group"], "g, h") << way;
    EXPECT_EQ(request.headers["impersonate-extra-example.com%2fa"], "v, w") << way;
  }
}

TEST(HttpReach, AProxyIsGoneThrough) {
  Mailbox<std::string> targets;
  TestServer proxy([&](Peer& peer, const Heard& request) {
    targets.put(request.method + " " + request.target);
    if (request.method == "CONNECT") {
      peer.send("HTTP/1.1 200 Connection established\r\n\r\n");
    } else {
      peer.answer(200, kHeardPod);
    }
    return true;
  });
  Access access;
  access.server = "http://api.example:6443";
  access.proxy_url = proxy.url();
  Result<Reply> reply = client_of(access)->send(get_pod());
  ASSERT_TRUE(reply.ok()) << reply.error().message;
  EXPECT_EQ(*targets.take(), "CONNECT api.example:6443");
  EXPECT_EQ(*targets.take(), "GET /api/v1/namespaces/ns/pods/p");
}

// The server's certificate is looked at through the tunnel, and the proxy is told who we are.
TEST(HttpReach, TlsGoesThroughAProxy) {
  Certificates certificates;
  Pem pem = certificates.issue("server", "DNS:api.example");
  SSL_CTX* inner = server_context(pem);
  Mailbox<Heard> heard;
  TestServer proxy([&](Peer& peer, const Heard& request) {
    heard.put(request);
    if (request.method == "CONNECT") {
      peer.send("HTTP/1.1 200 Connection established\r\n\r\n");
      return peer.greet(inner);
    }
    peer.answer(200, kHeardPod);
    return true;
  });
  Access access;
  access.server = "https://api.example:6443";
  access.ca.data = certificates.authority();
  access.proxy_url = fmt::format("http://me:p%40ss@127.0.0.1:{}", proxy.port());
  Result<Reply> reply = client_of(access)->send(get_pod());
  EXPECT_TRUE(reply.ok()) << reply.error().message;
  Heard asked = *heard.take();
  EXPECT_EQ(asked.target, "api.example:6443");
  EXPECT_EQ(asked.headers["proxy-authorization"], "Basic " + kube::encode_base64("me:p@ss"));
  EXPECT_FALSE(asked.headers.contains("authorization"));
  EXPECT_EQ(heard.take()->target, "/api/v1/namespaces/ns/pods/p");
  SSL_CTX_free(inner);
}

TEST(HttpReach, TlsGoesThroughASocksProxy) {
  Certificates certificates;
  Pem pem = certificates.issue("server", "DNS:api.example");
  SSL_CTX* inner = server_context(pem);
  Mailbox<std::string> asked;
  auto connect = [&](Peer& peer) {
    asked.put(peer.exactly(4));
    peer.send("\5\2");
    asked.put(peer.exactly(9));
    peer.send({"\1\0", 2});
    asked.put(peer.exactly(18));
    peer.send({"\5\0\0\1\0\0\0\0\0\0", 10});
    return peer.greet(inner);
  };
  TestServer proxy(
      [&](Peer& peer, const Heard& request) {
        asked.put(request.target);
        peer.answer(200, kHeardPod);
        return true;
      },
      nullptr, "", connect);
  Access access;
  access.server = "https://api.example:6443";
  access.ca.data = certificates.authority();
  access.proxy_url = fmt::format("socks5://me:p%40ss@127.0.0.1:{}", proxy.port());
  Result<Reply> reply = client_of(access)->send(get_pod());
  EXPECT_TRUE(reply.ok()) << reply.error().message;
  EXPECT_EQ(*asked.take(), (std::string{5, 2, 0, 2}));
  EXPECT_EQ(*asked.take(), "\1\2me\4p@ss");
  EXPECT_EQ(*asked.take(), std::string("\5\1\0\3\13api.example\x19\x2b", 18));
  EXPECT_EQ(*asked.take(), "/api/v1/namespaces/ns/pods/p");
  SSL_CTX_free(inner);
}

TEST(HttpReach, ASocksProxyThatRefusesIsTold) {
  TestServer proxy([](Peer&, const Heard&) { return false; }, nullptr, "",
                   [](Peer& peer) {
                     peer.exactly(3);
                     peer.send({"\5\0", 2});
                     peer.exactly(18);
                     peer.send({"\5\5\0\1\0", 5});
                     return false;
                   });
  Access access;
  access.server = "https://api.example:6443";
  access.proxy_url = fmt::format("socks5://127.0.0.1:{}", proxy.port());
  Result<Reply> reply = client_of(access)->send(get_pod());
  ASSERT_FALSE(reply.ok());
  EXPECT_THAT(reply.error().message, HasSubstr("the connection was refused"));
}

TEST(HttpReach, TheProxyOfTheEnvironmentIsGoneThrough) {
  Mailbox<std::string> targets;
  TestServer proxy([&](Peer& peer, const Heard& request) {
    targets.put(request.method + " " + request.target);
    peer.answer(403, "");
    return false;
  });
  Access access;
  access.server = "https://192.0.2.1";
  HttpOptions options;
  options.connect_timeout = Duration{50};
  setenv("HTTPS_PROXY", proxy.url().c_str(), 1);
  Result<Reply> refused = client_of(access, options)->send(get_pod());
  setenv("NO_PROXY", "192.0.2.0/24", 1);
  Result<Reply> direct = client_of(access, options)->send(get_pod());
  unsetenv("HTTPS_PROXY");
  unsetenv("NO_PROXY");
  EXPECT_EQ(*targets.take(), "CONNECT 192.0.2.1:443");
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("proxy 127.0.0.1 answered 403"));
  ASSERT_FALSE(direct.ok());
  EXPECT_THAT(direct.error().message, testing::Not(HasSubstr("proxy")));
}

}  // namespace
}  // namespace trainyard::client
