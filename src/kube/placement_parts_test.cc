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
      {R"({"overhead":{"cpu":"100m","memory":"x","a":-1}})",
       "invalid overhead.memory = x; invalid overhead.a = -1"},
  };
  for (const PartRow& row : rows)
    EXPECT_EQ(fault_text(placement_faults(part_of(row.part))), row.expected) << row.part;
}

}  // namespace
}  // namespace trainyard::kube
