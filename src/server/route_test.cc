#include "server/route.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/match.h"
#include "server/uri.h"

namespace trainyard::server {
namespace {

std::string shown_route(std::string_view path) {
  std::optional<Route> route = route_of(parse_target(path)->segments);
  if (!route) return "nothing";
  return std::visit(Match{[](const PagePath& p) {
                            return fmt::format("page {} '{}' '{}'", static_cast<int>(p.page), p.group,
                                               p.version);
                          },
                          [](const ResourcePath& p) {
                            return fmt::format("{}/{} ns={} {} name={} sub={} rest={}", p.group, p.version,
                                               p.ns, p.plural, p.name, p.subresource, p.rest.size());
                          }},
                    *route);
}

TEST(RouteTest, ResourcePaths) {
  const std::pair<std::string_view, std::string_view> kCases[] = {
      {"/api/v1/pods", "/v1 ns= pods name= sub= rest=0"},
      {"/api/v1/namespaces", "/v1 ns= namespaces name= sub= rest=0"},
      {"/api/v1/namespaces/a", "/v1 ns= namespaces name=a sub= rest=0"},
      {"/api/v1/namespaces/a/status", "/v1 ns= namespaces name=a sub=status rest=0"},
      {"/api/v1/namespaces/a/finalize", "/v1 ns= namespaces name=a sub=finalize rest=0"},
      {"/api/v1/namespaces/a/pods", "/v1 ns=a pods name= sub= rest=0"},
      {"/api/v1/namespaces/a/pods/p", "/v1 ns=a pods name=p sub= rest=0"},
      {"/api/v1/namespaces/a/pods/p/log", "/v1 ns=a pods name=p sub=log rest=0"},
      {"/api/v1/namespaces/a/pods/p/proxy/x/y", "/v1 ns=a pods name=p sub=proxy rest=2"},
      {"/apis/kubeflow.org/v1/tfjobs", "kubeflow.org/v1 ns= tfjobs name= sub= rest=0"},
      {"/apis/kubeflow.org/v1/namespaces/a/tfjobs/j/status",
       "kubeflow.org/v1 ns=a tfjobs name=j sub=status rest=0"},
      {"/api/v1/nodes/n/status", "/v1 ns= nodes name=n sub=status rest=0"},
  };
  for (auto [path, wanted] : kCases) EXPECT_EQ(shown_route(path), wanted) << path;
}

TEST(RouteTest, Pages) {
  auto page = [](Page page, std::string_view group = "", std::string_view version = "") {
    return fmt::format("page {} '{}' '{}'", static_cast<int>(page), group, version);
  };
  EXPECT_EQ(shown_route("/"), page(Page::kRoot));
  EXPECT_EQ(shown_route("/version"), page(Page::kVersion));
  EXPECT_EQ(shown_route("/readyz"), page(Page::kHealth));
  EXPECT_EQ(shown_route("/healthz/ping"), page(Page::kHealth));
  EXPECT_EQ(shown_route("/metrics"), page(Page::kMetrics));
  EXPECT_EQ(shown_route("/api"), page(Page::kApiVersions));
  EXPECT_EQ(shown_route("/apis/"), page(Page::kApiGroups));
  EXPECT_EQ(shown_route("/apis/batch"), page(Page::kApiGroup, "batch"));
  EXPECT_EQ(shown_route("/api/v1"), page(Page::kResources, "", "v1"));
  EXPECT_EQ(shown_route("/apis/batch/v1"), page(Page::kResources, "batch", "v1"));
  EXPECT_EQ(shown_route("/openapi/v2"), page(Page::kOpenApiV2));
  EXPECT_EQ(shown_route("/openapi/v3"), page(Page::kOpenApiV3Root));
  EXPECT_EQ(shown_route("/openapi/v3/api/v1"), page(Page::kOpenApiV3, "", "v1"));
  EXPECT_EQ(shown_route("/openapi/v3/apis/batch/v1"), page(Page::kOpenApiV3, "batch", "v1"));
}

TEST(RouteTest, NothingElse) {
  for (std::string_view path : {"/openapi", "/openapi/v3/x", "/version/x", "/favicon.ico", "/swagger.json"}) {
    EXPECT_EQ(shown_route(path), "nothing") << path;
  }
}

}  // namespace
}  // namespace trainyard::server
