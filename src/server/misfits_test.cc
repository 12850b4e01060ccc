#include "server/misfits.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "kube/access.h"

namespace trainyard::server {
namespace {

// Each misfit as "path: found, not wanted (Owner.members)", or as "path?" where there is no such field.
std::string told(const SchemaType& type, std::string_view text) {
  const json::object document = json::parse(kube::jview(text)).as_object();
  std::string all;
  for (const Misfit& each : misfits(type, document)) {
    if (!all.empty()) all += "; ";
    all += each.is_unknown() ? fmt::format("{}?", each.path)
                             : fmt::format("{}: {}, not {} ({}.{})", each.path, found_in_go(each),
                                           each.wanted, each.owner->name, each.members);
  }
  return all;
}

std::string of_pod(std::string_view spec) {
  return told(*schema_of("", "v1", "Pod"), fmt::format(R"({{"apiVersion":"v1","spec":{}}})", spec));
}

struct Row {
  std::string_view spec;
  std::string_view expected;
};

TEST(Misfits, TypesOfAPod) {
  const Row rows[] = {
      {R"({"containers":[{"name":"c","command":["a"],"securityContext":{"runAsUser":0}}]})", ""},
      {R"({"containers":[{"name":null,"command":[null],"env":null,"resources":{"limits":{"cpu":1,"memory":"1Gi"}}}]})",
       ""},
      {R"("x")", "spec: string, not v1.PodSpec (Pod.spec)"},
      {R"([])", "spec: array, not v1.PodSpec (Pod.spec)"},
      {R"({"containers":[{"securityContext":{"runAsUser":"root"}}]})",
       "spec.containers[0].securityContext.runAsUser: string, not int64 "
       "(SecurityContext.spec.containers.securityContext.runAsUser)"},
      {R"({"containers":[{"command":"echo hi"}]})",
       "spec.containers[0].command: string, not []string (Container.spec.containers.command)"},
      {R"({"containers":[{"args":["a",true]}]})",
       "spec.containers[0].args[1]: bool, not string (Container.spec.containers.args)"},
      {R"({"containers":[{},{"env":[{"name":"a","value":1}]}]})",
       "spec.containers[1].env[0].value: number, not string (EnvVar.spec.containers.env.value)"},
      {R"({"containers":{}})", "spec.containers: object, not []v1.Container (PodSpec.spec.containers)"},
      {R"({"containers":[1]})", "spec.containers[0]: number, not v1.Container (PodSpec.spec.containers)"},
      {R"({"hostNetwork":"yes"})", "spec.hostNetwork: string, not bool (PodSpec.spec.hostNetwork)"},
      {R"({"nodeSelector":{"a":1}})", "spec.nodeSelector.a: number, not string (PodSpec.spec.nodeSelector)"},
      {R"({"nodeSelector":{"$patch":"replace"}})", ""},
      {R"({"nodeSelector":[]})",
       "spec.nodeSelector: array, not map[string]string (PodSpec.spec.nodeSelector)"},
      {R"({"priority":2147483647})", ""},
      {R"({"priority":2147483648})", "spec.priority: number 2147483648, not int32 (PodSpec.spec.priority)"},
      {R"({"priority":1.5})", "spec.priority: number 1.5, not int32 (PodSpec.spec.priority)"},
      {R"({"activeDeadlineSeconds":1.0})",
       "spec.activeDeadlineSeconds: number 1.0, not int64 (PodSpec.spec.activeDeadlineSeconds)"},
      {R"({"activeDeadlineSeconds":18446744073709551615})",
       "spec.activeDeadlineSeconds: number 18446744073709551615, not int64 "
       "(PodSpec.spec.activeDeadlineSeconds)"},
      {R"({"containers":[{"livenessProbe":{"httpGet":{"port":"web"}},"readinessProbe":{"httpGet":{"port":true}}}]})",
       "spec.containers[0].readinessProbe.httpGet.port: bool, not int32 "
       "(HTTPGetAction.spec.containers.readinessProbe.httpGet.port)"},
      {R"({"containers":[{"resources":{"limits":{"cpu":true}}}]})",
       "spec.containers[0].resources.limits.cpu: bool, not resource.Quantity "
       "(ResourceRequirements.spec.containers.resources.limits)"},
      {R"({"volumes":[{"emptyDir":"x"}]})",
       "spec.volumes[0].emptyDir: string, not v1.EmptyDirVolumeSource (Volume.spec.volumes.emptyDir)"},
      {R"({"contaners":[],"containers":[{"imagge":1,"image":2}]})",
       "spec.contaners?; spec.containers[0].imagge?; "
       "spec.containers[0].image: number, not string (Container.spec.containers.image)"},
  };
  for (const Row& row : rows) EXPECT_EQ(of_pod(row.spec), row.expected) << row.spec;
}

TEST(Misfits, OfJobs) {
  const SchemaType& volcano = *schema_of("batch.volcano.sh", "v1alpha1", "Job");
  EXPECT_EQ(told(volcano, R"({"spec":{"plugins":{"svc":[],"ssh":null,"env":["--a"]}}})"), "");
  EXPECT_EQ(told(volcano, R"({"spec":{"plugins":{"svc":"x","env":[1]}}})"),
            "spec.plugins.svc: string, not []string (JobSpec.spec.plugins); "
            "spec.plugins.env[0]: number, not string (JobSpec.spec.plugins)");
  const SchemaType& board = *schema_of("tensorstack.dev", "v1beta1", "TensorBoard");
  EXPECT_EQ(told(board, R"({"spec":{"newer":1},"status":{"pod":[]}})"), "");
  const SchemaType& oldest = *schema_named("org.kubeflow.v1alpha1.TFJob");
  EXPECT_EQ(told(oldest, R"({"apiVersion":"kubeflow.org/v1alpha1","kind":"TFJob","spec":{"replicaSpecs":[
      {"tfReplicaType":"PS","tfPort":1,"tfprot":2}],"backoffLimit":1}})"),
            "spec.replicaSpecs[0].tfprot?");
}

TEST(Misfits, HaveALimit) {
  json::object document;
  for (int i = 0; i < 1000; ++i) document[fmt::format("unknown{}", i)] = 1;
  document["spec"] = json::object{{"tolerations", json::array(1000, json::value("x"))}};
  EXPECT_EQ(misfits(*schema_of("", "v1", "Pod"), document).size(), 2 * kMisfitsMax);
}

}  // namespace
}  // namespace trainyard::server
