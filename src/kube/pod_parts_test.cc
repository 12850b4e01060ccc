#include "kube/pod_parts.h"

#include <gtest/gtest.h>

#include "kube/part_testing.h"

namespace trainyard::kube {
namespace {

TEST(PodParts, Containers) {
  const PartRow rows[] = {
      {R"({})", ""},
      {R"({"env":[{"name":"A b-%","value":"x"},{"name":""},1]})", ""},
      {R"({"env":[{"name":"A=B"},{"name":"ä"}]})", "invalid env[0].name = A=B; invalid env[1].name = ä"},
      {R"({"env":[{"name":"A","valueFrom":{"fieldRef":{"fieldPath":"metadata.labels['a']"}}}]})", ""},
      {R"({"env":[{"name":"A","valueFrom":{"fieldRef":{"fieldPath":"status.podIP"}}}]})", ""},
      {R"({"env":[{"name":"A","valueFrom":{"fieldRef":{}}}]})",
       "required env[0].valueFrom.fieldRef.fieldPath"},
      {R"({"env":[{"name":"A","valueFrom":{"fieldRef":{"fieldPath":"metadata.nome"}}}]})",
       "invalid env[0].valueFrom.fieldRef.fieldPath = metadata.nome"},
      {R"({"env":[{"name":"A","valueFrom":{"fieldRef":{"fieldPath":"metadata.labels"}}}]})",
       "unsupported env[0].valueFrom.fieldRef.fieldPath = metadata.labels"},
      {R"({"volumeMounts":[{"subPath":"a/b","mountPath":"/../x"},{}]})", ""},
      {R"({"volumeMounts":[{"subPath":"../x"},{"subPath":"/x"}]})",
       "invalid volumeMounts[0].subPath = ../x; invalid volumeMounts[1].subPath = /x"},
      {R"({"volumeMounts":[{"subPath":"a","subPathExpr":"a/.."}]})",
       "invalid volumeMounts[0].subPathExpr = a/..; invalid volumeMounts[0].subPathExpr = a/.."},
      {R"({"livenessProbe":{"exec":{"command":["a"]}},"readinessProbe":null})", ""},
      {R"({"livenessProbe":{}})", "required livenessProbe"},
      {R"({"startupProbe":{"exec":{},"tcpSocket":{"port":1},"grpc":{"port":1}}})",
       "forbidden startupProbe.tcpSocket; forbidden startupProbe.grpc"},
  };
  for (const PartRow& row : rows)
    EXPECT_EQ(fault_text(container_faults(part_of(row.part))), row.expected) << row.part;
}

}  // namespace
}  // namespace trainyard::kube
