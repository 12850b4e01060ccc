#include "cli/objects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/dialects.h"
#include "kube/access.h"
#include "kube/meta.h"
#include "kube/yaml.h"

namespace trainyard::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Result<dialect::KeyPair> no_keys() { return Error{ErrorKind::kUnavailable, "no keys today"}; }
Result<dialect::KeyPair> fixed_keys() { return dialect::KeyPair{"PRIVATE", "PUBLIC"}; }

struct Case {
  const dialect::Dialect* dialect = nullptr;
  model::JobSpec spec;
  model::JobState state;
};

Case job(std::string_view yaml) {
  Case one;
  json::object body = kube::parse_yaml(yaml).value().at(0).body.as_object();
  one.dialect = dialect::find_dialect(all_dialects(), body);
  one.spec = std::get<model::JobSpec>(one.dialect->lower(body, {}));
  one.state.roles.resize(one.spec.roles.size());
  return one;
}

json::array children(const Case& one, const KeyMaker& keys) {
  json::array all;
  Result<Done> told = each_child_of(*one.dialect, {}, one.spec, one.state, keys,
                                    [&](json::object child) { all.push_back(std::move(child)); });
  EXPECT_TRUE(told.ok());
  return all;
}

std::vector<std::string> names(const Case& one, const KeyMaker& keys = no_keys) {
  std::vector<std::string> all;
  for (const json::value& item : children(one, keys)) {
    const json::object& object = item.as_object();
    all.push_back(std::string(kube::text_at(object, {"kind"})) + " " + std::string(kube::name_of(object)));
  }
  return all;
}

constexpr std::string_view kTfJob = R"(
apiVersion: kubeflow.org/v1
kind: TFJob
metadata: {name: a, namespace: lab, uid: u-1}
spec:
  tfReplicaSpecs:
    Worker:
      replicas: 2
      restartPolicy: OnFailure
      template: {spec: {containers: [{name: tensorflow, image: i}]}}
)";

constexpr std::string_view kSshJob = R"(
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: a, namespace: lab}
spec:
  plugins: {ssh: []}
  tasks:
  - name: worker
    replicas: 1
    template: {spec: {containers: [{name: main, image: i}]}}
)";

TEST(Objects, AreGivenInTheOrderOfTheirCreation) {
  EXPECT_THAT(names(job(kTfJob)),
              ElementsAre("Service a-worker-0", "Pod a-worker-0", "Service a-worker-1", "Pod a-worker-1"));
}

TEST(Objects, WithoutAUidNobodyOwnsThem) {
  Case one = job(kTfJob);
  json::array owned = children(one, no_keys);
  EXPECT_EQ(kube::controller_uid_of(owned.at(0).as_object()), "u-1");
  Case other = job(kSshJob);
  for (const json::value& item : children(other, fixed_keys)) {
    EXPECT_EQ(kube::find(item.as_object(), {"metadata", "ownerReferences"}), nullptr);
  }
}

TEST(Objects, NothingIsCreatedForAJobThatIsDonePausedOrSomebodyElses) {
  Case one = job(kTfJob);
  one.state.result = model::ResultKind::kSucceeded;
  EXPECT_THAT(names(one), IsEmpty());
  one = job(kTfJob);
  one.spec.mode = model::RunMode::kPause;
  EXPECT_THAT(names(one), IsEmpty());
  one = job(kTfJob);
  one.spec.managed = false;
  EXPECT_THAT(names(one), IsEmpty());
}

TEST(Objects, AReplicaThatHasSucceededIsNotRunAgain) {
  Case one = job(kTfJob);
  one.state.record({0, 1}).outcome = model::Outcome::kSucceeded;
  EXPECT_THAT(names(one), ElementsAre("Service a-worker-0", "Pod a-worker-0", "Service a-worker-1"));
}

TEST(Objects, KeysAreMadeForASecretAndOnlyThen) {
  EXPECT_THAT(names(job(kSshJob), fixed_keys), ElementsAre("Secret a-ssh", "PodGroup a", "Pod a-worker-0"));
  Case one = job(kSshJob);
  Result<Done> failed =
      each_child_of(*one.dialect, {}, one.spec, one.state, no_keys, [](const json::object&) {});
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().message, "no keys today");
}

}  // namespace
}  // namespace trainyard::cli
