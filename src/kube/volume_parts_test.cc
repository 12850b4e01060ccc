#include "kube/volume_parts.h"

#include <gtest/gtest.h>

#include "kube/part_testing.h"

namespace trainyard::kube {
namespace {

void expect_faults(std::initializer_list<PartRow> rows) {
  for (const PartRow& row : rows)
    EXPECT_EQ(fault_text(volume_faults(part_of(row.part))), row.expected) << row.part;
}

TEST(VolumeParts, Sources) {
  expect_faults({
      {R"({"name":"v"})", ""},
      {R"({"name":"v","emptyDir":{},"secret":null})", ""},
      {R"({"configMap":{},"emptyDir":{},"hostPath":{"path":"/a"}})",
       "forbidden hostPath; forbidden configMap"},
      {R"({"hostPath":{"path":"/a/..b/c"}})", ""},
      {R"({"hostPath":{"path":"/a/../b"}})", "invalid hostPath.path = /a/../b"},
      {R"({"hostPath":{"path":".."}})", "invalid hostPath.path = .."},
      {R"({"hostPath":{}})", "required hostPath.path"},
      {R"({"hostPath":{"path":"/a","type":"Socket"}})", ""},
      {R"({"hostPath":{"path":"/a","type":"Folder"}})", "unsupported hostPath.type = Folder"},
      {R"({"emptyDir":{"sizeLimit":"1Gi","medium":"Memory"}})", ""},
      {R"({"emptyDir":{"sizeLimit":"-1"}})", "forbidden emptyDir.sizeLimit"},
      {R"({"emptyDir":{"sizeLimit":"much"}})", "invalid emptyDir.sizeLimit = much"},
      {R"({"persistentVolumeClaim":{}})", "required persistentVolumeClaim.claimName"},
      {R"({"nfs":{"path":"data"}})", "required nfs.server; invalid nfs.path = data"},
  });
  EXPECT_FALSE(has_source(part_of(R"({"name":"v","secret":null})")));
  EXPECT_TRUE(has_source(part_of(R"({"name":"v","image":{}})")));
}

TEST(VolumeParts, KeysAndWhereTheyGo) {
  expect_faults({
      {R"({"configMap":{"name":"c","defaultMode":0,"items":[{"key":"k","path":"a/b..c/...d","mode":511}]}})",
       ""},
      {R"({"secret":{"items":[{"key":"k","path":"p"}]}})", "required secret.secretName"},
      {R"({"configMap":{"items":[]}})", "required configMap.name"},
      {R"({"configMap":{"name":"c","items":[{"key":"k","path":"../x"}]}})",
       "invalid configMap.items[0].path = ../x"},
      {R"({"configMap":{"name":"c","items":[{"key":"k","path":"a"},{"key":"k","path":"a/.."}]}})",
       "invalid configMap.items[1].path = a/.."},
      {R"({"secret":{"secretName":"s","items":[{"key":"k","path":"/x/../y"}]}})",
       "invalid secret.items[0].path = /x/../y; invalid secret.items[0].path = /x/../y"},
      {R"({"secret":{"secretName":"s","items":[{"key":"k","path":"..data"}]}})",
       "invalid secret.items[0].path = ..data"},
      {R"({"secret":{"secretName":"s","items":[{}]}})",
       "required secret.items[0].key; required secret.items[0].path"},
      {R"({"secret":{"secretName":"s","defaultMode":512,"items":[{"key":"k","path":"p","mode":-1}]}})",
       "invalid secret.defaultMode = 512; invalid secret.items[0].mode = -1"},
  });
}

TEST(VolumeParts, FieldsOfThePod) {
  expect_faults({
      {R"({"downwardAPI":{"items":[{"path":"l","fieldRef":{"fieldPath":"metadata.labels"}},
           {"path":"m","resourceFieldRef":{"containerName":"c","resource":"limits.memory"}}]}})",
       ""},
      {R"({"downwardAPI":{"items":[{"path":"l","fieldRef":{"fieldPath":"metadata.annotations['a']"}}]}})",
       ""},
      {R"({"downwardAPI":{"defaultMode":1000,"items":[{"path":"../l","mode":1000}]}})",
       "invalid downwardAPI.defaultMode = 1000; invalid downwardAPI.path = ../l; required downwardAPI; "
       "invalid downwardAPI.mode = 1000"},
      {R"({"downwardAPI":{"items":[{"fieldRef":{}}]}})",
       "required downwardAPI.path; required downwardAPI.fieldRef.fieldPath"},
      {R"({"downwardAPI":{"items":[{"path":"l","fieldRef":{"fieldPath":"status.podIP"}}]}})",
       "unsupported downwardAPI.fieldRef.fieldPath = status.podIP"},
      {R"({"downwardAPI":{"items":[{"path":"l","fieldRef":{"fieldPath":"spec.image"}}]}})",
       "invalid downwardAPI.fieldRef.fieldPath = spec.image"},
      {R"({"downwardAPI":{"items":[{"path":"l","resourceFieldRef":{"resource":"limits.cpu"}}]}})",
       "required downwardAPI.resourceFieldRef.containerName"},
      {R"({"downwardAPI":{"items":[{"path":"l","resourceFieldRef":{"containerName":"c","resource":"cpu"}}]}})",
       "unsupported downwardAPI.resourceFieldRef.resource = cpu"},
      {R"({"downwardAPI":{"items":[{"path":"l","fieldRef":{"fieldPath":"metadata.uid"},
           "resourceFieldRef":{"containerName":"c","resource":"limits.cpu"}}]}})",
       "invalid downwardAPI = resource"},
  });
}

TEST(VolumeParts, Projections) {
  expect_faults({
      {R"({"projected":{"sources":[{"secret":{"name":"s"}},{"configMap":{"name":"c","items":[{"key":"k","path":"a"}]}},
           {"serviceAccountToken":{"path":"token"}},{"serviceAccountToken":{"path":"other","expirationSeconds":600}}]}})",
       ""},
      {R"({"projected":{"defaultMode":-1,"sources":[{"secret":{}},{"configMap":{"items":[{"path":"/a"}]}}]}})",
       "invalid projected.defaultMode = -1; required projected.sources[0].secret.name; "
       "required projected.sources[1].configMap.name; required projected.sources[1].configMap.items[0].key; "
       "invalid projected.sources[1].configMap.items[0].path = /a"},
      {R"({"projected":{"sources":[{"secret":{"name":"s","items":[{"key":"k","path":"a"}]}},
           {"configMap":{"name":"c","items":[{"key":"k","path":"a"}]}},
           {"downwardAPI":{"items":[{"path":"a","fieldRef":{"fieldPath":"metadata.name"}}]}}]}})",
       "invalid projected = c; invalid projected = a"},
      {R"({"projected":{"sources":[{"downwardAPI":{"items":[{"path":"../a","fieldRef":{"fieldPath":"metadata.name"}}]}}]}})",
       "invalid projected.sources[0].downwardAPI.path = ../a"},
      {R"({"projected":{"sources":[{"secret":{"name":"s"},"configMap":{"name":"c"}}]}})",
       "forbidden projected.sources[0]"},
      {R"({"projected":{"sources":[{"serviceAccountToken":{"expirationSeconds":1}}]}})",
       "invalid projected.sources[0].serviceAccountToken.expirationSeconds = 1; required projected.path"},
  });
}

}  // namespace
}  // namespace trainyard::kube
