#include <gmock/gmock.h>

#include "dialect/tfjob/decode.h"
#include "dialect/tfjob/lower.h"
#include "dialect/tfjob/replicas.h"
#include "dialect/tfjob/testing.h"

namespace trainyard::dialect::tf {
namespace {

using model::ActionKind;
using model::Cleanup;
using model::Scope;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Lower, DefaultsAreOneReplicaThatNeverRestarts) {
  model::JobSpec spec = lowered("{tfReplicaSpecs: {Worker: {}}}");
  ASSERT_EQ(spec.roles.size(), 1u);
  EXPECT_EQ(spec.roles[0].name, "worker");
  EXPECT_EQ(spec.roles[0].title, "Worker");
  EXPECT_EQ(spec.roles[0].replicas, 1);
  EXPECT_THAT(spec.roles[0].rules, IsEmpty());
  EXPECT_EQ(spec.roles[0].otherwise.kind, ActionKind::kFail);
  EXPECT_FALSE(spec.roles[0].restarts_in_place);
  EXPECT_EQ(spec.name, "train");
  EXPECT_EQ(spec.name_space, "ns");
  EXPECT_EQ(spec.uid, "u1");
  EXPECT_EQ(spec.pod_prefix, "train");
  EXPECT_EQ(spec.running_min, 1);
  EXPECT_EQ(spec.cleanup, Cleanup::kUnfinished);
  EXPECT_EQ(spec.mode, model::RunMode::kRun);
  EXPECT_EQ(spec.budget.restarts_max, std::nullopt);
  EXPECT_EQ(spec.active_deadline, std::nullopt);
  EXPECT_EQ(spec.ttl_after_finished, std::nullopt);
  EXPECT_EQ(spec.gang, std::nullopt);
  EXPECT_TRUE(spec.managed);
  EXPECT_THAT(spec.advice, IsEmpty());
}

TEST(Lower, RolesStandInOrderWhateverTheirSpelling) {
  model::JobSpec spec =
      lowered("{tfReplicaSpecs: {evaluator: {}, WORKER: {replicas: 3}, Ps: {replicas: 2}, cHief: {}}}");
  std::vector<std::string> titles;
  for (const model::Role& role : spec.roles) titles.push_back(role.title);
  EXPECT_THAT(titles, ElementsAre("Chief", "PS", "Worker", "Evaluator"));
  EXPECT_EQ(spec.running_min, 7);
  EXPECT_EQ(lowered("{tfReplicaSpecs: {MASTER: {}, Worker: {}}}").roles[0].name, "master");
}

TEST(Lower, TheNameOfARoleThatThereIsNotIsCutInEveryPathBelowIt) {
  json::object job = manifest("{tfReplicaSpecs: {}}");
  json::object role = from_json(
      R"({"template":{"spec":{"containers":[{"name":"tensorflow","image":"i","env":[{},{},{}]}]}}})");
  job["spec"].as_object()["tfReplicaSpecs"].as_object()[std::string(100'000, 'r')] = std::move(role);
  std::vector<std::string> said = problems_of(job);
  EXPECT_GE(said.size(), 4u);
  for (const std::string& one : said) EXPECT_LT(one.size(), 1'000u);
}

TEST(Lower, PolicyFieldsAreReadWhereverTheyStand) {
  for (std::string_view text :
       {"{runPolicy: {cleanPodPolicy: All, ttlSecondsAfterFinished: 5, activeDeadlineSeconds: 6, "
        "backoffLimit: 7}, "
        "tfReplicaSpecs: {Worker: {}}}",
        "{cleanPodPolicy: All, ttlSecondsAfterFinished: 5, activeDeadlineSeconds: 6, backoffLimit: 7, "
        "tfReplicaSpecs: {Worker: {}}}",
        "{cleanPodPolicy: All, backoffLimit: 7, runPolicy: {ttlSecondsAfterFinished: 5, "
        "activeDeadlineSeconds: 6, "
        "backoffLimit: 7}, tfReplicaSpecs: {Worker: {}}}"}) {
    model::JobSpec spec = lowered(text);
    EXPECT_EQ(spec.cleanup, Cleanup::kAll);
    EXPECT_EQ(spec.ttl_after_finished, seconds(5));
    EXPECT_EQ(spec.active_deadline, seconds(6));
    EXPECT_EQ(spec.budget.restarts_max, 7);
  }
}

TEST(Lower, CleanupDefaultsToRunningUnlessTheClusterSaysOtherwise) {
  EXPECT_EQ(lowered("{tfReplicaSpecs: {Worker: {}}}").cleanup, Cleanup::kUnfinished);
  EXPECT_EQ(lowered("{tfReplicaSpecs: {Worker: {}}}", {.default_clean_policy = "None"}).cleanup,
            Cleanup::kNone);
  EXPECT_EQ(lowered("{cleanPodPolicy: None, tfReplicaSpecs: {Worker: {}}}").cleanup, Cleanup::kNone);
}

TEST(Lower, SuspendManagedByAndAnnotations) {
  model::JobSpec spec = lowered(manifest(
      "{runPolicy: {suspend: true, managedBy: kueue.x-k8s.io/multikueue}, tfReplicaSpecs: {Worker: {}}}",
      "{name: t, annotations: {trainyard.dev/hold-deletion: 'true'}}"));
  EXPECT_EQ(spec.mode, model::RunMode::kPause);
  EXPECT_FALSE(spec.pause.keeps_finished);
  EXPECT_FALSE(spec.managed);
  EXPECT_TRUE(spec.holds_deletion);
  EXPECT_EQ(spec.name_space, "default");
  EXPECT_TRUE(
      lowered("{runPolicy: {managedBy: kubeflow.org/training-operator}, tfReplicaSpecs: {Worker: {}}}")
          .managed);
}

TEST(Lower, WhoDecidesSuccess) {
  EXPECT_EQ(lowered("{tfReplicaSpecs: {PS: {}, Worker: {replicas: 2}}}").success,
            model::SuccessRule(model::MainReplica{.id = {1, 0}, .or_all = true}));
  EXPECT_EQ(lowered("{successPolicy: AllWorkers, tfReplicaSpecs: {PS: {}, Worker: {replicas: 2}}}").success,
            model::SuccessRule(model::WholeRole{1}));
  EXPECT_EQ(lowered("{successPolicy: AllWorkers, tfReplicaSpecs: {Chief: {}, Worker: {}}}").success,
            model::SuccessRule(model::WholeRole{0}));
  EXPECT_EQ(lowered("{tfReplicaSpecs: {Master: {}, Worker: {}}}").success,
            model::SuccessRule(model::WholeRole{0}));
  model::JobSpec endless = lowered("{tfReplicaSpecs: {PS: {}, Evaluator: {}}}");
  EXPECT_EQ(endless.success, model::SuccessRule(model::NoSuccess{}));
  ASSERT_EQ(endless.advice.size(), 1u);
  EXPECT_EQ(endless.advice[0].reason, "TFJobNeverEnds");
}

// The code a rule table answers: what the engine will do.
model::Action answer(const model::Role& role, model::Trigger trigger, int code) {
  for (const model::Rule& rule : role.rules) {
    if (std::find(rule.on.begin(), rule.on.end(), trigger) == rule.on.end()) continue;
    if (rule.exits.empty()) return rule.action;
    for (const model::ExitRange& range : rule.exits) {
      if (trigger == model::Trigger::kFailed && range.first <= code && code <= range.last) return rule.action;
    }
  }
  return role.otherwise;
}

TEST(RestartRules, ExitCodeTable) {
  model::Role role = lowered("{tfReplicaSpecs: {Worker: {restartPolicy: ExitCode}}}").roles[0];
  for (int code : {42, 129, 130, 131, 134, 137, 138, 140, 143, 200, 254, 255}) {
    EXPECT_EQ(answer(role, model::Trigger::kFailed, code).kind, ActionKind::kRestart) << code;
  }
  for (int code : {-1, 0, 1, 2, 3, 41, 43, 100, 126, 127, 128, 139, 256, 48879}) {
    EXPECT_EQ(answer(role, model::Trigger::kFailed, code).kind, ActionKind::kFail) << code;
  }
  EXPECT_EQ(answer(role, model::Trigger::kDisrupted, -1).kind, ActionKind::kRestart);
  EXPECT_FALSE(role.restarts_in_place);
}

TEST(RestartRules, EachPolicy) {
  struct {
    std::string_view policy;
    ActionKind failed;
    ActionKind disrupted;
    bool in_place;
    std::string_view on_pod;
  } cases[] = {{"Never", ActionKind::kFail, ActionKind::kFail, false, "Never"},
               {"OnFailure", ActionKind::kRestart, ActionKind::kRestart, true, "OnFailure"},
               {"Always", ActionKind::kRestart, ActionKind::kRestart, true, "Always"},
               {"ExitCode", ActionKind::kFail, ActionKind::kRestart, false, "Never"}};
  for (const auto& one : cases) {
    model::JobSpec spec =
        lowered(fmt::format("{{tfReplicaSpecs: {{Worker: {{restartPolicy: {}}}}}}}", one.policy));
    EXPECT_EQ(answer(spec.roles[0], model::Trigger::kFailed, 1).kind, one.failed) << one.policy;
    EXPECT_EQ(answer(spec.roles[0], model::Trigger::kDisrupted, -1).kind, one.disrupted) << one.policy;
    EXPECT_EQ(spec.roles[0].restarts_in_place, one.in_place) << one.policy;
    EXPECT_FALSE(spec.roles[0].runs_forever) << one.policy;
    EXPECT_EQ(pod_of(spec, 0, 0)["spec"].at("restartPolicy").as_string(),
              json::string_view(one.on_pod.data(), one.on_pod.size()));
  }
}

TEST(RestartRules, AScopeBeyondThePodMakesPodsAnew) {
  model::JobSpec spec =
      lowered(manifest("{tfReplicaSpecs: {PS: {restartPolicy: Always}, Worker: {restartPolicy: OnFailure}}}",
                       "{name: t, annotations: {trainyard.dev/restart-scope: job}}"));
  for (const model::Role& role : spec.roles) {
    EXPECT_EQ(answer(role, model::Trigger::kFailed, 1), (model::Action{ActionKind::kRestart, Scope::kJob}));
    EXPECT_FALSE(role.restarts_in_place);
  }
  EXPECT_TRUE(spec.roles[0].runs_forever);
  EXPECT_FALSE(spec.roles[1].runs_forever);
  EXPECT_EQ(pod_of(spec, 0, 0)["spec"].at("restartPolicy").as_string(), "Never");
}

TEST(RestartRules, DynamicWorkersMayFail) {
  model::JobSpec spec = lowered("{enableDynamicWorker: true, tfReplicaSpecs: {PS: {}, Worker: {}}}");
  EXPECT_EQ(spec.roles[0].otherwise.kind, ActionKind::kFail);
  EXPECT_EQ(spec.roles[1].otherwise.kind, ActionKind::kNone);
}

TEST(RestartRules, ATemplatesPolicyCountsWhereTheReplicaHasNone) {
  constexpr std::string_view kTemplate =
      "{spec: {restartPolicy: OnFailure, containers: [{name: tensorflow, image: i}]}}";
  model::JobSpec taken = lowered(fmt::format("{{tfReplicaSpecs: {{MASTER: {{template: {}}}}}}}", kTemplate));
  EXPECT_TRUE(taken.roles[0].restarts_in_place);
  EXPECT_THAT(taken.advice, IsEmpty());
  EXPECT_EQ(pod_of(taken, 0, 0)["spec"].at("restartPolicy").as_string(), "OnFailure");

  model::JobSpec overwritten = lowered(
      fmt::format("{{tfReplicaSpecs: {{Worker: {{restartPolicy: Never, template: {}}}}}}}", kTemplate));
  EXPECT_FALSE(overwritten.roles[0].restarts_in_place);
  EXPECT_THAT(overwritten.advice,
              ElementsAre(model::Advice{
                  "SettedPodTemplateRestartPolicy",
                  "Restart policy in pod template will be overwritten by restart policy in replica spec"}));
  EXPECT_EQ(pod_of(overwritten, 0, 0)["spec"].at("restartPolicy").as_string(), "Never");
}

TEST(Lower, ATimeoutThatAGroupCannotHaveIsSpokenOf) {
  constexpr std::string_view kSpec =
      "{runPolicy: {schedulingPolicy: {scheduleTimeoutSeconds: 30}}, tfReplicaSpecs: {Worker: {}}}";
  for (const char* without : {"volcano", "kube-batch", "trainyard"}) {
    EXPECT_THAT(lowered(kSpec, {.gang_scheduler = without}).advice,
                ElementsAre(model::Advice{
                    "ScheduleTimeoutIgnored",
                    "scheduleTimeoutSeconds 30 has no effect: only PodGroups of scheduler-plugins have it. "
                    "Pods of this "
                    "gang hold no nodes while they wait for one another, and wait until there is room"}))
        << without;
  }
  EXPECT_THAT(lowered(kSpec, {.gang_scheduler = "scheduler-plugins"}).advice, IsEmpty());
  EXPECT_THAT(lowered(kSpec).advice, IsEmpty()) << "nobody was asked for a gang";
  EXPECT_THAT(lowered("{tfReplicaSpecs: {Worker: {}}}", {.gang_scheduler = "volcano"}).advice, IsEmpty());
}

TEST(Lower, AdviceSaysWhatMayNotBeMeant) {
  EXPECT_EQ(lowered("{tfReplicaSpecs: {Worker: {restartPolicy: Always}}}").advice.at(0).reason,
            "TFJobNeverEnds");
  // Then nobody restarts what ended well in place, and the job has succeeded.
  EXPECT_TRUE(lowered(manifest("{tfReplicaSpecs: {Worker: {restartPolicy: Always}}}",
                               "{name: t, annotations: {trainyard.dev/restart-scope: role}}"))
                  .advice.empty());
  EXPECT_EQ(
      lowered("{tfReplicaSpecs: {Worker: {replicas: 2, template: {spec: {hostNetwork: true, containers: "
              "[{name: tensorflow, image: i}]}}}}}")
          .advice.at(0)
          .reason,
      "HostNetworkPorts");
  EXPECT_EQ(lowered("{tfReplicaSpecs: {Worker: {template: {spec: {schedulerName: mine, containers: "
                    "[{name: tensorflow, image: i}]}}}}}",
                    {.gang_scheduler = "volcano"})
                .advice.at(0)
                .reason,
            "SettedPodTemplateSchedulerName");
}

struct BadCase {
  std::string_view spec;
  std::vector<std::string> expected;
};

const std::string kRoles = "spec.tfReplicaSpecs";

void expect_problems(const std::vector<BadCase>& cases) {
  for (const BadCase& one : cases) EXPECT_EQ(problems_of(manifest(one.spec)), one.expected) << one.spec;
}

TEST(Validate, EveryProblemOfRolesWithItsPath) {
  const std::string allowed = "supported values: \"Chief\", \"Master\", \"PS\", \"Worker\", \"Evaluator\"";
  expect_problems({
      {"{}", {kRoles + ": Required value: must be required"}},
      {"null", {kRoles + ": Required value: must be required"}},
      {"7", {"spec: Invalid type: 7: must be an object, not a number"}},
      {"{notTheActualField: {}}", {kRoles + ": Required value: must be required"}},
      {"{tfReplicaSpecs: {}}", {kRoles + ": Required value: must have at least one role"}},
      {"{tfReplicaSpecs: {Worker: null}}", {kRoles + ": Required value: must have at least one role"}},
      {"{tfReplicaSpecs: []}", {kRoles + ": Invalid type: []: must be an object, not an array"}},
      {"{tfReplicaSpecs: {Worker: 3}}", {kRoles + "[Worker]: Invalid type: 3: must be an object"}},
      {"{tfReplicaSpecs: {Driver: {}, Worker: {}}}",
       {kRoles + "[Driver]: Unsupported value: \"Driver\": " + allowed}},
      {"{tfReplicaSpecs: {Eval: {}, Worker: {}}}",
       {kRoles + "[Eval]: Unsupported value: \"Eval\": " + allowed + ": did you mean \"Evaluator\"?"}},
      {"{tfReplicaSpecs: {Worker: {}, worker: {}}}",
       {kRoles + "[worker]: Duplicate value: the role Worker is given twice"}},
      {"{tfReplicaSpecs: {Chief: {}, MASTER: {}}}",
       {kRoles + ": Forbidden: must not have more than 1 Chief or Master role"}},
      {"{tfReplicaSpecs: {Chief: {replicas: 2}}}",
       {kRoles + "[Chief].replicas: Invalid value: 2: must be less than or equal to 1: a job has one Chief"}},
      {"{tfReplicaSpecs: {Worker: {replicas: -1}}}",
       {kRoles + "[Worker].replicas: Invalid value: -1: must be greater than or equal to 0"}},
      {"{tfReplicaSpecs: {Worker: {replicas: 1.5}}}",
       {kRoles + "[Worker].replicas: Invalid value: 1.5: must be a whole number"}},
      {"{tfReplicaSpecs: {Worker: {replicas: '1'}}}",
       {kRoles + "[Worker].replicas: Invalid type: \"1\": must be a whole number, not a string"}},
      {"{tfReplicaSpecs: {Worker: {replicas: 99999999999999999999}}}",
       {kRoles + "[Worker].replicas: Invalid value: 1e+20: must be less than or equal to 100000"}},
      {"{tfReplicaSpecs: {Worker: {replicas: 100001}}}",
       {kRoles + "[Worker].replicas: Invalid value: 100001: must be less than or equal to 100000"}},
      {"{tfReplicaSpecs: {PS: {replicas: 60000}, Worker: {replicas: 60000}}}",
       {kRoles + ": Too many: has 120000 replicas in all: must have at most 100000"}},
      {"{tfReplicaSpecs: {Worker: {replicas: 0}}}",
       {kRoles +
        "[Worker].replicas: Invalid value: 0: must be greater than or equal to 1: the job succeeds when its "
        "Worker does"}},
      {"{tfReplicaSpecs: {Chief: {replicas: 0}, Worker: {}}}",
       {kRoles +
        "[Chief].replicas: Invalid value: 0: must be greater than or equal to 1: the job succeeds when its "
        "Chief does"}},
      {"{tfReplicaSpecs: {PS: {replicas: 0}}}",
       {kRoles + ": Required value: must have at least one replica"}},
  });
}

TEST(Validate, EveryProblemOfPoliciesAndTemplatesWithItsPath) {
  expect_problems({
      {"{tfReplicaSpecs: {Worker: {restartPolicy: Sometimes}}}",
       {kRoles + "[Worker].restartPolicy: Unsupported value: \"Sometimes\": supported values: \"Always\", "
                 "\"OnFailure\", "
                 "\"Never\", \"ExitCode\""}},
      {"{cleanPodPolicy: Sometimes, tfReplicaSpecs: {Worker: {}}}",
       {"spec.cleanPodPolicy: Unsupported value: \"Sometimes\": supported values: \"All\", \"Running\", "
        "\"None\""}},
      {"{cleanPodPolicy: All, runPolicy: {cleanPodPolicy: None}, tfReplicaSpecs: {Worker: {}}}",
       {"spec.cleanPodPolicy: Invalid value: \"All\": differs from spec.runPolicy.cleanPodPolicy: write it "
        "in one place"}},
      {"{successPolicy: Sometimes, tfReplicaSpecs: {Worker: {}}}",
       {"spec.successPolicy: Unsupported value: \"Sometimes\": supported values: \"\", \"AllWorkers\""}},
      {"{runPolicy: {backoffLimit: -1, activeDeadlineSeconds: -1, ttlSecondsAfterFinished: -1}, "
       "tfReplicaSpecs: {Worker: {}}}",
       {"spec.runPolicy.ttlSecondsAfterFinished: Invalid value: -1: must be greater than or equal to 0",
        "spec.runPolicy.activeDeadlineSeconds: Invalid value: -1: must be greater than or equal to 0",
        "spec.runPolicy.backoffLimit: Invalid value: -1: must be greater than or equal to 0"}},
      {"{runPolicy: {managedBy: example.com/other}, tfReplicaSpecs: {Worker: {}}}",
       {"spec.runPolicy.managedBy: Unsupported value: \"example.com/other\": supported values: "
        "\"kueue.x-k8s.io/multikueue\", \"kubeflow.org/training-operator\""}},
      {"{runPolicy: {suspend: 'yes'}, tfReplicaSpecs: {Worker: {}}}",
       {"spec.runPolicy.suspend: Invalid type: \"yes\": must be true or false, not a string"}},
      {"{runPolicy: {schedulingPolicy: {minAvailable: -1, minResources: {cpu: lots}}}, tfReplicaSpecs: "
       "{Worker: {}}}",
       {"spec.runPolicy.schedulingPolicy.minAvailable: Invalid value: -1: must be greater than or equal to 0",
        "spec.runPolicy.schedulingPolicy.minResources.cpu: Invalid value: \"lots\": must be a quantity, as "
        "500m, 2 or "
        "1Gi"}},
      {"{tfReplicaSpecs: {Worker: {template: {spec: {containers: [{name: main, image: ''}]}}}}}",
       {kRoles + "[Worker].template.spec.containers[0].image: Required value: must be required",
        kRoles +
            "[Worker].template.spec.containers: Required value: must have at least one container with name "
            "tensorflow"}},
      {"{tfReplicaSpecs: {Worker: {template: {}}}}",
       {kRoles + "[Worker].template.spec.containers: Required value: must be specified",
        kRoles +
            "[Worker].template.spec.containers: Required value: must have at least one container with name "
            "tensorflow"}},
  });
}

TEST(Validate, NamesOfTheLastReplicaMustBeLabels) {
  std::string name(55, 'a');
  std::vector<std::string> said =
      problems_of(manifest("{tfReplicaSpecs: {Worker: {replicas: 11}}}", "{name: " + name + "}"));
  EXPECT_THAT(
      said,
      ElementsAre("spec.tfReplicaSpecs[Worker]: Too long: its last replica would be named " + name +
                  "-worker-10, which has 65 characters: the name of a Service must be no more than 63"));
  EXPECT_THAT(problems_of(manifest("{tfReplicaSpecs: {Worker: {}}}", "{name: a.b}")),
              ElementsAre(::testing::StartsWith(
                  "metadata.name: Invalid value: \"a.b\": should match: a DNS-1035 label")));
}

TEST(Validate, UpdatesKeepManagerAndQueue) {
  json::object before = manifest(
      "{runPolicy: {managedBy: kubeflow.org/training-operator, schedulingPolicy: {queue: a}}, "
      "tfReplicaSpecs: {Worker: {}}}");
  json::object after = manifest("{runPolicy: {schedulingPolicy: {queue: b}}, tfReplicaSpecs: {Worker: {}}}");
  EXPECT_THAT(tfjob().validate_update(before, before), IsEmpty());
  std::vector<std::string> said;
  for (const Problem& problem : tfjob().validate_update(before, after)) said.push_back(to_string(problem));
  EXPECT_THAT(said, ElementsAre("spec.runPolicy.managedBy: Invalid value: null: field is immutable",
                                "spec.runPolicy.schedulingPolicy.queue: Invalid value: \"b\": "
                                "spec.runPolicy.schedulingPolicy.queue is immutable"));
}

TEST(Versions, AllOfThemAreRecognised) {
  for (std::string_view version : {"kubeflow.org/v1", "kubeflow.org/v1beta1", "kubeflow.org/v1beta2",
                                   "kubeflow.org/v1alpha2", "kubeflow.org/v1alpha1"}) {
    EXPECT_TRUE(tfjob().recognises(version, "TFJob")) << version;
  }
  EXPECT_FALSE(tfjob().recognises("kubeflow.org/v1", "PyTorchJob"));
  EXPECT_FALSE(tfjob().recognises("kubeflow.org/v2", "TFJob"));
  EXPECT_FALSE(tfjob().recognises("", ""));
}

TEST(Versions, TheListOfTheFirstVersionIsRead) {
  json::object job = from_yaml(R"(
apiVersion: kubeflow.org/v1alpha1
kind: TFJob
metadata: {name: example-job}
spec:
  cleanupPodPolicy: None
  terminationPolicy: {chief: {replicaName: MASTER, replicaIndex: 0}}
  replicaSpecs:
  - tfReplicaType: WORKER
    replicas: 2
    tfPort: 3333
    template: {spec: {restartPolicy: OnFailure, containers: [{name: tensorflow, image: i}]}}
  - template: {spec: {containers: [{name: tensorflow, image: i}]}}
)");
  model::JobSpec spec = lowered(job);
  ASSERT_EQ(spec.roles.size(), 2u);
  EXPECT_EQ(spec.roles[0].name, "master");
  EXPECT_EQ(spec.roles[1].replicas, 2);
  EXPECT_TRUE(spec.roles[1].restarts_in_place);
  EXPECT_EQ(spec.cleanup, Cleanup::kNone);
  json::object service = tfjob().render_service(spec, {1, 0});
  EXPECT_EQ(service["spec"].at("ports").at(0).at("port").as_int64(), 3333);

  json::object twice = job;
  twice["spec"].as_object()["replicaSpecs"].as_array().push_back(
      from_json(R"({"template":{"spec":{"containers":[{"name":"tensorflow","image":"i"}]}}})"));
  EXPECT_THAT(
      problems_of(twice),
      ElementsAre("spec.replicaSpecs[2].tfReplicaType: Duplicate value: the role Master is given twice"));
  json::object other = job;
  other["spec"].as_object()["terminationPolicy"] =
      from_json(R"({"chief":{"replicaName":"WORKER","replicaIndex":1}})");
  EXPECT_THAT(
      problems_of(other),
      ElementsAre(
          "spec.terminationPolicy.chief.replicaName: Unsupported value: \"WORKER\": must be MASTER in "
          "this job",
          "spec.terminationPolicy.chief.replicaIndex: Invalid value: 1: must be less than or equal to 0"));
}

TEST(Versions, TheNormalFormLowersToTheSameJob) {
  json::object job = manifest(
      "{cleanPodPolicy: All, backoffLimit: 3, tfReplicaSpecs: {ps: {restartPolicy: Always}, "
      "WORKER: {replicas: 2, restartPolicy: ExitCode}}, colour: red}");
  model::JobSpec spec = lowered(job);
  model::JobSpec again = lowered(*spec.source);
  EXPECT_TRUE(same_intent(spec, again));
  EXPECT_EQ(*again.source, *spec.source);
  EXPECT_EQ(spec.source->at("spec").at("colour").as_string(), "red");
}

// What stands in one place from now on is not warned about, and what v1 does not have is not there.
TEST(Lower, TheNormalFormIsAValidTfjobOfToday) {
  json::object oldest = from_yaml(R"(
apiVersion: kubeflow.org/v1alpha1
kind: TFJob
metadata: {name: old}
spec:
  RuntimeId: 76no
  tfImage: tf
  schedulerName: kube-batch
  replicaSpecs:
  - template: {spec: {restartPolicy: OnFailure, containers: [{name: tensorflow, image: i}]}}
  - tfReplicaType: WORKER
    template: {spec: {schedulerName: mine, containers: [{name: tensorflow, image: i}]}}
)");
  LowerResult first = tfjob().lower(oldest, {});
  ASSERT_TRUE(std::holds_alternative<model::JobSpec>(first));
  const json::object& source = *std::get<model::JobSpec>(first).source;
  EXPECT_EQ(json::serialize(source.at("spec")),
            R"({"tfReplicaSpecs":{"Master":{"replicas":1,"restartPolicy":"OnFailure","template":{"spec":)"
            R"({"containers":[{"name":"tensorflow","image":"i","ports":[{"name":"tfjob-port",)"
            R"("containerPort":2222}]}],"schedulerName":"kube-batch"}}},"Worker":{"replicas":1,)"
            R"("restartPolicy":"Never","template":{"spec":{"schedulerName":"mine","containers":[{"name":)"
            R"("tensorflow","image":"i","ports":[{"name":"tfjob-port","containerPort":2222}]}]}}}},)"
            R"("runPolicy":{"cleanPodPolicy":"Running"}})");
  LowerResult second = tfjob().lower(source, {});
  ASSERT_TRUE(std::holds_alternative<model::JobSpec>(second));
  EXPECT_EQ(std::get<model::JobSpec>(second).advice, std::get<model::JobSpec>(first).advice);
}

}  // namespace
}  // namespace trainyard::dialect::tf
