#include "dialect/tfjob/decode.h"

#include <fmt/format.h>

#include "dialect/shared/template.h"
#include "dialect/tfjob/replicas.h"
#include "kube/access.h"
#include "kube/meta.h"
#include "kube/quantity.h"

namespace trainyard::dialect::tf {
namespace {

constexpr std::string_view kOldest = "kubeflow.org/v1alpha1";
constexpr int64_t kSecondsMax = 1'000'000'000'000;  // so that a time plus this many is still a time

// A field under spec.runPolicy that older manifests have directly under spec.
template <typename Read>
auto from_either(const Reader& run, const Reader& spec, std::string_view key, Read read) {
  auto inner = read(run);
  auto outer = read(spec);
  if (inner && outer && *inner != *outer) {
    spec.report(key, ProblemKind::kInvalid,
                fmt::format("differs from spec.runPolicy.{}: write it in one place", key));
  }
  return inner ? inner : outer;
}

std::optional<int64_t> whole_from(const Reader& run, const Reader& spec, std::string_view key, int64_t high) {
  return from_either(run, spec, key, [&](const Reader& from) { return from.whole(key, 0, high); });
}

model::Cleanup cleanup_named(std::string_view word) {
  if (word == "All") return model::Cleanup::kAll;
  return word == "None" ? model::Cleanup::kNone : model::Cleanup::kUnfinished;
}

std::string_view word_of(model::Cleanup cleanup) {
  switch (cleanup) {
    case model::Cleanup::kNone:
      return "None";
    case model::Cleanup::kUnfinished:
      return "Running";
    case model::Cleanup::kAll:
      return "All";
  }
  return "";
}

model::Cleanup read_cleanup(const Reader& run, const Reader& spec, const Settings& settings) {
  auto read = [](std::string_view key) {
    return [key](const Reader& from) { return from.one_of(key, {"All", "Running", "None"}); };
  };
  std::optional<std::string> word = from_either(run, spec, "cleanPodPolicy", read("cleanPodPolicy"));
  if (!word) word = read("cleanupPodPolicy")(spec);  // as v1alpha1 spelled it
  return cleanup_named(word ? *word : settings.default_clean_policy);
}

// The name of another object; "" when none is given.
std::string named(const Reader& from, std::string_view key) {
  std::string name = from.text(key).value_or("");
  std::string fault = name.empty() ? "" : name_fault(name, NameRule::kDns1123Subdomain);
  if (!fault.empty()) from.report(key, ProblemKind::kInvalid, fault);
  return name;
}

TfSchedulingPolicy read_scheduling(const Reader& run) {
  Reader policy = run.child("schedulingPolicy");
  TfSchedulingPolicy scheduling;
  if (auto least = policy.whole("minAvailable", 0)) scheduling.min_available = static_cast<int>(*least);
  if (auto wait = policy.whole("scheduleTimeoutSeconds", 0))
    scheduling.timeout_seconds = static_cast<int>(*wait);
  scheduling.queue = named(policy, "queue");
  scheduling.priority_class = named(policy, "priorityClass");
  Reader amounts = policy.child("minResources");
  for (const auto& member : amounts.object()) {
    if (member.value().is_null()) continue;
    Result<kube::Quantity> amount = kube::Quantity::from_json(member.value());
    if (amount.ok() && !amount->is_negative()) {
      scheduling.min_resources.emplace(key_of(member), amount->to_string());
    } else {
      amounts.report(key_of(member), ProblemKind::kInvalid, "must be a quantity, as 500m, 2 or 1Gi");
    }
  }
  return scheduling;
}

void read_run_policy(const Reader& spec, const Settings& settings, TfJob& job) {
  Reader run = spec.child("runPolicy");
  constexpr int64_t kInt32Max = std::numeric_limits<int32_t>::max();
  job.cleanup = read_cleanup(run, spec, settings);
  job.ttl_seconds = whole_from(run, spec, "ttlSecondsAfterFinished", kInt32Max);
  job.active_deadline_seconds = whole_from(run, spec, "activeDeadlineSeconds", kSecondsMax);
  if (auto limit = whole_from(run, spec, "backoffLimit", kInt32Max))
    job.backoff_limit = static_cast<int>(*limit);
  job.suspend = run.boolean("suspend").value_or(false);
  std::optional<std::string> manager =
      run.one_of("managedBy", {"kueue.x-k8s.io/multikueue", "kubeflow.org/training-operator"});
  job.managed = !manager || *manager == "kubeflow.org/training-operator";
  job.scheduling = read_scheduling(run);
}

// v1alpha1 named the scheduler of all pods in one place.
void name_scheduler(const Reader& spec, TfJob& job) {
  std::string scheduler = spec.text("schedulerName").value_or("");
  if (scheduler.empty()) return;
  for (TfReplicas& one : job.replicas) {
    json::object& pod = kube::ensure_object(one.pod_template, {"spec"});
    if (kube::text_at(pod, {"schedulerName"}).empty()) pod["schedulerName"] = scheduler;
  }
}

// v1alpha1 could name any replica as the one that ends the job; only the first of the role
// that decides anyway can be honoured.
void check_termination_policy(const Reader& spec, const TfJob& job) {
  Reader chief = spec.child("terminationPolicy").child("chief");
  if (!chief.present()) return;
  std::string name = chief.text("replicaName").value_or("MASTER");
  bool leads = job.find(TfRole::kMaster) != nullptr || job.find(TfRole::kChief) != nullptr;
  std::string_view decides = leads ? "MASTER" : "WORKER";
  if (name != decides) {
    chief.report("replicaName", ProblemKind::kUnsupported, fmt::format("must be {} in this job", decides));
  }
  chief.whole("replicaIndex", 0, 0);
}

}  // namespace

TfJob decode_tfjob(const json::object& object, const Settings& settings, std::vector<Problem>& problems) {
  Reader root = Reader::root(object, problems);
  TfJob job;
  check_metadata(root);
  job.name = job_name(object);
  std::string_view name_space = kube::namespace_of(object);
  job.name_space = name_space.empty() ? "default" : std::string(name_space);
  job.restart_scope = restart_scope(root);
  job.holds_deletion = holds_deletion(root);

  Reader spec = root.child("spec");
  if (!spec.present() && root.has("spec")) return job;
  std::string_view api_version = kube::text_at(object, {"apiVersion"});
  job.replicas = read_replicas(spec, api_version, job.name);
  read_run_policy(spec, settings, job);
  job.all_workers = spec.one_of("successPolicy", {"", "AllWorkers"}) == "AllWorkers";
  job.dynamic_worker = spec.boolean("enableDynamicWorker").value_or(false);
  if (api_version == kOldest) {
    check_termination_policy(spec, job);
    name_scheduler(spec, job);
  }
  return job;
}

namespace {

// A copy but for the roles, of which the place is kept alone: they are many, and others are put there.
json::object without_roles(const json::object& object) {
  json::object copy;
  copy.reserve(object.size());
  for (const json::key_value_pair& member : object) {
    if (member.key() != "spec" || !member.value().is_object()) {
      copy.emplace(member.key(), member.value());
      continue;
    }
    json::object spec;
    for (const json::key_value_pair& part : member.value().get_object()) {
      if (part.key() == "tfReplicaSpecs") {
        spec.emplace(part.key(), nullptr);
      } else {
        spec.emplace(part.key(), part.value());
      }
    }
    copy.emplace(member.key(), std::move(spec));
  }
  return copy;
}

}  // namespace

json::object normal_form(const json::object& object, TfJob&& job) {
  json::object normal = without_roles(object);
  json::object& spec = kube::ensure_object(normal, {"spec"});
  json::object roles;
  for (TfReplicas& one : job.replicas) {
    json::object entry;
    entry["replicas"] = one.replicas;
    entry["restartPolicy"] = kube::jview(to_string(one.restart_policy));
    // A policy that was taken from the template stands in one place from now on.
    json::value* pod = one.pod_template.if_contains("spec");
    if (!one.overwrites_template_policy && pod != nullptr && pod->is_object())
      pod->get_object().stable_erase("restartPolicy");
    entry["template"] = std::move(one.pod_template);
    roles[kube::jview(title_of(one.role))] = std::move(entry);
  }
  spec["tfReplicaSpecs"] = std::move(roles);
  json::object& run = kube::ensure_object(spec, {"runPolicy"});
  run["cleanPodPolicy"] = kube::jview(word_of(job.cleanup));
  if (job.ttl_seconds) run["ttlSecondsAfterFinished"] = *job.ttl_seconds;
  if (job.active_deadline_seconds) run["activeDeadlineSeconds"] = *job.active_deadline_seconds;
  if (job.backoff_limit) run["backoffLimit"] = *job.backoff_limit;
  for (std::string_view moved :
       {"replicaSpecs", "cleanPodPolicy", "cleanupPodPolicy", "ttlSecondsAfterFinished",
        "activeDeadlineSeconds", "backoffLimit", "terminationPolicy"}) {
    spec.erase(kube::jview(moved));
  }
  if (kube::text_at(object, {"apiVersion"}) == kOldest) {
    for (std::string_view gone : {"RuntimeId", "tfImage", "schedulerName"}) spec.erase(kube::jview(gone));
  }
  normal["apiVersion"] = kube::kTfJobs.api_version();
  return normal;
}

const json::object* template_in(const json::object& normal, std::string_view role_title) {
  return kube::object_at(normal, {"spec", "tfReplicaSpecs", role_title, "template"});
}

}  // namespace trainyard::dialect::tf
