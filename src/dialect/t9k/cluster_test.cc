#include "dialect/t9k/cluster.h"

#include <gtest/gtest.h>

#include "dialect/t9k/name.h"
#include "dialect/t9k/testing.h"

namespace trainyard::t9k {
namespace {

using testing::from_yaml;
using testing::job;
using testing::kPrefix;
using testing::lowered;
using testing::replica_spec;

struct ConfigCase {
  std::string specs;
  model::ReplicaId id;
  dialect::Settings settings;
  std::string expected;  // with P for the prefix
};

TEST(T9kCluster, TfConfig) {
  const std::string all = replica_spec("chief", 1) + replica_spec("ps", 1) + replica_spec("worker", 2) +
                          replica_spec("evaluator", 1);
  const std::string three = R"("chief":["P-chief-0.demo.svc:2222"],"ps":["P-ps-0.demo.svc:2222"],)"
                            R"("worker":["P-worker-0.demo.svc:2222","P-worker-1.demo.svc:2222"])";
  const ConfigCase cases[] = {
      {all, {2, 1}, {}, "{\"cluster\":{" + three + R"(},"task":{"type":"worker","index":1}})"},
      {all, {3, 0}, {}, "{\"cluster\":{" + three + R"(},"task":{"type":"evaluator","index":0}})"},
      {all,
       {0, 0},
       {.evaluator_in_cluster = true},
       "{\"cluster\":{" + three +
           R"(,"evaluator":["P-evaluator-0.demo.svc:2222"]},"task":{"type":"chief","index":0}})"},
      // One replica: the scripts written for T9k read TF_CONFIG without asking.
      {replica_spec("worker", 1),
       {0, 0},
       {.cluster_domain = "cluster.local"},
       R"({"cluster":{"worker":["P-worker-0.demo.svc.cluster.local:2222"]},"task":{"type":"worker","index":0}})"},
      {replica_spec("worker", 1) + replica_spec("ps", 0),
       {0, 0},
       {},
       R"({"cluster":{"worker":["P-worker-0.demo.svc:2222"]},"task":{"type":"worker","index":0}})"},
  };
  for (const ConfigCase& c : cases) {
    std::string expected = c.expected;
    for (size_t at; (at = expected.find("\"P-")) != std::string::npos;)
      expected.replace(at, 3, "\"" + kPrefix + "-");
    EXPECT_EQ(tf_config(lowered(job(c.specs)), c.settings, c.id), expected);
  }
}

TEST(T9kCluster, EachRoleHasItsOwnPort) {
  json::object object = job(replica_spec("worker", 1) + replica_spec("ps", 1));
  json::value& ps = object["spec"].as_object()["replicaSpecs"].as_array()[1];
  json::value& container = ps.at("template").at("spec").at("containers").as_array()[0];
  container.as_object()["ports"] = json::array{json::object{{"name", "tfjob-port"}, {"containerPort", 3333}}};
  EXPECT_EQ(tf_config(lowered(object), {}, {0, 0}),
            R"({"cluster":{"worker":[")" + kPrefix + R"(-worker-0.demo.svc:2222"],"ps":[")" + kPrefix +
                R"(-ps-0.demo.svc:3333"]},"task":{"type":"worker","index":0}})");
}

TEST(T9kCluster, DeclaredPortsAreServedToo) {
  auto ports = [](std::string_view declared) {
    std::string all;
    json::object pod_template =
        from_yaml("{spec: {containers: [{name: tensorflow, ports: " + std::string(declared) + "}]}}");
    for (const kube::ServicePort& port : ports_of(pod_template)) {
      all += fmt::format("{}:{}{} ", port.name, port.port, port.protocol);
    }
    return all;
  };
  EXPECT_EQ(ports("[]"), "tfjob-port:2222 ");
  EXPECT_EQ(ports("[{name: tfjob-port, containerPort: 3333}]"), "tfjob-port:3333 ");
  EXPECT_EQ(ports("[{containerPort: 2222}]"), "tfjob-port:2222 ");
  EXPECT_EQ(ports("[{containerPort: 6006}, {name: dns, containerPort: 53, protocol: UDP}]"),
            "tfjob-port:2222 port-6006:6006 dns:53UDP ");
}

}  // namespace
}  // namespace trainyard::t9k
