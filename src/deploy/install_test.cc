#include "deploy/install.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "deploy/permissions.h"
#include "kube/access.h"
#include "kube/meta.h"

namespace trainyard::deploy {
namespace {

using testing::Contains;
using testing::IsEmpty;
using testing::Not;

std::vector<std::string> names_of(const std::vector<json::object>& objects) {
  std::vector<std::string> names;
  for (const json::object& each : objects) {
    names.push_back(std::string(kube::text_at(each, {"kind"})) + "/" + std::string(kube::name_of(each)));
  }
  return names;
}

const json::object* find_object(const std::vector<json::object>& objects, std::string_view kind,
                                std::string_view name) {
  for (const json::object& each : objects) {
    if (kube::text_at(each, {"kind"}) == kind && kube::name_of(each) == name) return &each;
  }
  return nullptr;
}

// What a field of a program's container is, as JSON; "" without the program or the field.
std::string container_field(const InstallOptions& options, std::string_view name, std::string_view field) {
  std::vector<json::object> objects = install_objects(options);
  const json::object* deployment = find_object(objects, "Deployment", name);
  if (deployment == nullptr) return "";
  const json::array* containers = kube::array_at(*deployment, {"spec", "template", "spec", "containers"});
  const json::value* value = kube::find(containers->front().as_object(), {field});
  return value == nullptr ? "" : json::serialize(*value);
}

std::string args_of(const InstallOptions& options, std::string_view name) {
  return container_field(options, name, "args");
}

TEST(Install, GivesTheWholeClusterByDefault) {
  std::vector<std::string> names = names_of(install_objects({}));
  for (const char* name :
       {"Namespace/trainyard-system", "CustomResourceDefinition/tfjobs.kubeflow.org",
        "ServiceAccount/trainyard-operator", "ClusterRole/trainyard-operator",
        "ClusterRoleBinding/trainyard-operator", "Role/trainyard-operator-lease",
        "RoleBinding/trainyard-operator-lease", "Deployment/trainyard-operator", "Service/trainyard-operator",
        "PodDisruptionBudget/trainyard-operator", "NetworkPolicy/trainyard-operator",
        "ClusterRole/trainyard-edit", "ClusterRole/trainyard-view"}) {
    EXPECT_THAT(names, Contains(name));
  }
  EXPECT_THAT(names, Not(Contains("Deployment/trainyard-scheduler")));
  EXPECT_THAT(names, Not(Contains("CustomResourceDefinition/jobs.batch.volcano.sh")));
}

// trainer 2143, 2080; volcano 3734, 3358, 2677: a webhook that cannot be reached stops every creation.
// Nothing that is installed is asked before an object is stored, or while it is converted.
TEST(Install, NothingStandsInTheWayOfCreations) {
  for (const json::object& each :
       install_objects({.gang = Gang::kTrainyard, .scheduler = true, .volcano_crds = true})) {
    EXPECT_EQ(kube::text_at(each, {"kind"}).find("Webhook"), std::string_view::npos);
    EXPECT_EQ(kube::text_at(each, {"apiVersion"}).find("admissionregistration"), std::string_view::npos);
    EXPECT_NE(kube::text_at(each, {"spec", "conversion", "strategy"}), "Webhook") << kube::name_of(each);
  }
}

TEST(Install, AnImageThatIsOnTheNodesIsNotPulled) {
  for (const char* name : {"trainyard-operator", "trainyard-scheduler"}) {
    EXPECT_EQ(container_field({.scheduler = true}, name, "imagePullPolicy"), R"("IfNotPresent")");
  }
}

// By which a container that is started again in the same pod knows its lease.
TEST(Install, ProgramsKnowTheirPod) {
  for (const char* name : {"trainyard-operator", "trainyard-scheduler"}) {
    EXPECT_THAT(container_field({.scheduler = true}, name, "env"),
                testing::HasSubstr(
                    R"({"name":"TRAINYARD_POD","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}})"));
  }
}

TEST(Install, CrdsOnlyIsNothingElse) {
  for (const json::object& each : install_objects({.crds_only = true})) {
    EXPECT_EQ(kube::text_at(each, {"kind"}), "CustomResourceDefinition");
  }
}

TEST(Install, NamespacedHasNoRightsBeyondItsNamespace) {
  InstallOptions options{.name_space = "team-a", .namespaced = true};
  std::vector<std::string> names = names_of(install_objects(options));
  EXPECT_THAT(names, Contains("Role/trainyard-operator"));
  EXPECT_THAT(names, Not(Contains("ClusterRole/trainyard-operator")));
  EXPECT_EQ(args_of(options, "trainyard-operator"), R"(["operator","--namespace=team-a"])");
}

TEST(Install, GangsAreAFlagOfTheOperator) {
  EXPECT_EQ(args_of({.gang = Gang::kNone}, "trainyard-operator"), R"(["operator"])");
  EXPECT_EQ(args_of({.gang = Gang::kT9k}, "trainyard-operator"), R"(["operator"])");
  EXPECT_EQ(args_of({.gang = Gang::kVolcano}, "trainyard-operator"),
            R"(["operator","--gang-scheduler-name=volcano"])");
  EXPECT_EQ(args_of({.gang = Gang::kKubeBatch}, "trainyard-operator"),
            R"(["operator","--gang-scheduler-name=kube-batch"])");
  EXPECT_EQ(args_of({.gang = Gang::kCoscheduling}, "trainyard-operator"),
            R"(["operator","--gang-scheduler-name=scheduler-plugins-scheduler"])");
}

std::string egress_of(const InstallOptions& options) {
  std::vector<json::object> objects = install_objects(options);
  const json::object* policy = find_object(objects, "NetworkPolicy", "trainyard-operator");
  std::string out;
  for (const json::value& rule : *kube::array_at(*policy, {"spec", "egress"})) {
    for (const json::value& port : *kube::array_at(rule.as_object(), {"ports"})) {
      out += json::serialize(*kube::find(port.as_object(), {"port"})) + " ";
    }
  }
  return out;
}

TEST(Install, TheApiServerIsReachedOnThePortsThatClustersHave) {
  EXPECT_EQ(egress_of({}), "443 6443 8443 16443 53 53 ");
  EXPECT_EQ(egress_of({.api_ports = {7443}}), "443 6443 8443 16443 7443 53 53 ");
}

TEST(Install, OurSchedulerComesWithTheGroupsItPlaces) {
  std::vector<std::string> names = names_of(install_objects({.gang = Gang::kTrainyard}));
  EXPECT_THAT(names, Contains("Deployment/trainyard-scheduler"));
  EXPECT_THAT(names, Contains("ClusterRole/trainyard-scheduler"));
  EXPECT_THAT(names, Contains("CustomResourceDefinition/podgroups.scheduling.volcano.sh"));
  EXPECT_THAT(names, Contains("CustomResourceDefinition/podgroups.scheduling.incubator.k8s.io"));
  EXPECT_EQ(args_of({.gang = Gang::kTrainyard}, "trainyard-scheduler"),
            R"(["scheduler","--scheduler-name=trainyard,volcano,kube-batch,t9k-scheduler"])");
  EXPECT_EQ(args_of({.scheduler = true}, "trainyard-scheduler"), R"(["scheduler"])");
}

TEST(Install, EveryBindingNamesARoleAndAnAccountThatAreThere) {
  std::vector<json::object> objects = install_objects({.gang = Gang::kTrainyard, .volcano_crds = true});
  for (const json::object& each : objects) {
    if (!kube::text_at(each, {"kind"}).ends_with("RoleBinding") &&
        kube::text_at(each, {"kind"}) != "ClusterRoleBinding") {
      continue;
    }
    EXPECT_NE(find_object(objects, kube::text_at(each, {"roleRef", "kind"}),
                          kube::text_at(each, {"roleRef", "name"})),
              nullptr);
    const json::object& subject = kube::array_at(each, {"subjects"})->front().as_object();
    EXPECT_NE(find_object(objects, "ServiceAccount", kube::text_at(subject, {"name"})), nullptr);
  }
}

// Kubeflow binds the members of a profile to roles of its own; theirs for TFJobs goes with their operator.
TEST(Install, WhoMayEditOrViewANamespaceMayDoSoWithItsJobs) {
  std::vector<json::object> objects = install_objects({});
  auto adds_to = [&](const char* role, const std::string& to) {
    const json::object* found = find_object(objects, "ClusterRole", role);
    return found != nullptr && kube::label_of(*found, to) == "true";
  };
  for (const char* prefix : {"rbac.authorization.k8s.io/aggregate-to-",
                             "rbac.authorization.kubeflow.org/aggregate-to-kubeflow-"}) {
    for (const char* to : {"admin", "edit", "view"}) {
      EXPECT_TRUE(adds_to("trainyard-view", prefix + std::string(to))) << prefix << to;
    }
    EXPECT_TRUE(adds_to("trainyard-edit", prefix + std::string("admin"))) << prefix;
    EXPECT_TRUE(adds_to("trainyard-edit", prefix + std::string("edit"))) << prefix;
    EXPECT_FALSE(adds_to("trainyard-edit", prefix + std::string("view"))) << prefix;
  }
}

TEST(Permissions, NeverEverythingAndSecretsOnlyForVolcanosJobs) {
  for (bool volcano : {false, true}) {
    bool secrets = false;
    for (const Permission& each : permissions(volcano)) {
      EXPECT_FALSE(each.why.empty());
      for (const auto& words : {each.groups, each.resources, each.verbs})
        EXPECT_THAT(words, Not(Contains("*")));
      for (std::string_view resource : each.resources) secrets = secrets || resource == "secrets";
    }
    EXPECT_EQ(secrets, volcano);
  }
}

TEST(Permissions, PeopleSeeQueuesAndChangeGangsAlone) {
  auto has = [](bool edit, std::string_view resource, std::string_view verb) {
    for (const json::value& rule : rules_for_people(edit)) {
      auto lists = [&](const char* key, std::string_view word) {
        return testing::Value(*kube::array_at(rule.as_object(), {key}),
                              Contains(json::value(kube::jview(word))));
      };
      if (lists("resources", resource) && lists("verbs", verb)) return true;
    }
    return false;
  };
  EXPECT_TRUE(has(false, "queues", "list"));
  EXPECT_TRUE(has(false, "podgroups", "watch"));
  EXPECT_TRUE(has(true, "podgroups", "create"));
  EXPECT_FALSE(has(true, "queues", "update"));
  EXPECT_FALSE(has(false, "tfjobs", "create"));
  EXPECT_TRUE(has(false, "tfjobs/status", "get"));
  EXPECT_FALSE(has(true, "tfjobs/status", "update"));
}

// The files under deploy/ are what this room says. TRAINYARD_REWRITE=1 writes them.
TEST(DeployFiles, AreTheOnesInTheRepository) {
  std::filesystem::path root = std::filesystem::path(TRAINYARD_SOURCE_DIR) / "deploy";
  bool rewrite = std::getenv("TRAINYARD_REWRITE") != nullptr;
  for (const auto& [name, wanted] : deploy_files()) {
    std::filesystem::path path = root / name;
    if (rewrite) {
      std::filesystem::create_directories(path.parent_path());
      std::ofstream(path) << wanted;
    }
    std::ifstream file(path);
    std::stringstream found;
    found << file.rdbuf();
    EXPECT_EQ(found.str(), wanted) << path << " differs: run deploy_test with TRAINYARD_REWRITE=1";
  }
}

}  // namespace
}  // namespace trainyard::deploy
