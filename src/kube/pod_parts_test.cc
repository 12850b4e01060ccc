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
       "forbidden startupProbe.tcpSocket; forbidden startupProbe.grpc; required startupProbe.exec.command"},
      {R"({"livenessProbe":{"httpGet":{"port":"web"},"periodSeconds":0}})", ""},
      {R"({"livenessProbe":{"httpGet":{"port":70000},"periodSeconds":-1},"readinessProbe":{"tcpSocket":{}}})",
       "invalid livenessProbe.httpGet.port = 70000; invalid livenessProbe.periodSeconds = -1; "
       "required readinessProbe.tcpSocket.port"},
      {R"({"lifecycle":{"preStop":{"sleep":{"seconds":1}},"postStart":{"exec":{"command":["a"]}}}})", ""},
      {R"({"lifecycle":{"preStop":{},"postStart":{"exec":{},"httpGet":{"port":1}}}})",
       "forbidden lifecycle.postStart.httpGet; required lifecycle.postStart.exec.command; "
       "required lifecycle.preStop"},
      {R"({"image":" tf","restartPolicy":"Sometimes","securityContext":{"runAsUser":-5}})",
       "invalid image =  tf; unsupported restartPolicy = Sometimes; invalid securityContext.runAsUser = -5"},
      {R"({"image":"tf","restartPolicy":"Always","securityContext":{"runAsUser":0,"runAsGroup":1}})", ""},
  };
  for (const PartRow& row : rows)
    EXPECT_EQ(fault_text(container_faults(part_of(row.part))), row.expected) << row.part;
}

}  // namespace
}  // namespace trainyard::kube
