#include "kube/placement_parts.h"

#include <gtest/gtest.h>

#include "kube/part_testing.h"

namespace trainyard::kube {
namespace {

TEST(PlacementParts, WhereAPodGoes) {
  const PartRow rows[] = {
      {R"({})", ""},
      {R"({"tolerations":[{"operator":"Exists"},{"key":"a","value":"b"},7]})", ""},
      {R"({"tolerations":[{"key":"a","operator":"Exists","effect":"NoExecute","tolerationSeconds":5}]})", ""},
      {R"({"tolerations":[{}]})", "invalid tolerations[0].operator = "},
      {R"({"tolerations":[{"key":"a b"}]})", "invalid tolerations[0].key = a b"},
      {R"({"tolerations":[{"key":"a","operator":"Exists","value":"b"}]})",
       "invalid tolerations[0].operator = Exists"},
      {R"({"tolerations":[{"key":"a","tolerationSeconds":5}]})", "invalid tolerations[0].effect = "},
      {R"({"topologySpreadConstraints":[
           {"maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule"}]})",
       ""},
      {R"({"topologySpreadConstraints":[{"maxSkew":0}]})",
       "invalid topologySpreadConstraints[0].maxSkew = 0; required topologySpreadConstraints[0].topologyKey; "
       "required topologySpreadConstraints[0].whenUnsatisfiable"},
      {R"({"topologySpreadConstraints":[{"topologyKey":"","whenUnsatisfiable":"Never"}]})",
       "required topologySpreadConstraints[0].maxSkew; required topologySpreadConstraints[0].topologyKey; "
       "unsupported topologySpreadConstraints[0].whenUnsatisfiable = Never"},
      {R"({"topologySpreadConstraints":[
           {"maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule"},
           {"maxSkew":2,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule"}]})",
       "invalid topologySpreadConstraints[1].topologyKey = zone"},
      {R"({"hostAliases":[{"ip":"10.0.0.1","hostnames":["a"]},{"ip":"fd00::1"}]})", ""},
      {R"({"hostAliases":[{"ip":"a"},{}]})", "invalid hostAliases[0].ip = a; invalid hostAliases[1].ip = "},
      {R"({"nodeSelector":{"a":"b","x/y":"","c":7}})", ""},
      {R"({"nodeSelector":{"a b":"c","d":"e f"}})",
       "invalid nodeSelector.a b = a b; invalid nodeSelector.d = e f"},
      {R"({"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
           {"matchExpressions":[{"key":"a","operator":"In","values":["b"]},{"key":"c","operator":"Exists"},
                                {"key":"d","operator":"Gt","values":["5"]}]}]},
           "preferredDuringSchedulingIgnoredDuringExecution":[{"weight":100,"preference":{}}]}}})",
       ""},
      {R"({"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
           {"matchExpressions":[{"key":"a","operator":"Inn"},{"key":"b","operator":"In"}]}]}}}})",
       "invalid affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0]."
       "matchExpressions[0].operator = Inn; "
       "required affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0]."
       "matchExpressions[1].values"},
      {R"({"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{},
           "preferredDuringSchedulingIgnoredDuringExecution":[{"weight":0}]}}})",
       "required affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms; "
       "invalid affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight = 0"},
      {R"({"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[
           {"topologyKey":"zone"},{}]}}})",
       "required affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[1].topologyKey"},
      {R"({"hostNetwork":true,"containers":[{"ports":[{"containerPort":80,"hostPort":81}]}]})",
       "invalid containers[0].ports[0].hostPort = 81"},
      {R"({"containers":[{"ports":[{"containerPort":80,"hostPort":80},
           {"containerPort":81,"hostPort":80,"protocol":"UDP"},{"containerPort":82}]},
           {"ports":[{"containerPort":83,"hostPort":80}]}]})",
       "invalid containers[1].ports[0].hostPort = 80"},
      {R"({"dnsPolicy":"None","dnsConfig":{"nameservers":["1.1.1.1"]}})", ""},
      {R"({"dnsPolicy":"None"})", "required dnsConfig.nameservers"},
      {R"({"overhead":{"cpu":"100m","memory":"x","a":-1}})",
       "invalid overhead.memory = x; invalid overhead.a = -1"},
  };
  for (const PartRow& row : rows)
    EXPECT_EQ(fault_text(placement_faults(part_of(row.part))), row.expected) << row.part;
}

}  // namespace
}  // namespace trainyard::kube
