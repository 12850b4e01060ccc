#include "deploy/crd_rules.h"

#include "base/check.h"
#include "kube/access.h"
#include "kube/yaml.h"

namespace trainyard::deploy {
namespace {

constexpr std::string_view kT9kTypes =
    R"json({"maxLength":16,"enum":["chief","worker","ps","evaluator"]})json";
constexpr std::string_view kByType =
    R"json({"maxItems":16,"x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["type"]})json";
constexpr std::string_view kPriority = R"json({"minimum":0,"maximum":100})json";
// The name of a queue or of a class; "" is none.
constexpr std::string_view kObjectName =
    R"json({"nullable":true,"maxLength":253,"pattern":"^([a-z0-9]([-a-z0-9]*[a-z0-9])?)json"
    R"json((\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)?$"})json";

constexpr CrdBound kTfJobBounds[] = {
    {"", R"json({"required":["spec"]})json"},
    {"spec.tfReplicaSpecs", R"json({"minProperties":1,"maxProperties":10})json"},
    {"spec.tfReplicaSpecs{}", R"json({"required":["template"]})json"},
    {"spec.tfReplicaSpecs{}.replicas", R"json({"minimum":0,"maximum":100000})json"},
    {"spec.tfReplicaSpecs{}.restartPolicy",
     R"json({"enum":["","Always","OnFailure","Never","ExitCode"]})json"},
    {"spec.successPolicy", R"json({"enum":["","AllWorkers"]})json"},
    {"spec.cleanPodPolicy", R"json({"enum":["All","Running","None"]})json"},
    {"spec.ttlSecondsAfterFinished", R"json({"minimum":0,"maximum":2147483647})json"},
    {"spec.activeDeadlineSeconds", R"json({"minimum":0,"maximum":1000000000000})json"},
    {"spec.backoffLimit", R"json({"minimum":0,"maximum":2147483647})json"},
    {"spec.runPolicy.cleanPodPolicy", R"json({"enum":["All","Running","None"]})json"},
    {"spec.runPolicy.ttlSecondsAfterFinished", R"json({"minimum":0,"maximum":2147483647})json"},
    {"spec.runPolicy.activeDeadlineSeconds", R"json({"minimum":0,"maximum":1000000000000})json"},
    {"spec.runPolicy.backoffLimit", R"json({"minimum":0,"maximum":2147483647})json"},
    {"spec.runPolicy.suspend", R"json({"default":false})json"},
    {"spec.runPolicy.managedBy",
     R"json({"maxLength":63,"enum":["kubeflow.org/training-operator","kueue.x-k8s.io/multikueue"]})json"},
    {"spec.runPolicy.schedulingPolicy.minAvailable", R"json({"minimum":0,"maximum":2147483647})json"},
    {"spec.runPolicy.schedulingPolicy.scheduleTimeoutSeconds",
     R"json({"minimum":0,"maximum":2147483647})json"},
    {"spec.runPolicy.schedulingPolicy.queue", kObjectName},
    {"spec.runPolicy.schedulingPolicy.priorityClass", kObjectName},
};

constexpr CrdBound kT9kJobBounds[] = {
    {"", R"json({"required":["spec"]})json"},
    {"spec.replicaSpecs", kByType},
    {"spec.replicaSpecs", R"json({"minItems":1})json"},
    {"spec.replicaSpecs[]", R"json({"required":["type","template"]})json"},
    {"spec.replicaSpecs[].type", kT9kTypes},
    {"spec.replicaSpecs[].replicas", R"json({"minimum":0,"maximum":100000})json"},
    {"spec.replicaSpecs[].restartPolicy", R"json({"enum":["Never","OnFailure","Always","ExitCode"]})json"},
    {"spec.runPolicy.activeDeadlineSeconds", R"json({"minimum":1})json"},
    {"spec.runPolicy.backoffLimit", R"json({"minimum":0,"maximum":2147483647})json"},
    {"spec.runPolicy.cleanUpPolicy", R"json({"enum":["None","All","Unfinished"]})json"},
    {"spec.runMode.debug.replicaSpecs", kByType},
    {"spec.runMode.debug.replicaSpecs[].type", kT9kTypes},
    {"spec.runMode.pause.resumeSpecs", kByType},
    {"spec.runMode.pause.resumeSpecs[].type", kT9kTypes},
    {"spec.runMode.pause.resumeSpecs[].command", R"json({"maxItems":1000})json"},
    {"spec.runMode.pause.resumeSpecs[].args", R"json({"maxItems":1000})json"},
    {"spec.scheduler.t9kScheduler.priority", kPriority},
    {"spec.scheduler.t9kScheduler.queue",
     R"json({"nullable":true,"maxLength":63,"pattern":"^([a-z0-9]([-a-z0-9]*[a-z0-9])?)json"
     R"json((\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)?$"})json"},
};

constexpr CrdBound kT9kPodGroupBounds[] = {
    {"spec.minMember", R"json({"minimum":0})json"},
    {"spec.roles[].minMember", R"json({"minimum":0})json"},
    {"spec.priority", kPriority},
};

constexpr CrdBound kT9kQueueBounds[] = {
    {"spec.priority", kPriority},
    {"spec.maxDuration", R"json({"pattern":"^(0|(([0-9]+)y)?(([0-9]+)w)?(([0-9]+)d)?(([0-9]+)h)?)json"
                         R"json((([0-9]+)m)?(([0-9]+)s)?(([0-9]+)ms)?)$"})json"},
};

constexpr CrdBound kTensorBoardBounds[] = {
    {"spec.runMode", R"json({"enum":["","running","paused"]})json"},
};

constexpr CrdBound kVolcanoJobBounds[] = {
    {"spec.tasks[]", R"json({"required":["template"]})json"},
    {"spec.tasks[].replicas", R"json({"minimum":0})json"},
    {"spec.minAvailable", R"json({"minimum":0})json"},
    {"spec.maxRetry", R"json({"minimum":0})json"},
    {"spec.ttlSecondsAfterFinished", R"json({"minimum":0,"maximum":2147483647})json"},
    {"spec.plugins{}", R"json({"nullable":true})json"},
};

constexpr CelRule kTfJobRules[] = {
    {"", "self.metadata.name.size() <= 63 && self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",
     "metadata.name should match: a DNS-1035 label must consist of lower case alphanumeric characters or "
     "'-', start with an alphabetic character, and end with an alphanumeric character, and be no more than "
     "63 characters"},
    {"",
     "self.spec.tfReplicaSpecs.all(k, (has(self.spec.tfReplicaSpecs[k].replicas) && "
     "self.spec.tfReplicaSpecs[k].replicas < 1) || self.metadata.name.size() + k.size() + 2 + "
     "string(has(self.spec.tfReplicaSpecs[k].replicas) ? self.spec.tfReplicaSpecs[k].replicas - 1 : "
     "0).size() <= 63)",
     "metadata.name is too long: its last replica would be named <name>-<role>-<index>, and the name of a "
     "Service must be no more than 63 characters"},
    {"spec",
     "!has(self.cleanPodPolicy) || !has(self.runPolicy) || !has(self.runPolicy.cleanPodPolicy) || "
     "self.cleanPodPolicy == self.runPolicy.cleanPodPolicy",
     "cleanPodPolicy differs from spec.runPolicy.cleanPodPolicy: write it in one place"},
    {"spec",
     "!has(self.ttlSecondsAfterFinished) || !has(self.runPolicy) || "
     "!has(self.runPolicy.ttlSecondsAfterFinished) || self.ttlSecondsAfterFinished == "
     "self.runPolicy.ttlSecondsAfterFinished",
     "ttlSecondsAfterFinished differs from spec.runPolicy.ttlSecondsAfterFinished: write it in one place"},
    {"spec",
     "!has(self.activeDeadlineSeconds) || !has(self.runPolicy) || !has(self.runPolicy.activeDeadlineSeconds) "
     "|| self.activeDeadlineSeconds == self.runPolicy.activeDeadlineSeconds",
     "activeDeadlineSeconds differs from spec.runPolicy.activeDeadlineSeconds: write it in one place"},
    {"spec",
     "!has(self.backoffLimit) || !has(self.runPolicy) || !has(self.runPolicy.backoffLimit) || "
     "self.backoffLimit == self.runPolicy.backoffLimit",
     "backoffLimit differs from spec.runPolicy.backoffLimit: write it in one place"},
    {"spec",
     "(has(self.runPolicy) && has(self.runPolicy.managedBy) ? self.runPolicy.managedBy : '') == "
     "(has(oldSelf.runPolicy) && has(oldSelf.runPolicy.managedBy) ? oldSelf.runPolicy.managedBy : '')",
     "spec.runPolicy.managedBy: field is immutable"},
    {"spec.tfReplicaSpecs", "self.all(k, k.lowerAscii() in ['chief', 'master', 'ps', 'worker', 'evaluator'])",
     "supported roles: Chief, Master, PS, Worker, Evaluator"},
    {"spec.tfReplicaSpecs", "self.all(k, self.exists_one(j, j.lowerAscii() == k.lowerAscii()))",
     "a role is given twice"},
    {"spec.tfReplicaSpecs", "self.filter(k, k.lowerAscii() in ['chief', 'master']).size() <= 1",
     "must not have more than 1 Chief or Master role"},
    {"spec.tfReplicaSpecs",
     "self.all(k, !(k.lowerAscii() in ['chief', 'master']) || !has(self[k].replicas) || self[k].replicas == "
     "1)",
     "a job has one Chief or Master: its replicas must be 1"},
    {"spec.tfReplicaSpecs",
     "self.exists(k, k.lowerAscii() in ['chief', 'master']) || self.all(k, k.lowerAscii() != 'worker' || "
     "!has(self[k].replicas) || self[k].replicas >= 1)",
     "Worker replicas must be greater than or equal to 1: the job succeeds when its Worker does"},
    {"spec.tfReplicaSpecs", "self.exists(k, !has(self[k].replicas) || self[k].replicas > 0)",
     "must have at least one replica"},
    {"spec.tfReplicaSpecs", "self.map(k, has(self[k].replicas) ? self[k].replicas : 1).sum() <= 100000",
     "must have at most 100000 replicas in all"},
    {"spec.tfReplicaSpecs{}", "self.template.spec.containers.exists(c, c.name == 'tensorflow')",
     "must have at least one container with name tensorflow"},
    {"spec.runPolicy.schedulingPolicy.queue", "self == oldSelf",
     "spec.runPolicy.schedulingPolicy.queue is immutable"},
};

constexpr CelRule kT9kJobRules[] = {
    {"", "self.metadata.name.size() <= 63 && self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",
     "metadata.name should match: a DNS-1035 label must consist of lower case alphanumeric characters or "
     "'-', start with an alphabetic character, and end with an alphanumeric character, and be no more than "
     "63 characters"},
    {"",
     "self.spec.replicaSpecs.all(r, (has(r.replicas) && r.replicas < 1) || self.metadata.name.size() + "
     "r.type.size() + 8 + string(has(r.replicas) ? r.replicas - 1 : 0).size() <= 63)",
     "metadata.name is too long: its last replica would be named <name>-<5 characters>-<type>-<index>, and "
     "the name of a Service must be no more than 63 characters"},
    {"spec",
     "!has(self.runMode) || !has(self.runMode.debug) || !has(self.runMode.debug.replicaSpecs) || "
     "self.runMode.debug.replicaSpecs.all(d, self.replicaSpecs.exists(r, r.type == d.type))",
     "spec.runMode.debug.replicaSpecs: the job has no replicas of this type"},
    {"spec",
     "!has(self.runMode) || !has(self.runMode.pause) || !has(self.runMode.pause.resumeSpecs) || "
     "self.runMode.pause.resumeSpecs.all(d, self.replicaSpecs.exists(r, r.type == d.type))",
     "spec.runMode.pause.resumeSpecs: the job has no replicas of this type"},
    {"spec",
     "(has(self.runMode) && has(self.runMode.pause) && has(self.runMode.pause.resumeSpecs) && "
     "self.runMode.pause.resumeSpecs.size() > 0) == (has(oldSelf.runMode) && has(oldSelf.runMode.pause) && "
     "has(oldSelf.runMode.pause.resumeSpecs) && oldSelf.runMode.pause.resumeSpecs.size() > 0)",
     "spec.runMode.pause.resumeSpecs: field is immutable: resume settings are set when the job is created"},
    {"spec",
     "(has(self.scheduler) && has(self.scheduler.t9kScheduler)) == (has(oldSelf.scheduler) && "
     "has(oldSelf.scheduler.t9kScheduler))",
     "spec.scheduler: field is immutable: pods cannot change their queue or PodGroup"},
    {"spec",
     "self.replicaSpecs.size() == oldSelf.replicaSpecs.size() && self.replicaSpecs.all(r, "
     "oldSelf.replicaSpecs.exists(o, o.type == r.type))",
     "spec.replicaSpecs: replica types cannot be added or removed once the job is created"},
    {"spec",
     "self.replicaSpecs.exists(r, r.type == 'chief' && (!has(r.replicas) || r.replicas > 0)) == "
     "oldSelf.replicaSpecs.exists(r, r.type == 'chief' && (!has(r.replicas) || r.replicas > 0))",
     "spec.replicaSpecs: the chief cannot come or go once the job is created: its end decides the job's"},
    {"spec.replicaSpecs",
     "self.exists(r, r.type in ['chief', 'worker'] && (!has(r.replicas) || r.replicas > 0))",
     "must have a chief or a worker with at least one replica: its end decides the job's"},
    {"spec.replicaSpecs", "self.all(r, r.type != 'chief' || !has(r.replicas) || r.replicas <= 1)",
     "a job has at most one chief"},
    {"spec.replicaSpecs", "self.map(r, has(r.replicas) ? r.replicas : 1).sum() <= 100000",
     "must have at most 100000 replicas in all"},
    {"spec.replicaSpecs[]", "self.template.spec.containers.exists(c, c.name == 'tensorflow')",
     "must have at least one container with name tensorflow"},
    {"spec.scheduler.t9kScheduler",
     "(has(self.queue) ? self.queue : '') == (has(oldSelf.queue) ? oldSelf.queue : '')",
     "field is immutable: pods cannot change their queue or PodGroup"},
    {"spec.runMode.pause.resumeSpecs", "self == oldSelf",
     "field is immutable: resume settings are set when the job is created"},
};

const KindRules kRules[] = {
    {"kubeflow.org", "TFJob", kTfJobBounds, kTfJobRules},
    {"batch.tensorstack.dev", "TensorFlowTrainingJob", kT9kJobBounds, kT9kJobRules},
    {"scheduler.tensorstack.dev", "PodGroup", kT9kPodGroupBounds, {}},
    {"scheduler.tensorstack.dev", "Queue", kT9kQueueBounds, {}},
    {"tensorstack.dev", "TensorBoard", kTensorBoardBounds, {}},
    {"batch.volcano.sh", "Job", kVolcanoJobBounds, {}},
};

json::object& below(json::object& schema, std::string_view key) {
  json::value* next = schema.if_contains(kube::jview(key));
  CHECK(next != nullptr);
  CHECK(next->is_object());
  return next->get_object();
}

json::object& schema_at(json::object& root, std::string_view path) {
  json::object* at = &root;
  while (!path.empty()) {
    if (path.starts_with('.')) path.remove_prefix(1);
    if (path.starts_with("[]") || path.starts_with("{}")) {
      at = &below(*at, path[0] == '[' ? "items" : "additionalProperties");
      path.remove_prefix(2);
      continue;
    }
    size_t end = std::min(path.find_first_of(".[{"), path.size());
    at = &below(below(*at, "properties"), path.substr(0, end));
    path.remove_prefix(end);
  }
  return *at;
}

}  // namespace

const KindRules* rules_of(std::string_view group, std::string_view kind) {
  for (const KindRules& each : kRules) {
    if (each.group == group && each.kind == kind) return &each;
  }
  return nullptr;
}

void lay_rules(const KindRules& rules, json::object& schema) {
  for (const CrdBound& bound : rules.bounds) {
    Result<json::value> text = kube::parse_json(bound.schema);
    CHECK(text.ok());
    json::object& at = schema_at(schema, bound.path);
    for (const json::key_value_pair& each : text->as_object()) at[each.key()] = each.value();
  }
  for (const CelRule& rule : rules.cel) {
    json::object one{{"rule", kube::jview(rule.rule)}, {"message", kube::jview(rule.message)}};
    json::value& list = schema_at(schema, rule.path)["x-kubernetes-validations"];
    if (!list.is_array()) list.emplace_array();
    list.get_array().push_back(std::move(one));
  }
}

}  // namespace trainyard::deploy
