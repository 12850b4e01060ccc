// Dialect: a front end of the one engine, as a struct of pure functions. The CLI, the
// control loop and the simulator are handed an array of them; none registers itself.
//
// Laws (tests/laws checks them on every golden manifest and in simulation):
//  - lower is total on valid manifests, and never throws on invalid ones;
//  - project(project(x)) == project(x): an unchanged world writes nothing;
//  - recall(project(state)) == state: what is remembered decodes back;
//  - terminal is terminal: no projection takes a finished status back;
//  - unknown fields of the object survive everything we write.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/time.h"
#include "dialect/shared/problem.h"
#include "kube/json.h"
#include "kube/meta.h"
#include "model/job_spec.h"
#include "model/job_state.h"
#include "model/observation.h"
#include "model/plan.h"

namespace trainyard::dialect {

// What an operator of the cluster sets once, for all jobs.
struct Settings {
  std::string cluster_domain;         // appended to host names in TF_CONFIG; "" for none
  bool evaluator_in_cluster = false;  // list the evaluator in TF_CONFIG.cluster, as Kubeflow 1.9 does
  std::string default_clean_policy;   // of TFJobs: "" stands for Running
  // Gang scheduling of TFJobs: the scheduler's name as Kubeflow's flag takes it
  // ("volcano", "kube-batch", any other: scheduler-plugins under that name), "" for off.
  std::string gang_scheduler;
  // Of TFJobs: one headless Service for all replicas, which are told apart by host name and
  // subdomain, instead of one Service each.
  bool one_service_per_job = false;

  bool operator==(const Settings&) const = default;
};

// Keys of ours on pods and jobs, the same in every dialect.
inline constexpr std::string_view kAttemptAnnotation = "trainyard.dev/attempt";  // on pods; absent means 0
inline constexpr std::string_view kRestartScopeAnnotation =
    "trainyard.dev/restart-scope";                                                  // on jobs: pod, role, job
inline constexpr std::string_view kHoldAnnotation = "trainyard.dev/hold-deletion";  // on jobs: "true"
inline constexpr std::string_view kFinalizer = "trainyard.dev/pods-first";
inline constexpr std::string_view kRecord = "trainyard";  // member of a status: what we alone read
inline constexpr std::string_view kDigestAnnotation = "trainyard.dev/digest";  // on companions
inline constexpr std::string_view kGangSchedulerAnnotation =
    "trainyard.dev/gang-scheduler";  // on jobs: overrides Settings

// The manifest after defaulting and validation: a spec, or everything wrong with it.
using LowerResult = std::variant<model::JobSpec, std::vector<Problem>>;

// What a pod is rendered with besides the spec.
struct PodContext {
  model::ReplicaId id;
  int attempt = 0;
  const model::JobState* state = nullptr;  // never null when a pod is rendered
};

// Secrets that must not come from a pure function; made at the edge, once per companion.
struct KeyPair {
  std::string private_pem;  // PKCS#1 PEM
  std::string public_ssh;   // "ssh-rsa AAAA..."
};

struct EventText {
  bool warning = false;
  std::string reason;
  std::string message;
  // Reasons, the best first, in whose Event these words may be told when it is told at about the same time.
  std::vector<std::string> joins = {};

  bool operator==(const EventText&) const = default;
};

// Which replica a pod is, read from its labels.
struct PodIdentity {
  std::string role;
  int index = 0;
};

// A request to a job that is an object of its own, in the job's namespace.
struct CommandFor {
  std::string job;
  std::string job_uid;  // "" when it means whatever job has that name
  model::CommandSeen seen;
};

struct Dialect {
  std::string_view name;       // "tfjob", "t9k", "volcano"
  kube::Resource resource;     // the version we write
  std::string_view component;  // the source of its events
  // Labels by which all pods and services of all jobs of this kind are watched.
  std::string_view pod_selector;
  std::string_view main_container;  // whose exit code counts; "" for the first

  // Whether a document of this apiVersion and kind is ours (older versions included).
  bool (*recognises)(std::string_view api_version, std::string_view kind);

  // Decode, default, validate, lower. `object` may lack uid and namespace.
  LowerResult (*lower)(const json::object& object, const Settings& settings);
  // What may not change between two versions of a job (immutable fields).
  std::vector<Problem> (*validate_update)(const json::object& before, const json::object& after);

  std::optional<PodIdentity> (*identify)(const json::object& pod);
  std::string (*job_name_of)(const json::object& pod_or_service);

  json::object (*render_pod)(const model::JobSpec& spec, const Settings& settings, const PodContext& context);
  json::object (*render_service)(const model::JobSpec& spec, model::ReplicaId id);
  // `keys` is given for a companion of kind kSecret.
  json::object (*render_companion)(const model::JobSpec& spec, const model::Companion& companion,
                                   const KeyPair* keys);
  json::object (*render_gang)(const model::JobSpec& spec);
  json::object (*render_tensorboard)(const model::JobSpec& spec);

  // The state remembered in the object's status.
  model::JobState (*recall)(const model::JobSpec& spec, const json::object& object);
  // The whole new status. `previous` is the status as stored ({} when absent).
  json::object (*project)(const model::Observation& seen, const model::JobState& state,
                          const json::object& previous, Time now);
  // The words for what happened; nullopt when this dialect's users hear nothing of it.
  std::optional<EventText> (*announce)(const model::JobSpec& spec, const model::Note& note);
  // The status of a job that is invalid, where the dialect shows that in its status; {} where not.
  json::object (*project_invalid)(const json::object& object, const std::vector<Problem>& problems, Time now);
  // A command for a job of this kind; null where the dialect has none.
  std::optional<CommandFor> (*see_command)(const json::object& command) = nullptr;
};

// The first dialect that recognises the document, or null.
const Dialect* find_dialect(std::span<const Dialect> dialects, const json::object& document);

}  // namespace trainyard::dialect
