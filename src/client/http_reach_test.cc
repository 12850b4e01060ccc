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

// As of clusters whose authority is signed by that of their company, and as a certificate that somebody took
// from the server itself.
TEST(HttpReach, TlsTrustsWhatIsNamedWhoeverSignedIt) {
  Certificates company("company");
  Certificates cluster("cluster", company);
  Pem pem = cluster.issue("server", "IP:127.0.0.1");
  TestServer server(
      [&](Peer& peer, const Heard&) {
        peer.answer(200, kHeardPod);
        return true;
      },
      &pem);
  Access access = access_to(server);
  for (const std::string& trusted : {cluster.authority(), pem.certificate}) {
    access.ca.data = trusted;
    Result<Reply> reply = client_of(access)->send(get_pod());
    EXPECT_TRUE(reply.ok()) << reply.error().message;
  }
  access.ca.data = cluster.issue("another", "IP:127.0.0.1").certificate;
  EXPECT_FALSE(client_of(access)->send(get_pod()).ok());
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

// A proxy that speaks TLS itself, before a server that does; each has its own authority.
class TlsProxy {
 public:
  TlsProxy() : inner_(server_context(servers_.issue("server", "DNS:api.example"))) {
    std::ofstream(system_) << proxies_.authority();
    setenv("SSL_CERT_FILE", system_.c_str(), 1);
  }
  ~TlsProxy() {
    unsetenv("SSL_CERT_FILE");
    std::filesystem::remove(system_);
    SSL_CTX_free(inner_);
  }
  TlsProxy(const TlsProxy&) = delete;
  TlsProxy& operator=(const TlsProxy&) = delete;

  Access access(const std::string& user_info) const {
    Access access;
    access.server = "https://api.example:6443";
    access.ca.data = servers_.authority();
    access.proxy_url = fmt::format("https://{}127.0.0.1:{}", user_info, proxy_.port());
    return access;
  }
  const std::string& authority() const { return proxies_.authority(); }
  Mailbox<Heard>& heard() { return heard_; }

 private:
  bool answer(Peer& peer, const Heard& request) {
    heard_.put(request);
    if (request.method != "CONNECT") return answer_as_server(peer, request);
    auto credentials = request.headers.find("proxy-authorization");
    if (credentials == request.headers.end() ||
        credentials->second != "Basic " + kube::encode_base64("me:p@ss")) {
      peer.answer(407, "");
      return false;
    }
    peer.send("HTTP/1.1 200 Connection established\r\n\r\n");
    return peer.greet(inner_);
  }
  static bool answer_as_server(Peer& peer, const Heard& request) {
    if (request.target.find("watch=") == std::string::npos) {
      peer.answer(200, kHeardPod);
      return true;
    }
    peer.begin_chunks();
    peer.chunk(fmt::format(R"({{"type":"ADDED","object":{}}})", kHeardPod) + "\n");
    peer.chunk("");
    return true;
  }

  std::string system_ = testing::TempDir() + "system-authorities.crt";
  Certificates servers_;
  Certificates proxies_{"CN-proxies"};
  Pem pem_ = proxies_.issue("proxy", "IP:127.0.0.1");
  SSL_CTX* inner_;
  Mailbox<Heard> heard_;
  TestServer proxy_{[this](Peer& peer, const Heard& request) { return answer(peer, request); }, &pem_};
};

TEST(HttpReach, TlsGoesWithinTheTlsOfAProxy) {
  TlsProxy proxy;
  auto client = client_of(proxy.access("me:p%40ss@"));
  for (int i = 0; i < 3; ++i) {
    Result<Reply> reply = client->send(get_pod());
    ASSERT_TRUE(reply.ok()) << reply.error().message;
  }
  Heard asked = *proxy.heard().take();
  EXPECT_EQ(asked.method + " " + asked.target, "CONNECT api.example:6443");
  EXPECT_FALSE(asked.headers.contains("authorization"));
  // The connection is kept.
  for (int i = 0; i < 3; ++i) EXPECT_EQ(proxy.heard().take()->target, "/api/v1/namespaces/ns/pods/p");
}

TEST(HttpReach, AWatchGoesWithinTheTlsOfAProxy) {
  TlsProxy proxy;
  auto client = client_of(proxy.access("me:p%40ss@"));
  Mailbox<std::string> told;
  WatchSink sink;
  sink.on_event = [&](const WatchEvent&) { told.put("event"); };
  sink.on_closed = [&](const std::optional<Error>& error) { told.put(error ? error->message : "end"); };
  auto watch = client->open({kube::kPods, "ns", kube::Watch{}}, sink);
  EXPECT_EQ(*told.take(), "event");
  EXPECT_EQ(*told.take(), "end");
}

TEST(HttpReach, AProxyWithTlsMustBeTrusted) {
  TlsProxy proxy;
  Access access = proxy.access("me:p%40ss@");
  unsetenv("SSL_CERT_FILE");
  auto client = client_of(access);
  Result<Reply> stranger = client->send(get_pod());
  ASSERT_FALSE(stranger.ok());
  EXPECT_THAT(stranger.error().message, HasSubstr("the proxy's certificate is not trusted for '127.0.0.1'"));
  // As client-go has it: the authority of the cluster may speak for the proxy too.
  access.ca.data += proxy.authority();
  Result<Reply> known = client_of(access)->send(get_pod());
  ASSERT_TRUE(known.ok()) << known.error().message;
  EXPECT_EQ(proxy.heard().take()->method, "CONNECT");
}

TEST(HttpReach, AServerBehindAProxyWithTlsMustBeTrusted) {
  TlsProxy proxy;
  Access access = proxy.access("me:p%40ss@");
  access.ca.data = proxy.authority();
  Result<Reply> stranger = client_of(access)->send(get_pod());
  ASSERT_FALSE(stranger.ok());
  EXPECT_THAT(stranger.error().message,
              HasSubstr("the server's certificate is not trusted for 'api.example'"));
}

TEST(HttpReach, AProxyThatWantsOtherCredentialsIsTold) {
  TlsProxy proxy;
  Result<Reply> wrong = client_of(proxy.access("me:wrong@"))->send(get_pod());
  ASSERT_FALSE(wrong.ok());
  EXPECT_THAT(wrong.error().message,
              HasSubstr("proxy 127.0.0.1 answered 407: it does not take the user and the password"));
  Result<Reply> none = client_of(proxy.access(""))->send(get_pod());
  ASSERT_FALSE(none.ok());
  EXPECT_THAT(none.error().message, HasSubstr("answered 407: it wants a user and a password"));
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
