#include "cli/unmet.h"

#include <gtest/gtest.h>

#include "kube/access.h"

namespace trainyard::cli {
namespace {

TEST(Unmet, References) {
  const json::object pod = json::parse(kube::jview(R"j({"spec":{
    "initContainers":[{"env":[{"name":"A","valueFrom":{"secretKeyRef":{"name":"s1","key":"k"}}}]}],
    "containers":[{"env":[{"name":"B","valueFrom":{"configMapKeyRef":{"name":"c1","key":"k"}}},
                          {"name":"C","valueFrom":{"secretKeyRef":{"name":"may","key":"k","optional":true}}}],
                   "envFrom":[{"secretRef":{"name":"s1"}},{"configMapRef":{"name":"c2"}}]}],
    "volumes":[{"name":"a","secret":{"secretName":"s2"}},{"name":"b","configMap":{"name":"c3"}},
               {"name":"c","persistentVolumeClaim":{"claimName":"p"}},{"name":"d","emptyDir":{}},
               {"name":"e","projected":{"sources":[{"secret":{"name":"s3"}},{"configMap":{"name":"x","optional":true}}]}}]
    }})j"))
                               .as_object();
  EXPECT_EQ(references_of(pod),
            (std::vector<std::string>{"secret/s1", "configmap/c1", "configmap/c2", "secret/s2",
                                      "configmap/c3", "claim/p", "secret/s3"}));
}

TEST(Unmet, Keys) {
  const json::object pod = json::parse(kube::jview(R"j({"spec":{
    "containers":[{"env":[{"name":"A","valueFrom":{"secretKeyRef":{"name":"s","key":"k"}}},
                          {"name":"B","valueFrom":{"secretKeyRef":{"name":"s","key":"k"}}},
                          {"name":"C","valueFrom":{"configMapKeyRef":{"name":"c","key":"k","optional":true}}}],
                   "envFrom":[{"secretRef":{"name":"s1"}}]}],
    "volumes":[{"name":"a","secret":{"secretName":"s2","items":[{"key":"x","path":"p"}]}},
               {"name":"b","configMap":{"name":"c3","optional":true,"items":[{"key":"x","path":"p"}]}},
               {"name":"e","projected":{"sources":[{"configMap":{"name":"c4","items":[{"key":"y","path":"p"}]}}]}}]
    }})j"))
                               .as_object();
  EXPECT_EQ(keys_of(pod), (std::vector<KeyReference>{
                              {"Secret", "s", "k", true}, {"Secret", "s2", "x"}, {"ConfigMap", "c4", "y"}}));
}

TEST(Unmet, ForeignVolumes) {
  const json::object pod = json::parse(kube::jview(R"j({"spec":{"volumes":[
    {"name":"a","nfs":{"server":"s","path":"/"}},{"name":"b","emptyDir":{}},{"name":"c"}]}})j"))
                               .as_object();
  using Pairs = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(foreign_volumes(pod), (Pairs{{"a", "nfs"}}));
}

TEST(Unmet, WithoutCommand) {
  const json::object pod = json::parse(kube::jview(R"j({"spec":{
    "initContainers":[{"name":"i","image":"x","args":[]}],
    "containers":[{"name":"a","image":"x","command":["true"]},{"name":"b","image":"x","args":["true"]},
                  {"name":"c","image":"y:1"}]}})j"))
                               .as_object();
  using Pairs = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(without_command(pod), (Pairs{{"i", "x"}, {"c", "y:1"}}));
}

TEST(Unmet, WantedElsewhere) {
  auto parsed = [](const char* text) { return json::parse(kube::jview(text)).as_object(); };
  const json::object node = parsed(R"j({"metadata":{"name":"here","labels":{"os":"linux"}}})j");
  EXPECT_EQ(wanted_elsewhere(parsed(R"j({"spec":{}})j"), node), std::nullopt);
  EXPECT_EQ(wanted_elsewhere(parsed(R"j({"spec":{"nodeSelector":{"os":"linux"}}})j"), node), std::nullopt);
  EXPECT_EQ(wanted_elsewhere(parsed(R"j({"spec":{"nodeSelector":{"gpu":"a100"}}})j"), node), "gpu=a100");
  const json::object affine = parsed(R"j({"spec":{"affinity":{"nodeAffinity":{
    "requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
      {"matchExpressions":[{"key":"gpu","operator":"Exists"}]}]}}}}})j");
  EXPECT_EQ(wanted_elsewhere(affine, node), "gpu");
}

TEST(Unmet, OversizedVariables) {
  // NAME=VALUE and a byte that ends it: 131,072 in all are started, one more is not.
  auto pod = [](size_t value) {
    json::object variable{{"name", "TF_CONFIG"}, {"value", std::string(value, 'x')}};
    json::object container{{"env", json::array{variable}}};
    return json::object{{"spec", json::object{{"containers", json::array{container}}}}};
  };
  EXPECT_TRUE(oversized_variables(pod(131'061)).empty());
  ASSERT_EQ(oversized_variables(pod(131'062)).size(), 1u);
  EXPECT_EQ(oversized_variables(pod(131'062)).front(),
            "TF_CONFIG takes 131073 bytes, and Linux gives a program 131072 at most in one variable: fewer "
            "replicas, "
            "or shorter names");
}

}  // namespace
}  // namespace trainyard::cli
