#include "dialect/t9k/decode.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "base/ascii.h"
#include "dialect/shared/container_checks.h"
#include "dialect/shared/log_places.h"
#include "dialect/shared/reader.h"
#include "dialect/shared/template.h"
#include "dialect/t9k/name.h"
#include "kube/access.h"
#include "kube/meta.h"

namespace trainyard::t9k {
namespace {

using dialect::Problem;
using dialect::ProblemKind;
using dialect::Reader;

constexpr size_t kLabelValueMax = 63;
constexpr std::array<std::string_view, 4> kTypes{"chief", "worker", "ps", "evaluator"};

// "" when there is none or it is none of the four.
std::string read_type(const Reader& entry) {
  std::optional<std::string> type = entry.text("type");
  if (!type && entry.has("type")) return "";
  if (!type || type->empty()) {
    entry.report("type", ProblemKind::kRequired, "must be chief, worker, ps or evaluator");
    return "";
  }
  for (std::string_view known : kTypes) {
    if (*type == known) return *type;
    if (same_but_for_case(*type, known)) {
      entry.report("type", ProblemKind::kUnsupported,
                   fmt::format("types are written in lower case: did you mean \"{}\"?", known));
      return "";
    }
  }
  entry.one_of("type", {"chief", "worker", "ps", "evaluator"});
  return "";
}

// The replica's own policy; without one, the template's.
RestartPolicy read_policy(const Reader& entry, const Reader& pod_template,
                          std::vector<model::Advice>& advice) {
  std::optional<std::string> own =
      entry.one_of("restartPolicy", {"Never", "OnFailure", "Always", "ExitCode"});
  std::string_view of_template = kube::text_at(pod_template.object(), {"spec", "restartPolicy"});
  if (!own && !entry.has("restartPolicy")) return dialect::restart_policy_named(of_template);
  if (own && !of_template.empty() && of_template != *own) {
    advice.push_back({"RestartPolicyOverridden",
                      fmt::format("{}.spec.restartPolicy {} has no effect: the replica's restartPolicy is {}",
                                  pod_template.path(), of_template, *own)});
  }
  return dialect::restart_policy_named(own.value_or(""));
}

ReplicaSpec read_replica_spec(const Reader& entry, TrainingJob& job) {
  ReplicaSpec found;
  found.type = read_type(entry);
  found.replicas = static_cast<int>(entry.whole("replicas", 0, model::kReplicasMax).value_or(1));
  Reader pod_template = entry.child("template");
  if (!entry.has("template")) {
    entry.report("template", ProblemKind::kRequired,
                 "must be a pod template with a container named tensorflow");
  } else if (pod_template.present()) {
    dialect::check_template(pod_template, kMainContainer);
  }
  found.restart = read_policy(entry, pod_template, job.advice);
  if (found.type == "chief" && found.replicas > 1) {
    entry.report("replicas", ProblemKind::kInvalid, "a job has at most one chief");
  }
  if (!found.type.empty()) {
    dialect::check_child_names(entry, child_prefix(job.name, job.uid), found.type, found.replicas);
  }
  return found;
}

// Writes what was left out into the document that is kept as the job's source.
void write_defaults(const Reader& entry, const ReplicaSpec& found, json::object& into) {
  if (!entry.has("replicas")) into["replicas"] = found.replicas;
  if (!entry.has("restartPolicy")) into["restartPolicy"] = to_string(found.restart);
}

// Whether every type could be read: only then do other problems with types mean anything.
bool read_replica_specs(const Reader& spec, TrainingJob& job) {
  const json::array* list = spec.array("replicaSpecs");
  if (list == nullptr || list->empty()) {
    if (list != nullptr || !spec.has("replicaSpecs")) {
      spec.report("replicaSpecs", ProblemKind::kRequired, "must have a chief or a worker");
    }
    return false;
  }
  json::array& kept = kube::ensure_array(job.source, {"spec", "replicaSpecs"});
  int64_t total = 0;
  bool sound = true;
  bool has_main = false;
  std::vector<Reader> entries = spec.children("replicaSpecs");
  for (size_t i = 0; i < entries.size(); ++i) {
    if (!entries[i].present()) {
      sound = false;
      continue;
    }
    ReplicaSpec found = read_replica_spec(entries[i], job);
    write_defaults(entries[i], found, kept[i].as_object());
    bool repeated = std::any_of(job.replica_specs.begin(), job.replica_specs.end(),
                                [&](const ReplicaSpec& s) { return s.type == found.type; });
    if (repeated) {
      entries[i].report("type", ProblemKind::kDuplicate, "a type may have only one entry");
    }
    total += found.replicas;
    sound = sound && !found.type.empty();
    has_main = has_main || ((found.type == "chief" || found.type == "worker") && found.replicas > 0);
    if (!found.type.empty()) job.replica_specs.push_back(std::move(found));
  }
  if (sound && !has_main) {
    spec.report("replicaSpecs", ProblemKind::kRequired,
                "must have a chief or a worker with at least one replica: its end decides the job's");
  }
  if (total > model::kReplicasMax) {
    Reader(nullptr, spec.path_of("replicaSpecs"), spec.problems())
        .report(ProblemKind::kTooMany,
                fmt::format("{} replicas in all, at most {} are allowed", total, model::kReplicasMax));
  }
  return sound;
}

void read_run_policy(const Reader& spec, TrainingJob& job) {
  Reader policy = spec.child("runPolicy");
  job.active_deadline_seconds = policy.whole("activeDeadlineSeconds", 1, std::numeric_limits<int64_t>::max());
  job.backoff_limit = static_cast<int>(
      policy.whole("backoffLimit", 0, std::numeric_limits<int32_t>::max()).value_or(kBackoffLimitDefault));
  std::string clean = policy.one_of("cleanUpPolicy", {"None", "All", "Unfinished"}).value_or("None");
  if (clean == "All") job.cleanup = model::Cleanup::kAll;
  if (clean == "Unfinished") job.cleanup = model::Cleanup::kUnfinished;
  if (spec.has("runPolicy") && !policy.present()) return;
  json::object& kept = kube::ensure_object(job.source, {"spec", "runPolicy"});
  if (!policy.has("backoffLimit")) kept["backoffLimit"] = job.backoff_limit;
  if (!policy.has("cleanUpPolicy")) kept["cleanUpPolicy"] = clean;
}

void read_run_mode(const Reader& spec, bool types_known, TrainingJob& job) {
  std::vector<std::string> types;
  for (const ReplicaSpec& replicas : job.replica_specs) types.push_back(replicas.type);
  if (!types_known) types.assign(kTypes.begin(), kTypes.end());
  RunModeSpec mode = decode_run_mode(spec, types);
  job.paused = mode.pause;
  for (const std::string& path : mode.legacy_paths) {
    job.advice.push_back(
        {"DeprecatedField", fmt::format("{} is the old spelling of this switch: write enabled", path)});
  }
}

void read_scheduler(const Reader& spec, TrainingJob& job) {
  Reader place = spec.child("scheduler").child("t9kScheduler");
  if (!place.present()) return;
  QueuePlace found;
  std::optional<std::string> queue = place.text("queue");
  if (queue && !queue->empty()) {
    found.queue = *queue;
    std::string fault = dialect::name_fault(*queue, dialect::NameRule::kDns1123Subdomain);
    if (!fault.empty()) {
      place.report("queue", ProblemKind::kInvalid, fault);
    } else if (queue->size() > kLabelValueMax) {
      place.report("queue", ProblemKind::kTooLong,
                   fmt::format("it becomes a label of the pods: at most {} characters", kLabelValueMax));
    }
  }
  found.priority = static_cast<int>(place.whole("priority", 0, kPriorityMax).value_or(0));
  job.scheduler = found;
}

// Every text of the list in which `fault` finds something is a problem.
void check_places(const Reader& from, std::string_view key, std::string (*fault)(std::string_view)) {
  std::vector<std::string> places = from.texts(key).value_or(std::vector<std::string>{});
  for (size_t i = 0; i < places.size(); ++i) {
    std::string found = fault(places[i]);
    if (!found.empty()) from.report(fmt::format("{}[{}]", key, i), ProblemKind::kInvalid, found);
  }
}

void check_log_dir(const Reader& dir) {
  for (const Reader& claim : dir.children("pvc")) {
    if (!claim.present()) continue;
    if (!claim.has("name") || claim.text("name") == "")
      claim.report("name", ProblemKind::kRequired, "must name the claim");
    claim.texts("subPath");
  }
  Reader s3 = dir.child("s3");
  std::optional<std::vector<std::string>> uris = s3.texts("uri");
  if (uris && !uris->empty() && s3.child("secretRef").text("name").value_or("").empty())
    s3.report("secretRef.name", ProblemKind::kRequired, "must name the secret to read it with");
  check_places(dir.child("http"), "url", dialect::log_url_fault);
}

void read_tensorboard(const Reader& spec, TrainingJob& job) {
  Reader board = spec.child("tensorboardSpec");
  job.has_tensorboard = board.present();
  board.text("image");
  check_places(board, "trainingLogFilesets", dialect::fileset_fault);
  check_log_dir(board.child("logDir"));
  dialect::check_resources(board);
  board.child("scheduler").child("t9kScheduler").text("queue");
  board.boolean("suspend");
}

}  // namespace

TrainingJob decode(const json::object& object, std::vector<Problem>& problems) {
  TrainingJob job;
  job.source = object;
  Reader root = Reader::root(object, problems);
  dialect::check_metadata(root);
  job.name = dialect::job_name(object);
  job.name_space = kube::namespace_of(object);
  job.uid = kube::uid_of(object);
  dialect::RestartWish wish = dialect::restart_wish(root);
  job.restart_scope = wish.scope.value_or(model::Scope::kPod);
  job.mirrored = wish.mirrored;
  job.holds_deletion = dialect::holds_deletion(root);
  Reader spec = root.child("spec");
  if (!spec.present()) {
    if (!root.has("spec")) root.report("spec", ProblemKind::kRequired, "must describe the job");
    return job;
  }
  bool types_known = read_replica_specs(spec, job);
  read_run_policy(spec, job);
  read_run_mode(spec, types_known, job);
  read_scheduler(spec, job);
  read_tensorboard(spec, job);
  return job;
}

std::optional<QueuePlace> queue_place_of(const json::object& object) {
  const json::object* place = kube::object_at(object, {"spec", "scheduler", "t9kScheduler"});
  if (place == nullptr) return std::nullopt;
  QueuePlace found;
  std::string_view queue = kube::text_at(*place, {"queue"});
  if (!queue.empty()) found.queue = queue;
  found.priority =
      static_cast<int>(std::clamp<int64_t>(kube::int_at(*place, {"priority"}).value_or(0), 0, kPriorityMax));
  return found;
}

}  // namespace trainyard::t9k
