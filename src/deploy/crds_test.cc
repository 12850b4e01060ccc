#include "deploy/crds.h"

#include <gmock/gmock.h>

#include <regex>

#include "base/check.h"
#include "deploy/crd_rules.h"
#include "kube/access.h"
#include "kube/meta.h"
#include "kube/yaml.h"

namespace trainyard::deploy {
namespace {

using testing::ElementsAre;

// kubectl apply keeps a copy of the object in an annotation; all annotations together have
// at most this many bytes.
constexpr size_t kAnnotationsMax = 256 * 1024;

std::vector<json::object> all_crds() {
  std::vector<json::object> all = own_crds();
  for (auto* more : {&volcano_crds, &kube_batch_crds}) {
    for (json::object& each : more()) all.push_back(std::move(each));
  }
  return all;
}

// A structural schema has a type everywhere but where anything is, or a number or a text.
void expect_structural(const json::object& schema, const std::string& path) {
  bool loose = schema.contains("x-kubernetes-int-or-string") ||
               schema.contains("x-kubernetes-preserve-unknown-fields");
  EXPECT_TRUE(loose || schema.contains("type")) << path;
  if (const json::object* properties = kube::object_at(schema, {"properties"})) {
    for (const json::key_value_pair& each : *properties) {
      expect_structural(each.value().as_object(), path + "." + std::string(each.key()));
    }
  }
  for (std::string_view key : {"items", "additionalProperties"}) {
    if (const json::object* below = kube::object_at(schema, {key})) expect_structural(*below, path + "[]");
  }
}

void expect_described(const json::object& schema, const std::string& path) {
  const json::object* properties = kube::object_at(schema, {"properties"});
  for (const json::key_value_pair& each : properties ? *properties : json::object()) {
    std::string here = path + "." + std::string(each.key());
    const json::object& field = each.value().as_object();
    EXPECT_TRUE(each.key() == "metadata" || !kube::text_at(field, {"description"}).empty()) << here;
    expect_described(field, here);
    for (std::string_view key : {"items", "additionalProperties"}) {
      if (const json::object* below = kube::object_at(field, {key})) expect_described(*below, here + "[]");
    }
  }
}

TEST(Crds, AreTheKindsThatAreOurs) {
  std::vector<std::string> names;
  for (const json::object& crd : own_crds()) names.emplace_back(kube::name_of(crd));
  EXPECT_THAT(names, ElementsAre("tfjobs.kubeflow.org", "tensorflowtrainingjobs.batch.tensorstack.dev",
                                 "tensorboards.tensorstack.dev", "podgroups.scheduler.tensorstack.dev",
                                 "queues.scheduler.tensorstack.dev"));
}

TEST(Crds, AreSmallEnoughForClientSideApply) {
  for (const json::object& crd : all_crds()) {
    EXPECT_LT(json::serialize(crd).size(), kAnnotationsMax / 2) << kube::name_of(crd);
  }
}

TEST(Crds, AreStructuralAndDescribedEverywhere) {
  for (const json::object& crd : all_crds()) {
    for (const json::value& version : *kube::array_at(crd, {"spec", "versions"})) {
      const json::object* schema = kube::object_at(version.as_object(), {"schema", "openAPIV3Schema"});
      ASSERT_NE(schema, nullptr);
      expect_structural(*schema, std::string(kube::name_of(crd)));
      expect_described(*schema, std::string(kube::name_of(crd)));
    }
  }
}

// What Kubernetes 1.27, the oldest that is promised, knows of a rule, save what no rule of ours has.
void expect_old_rules(const json::object& schema, const std::string& path) {
  const json::array* rules = kube::array_at(schema, {"x-kubernetes-validations"});
  for (const json::value& rule : kube::or_empty(rules)) {
    for (const json::key_value_pair& each : rule.as_object()) {
      EXPECT_TRUE(each.key() == "rule" || each.key() == "message") << path << ": " << each.key();
    }
  }
  for (const json::key_value_pair& each : schema) {
    if (const json::object* below = each.value().if_object()) {
      expect_old_rules(*below, path + "." + std::string(each.key()));
    }
  }
}

TEST(Crds, HaveNoRuleThatTheOldestKubernetesDoesNotKnow) {
  for (const json::object& crd : all_crds()) {
    for (const json::value& version : *kube::array_at(crd, {"spec", "versions"})) {
      expect_old_rules(version.as_object(), std::string(kube::name_of(crd)));
    }
  }
}

TEST(Crds, TfJobIsStoredAsV1AndServedAsItWasBefore) {
  const json::object tfjob = own_crds()[0];
  std::vector<std::string> versions;
  for (const json::value& each : *kube::array_at(tfjob, {"spec", "versions"})) {
    const json::object& version = each.as_object();
    EXPECT_TRUE(*kube::bool_at(version, {"served"}));
    EXPECT_EQ(*kube::bool_at(version, {"storage"}), kube::text_at(version, {"name"}) == "v1");
    EXPECT_EQ(kube::bool_at(version, {"deprecated"}).value_or(false),
              kube::text_at(version, {"name"}) != "v1");
    versions.emplace_back(kube::text_at(version, {"name"}));
  }
  EXPECT_THAT(versions, ElementsAre("v1", "v1beta2", "v1beta1", "v1alpha2"));
}

TEST(Crds, TfJobShowsStateAndAgeAndCanBeScaled) {
  const json::object tfjob = own_crds()[0];
  const json::object& v1 = kube::array_at(tfjob, {"spec", "versions"})->front().as_object();
  EXPECT_EQ(json::serialize(*kube::find(v1, {"additionalPrinterColumns"})),
            R"([{"name":"State","type":"string","jsonPath":".status.conditions[-1:].type"},)"
            R"({"name":"Age","type":"date","jsonPath":".metadata.creationTimestamp"}])");
  EXPECT_EQ(kube::text_at(v1, {"subresources", "scale", "specReplicasPath"}),
            ".spec.tfReplicaSpecs.Worker.replicas");
  EXPECT_NE(kube::object_at(v1, {"subresources", "status"}), nullptr);
}

// The pod template of the first role of a TFJob.
const json::object& pod_template(const json::object& tfjob) {
  const json::object& v1 = kube::array_at(tfjob, {"spec", "versions"})->front().as_object();
  return *kube::object_at(v1, {"schema", "openAPIV3Schema", "properties", "spec", "properties",
                               "tfReplicaSpecs", "additionalProperties", "properties", "template"});
}

const json::object& field_of(const json::object& schema, std::vector<std::string_view> path) {
  const json::object* at = &schema;
  for (std::string_view key : path) {
    at = key == "[]" ? kube::object_at(*at, {"items"}) : kube::object_at(*at, {"properties", key});
    CHECK(at != nullptr);
  }
  return *at;
}

// What `validate` says of a pod template as well. The API server tries them all on a cluster.
TEST(Crds, TellWhatIsWrongWithAPodTemplateWhereASchemaCan) {
  const json::object tfjob = own_crds()[0];
  const json::object& pod = pod_template(tfjob);
  struct Case {
    std::vector<std::string_view> path;
    std::vector<std::string> good;
    std::vector<std::string> bad;
  };
  const std::vector<Case> cases = {
      {{"spec", "containers", "[]", "name"}, {"tensorflow", "a-1"}, {"Sidecar", "a_b", "-a", "a.b"}},
      {{"spec", "initContainers", "[]", "name"}, {"fetch"}, {"Fetch"}},
      {{"spec", "volumes", "[]", "name"}, {"data", "0"}, {"Data", "my_data"}},
      {{"spec", "containers", "[]", "imagePullPolicy"},
       {"Always", "IfNotPresent", "Never"},
       {"always", "No"}},
      {{"spec", "containers", "[]", "ports", "[]", "protocol"}, {"TCP", "UDP", "SCTP"}, {"tcp", "HTTP"}},
      {{"spec", "priorityClassName"}, {"", "high", "team-a.high"}, {"High", "a b", "-a", "a..b"}},
      {{"spec", "serviceAccountName"}, {"", "runner"}, {"Runner", "a_b"}},
      {{"spec", "containers", "[]", "ports", "[]", "name"},
       {"tfjob-port", "a", "1-a", "12a-3-b4"},
       {"A", "12", "a--b", "-a", "a-", "1-2"}},
  };
  for (const Case& one : cases) {
    std::string pattern(kube::text_at(field_of(pod, one.path), {"pattern"}));
    ASSERT_FALSE(pattern.empty()) << one.path.back();
    const std::regex words(pattern);
    for (const std::string& text : one.good) EXPECT_TRUE(std::regex_search(text, words)) << text;
    for (const std::string& text : one.bad) EXPECT_FALSE(std::regex_search(text, words)) << text;
  }
  for (std::string_view name : {"hostNetwork", "hostPID", "hostIPC", "shareProcessNamespace",
                                "automountServiceAccountToken", "enableServiceLinks"}) {
    EXPECT_EQ(kube::text_at(field_of(pod, {"spec", name}), {"type"}), "boolean") << name;
  }
  for (std::string_view name : {"schedulerName", "priorityClassName", "serviceAccountName", "nodeName"}) {
    EXPECT_EQ(kube::text_at(field_of(pod, {"spec", name}), {"type"}), "string") << name;
  }
  for (std::string_view name : {"affinity", "securityContext"}) {
    EXPECT_EQ(kube::text_at(field_of(pod, {"spec", name}), {"type"}), "object") << name;
  }
  for (std::string_view name :
       {"tolerations", "imagePullSecrets", "hostAliases", "topologySpreadConstraints"}) {
    EXPECT_EQ(kube::text_at(field_of(pod, {"spec", name}), {"type"}), "array") << name;
  }
  EXPECT_EQ(kube::int_at(field_of(pod, {"spec", "activeDeadlineSeconds"}), {"minimum"}), 1);
  EXPECT_EQ(kube::int_at(field_of(pod, {"spec", "terminationGracePeriodSeconds"}), {"minimum"}), 0);
  EXPECT_NE(kube::array_at(field_of(pod, {"spec", "containers", "[]", "volumeMounts"}),
                           {"x-kubernetes-list-map-keys"}),
            nullptr);
  EXPECT_EQ(kube::int_at(field_of(pod, {"metadata", "labels"}), {"additionalProperties", "maxLength"}), 63);
}

// The API server refuses a definition of such a group without a word about it.
TEST(Crds, OfProtectedGroupsSayThatNobodyApprovedThem) {
  for (const json::object& crd : all_crds()) {
    const json::object* notes = kube::object_at(crd, {"metadata", "annotations"});
    bool told =
        notes != nullptr && kube::text_at(*notes, {"api-approved.kubernetes.io"}).starts_with("unapproved");
    EXPECT_EQ(told, kube::text_at(crd, {"spec", "group"}).ends_with(".k8s.io")) << kube::name_of(crd);
  }
}

TEST(CrdRules, AreLaidInOrderAndKeepWhatIsThere) {
  json::object schema = json::parse(R"({"properties":{"list":{"items":{"type":"integer"}},
      "map":{"additionalProperties":{"properties":{"word":{"type":"string"}}}}}})")
                            .as_object();
  constexpr CrdBound kBounds[] = {{"list[]", R"({"minimum":1})"}, {"map{}.word", R"({"enum":["a"]})"}};
  constexpr CelRule kCel[] = {{"", "first", "one"}, {"", "second", "two"}};
  lay_rules({"g", "K", kBounds, kCel}, schema);
  EXPECT_EQ(json::serialize(schema),
            R"({"properties":{"list":{"items":{"type":"integer","minimum":1}},)"
            R"("map":{"additionalProperties":{"properties":{"word":{"type":"string","enum":["a"]}}}}},)"
            R"("x-kubernetes-validations":[{"rule":"first","message":"one"},)"
            R"({"rule":"second","message":"two"}]})");
}

}  // namespace
}  // namespace trainyard::deploy
