#include "server/proxy_http.h"

#include <gtest/gtest.h>

#include "kube/yaml.h"

namespace trainyard::server {
namespace {

json::object yaml_of(const std::string& text) { return kube::parse_yaml(text)->at(0).body.as_object(); }

TEST(ProxyTargetOf, NamesPortsAndSchemes) {
  auto read = [](std::string_view text) {
    Result<ProxyTarget> target = proxy_target_of(text);
    return target.ok() ? target->name + " " + target->port : "! " + target.error().message;
  };
  EXPECT_EQ(read("a"), "a ");
  EXPECT_EQ(read("a:80"), "a 80");
  EXPECT_EQ(read("a:web"), "a web");
  EXPECT_EQ(read("http:a:80"), "a 80");
  EXPECT_EQ(read("http:a:"), "a ");
  EXPECT_EQ(read(":a:80"), "a 80");
  EXPECT_EQ(read("https:a:80"), "! \"https:a:80\": only plain HTTP is proxied");
  EXPECT_EQ(read("ftp:a:80"), "! \"ftp:a:80\": http:name:port is wanted");
  EXPECT_EQ(read("a:b:c:d"), "! \"a:b:c:d\": http:name:port is wanted");
  EXPECT_EQ(read(":80"), "! \":80\": a name is wanted");
}

TEST(ProxyPorts, AreFoundByNumberAndName) {
  json::object pod = yaml_of("spec: {containers: [{ports: [{name: web, containerPort: 6006}]}]}");
  EXPECT_EQ(pod_port_of(pod, "81"), 81);
  EXPECT_EQ(pod_port_of(pod, "web"), 6006);
  EXPECT_EQ(pod_port_of(pod, ""), 6006);
  EXPECT_EQ(pod_port_of(pod, "other"), std::nullopt);
  EXPECT_EQ(pod_port_of(pod, "70000"), std::nullopt);
  EXPECT_EQ(pod_port_of({}, ""), 80);
  json::object service = yaml_of("spec: {ports: [{name: a, port: 1, targetPort: web}, {name: b, port: 2}]}");
  EXPECT_EQ(service_target_port(service, ""), "web");
  EXPECT_EQ(service_target_port(service, "b"), "2");
  EXPECT_EQ(service_target_port(service, "2"), "2");
  EXPECT_EQ(service_target_port(service, "c"), std::nullopt);
}

TEST(ProxyPath, IsWhatFollowsTheWord) {
  EXPECT_EQ(path_behind_proxy("/api/v1/namespaces/n/pods/p:1/proxy/a/b?c=d", "pods"), "/a/b?c=d");
  EXPECT_EQ(path_behind_proxy("/api/v1/namespaces/n/pods/p/proxy/", "pods"), "/");
  EXPECT_EQ(path_behind_proxy("/api/v1/namespaces/n/pods/p/proxy", "pods"), "");
  EXPECT_EQ(path_behind_proxy("/api/v1/namespaces/n/pods/proxy/proxy/x", "pods"), "/x");
}

TEST(ProxyRequest, KeepsCredentialsToItself) {
  HttpRequest request{.method = "POST",
                      .headers = {{"Authorization", "Bearer secret"},
                                  {"Cookie", "secret"},
                                  {"Host", "us"},
                                  {"Accept", "text/html"},
                                  {"Connection", "keep-alive"}},
                      .body = "x=1"};
  EXPECT_EQ(proxied_request(request, "/a?b", "pod:80"),
            "POST /a?b HTTP/1.1\r\nHost: pod:80\r\nConnection: close\r\nAccept: text/html\r\n"
            "Content-Length: 3\r\n\r\nx=1");
}

TEST(ProxyResponse, IsWholeWhenItIs) {
  auto read = [](std::string_view bytes, bool ended = false, bool head = false) -> std::string {
    Result<std::optional<HttpResponse>> response = proxied_response(bytes, ended, head);
    if (!response.ok()) return "! " + response.error().message;
    if (!response->has_value()) return "more";
    return std::to_string((*response)->status) + " " + (*response)->content_type + " " + (*response)->body;
  };
  const std::string kHead = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n";
  EXPECT_EQ(read("HTT"), "more");
  EXPECT_EQ(read("HTT", true), "! its answer is not HTTP");
  EXPECT_EQ(read("SSH-2.0\r\n\r\n"), "! its answer is not HTTP");
  EXPECT_EQ(read(kHead + "Content-Length: 2\r\n\r\nh"), "more");
  EXPECT_EQ(read(kHead + "Content-Length: 2\r\n\r\nh", true), "! its answer was cut off");
  EXPECT_EQ(read(kHead + "Content-Length: 2\r\n\r\nhi"), "200 text/html hi");
  EXPECT_EQ(read(kHead + "\r\nhi"), "more");
  EXPECT_EQ(read(kHead + "\r\nhi", true), "200 text/html hi");
  EXPECT_EQ(read(kHead + "Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n"), "more");
  EXPECT_EQ(read(kHead + "Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n1;x\r\n!\r\n0\r\n\r\n"),
            "200 text/html hi!");
  EXPECT_EQ(read(kHead + "Transfer-Encoding: chunked\r\n\r\nzz\r\n"), "! its answer has a broken chunk");
  EXPECT_EQ(read("HTTP/1.1 304 Not Modified\r\n\r\n"), "304  ");
  EXPECT_EQ(read(kHead + "Content-Length: 2\r\n\r\n", false, true), "200 text/html ");
  EXPECT_EQ(read("HTTP/1.1 100 Continue\r\n\r\n" + kHead + "Content-Length: 1\r\n\r\nx"), "200 text/html x");
}

}  // namespace
}  // namespace trainyard::server
