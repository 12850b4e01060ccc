#include "server/validate_fields.h"

#include "server/nulls.h"

#include <gtest/gtest.h>

#include "kube/access.h"

namespace trainyard::server {
namespace {

std::vector<std::string> unknown(std::string_view group, std::string_view version, std::string_view plural,
                                 std::string_view body) {
  static const Registry kRegistry;
  return field_problems(*kRegistry.find(group, version, plural), json::parse(kube::jview(body)).as_object())
      .unknown;
}

using Problems = std::vector<std::string>;

TEST(ValidateFields, NamesWhatTheKindDoesNotHave) {
  EXPECT_EQ(unknown("kubeflow.org", "v1", "tfjobs", R"({"apiVersion":"kubeflow.org/v1","kind":"TFJob",
      "metadata":{"name":"j","lables":{}},"spec":{"foo":1,"tfReplicaSpecs":{"Worker":{"replicas":1,"x":2,
      "template":{"metadata":{"labels":{"any":"thing"}},"spec":{"containers":[{"name":"a","imagge":"b",
      "resources":{"limits":{"nvidia.com/gpu":1}}}],"volumes":[{"name":"v","emptyDir":{"medium":"Memory"}}]}}}}}})"),
            (Problems{"unknown field \"metadata.lables\"", "unknown field \"spec.foo\"",
                      "unknown field \"spec.tfReplicaSpecs.Worker.x\"",
                      "unknown field \"spec.tfReplicaSpecs.Worker.template.spec.containers[0].imagge\""}));
  EXPECT_EQ(unknown("", "v1", "configmaps", R"({"data":{"a":"b"},"dat":{}})"),
            (Problems{"unknown field \"dat\""}));
  EXPECT_EQ(unknown("scheduling.volcano.sh", "v1beta1", "podgroups", R"({"spec":{"newer":1}})"), Problems{});
}

TEST(ValidateFields, DropsWhatAKindOfKubernetesDoesNotHave) {
  Registry registry;
  json::object pod = json::parse(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","lables":{}},
      "bogus":1,"spec":{"containers":[{"name":"c","imagge":"i","livenessProbe":{"exec":{"command":["a"]}},
      "resources":{"limits":{"nvidia.com/gpu":1}}}],"nodeSelector":{"any":"thing"}}})")
                         .as_object();
  drop_unknown_fields(*registry.find("", "v1", "pods"), pod);
  EXPECT_EQ(json::serialize(pod),
            R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"name":"c",)"
            R"("livenessProbe":{"exec":{"command":["a"]}},"resources":{"limits":{"nvidia.com/gpu":1}}}],)"
            R"("nodeSelector":{"any":"thing"}}})");
  json::object job = json::parse(R"({"spec":{"newer":1}})").as_object();
  drop_unknown_fields(*registry.find("kubeflow.org", "v1", "tfjobs"), job);
  EXPECT_EQ(json::serialize(job), R"({"spec":{"newer":1}})");
}

TEST(ValidateFields, NamesWhatIsThereTwice) {
  EXPECT_EQ(duplicate_fields(R"({"a":1,"b":{"c":"\"x","c":2},"l":[{"d":1},{"d":1,"d":{}}],"a":3})"),
            (Problems{"duplicate field \"b.c\"", "duplicate field \"l[1].d\"", "duplicate field \"a\""}));
  EXPECT_EQ(duplicate_fields(R"({"a":["a","a"],"b":{"a":"a"}})"), Problems{});
  for (std::string_view text : {R"({"a":1,"b":{"c":"\"x","c":2},"l":[{"d":1},{"d":1,"d":{}}],"a":3})",
                                R"({"a":["a:","\\",":\""],"b":{"a":"a"}})", R"({"\u0061":1,"a":2})"}) {
    EXPECT_EQ(duplicate_fields(text, json::parse(kube::jview(text))), duplicate_fields(text)) << text;
  }
  for (std::string_view broken : {"", "}", "{\"", "[[[", "{\"a\\"}) duplicate_fields(broken);
}

TEST(ValidateFields, RefusesInTheServersWords) {
  Registry registry;
  Status status = strict_decoding_error(*registry.find("kubeflow.org", "v1", "tfjobs"),
                                        {"unknown field \"spec.a\"", "unknown field \"spec.b\""});
  EXPECT_EQ(status.code, 400);
  EXPECT_EQ(status.message,
            "TFJob in version \"v1\" cannot be handled as a TFJob: strict decoding error: unknown field "
            "\"spec.a\", unknown field \"spec.b\"");
}

TEST(ValidateFields, RefusesValuesOfAnotherType) {
  Registry registry;
  const json::object body = json::parse(R"({"metadata":{"name":"j"},"spec":{"containers":[{"name":"c",
      "securityContext":{"runAsUser":"root"},"tty":"no"}],"schedulerName":1,"suspend":"x"}})")
                                .as_object();
  FieldProblems pod = field_problems(*registry.find("", "v1", "pods"), body);
  EXPECT_EQ(pod.unknown, (Problems{"unknown field \"spec.suspend\""}));
  ASSERT_TRUE(pod.refusal.has_value());
  EXPECT_EQ(pod.refusal->code, 400);
  EXPECT_EQ(pod.refusal->reason, "BadRequest");
  EXPECT_EQ(pod.refusal->message,
            "Pod in version \"v1\" cannot be handled as a Pod: json: cannot unmarshal string into Go struct "
            "field SecurityContext.spec.containers.securityContext.runAsUser of type int64");

  FieldProblems job = field_problems(*registry.find("batch.volcano.sh", "v1alpha1", "jobs"),
                                     json::parse(R"({"metadata":{"name":"j"},"spec":{"minAvailable":"2",
      "tasks":[{"template":{"spec":{"hostNetwork":1}}}]}})")
                                         .as_object());
  ASSERT_TRUE(job.refusal.has_value());
  EXPECT_EQ(job.refusal->code, 422);
  EXPECT_EQ(job.refusal->message,
            "Job.batch.volcano.sh \"j\" is invalid: [spec.minAvailable: Invalid value: \"string\": "
            "spec.minAvailable in body must be of type integer: \"string\", "
            "spec.tasks[0].template.spec.hostNetwork: Invalid value: \"integer\": "
            "spec.tasks[0].template.spec.hostNetwork in body must be of type boolean: \"integer\"]");
  EXPECT_FALSE(field_problems(*registry.find("", "v1", "pods"), json::object{{"spec", nullptr}}).refusal);
}

TEST(ValidateFields, FollowsACrdsOwnSchema) {
  Registry registry;
  ASSERT_TRUE(
      registry
          .put_crd(json::parse(R"({"metadata":{"name":"things.example.org"},"spec":{"group":"example.org",
      "scope":"Cluster","names":{"plural":"things","kind":"Thing"},"versions":[{"name":"v1","served":true,
      "storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{
        "size":{"type":"integer","default":3},
        "mode":{"type":"string"},
        "any":{"type":"object","x-kubernetes-preserve-unknown-fields":true},
        "by":{"type":"object","additionalProperties":{"type":"object","properties":{"n":{"type":"integer"}}}},
        "list":{"type":"array","items":{"type":"object","properties":{"n":{"type":"integer"}}}}}}}}}}]}})")
                       .as_object())
          .ok());
  const ApiResource& thing = *registry.find("example.org", "v1", "things");
  json::object body =
      json::parse(R"({"apiVersion":"example.org/v1","kind":"Thing","metadata":{"name":"t","x":1},
      "spec":{"mode":"m","any":{"what":1},"by":{"k":{"n":1,"o":2}},"list":[{"n":1},{"p":2}],"more":1}})")
          .as_object();
  EXPECT_EQ(field_problems(thing, body).unknown,
            (Problems{"unknown field \"metadata.x\"", "unknown field \"spec.by.k.o\"",
                      "unknown field \"spec.list[1].p\"", "unknown field \"spec.more\""}));
  body["spec"].get_object()["mode"] = nullptr;
  body["spec"].get_object()["any"] = json::object{{"what", nullptr}};
  body["spec"].get_object()["size"] = nullptr;
  drop_nulls(thing, body);
  EXPECT_FALSE(body["spec"].get_object().contains("mode"));
  prune_and_default(thing, body);
  EXPECT_EQ(json::serialize(body["spec"]),
            R"({"any":{"what":null},"by":{"k":{"n":1}},"list":[{"n":1},{}],"size":3})");
}

}  // namespace
}  // namespace trainyard::server
