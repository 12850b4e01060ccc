#include "dialect/shared/template.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/access.h"

namespace trainyard::dialect {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> said(const std::vector<Problem>& problems) {
  std::vector<std::string> all;
  for (const Problem& problem : problems) all.push_back(to_string(problem));
  return all;
}

std::vector<std::string> metadata_problems(std::string_view text, NameRule rule = NameRule::kDns1035Label) {
  json::object job = json::parse(json::string_view(text.data(), text.size())).as_object();
  std::vector<Problem> problems;
  check_metadata(Reader::root(job, problems), rule);
  return said(problems);
}

constexpr std::string_view kLabel =
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic "
    "character, "
    "and end with an alphanumeric character";

TEST(Metadata, AskWhatTheNamesOfServicesAsk) {
  EXPECT_THAT(metadata_problems(R"({"metadata":{"name":"train"}})"), IsEmpty());
  EXPECT_THAT(metadata_problems(R"({"metadata":{"generateName":"tfjob","namespace":"kubeflow"}})"),
              IsEmpty());
  EXPECT_THAT(metadata_problems(R"({"metadata":{"name":"0train"}})", NameRule::kDns1123Label), IsEmpty());
  EXPECT_THAT(metadata_problems(R"({"metadata":{"name":"a.b"}})", NameRule::kDns1123Subdomain), IsEmpty());
  EXPECT_THAT(metadata_problems(R"({"metadata":{"name":"00test"}})"),
              ElementsAre("metadata.name: Invalid value: \"00test\": should match: " + std::string(kLabel)));
  EXPECT_THAT(metadata_problems(R"({})"),
              ElementsAre("metadata.name: Required value: name or generateName is required"));
  EXPECT_THAT(metadata_problems(R"({"metadata":{"name":""}})"),
              ElementsAre("metadata.name: Required value: name or generateName is required"));
  EXPECT_THAT(metadata_problems(R"({"metadata":7})"),
              ElementsAre("metadata: Invalid type: 7: must be an object, not a number"));
  EXPECT_THAT(metadata_problems(R"({"metadata":{"name":7}})"),
              ElementsAre("metadata.name: Invalid type: 7: must be a string, not a number"));
  std::string long_name(64, 'a');
  EXPECT_THAT(metadata_problems(R"({"metadata":{"name":")" + long_name + "\"}}"),
              ElementsAre("metadata.name: Invalid value: \"" + long_name +
                          "\": should match: must be no more than 63 characters"));
}

TEST(Metadata, LabelsAndAnnotationsAreMapsOfStrings) {
  EXPECT_THAT(
      metadata_problems(
          R"({"metadata":{"name":"a","namespace":"A","labels":{"x":1,"y":"no spaces"},"annotations":{"z":[]}}})"),
      ElementsAre(
          "metadata.namespace: Invalid value: \"A\": a lowercase RFC 1123 label must consist of lower case "
          "alphanumeric characters or '-', and must start and end with an alphanumeric character",
          "metadata.labels.x: Invalid type: 1: must be a string, not a number",
          "metadata.labels.y: Invalid value: \"no spaces\": a label value must be at most 63 characters of "
          "letters, digits, '-', '_' or '.', and start and end with a letter or digit",
          "metadata.annotations.z: Invalid type: []: must be a string, not an array"));
}

std::vector<std::string> template_problems(std::string_view text, std::string_view main = "tensorflow") {
  json::object job = json::parse(json::string_view(text.data(), text.size())).as_object();
  std::vector<Problem> problems;
  check_template(Reader::root(job, problems).child("t"), main);
  return said(problems);
}

std::string container(std::string_view more) {
  return R"({"t":{"spec":{"containers":[{"name":"tensorflow","image":"i")" + std::string(more) +
         R"(}],"volumes":[{"name":"v"}]}}})";
}

TEST(Template, WhatIsRightIsLeftInPeace) {
  EXPECT_THAT(template_problems(container("")), IsEmpty());
  EXPECT_THAT(
      template_problems(container(
          R"(,"env":[{"name":"A","value":"1"},{"name":"B","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}}],
      "ports":[{"containerPort":2222,"name":"tfjob-port"}],"resources":{"requests":{"cpu":"500m"},"limits":{"cpu":1}},
      "volumeMounts":[{"name":"v","mountPath":"/v"}],"unheardOf":{"x":[1]})")),
      IsEmpty());
  EXPECT_THAT(template_problems(R"({"t":{"spec":{"containers":[{"name":"a","image":"i"}]}}})", ""),
              IsEmpty());
  EXPECT_THAT(template_problems(
                  R"({"t":{"spec":{"restartPolicy":"","containers":[{"name":"tensorflow","image":"i"}]}}})"),
              IsEmpty());
}

struct TemplateCase {
  std::string text;
  std::vector<std::string> expected;
};

TEST(Template, EachFaultIsToldWithItsPlace) {
  const std::string at = "t.spec.containers[0]";
  const std::vector<TemplateCase> cases = {
      {R"({})",
       {"t.spec.containers: Required value: must be specified",
        "t.spec.containers: Required value: must have at least one container with name tensorflow"}},
      {R"({"t":3})",
       {"t: Invalid type: 3: must be an object, not a number",
        "t.spec.containers: Required value: must be specified",
        "t.spec.containers: Required value: must have at least one container with name tensorflow"}},
      {R"({"t":{}})",
       {"t.spec.containers: Required value: must be specified",
        "t.spec.containers: Required value: must have at least one container with name tensorflow"}},
      {R"({"t":{"spec":{"containers":{}}}})",
       {"t.spec.containers: Invalid type: {}: must be an array, not an object"}},
      {R"({"t":{"spec":{"containers":[{"name":"x","image":"i"}]}}})",
       {"t.spec.containers: Required value: must have at least one container with name tensorflow"}},
      {R"({"t":{"spec":{"containers":[{"name":"tensorflow"}]}}})",
       {at + ".image: Required value: must be required"}},
      {R"({"t":{"spec":{"containers":[{"name":"tensorflow","image":""}]}}})",
       {at + ".image: Required value: must be required"}},
      {R"({"t":{"spec":{"containers":[{"name":"tensorflow","image":"i"}],"initContainers":[{"name":"tensorflow","image":"i"}],
           "restartPolicy":"Sometimes"}}})",
       {"t.spec.restartPolicy: Unsupported value: \"Sometimes\": supported values: \"Always\", "
        "\"OnFailure\", \"Never\"",
        "t.spec.initContainers[0].name: Duplicate value: \"tensorflow\": another container has this name"}},
      {container(
           R"(,"env":[{"value":"1"},{"name":"A","value":1},{"name":"B","value":"b","valueFrom":{}},3])"),
       {at + ".env[3]: Invalid type: 3: must be an object, not a number",
        at + ".env[0].name: Required value: must be specified",
        at + ".env[1].value: Invalid type: 1: must be a string, not a number",
        at + ".env[2].valueFrom: Required value: must specify one of: fieldRef, resourceFieldRef, "
             "configMapKeyRef, "
             "secretKeyRef",
        at + ".env[2].valueFrom: Invalid value: may not be specified when value is not empty"}},
      {container(
           R"(,"ports":[{"containerPort":0},{"name":"p"},{"containerPort":70000,"name":"a-name-far-too-long"}])"),
       {at + ".ports[0].containerPort: Invalid value: 0: must be greater than or equal to 1",
        at + ".ports[1].containerPort: Required value: must be specified",
        at + ".ports[2].containerPort: Invalid value: 70000: must be less than or equal to 65535",
        at + ".ports[2].name: Invalid value: \"a-name-far-too-long\": must be no more than 15 characters: "
             "lower case "
             "letters, digits or '-', with at least one letter, no '-' at either end and no two together"}},
      {container(R"(,"resources":{"requests":{"cpu":"2","memory":"lots"},"limits":{"cpu":"1500m","x":-1}})"),
       {at + ".resources.limits.x: Invalid value: -1: must be greater than or equal to 0",
        at + ".resources.requests.memory: Invalid value: \"lots\": must be a quantity, as 500m, 2 or 1Gi",
        at + ".resources.requests.cpu: Invalid value: \"2\": must be less than or equal to cpu limit of "
             "1500m"}},
      {container(R"(,"volumeMounts":[{"name":"w","mountPath":"/w"},{"name":"v"}])"),
       {at + ".volumeMounts[0].name: Invalid value: \"w\": must be the name of one of the template's volumes",
        at + ".volumeMounts[1].mountPath: Required value: must be specified"}},
      {R"({"t":{"spec":{"containers":[{"name":"tensorflow","image":"i"}],"volumes":[{"name":"v"},{"name":"v"},{}]}}})",
       {"t.spec.volumes[1].name: Duplicate value: \"v\": another volume has this name",
        "t.spec.volumes[2].name: Required value: must be specified"}},
  };
  for (const TemplateCase& one : cases) EXPECT_EQ(template_problems(one.text), one.expected) << one.text;
}

std::vector<std::string> name_problems(std::string_view prefix, std::string_view role, int replicas) {
  json::object job;
  std::vector<Problem> problems;
  check_child_names(Reader(&job, "spec.tfReplicaSpecs[Worker]", problems), prefix, role, replicas);
  return said(problems);
}

TEST(ChildNames, TheLastReplicaDecides) {
  std::string prefix(54, 'a');
  EXPECT_THAT(name_problems(prefix, "worker", 0), IsEmpty());
  EXPECT_THAT(name_problems(prefix, "worker", 10), IsEmpty());  // 54 + 7 + 2
  EXPECT_THAT(
      name_problems(prefix, "worker", 11),
      ElementsAre("spec.tfReplicaSpecs[Worker]: Too long: its last replica would be named " + prefix +
                  "-worker-10, which has 64 characters: the name of a Service must be no more than 63"));
  EXPECT_THAT(name_problems("a.b", "worker", 1), IsEmpty()) << "check_metadata has said it";
}

std::optional<model::Scope> scope_of(std::string_view word, std::vector<Problem>& problems) {
  json::object job = json::parse(R"({"metadata":{"annotations":{}}})").as_object();
  job["metadata"].as_object()["annotations"].as_object()["trainyard.dev/restart-scope"] =
      json::string_view(word.data(), word.size());
  return restart_scope(Reader::root(job, problems));
}

TEST(Annotations, RestartScope) {
  std::vector<Problem> problems;
  EXPECT_EQ(scope_of("pod", problems), model::Scope::kPod);
  EXPECT_EQ(scope_of("role", problems), model::Scope::kRole);
  EXPECT_EQ(scope_of("job", problems), model::Scope::kJob);
  EXPECT_THAT(problems, IsEmpty());
  EXPECT_EQ(scope_of("world", problems), std::nullopt);
  EXPECT_THAT(said(problems),
              ElementsAre("metadata.annotations.trainyard.dev/restart-scope: Unsupported value: "
                          "\"world\": supported values: \"pod\", \"role\", \"job\""));
}

TEST(Annotations, AStrategyHasANaturalScope) {
  auto wish = [](std::string_view annotations, std::vector<Problem>& problems) {
    json::object job{{"metadata", json::object{{"annotations", json::parse(kube::jview(annotations))}}}};
    return restart_wish(Reader::root(job, problems));
  };
  std::vector<Problem> problems;
  EXPECT_EQ(wish(R"({})", problems), RestartWish{});
  EXPECT_EQ(wish(R"({"trainyard.dev/strategy":"ParameterServer"})", problems), RestartWish{});
  EXPECT_EQ(wish(R"({"trainyard.dev/strategy":"MultiWorkerMirrored"})", problems),
            (RestartWish{model::Scope::kJob, true}));
  EXPECT_EQ(wish(R"({"trainyard.dev/strategy":"MultiWorkerMirrored","trainyard.dev/restart-scope":"pod"})",
                 problems),
            (RestartWish{model::Scope::kPod, true}));
  EXPECT_THAT(problems, IsEmpty());
  EXPECT_EQ(wish(R"({"trainyard.dev/strategy":"Mirrored"})", problems), RestartWish{});
  EXPECT_THAT(said(problems),
              ElementsAre("metadata.annotations.trainyard.dev/strategy: Unsupported value: \"Mirrored\": "
                          "supported values: \"MultiWorkerMirrored\", \"ParameterServer\""));
}

TEST(Annotations, HoldDeletion) {
  std::vector<Problem> problems;
  json::object job =
      json::parse(R"({"metadata":{"annotations":{"trainyard.dev/hold-deletion":"true"}}})").as_object();
  EXPECT_TRUE(holds_deletion(Reader::root(job, problems)));
  json::object plain = json::parse(R"({"metadata":{}})").as_object();
  EXPECT_FALSE(holds_deletion(Reader::root(plain, problems)));
  EXPECT_THAT(problems, IsEmpty());
}

TEST(JobName, OneThatIsYetToBeMadeIsShownAsSuch) {
  EXPECT_EQ(job_name(json::parse(R"({"metadata":{"name":"a","generateName":"b"}})").as_object()), "a");
  EXPECT_EQ(job_name(json::parse(R"({"metadata":{"generateName":"b-"}})").as_object()), "b-xxxxx");
  EXPECT_EQ(job_name(json::parse(R"({})").as_object()), "");
}

}  // namespace
}  // namespace trainyard::dialect
