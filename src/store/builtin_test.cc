#include "store/builtin.h"

#include <gtest/gtest.h>

#include "kube/access.h"
#include "store/testing.h"

namespace trainyard::store {
namespace {

class BuiltinTest : public testing::Test {
 protected:
  BuiltinTest() {
    admit_builtins([this](const kube::Resource& resource, Admission admission) {
      store_.set_admission(resource, std::move(admission));
    });
  }
  // What the server says: "" when it is content.
  std::string say(const Result<Object>& result) { return result.ok() ? "" : result.error().message; }
  Result<Object> create(const kube::Resource& resource, std::string_view text) {
    return store_.create(resource, resource.namespaced ? "ns" : "",
                         json::parse(std::string(text)).as_object(), kNow);
  }
  Result<Object> patch(const kube::Resource& resource, std::string_view name, std::string_view text) {
    return store_.patch(resource, resource.namespaced ? "ns" : "",
                        {std::string(name), kube::PatchKind::kMerge, json::parse(std::string(text))}, kNow);
  }

  Store store_;
};

TEST_F(BuiltinTest, PodsGetTheirDefaults) {
  Result<Object> made = create(kube::kPods, R"({"metadata":{"name":"p"},"spec":{"containers":[
      {"name":"c","image":"tf:2.12","ports":[{"containerPort":2222}],"resources":{"limits":{"cpu":"1"}},
       "readinessProbe":{"httpGet":{"port":80}}}],
      "volumes":[{"name":"v","configMap":{"name":"c"}}]}})");
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_EQ(json::serialize(*kube::object_at(**made, {"spec"})), json::serialize(json::parse(R"({
      "containers":[{"name":"c","image":"tf:2.12","ports":[{"containerPort":2222,"protocol":"TCP"}],
        "resources":{"limits":{"cpu":"1"},"requests":{"cpu":"1"}},
        "readinessProbe":{"httpGet":{"port":80,"path":"/","scheme":"HTTP"},"timeoutSeconds":1,"periodSeconds":10,
                          "successThreshold":1,"failureThreshold":3},
        "terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File",
        "imagePullPolicy":"IfNotPresent"}],
      "volumes":[{"name":"v","configMap":{"name":"c","defaultMode":420}}],
      "restartPolicy":"Always","terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst",
      "schedulerName":"default-scheduler","serviceAccountName":"default","securityContext":{},
      "enableServiceLinks":true})")));
  EXPECT_EQ(kube::text_at(**made, {"status", "phase"}), "Pending");
  EXPECT_EQ(kube::text_at(**made, {"status", "qosClass"}), "Burstable");
}

TEST_F(BuiltinTest, AVolumeWithoutASourceIsAnEmptyDirectory) {
  json::object pod =
      json::parse(R"({"spec":{"containers":[{"name":"c","image":"i"}],"volumes":[{"name":"v"}]}})")
          .as_object();
  EXPECT_TRUE(admit_pod(pod, nullptr).empty());
  EXPECT_EQ(json::serialize(*kube::array_at(pod, {"spec", "volumes"})), R"([{"name":"v","emptyDir":{}}])");
}

TEST_F(BuiltinTest, PartsOfPodsAreRefusedAsTheRealServerDoes) {
  EXPECT_EQ(
      say(create(kube::kPods, R"({"metadata":{"name":"p"},"spec":{"volumes":[
      {"name":"v","hostPath":{"path":"/a/../b"},"emptyDir":{}},{"name":"w","hostPath":{"path":"/a/../b"}}],
      "containers":[{"name":"c","image":"i","env":[{"name":"A=B"},
      {"name":"L","valueFrom":{"fieldRef":{"fieldPath":"metadata.labels"}}}],
      "livenessProbe":{}}]}})")),
      "Pod \"p\" is invalid: [spec.volumes[0].hostPath: Forbidden: may not specify more than 1 volume type, "
      "spec.volumes[1].hostPath.path: Invalid value: \"/a/../b\": must not contain '..', "
      "spec.containers[0].env[0].name: Invalid value: \"A=B\": a valid environment variable name must "
      "consist only of printable ASCII characters other than '=', "
      "spec.containers[0].env[1].valueFrom.fieldRef.fieldPath: Unsupported value: \"metadata.labels\": "
      "supported values: \"metadata.name\", \"metadata.namespace\", \"metadata.uid\", \"spec.nodeName\", "
      "\"spec.serviceAccountName\", \"status.hostIP\", \"status.hostIPs\", \"status.podIP\", "
      "\"status.podIPs\", "
      "spec.containers[0].livenessProbe: Required value: must specify a handler type]");
}

TEST_F(BuiltinTest, ImagesWithoutATagArePulledAlways) {
  struct Case {
    std::string image, policy;
  };
  for (const Case& c : {Case{"a", "Always"}, Case{"a:latest", "Always"}, Case{"a:1", "IfNotPresent"},
                        Case{"host:5000/a", "Always"}, Case{"host:5000/a:1", "IfNotPresent"},
                        Case{"a@sha256:0", "IfNotPresent"}}) {
    json::object pod = json::parse(R"({"spec":{"containers":[{"name":"c"}]}})").as_object();
    pod["spec"].get_object()["containers"].get_array()[0].get_object()["image"] = c.image;
    EXPECT_TRUE(admit_pod(pod, nullptr).empty());
    EXPECT_EQ(kube::text_at(pod["spec"].get_object()["containers"].get_array()[0].get_object(),
                            {"imagePullPolicy"}),
              c.policy)
        << c.image;
  }
}

TEST_F(BuiltinTest, PodsThatAreWrong) {
  struct Case {
    std::string spec, says;
  };
  const Case cases[] = {
      {R"({})", "spec.containers: Required value"},
      {R"({"containers":[]})", "spec.containers: Required value"},
      {R"({"containers":[{"image":"i"}]})", "spec.containers[0].name: Required value"},
      {R"({"containers":[{"name":"c"}]})", "spec.containers[0].image: Required value"},
      {R"({"containers":[{"name":"c","image":"i"},{"name":"c","image":"i"}]})",
       "spec.containers[1].name: Duplicate value: \"c\""},
      {R"({"containers":[{"name":"C_1","image":"i"}]})",
       fmt::format("spec.containers[0].name: Invalid value: \"C_1\": {}", kDnsLabelRule)},
      {R"({"containers":[{"name":"c","image":"i","ports":[{"containerPort":0}]}]})",
       "spec.containers[0].ports[0].containerPort: Invalid value: 0: must be between 1 and 65535, inclusive"},
      {R"({"containers":[{"name":"c","image":"i","volumeMounts":[{"name":"v","mountPath":"/v"}]}]})",
       "spec.containers[0].volumeMounts[0].name: Not found: \"v\""},
      {R"({"volumes":[{"name":"v","secret":{"secretName":"s","items":[{"key":"k","path":"../x","mode":512}]}}],
          "containers":[{"name":"c","image":"i","volumeMounts":[{"name":"v","mountPath":"/v"}]}]})",
       "[spec.volumes[0].secret.items[0].path: Invalid value: \"../x\": must not contain '..', "
       "spec.volumes[0].secret.items[0].mode: Invalid value: 512: must be a number between 0 and 0777 "
       "(octal), both inclusive, spec.containers[0].volumeMounts[0].name: Not found: \"v\"]"},
      {R"({"containers":[{"name":"c","image":"i","resources":{"limits":{"cpu":"1"},"requests":{"cpu":"2"}}}]})",
       "spec.containers[0].resources.requests: Invalid value: \"2\": must be less than or equal to cpu limit "
       "of 1"},
      {R"({"containers":[{"name":"c","image":"i"}],"restartPolicy":"Sometimes"})",
       "spec.restartPolicy: Unsupported value: \"Sometimes\": supported values: \"Always\", \"OnFailure\", "
       "\"Never\""},
      {R"({"containers":[{"image":"i"},{"name":"c"}]})",
       "[spec.containers[0].name: Required value, spec.containers[1].image: Required value]"},
  };
  for (const Case& c : cases) {
    json::object body{{"metadata", json::object{{"name", "x"}}}, {"spec", json::parse(c.spec)}};
    Result<Object> made = store_.create(kube::kPods, "ns", body, kNow);
    EXPECT_EQ(say(made), fmt::format("Pod \"x\" is invalid: {}", c.says)) << c.spec;
    EXPECT_FALSE(made.error().causes.empty());
  }
}

TEST_F(BuiltinTest, WhatOfAPodMayChange) {
  ASSERT_TRUE(create(kube::kPods, R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}],
      "tolerations":[{"key":"a"}]}})")
                  .ok());
  struct Case {
    std::string patch;
    bool may;
  };
  const Case cases[] = {
      {R"({"metadata":{"labels":{"a":"b"}}})", true},
      {R"({"spec":{"activeDeadlineSeconds":5}})", true},
      {R"({"spec":{"tolerations":[{"key":"a"},{"key":"b"}]}})", true},
      {R"({"spec":{"tolerations":[{"key":"b"}]}})", false},
      {R"({"spec":{"nodeName":"n"}})", true},
      {R"({"spec":{"nodeName":"m"}})", false},
      {R"({"spec":{"containers":[{"name":"c","image":"other"}]}})", true},
      {R"({"spec":{"containers":[{"name":"d","image":"i"}]}})", false},
      {R"({"spec":{"restartPolicy":"Never"}})", false},
      {R"({"spec":{"terminationGracePeriodSeconds":1}})", false},
  };
  for (const Case& c : cases) {
    Result<Object> patched = patch(kube::kPods, "p", c.patch);
    EXPECT_EQ(patched.ok(), c.may) << c.patch << " " << say(patched);
    if (!patched.ok()) {
      EXPECT_TRUE(
          say(patched).starts_with("Pod \"p\" is invalid: spec: Forbidden: pod updates may not change"))
          << say(patched);
    }
  }
}

TEST_F(BuiltinTest, DebugContainersAreOnlyAdded) {
  ASSERT_TRUE(
      create(kube::kPods, R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}})")
          .ok());
  struct Case {
    std::string list;
    std::string says;  // after the name; "" when it is taken
  };
  const std::string forbidden =
      "spec.ephemeralContainers: Forbidden: ephemeral containers are added to a pod that is there; they may "
      "not "
      "be changed or removed";
  const Case cases[] = {
      {R"([{"name":"look","image":"i"}])", ""},
      {R"([{"name":"look","image":"i"},{"name":"c","image":"i"}])",
       "spec.ephemeralContainers[1].name: Duplicate value: \"c\""},
      {R"([{"name":"look","image":"j"}])", forbidden},
      {R"([])", forbidden},
  };
  for (const Case& c : cases) {
    Result<Object> patched = patch(kube::kPods, "p", R"({"spec":{"ephemeralContainers":)" + c.list + "}}");
    EXPECT_EQ(patched.ok(), c.says.empty()) << c.list;
    if (!patched.ok()) {
      EXPECT_EQ(say(patched), "Pod \"p\" is invalid: " + c.says);
    }
  }
  Result<Object> made = create(kube::kPods, R"({"metadata":{"name":"q"},"spec":{
      "containers":[{"name":"c","image":"i"}],"ephemeralContainers":[{"name":"look","image":"i"}]}})");
  EXPECT_EQ(say(made), "Pod \"q\" is invalid: " + forbidden);
}

TEST_F(BuiltinTest, Services) {
  Result<Object> made =
      create(kube::kServices, R"({"metadata":{"name":"s"},"spec":{"ports":[{"port":80}]}})");
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_EQ(kube::text_at(**made, {"spec", "type"}), "ClusterIP");
  std::string address(kube::text_at(**made, {"spec", "clusterIP"}));
  EXPECT_TRUE(address.starts_with("10.")) << address;
  EXPECT_EQ(json::serialize(*kube::array_at(**made, {"spec", "ports"})),
            R"([{"port":80,"protocol":"TCP","targetPort":80}])");
  Result<Object> headless =
      create(kube::kServices, R"({"metadata":{"name":"h"},"spec":{"clusterIP":"None"}})");
  ASSERT_TRUE(headless.ok()) << headless.error().message;
  EXPECT_EQ(kube::text_at(**headless, {"spec", "clusterIP"}), "None");
  EXPECT_EQ(say(create(kube::kServices, R"({"metadata":{"name":"t"},"spec":{}})")),
            "Service \"t\" is invalid: spec.ports: Required value");
  EXPECT_EQ(say(patch(kube::kServices, "s", R"({"spec":{"clusterIP":"1.2.3.4"}})")),
            "Service \"s\" is invalid: spec.clusterIP: Invalid value: \"1.2.3.4\": field is immutable");
  EXPECT_TRUE(
      say(create(kube::kServices, R"({"metadata":{"name":"1s"},"spec":{"ports":[{"port":80}]}})"))
          .starts_with("Service \"1s\" is invalid: metadata.name: Invalid value: \"1s\": a DNS-1035"));
  EXPECT_EQ(
      say(create(kube::kServices, R"({"metadata":{"name":"u"},"spec":{"ports":[{"port":80},{"port":81}]}})")),
      "Service \"u\" is invalid: [spec.ports[0].name: Required value, spec.ports[1].name: Required value]");
}

TEST_F(BuiltinTest, SecretsAndConfigMaps) {
  Result<Object> made =
      create(kube::kSecrets, R"({"metadata":{"name":"s"},"stringData":{"k":"v"},"data":{"o":"eA=="}})");
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_EQ(json::serialize(*kube::object_at(**made, {"data"})), R"({"o":"eA==","k":"dg=="})");
  EXPECT_EQ((*made)->if_contains("stringData"), nullptr);
  EXPECT_EQ(kube::text_at(**made, {"type"}), "Opaque");
  EXPECT_EQ(say(patch(kube::kSecrets, "s", R"({"type":"other"})")),
            "Secret \"s\" is invalid: type: Invalid value: \"other\": field is immutable");
  EXPECT_EQ(say(create(kube::kSecrets, R"({"metadata":{"name":"t"},"data":{"k":"?hidden?"}})")),
            "Secret \"t\" is invalid: data[k]: Invalid value: illegal base64 data");
  ASSERT_TRUE(
      create(kube::kConfigMaps, R"({"metadata":{"name":"c"},"data":{"k":"v"},"immutable":true})").ok());
  EXPECT_EQ(say(patch(kube::kConfigMaps, "c", R"({"data":{"k":"w"}})")),
            "ConfigMap \"c\" is invalid: data: Forbidden: field is immutable when `immutable` is set");
  EXPECT_TRUE(
      say(create(kube::kConfigMaps, R"({"metadata":{"name":"d"},"data":{"a/b":"v"}})"))
          .starts_with("ConfigMap \"d\" is invalid: data[a/b]: Invalid value: \"a/b\": a valid config key"));
}

TEST_F(BuiltinTest, ClaimsAreBoundAtOnce) {
  Result<Object> made = create(kube::kPersistentVolumeClaims, R"({"metadata":{"name":"c"},"spec":{
      "accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}})");
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_EQ(kube::text_at(**made, {"status", "phase"}), "Bound");
  EXPECT_EQ(kube::text_at(**made, {"status", "capacity", "storage"}), "1Gi");
  EXPECT_EQ(
      say(create(kube::kPersistentVolumeClaims, R"({"metadata":{"name":"d"},"spec":{}})")),
      "PersistentVolumeClaim \"d\" is invalid: [spec.accessModes: Required value: at least 1 access mode is "
      "required, spec.resources[storage]: Required value]");
  EXPECT_TRUE(
      patch(kube::kPersistentVolumeClaims, "c", R"({"spec":{"resources":{"requests":{"storage":"2Gi"}}}})")
          .ok());
  EXPECT_FALSE(patch(kube::kPersistentVolumeClaims, "c", R"({"spec":{"volumeMode":"Block"}})").ok());
}

TEST_F(BuiltinTest, DefinitionsAreEstablished) {
  Result<Object> made =
      create(kCustomResourceDefinitions, R"({"metadata":{"name":"tools.example.com"},"spec":{
      "group":"example.com","scope":"Namespaced","names":{"plural":"tools","kind":"Tool"},
      "versions":[{"name":"v1","served":true,"storage":true}]}})");
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_EQ(json::serialize(*kube::object_at(**made, {"status", "acceptedNames"})),
            R"({"plural":"tools","kind":"Tool","singular":"tool","listKind":"ToolList"})");
  EXPECT_EQ(kube::text_at(kube::array_at(**made, {"status", "conditions"})->at(1).as_object(), {"type"}),
            "Established");
  EXPECT_TRUE(kube::has_finalizer(**made, kCustomResourceCleanup));
  EXPECT_EQ(
      say(create(kCustomResourceDefinitions, R"({"metadata":{"name":"other"},"spec":{
      "group":"example.com","scope":"Namespaced","names":{"plural":"tools","kind":"Tool"},"versions":[{"name":"v1"}]}})")),
      "CustomResourceDefinition.apiextensions.k8s.io \"other\" is invalid: metadata.name: Invalid value: "
      "\"other\": must be spec.names.plural+\".\"+spec.group");
}

TEST_F(BuiltinTest, TheRest) {
  EXPECT_EQ(say(create(kube::kLeases, R"({"metadata":{"name":"l"},"spec":{"leaseDurationSeconds":0}})")),
            "Lease.coordination.k8s.io \"l\" is invalid: spec.leaseDurationSeconds: Invalid value: 0: must "
            "be greater "
            "than 0");
  EXPECT_EQ(say(create(kube::kEvents, R"({"metadata":{"name":"e"},"involvedObject":{"namespace":"other"}})")),
            "Event \"e\" is invalid: involvedObject.namespace: Invalid value: \"other\": does not match "
            "event.namespace");
  ASSERT_TRUE(create(kPriorityClasses, R"({"metadata":{"name":"p"},"value":5})").ok());
  EXPECT_EQ(
      say(patch(kPriorityClasses, "p", R"({"value":6})")),
      "PriorityClass.scheduling.k8s.io \"p\" is invalid: value: Forbidden: may not be changed in an update.");
  EXPECT_TRUE(
      say(create(kube::kNodes, R"({"metadata":{"name":"n","labels":{"a":"b c"}}})"))
          .starts_with("Node \"n\" is invalid: metadata.labels: Invalid value: \"b c\": a valid label must"));
  const std::string half(128 * 1024, 'x');
  auto annotated = [&](std::string_view more) {
    return say(create(kube::kConfigMaps,
                      fmt::format(R"({{"metadata":{{"name":"c{}","annotations":{{"a":"{}","b{}":"{}"}}}}}})",
                                  more.size(), half, more, half.substr(3))));
  };
  EXPECT_FALSE(annotated("").starts_with("ConfigMap"));
  EXPECT_EQ(annotated("bb"),
            "ConfigMap \"c2\" is invalid: metadata.annotations: Too long: may not be more than 262144 bytes");
}

}  // namespace
}  // namespace trainyard::store
