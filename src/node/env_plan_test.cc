#include "node/env_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/json.h"
#include "node/testing.h"

namespace trainyard::node {
namespace {

using testing::object;
using testing::parse;

TEST(Expand, FollowsKubernetes) {
  const std::map<std::string, std::string> values{{"A", "1"}, {"B", "two"}};
  const std::pair<std::string, std::string> cases[] = {
      {"$(A)", "1"},
      {"x$(A)y$(B)", "x1ytwo"},
      {"$(C)", "$(C)"},
      {"$$(A)", "$(A)"},
      {"$$", "$"},
      {"$$$(A)", "$1"},
      {"$A", "$A"},
      {"$", "$"},
      {"$(A", "$(A"},
      {"", ""},
      {"$(A)$$(B)", "1$(B)"},
      {"a$b$(", "a$b$("},
  };
  for (const auto& [text, wanted] : cases) EXPECT_EQ(expand(text, values), wanted) << text;
}

const json::object& pod_with_labels() {
  static const json::object kPod = parse(R"j({"metadata":{"name":"p","namespace":"ns","uid":"u",
    "labels":{"role":"worker","app":"x"},"annotations":{"note":"a\"b"}},
    "spec":{"serviceAccountName":"sa","containers":[{"name":"main","resources":
      {"limits":{"cpu":"1500m","memory":"1Gi"},"requests":{"cpu":"500m"}}},{"name":"bare"}]}})j");
  return kPod;
}

Around around() {
  Around out;
  out.config_maps["cm"] = object(R"j({"data":{"k":"v","bad name":"x"},"binaryData":{"bin":"AAE="}})j");
  out.secrets["s"] = object(R"j({"data":{"password":"aHVudGVyMg=="}})j");
  out.node_name = "n1";
  out.host_ip = "10.0.0.1";
  out.pod_ip = "10.0.0.2";
  out.node_cpu_millis = 8000;
  out.node_memory_bytes = 1024;
  out.node_disk_bytes = 2048;
  return out;
}

TEST(FieldOf, ReadsTheDownwardApi) {
  const std::pair<std::string, std::string> cases[] = {
      {"metadata.name", "p"},
      {"metadata.namespace", "ns"},
      {"metadata.uid", "u"},
      {"metadata.labels['role']", "worker"},
      {"metadata.labels['none']", ""},
      {"metadata.annotations['note']", "a\"b"},
      {"metadata.labels", "app=\"x\"\nrole=\"worker\""},
      {"spec.nodeName", "n1"},
      {"spec.serviceAccountName", "sa"},
      {"status.hostIP", "10.0.0.1"},
      {"status.podIP", "10.0.0.2"},
  };
  for (const auto& [path, wanted] : cases) {
    Result<std::string> value = field_of(pod_with_labels(), around(), path);
    ASSERT_TRUE(value.ok()) << path;
    EXPECT_EQ(*value, wanted) << path;
  }
  EXPECT_EQ(field_of(pod_with_labels(), around(), "spec.volumes").error().message,
            "unsupported fieldPath: spec.volumes");
}

TEST(ResourceFieldOf, DividesAndRoundsUp) {
  const std::pair<std::string, std::string> cases[] = {
      {R"j({"resource":"limits.cpu"})j", "2"},
      {R"j({"resource":"limits.cpu","divisor":"1m"})j", "1500"},
      {R"j({"resource":"requests.cpu","divisor":"1m"})j", "500"},
      {R"j({"resource":"limits.memory","divisor":"1Mi"})j", "1024"},
      {R"j({"resource":"limits.cpu","containerName":"bare"})j", "8"},
      {R"j({"resource":"limits.memory","containerName":"bare"})j", "1024"},
      {R"j({"resource":"limits.ephemeral-storage","containerName":"bare"})j", "2048"},
      {R"j({"resource":"requests.memory","containerName":"bare"})j", "0"},
  };
  for (const auto& [reference, wanted] : cases) {
    Result<std::string> value = resource_field_of(pod_with_labels(), parse(reference), "main", around());
    ASSERT_TRUE(value.ok()) << reference;
    EXPECT_EQ(*value, wanted) << reference;
  }
  EXPECT_FALSE(resource_field_of(pod_with_labels(), parse(R"j({"resource":"cpu"})j"), "main", around()).ok());
}

std::string env_in_words(std::string_view container, const Around& with) {
  Result<Env> env = plan_env(pod_with_labels(), parse(container), with);
  if (!env.ok()) return "error: " + env.error().message;
  std::string words;
  for (const auto& [name, value] : *env) words += (words.empty() ? "" : " ") + name + "=" + value;
  return words;
}

TEST(PlanEnv, CollectsFromEverywhere) {
  struct Case {
    std::string container;
    std::string wanted;
  };
  const Case cases[] = {
      {R"j({"env":[{"name":"A","value":"1"},{"name":"B","value":"$(A)$(C)"},{"name":"C","value":"3"}]})j",
       "A=1 B=1$(C) C=3"},
      {R"j({"env":[{"name":"A","value":"1"},{"name":"A","value":"$(A)2"}]})j", "A=12"},
      {R"j({"envFrom":[{"configMapRef":{"name":"cm"},"prefix":"P_"}]})j", "P_k=v"},
      {R"j({"envFrom":[{"secretRef":{"name":"s"}}],"env":[{"name":"password","value":"over"}]})j",
       "password=over"},
      {R"j({"env":[{"name":"P","valueFrom":{"secretKeyRef":{"name":"s","key":"password"}}}]})j", "P=hunter2"},
      {R"j({"env":[{"name":"K","valueFrom":{"configMapKeyRef":{"name":"cm","key":"k"}}}]})j", "K=v"},
      {R"j({"env":[{"name":"N","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}}]})j", "N=p"},
      {R"j({"name":"main","env":[{"name":"C","valueFrom":{"resourceFieldRef":{"resource":"limits.cpu"}}}]})j",
       "C=2"},
      {R"j({"env":[{"name":"P","valueFrom":{"secretKeyRef":{"name":"no","key":"x"}}}]})j",
       "error: secret \"no\" not found"},
      {R"j({"env":[{"name":"P","valueFrom":{"configMapKeyRef":{"name":"no","key":"x"}}}]})j",
       "error: configmap \"no\" not found"},
      {R"j({"env":[{"name":"P","valueFrom":{"secretKeyRef":{"name":"s","key":"x"}}}]})j",
       "error: couldn't find key x in Secret ns/s"},
      {R"j({"env":[{"name":"P","valueFrom":{"configMapKeyRef":{"name":"cm","key":"x"}}}]})j",
       "error: couldn't find key x in ConfigMap ns/cm"},
      {R"j({"env":[{"name":"P","valueFrom":{"configMapKeyRef":{"name":"cm","key":"bin"}}}]})j",
       "error: couldn't find key bin in ConfigMap ns/cm"},
      {R"j({"env":[{"name":"P","valueFrom":{"secretKeyRef":{"name":"no","key":"x","optional":true}}}]})j",
       ""},
      {R"j({"envFrom":[{"secretRef":{"name":"no"}}]})j", "error: secret \"no\" not found"},
      {R"j({"envFrom":[{"configMapRef":{"name":"no","optional":true}}]})j", ""},
  };
  Around with = around();
  with.config_maps["cm"] = object(R"j({"data":{"k":"v","bad name":"x"},"binaryData":{"bin":"AAE="}})j");
  for (const Case& each : cases) EXPECT_EQ(env_in_words(each.container, with), each.wanted) << each.container;
}

TEST(PlanEnv, KeysThatAreNoNamesAreSpokenOf) {
  Around with;
  with.config_maps["cm"] = object(R"j({"data":{"1a":"x","b c":"x","k":"v"}})j");
  json::object pod = parse(R"j({"metadata":{"name":"p","namespace":"ns"}})j");
  json::object container = parse(R"j({"envFrom":[{"configMapRef":{"name":"cm"}},
      {"prefix":"P_","configMapRef":{"name":"cm"}}]})j");
  std::vector<std::string> left_out;
  Result<Env> env = plan_env(pod, container, with, &left_out);
  ASSERT_TRUE(env.ok());
  EXPECT_EQ(*env, (Env{{"k", "v"}, {"P_1a", "x"}, {"P_k", "v"}}));
  EXPECT_EQ(left_out, (std::vector<std::string>{
                          "Keys [1a, b c] from the EnvFrom configMap ns/cm were skipped since they are "
                          "considered invalid environment variable names.",
                          "Keys [P_b c] from the EnvFrom configMap ns/cm were skipped since they are "
                          "considered invalid environment variable names."}));
}

TEST(PlanEnv, ValuesThatDoubleOneAnotherEndWhereLinuxDoes) {
  json::array env{json::object{{"name", "A0"}, {"value", "0123456789abcdef"}}};
  for (int i = 1; i < 50; ++i) {
    env.push_back(
        json::object{{"name", fmt::format("A{}", i)}, {"value", fmt::format("$(A{0})$(A{0})", i - 1)}});
  }
  json::object container{{"name", "c"}, {"env", env}};
  Result<Env> some = plan_env({}, container, {});
  ASSERT_FALSE(some.ok());
  EXPECT_THAT(some.error().message, ::testing::HasSubstr("the environment is larger than 8388608 bytes"));

  const std::map<std::string, std::string> values{{"X", std::string(100'000, 'x')}};
  std::string many;
  for (int i = 0; i < 1'000; ++i) many += "$(X)";
  EXPECT_EQ(expand(many, values).size(), 200'000u);
  // What is long by itself stays whole.
  EXPECT_EQ(expand(std::string(300'000, 'y'), values).size(), 300'000u);
}

TEST(PlanEnv, ServicesWithAnAddressAreInjectedByTheirNames) {
  Around with;
  with.services = {
      object(R"j({"metadata":{"name":"my-db","namespace":"ns"},"spec":{"clusterIP":"10.1.1.1",
      "ports":[{"name":"main","port":80,"targetPort":8080},{"port":81,"protocol":"UDP"}]}})j"),
      object(R"j({"metadata":{"name":"headless"},"spec":{"clusterIP":"None","ports":[{"port":1}]}})j")};
  EXPECT_EQ(
      env_in_words(R"j({"env":[{"name":"U","value":"$(MY_DB_PORT)"
}]
})j",
                   with),
      "MY_DB_SERVICE_HOST=my-db.ns.svc MY_DB_SERVICE_PORT=8080 MY_DB_PORT=tcp://my-db.ns.svc:8080 "
      "MY_DB_SERVICE_PORT_MAIN=8080 MY_DB_PORT_80_TCP=tcp://my-db.ns.svc:8080 MY_DB_PORT_80_TCP_PROTO=tcp "
      "MY_DB_PORT_80_TCP_PORT=8080 MY_DB_PORT_80_TCP_ADDR=my-db.ns.svc "
      "MY_DB_PORT_81_UDP=udp://my-db.ns.svc:81 "
      "MY_DB_PORT_81_UDP_PROTO=udp MY_DB_PORT_81_UDP_PORT=81 MY_DB_PORT_81_UDP_ADDR=my-db.ns.svc "
      "U=tcp://my-db.ns.svc:8080");
}

}  // namespace
}  // namespace trainyard::node
