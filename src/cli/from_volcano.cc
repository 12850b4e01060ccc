#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "base/ascii.h"
#include "cli/portable.h"
#include "dialect/shared/pod_template.h"
#include "dialect/shared/reader.h"
#include "dialect/volcano/plugins.h"
#include "kube/access.h"

namespace trainyard::cli {
namespace {

constexpr int64_t kTaskRetriesByDefault = 3;

// One policy of the manifest with its place.
struct Policy {
  std::string path;
  std::vector<std::string> events;
  std::optional<int64_t> exit_code;
  std::string action;
  bool delayed = false;

  std::string in_words() const {
    std::string what;
    for (const std::string& event : events) what += (what.empty() ? "" : ", ") + event;
    if (exit_code) what = fmt::format("exit code {}", *exit_code);
    return fmt::format("{} ({} -> {}{})", path, what, action, delayed ? ", after a timeout" : "");
  }
  bool on(std::string_view event) const {
    return std::find(events.begin(), events.end(), event) != events.end();
  }
  bool restarts() const { return action.starts_with("Restart"); }
  // Its events but for `carried` and the one that Volcano never sends.
  bool has_more_than(std::initializer_list<std::string_view> carried) const {
    return std::any_of(events.begin(), events.end(), [&](const std::string& event) {
      return event != "JobUpdated" && std::find(carried.begin(), carried.end(), event) == carried.end();
    });
  }
};

std::vector<Policy> policies_of(const json::object& owner, const std::string& path) {
  std::vector<Policy> all;
  const json::array* list = kube::array_at(owner, {"policies"});
  if (list == nullptr) return all;
  for (size_t i = 0; i < list->size(); ++i) {
    if (!(*list)[i].is_object()) continue;
    const json::object& entry = (*list)[i].get_object();
    Policy policy{fmt::format("{}.policies[{}]", path, i),
                  {},
                  kube::int_at(entry, {"exitCode"}),
                  std::string(kube::text_at(entry, {"action"})),
                  entry.if_contains("timeout") != nullptr};
    if (std::string_view event = kube::text_at(entry, {"event"}); !event.empty())
      policy.events.emplace_back(event);
    if (const json::array* events = kube::array_at(entry, {"events"})) {
      for (const json::value& event : *events) {
        if (event.is_string()) policy.events.emplace_back(kube::view(event.get_string()));
      }
    }
    all.push_back(std::move(policy));
  }
  return all;
}

model::Scope scope_of(std::string_view action) {
  if (action == "RestartJob") return model::Scope::kJob;
  if (action == "RestartTask" || action == "RestartPartition") return model::Scope::kRole;
  return model::Scope::kPod;
}

bool is_retryable_everywhere(int64_t code) {
  return code == 130 || code == 137 || code == 138 || code == 143;
}

using dialect::vc::TensorFlowPlugin;

// The plugin with its arguments read as the dialect reads them.
std::optional<TensorFlowPlugin> tensorflow_plugin(const json::object& source) {
  std::vector<dialect::Problem> problems;
  dialect::Reader root = dialect::Reader::root(source, problems);
  return dialect::vc::decode_plugins(root.child("spec")).tensorflow;
}

// Which task plays which of TensorFlow's roles. A name given to several plays the first of them.
std::map<std::string, std::string> played_roles(const std::optional<TensorFlowPlugin>& plugin) {
  if (!plugin) return {};
  std::map<std::string, std::string> roles;
  roles.emplace(plugin->ps, "ps");
  roles.emplace(plugin->worker, "worker");
  roles.emplace(plugin->chief, "chief");
  roles.emplace(plugin->evaluator, "evaluator");
  return roles;
}

constexpr int64_t kPortByDefault = 2222;

// The port that the main container names as TensorFlow's, where it names one.
std::optional<int64_t> named_port(const json::object& container) {
  const json::array* ports = kube::array_at(container, {"ports"});
  for (size_t i = 0; ports != nullptr && i < ports->size(); ++i) {
    const json::object* port = (*ports)[i].if_object();
    if (port != nullptr && kube::text_at(*port, {"name"}) == "tfjob-port")
      return kube::int_at(*port, {"containerPort"});
  }
  return std::nullopt;
}

class Reading {
 public:
  explicit Reading(const model::JobSpec& spec)
      : spec_(spec), source_(*spec.source), plugin_(tensorflow_plugin(source_)), job_(portable_base(spec)) {}

  Portable read() {
    job_.all_workers = false;
    const std::map<std::string, std::string> played = played_roles(plugin_);
    const json::array* tasks = kube::array_at(source_, {"spec", "tasks"});
    for (size_t i = 0; tasks != nullptr && i < tasks->size(); ++i) {
      if ((*tasks)[i].is_object()) read_task((*tasks)[i].get_object(), i, played);
    }
    read_success();
    read_gang();
    read_rest();
    return std::move(job_);
  }

 private:
  void lose(std::string text) { job_.lost.push_back(std::move(text)); }

  void read_task(const json::object& task, size_t index, const std::map<std::string, std::string>& played) {
    std::string path = fmt::format("spec.tasks[{}]", index);
    std::string name(kube::text_at(task, {"name"}));
    auto role_name = played.find(name);
    PortableRole role{role_name == played.end() ? lower_case(name) : role_name->second,
                      static_cast<int>(kube::int_at(task, {"replicas"}).value_or(0)),
                      Restart::kAlways,
                      {}};
    if (const json::object* pod_template = kube::object_at(task, {"template"}))
      role.pod_template = *pod_template;
    std::string of_pod(kube::text_at(role.pod_template, {"spec", "restartPolicy"}));
    if (!of_pod.empty()) role.restart = dialect::restart_policy_named(of_pod);
    kube::ensure_object(role.pod_template, {"spec"}).erase("restartPolicy");
    for (const Policy& policy : policies_of(task, path)) apply(policy, role, true);
    for (const Policy& policy : policies_of(*kube::object_at(source_, {"spec"}), "spec"))
      apply(policy, role, false);
    mount_volumes(role);
    name_port(role, path);
    role.in_place = of_pod != "Never";
    if (role.in_place) in_place_.push_back(name);
    for (const char* key : {"dependsOn", "topologyPolicy", "partitionPolicy"}) {
      if (kube::find(task, {key}) != nullptr) lose(fmt::format("{}.{}: no counterpart", path, key));
    }
    read_numbers(task, path, role.replicas);
    job_.roles.push_back(std::move(role));
  }

  // The port that the plugin tells TensorFlow to listen at is written at the main container: the one that
  // is called so, else the first.
  void name_port(PortableRole& role, const std::string& path) {
    json::object* main = dialect::main_container(role.pod_template, "tensorflow");
    if (main == nullptr) main = dialect::main_container(role.pod_template, "");
    if (!plugin_ || main == nullptr) return;
    const int64_t named = named_port(*main).value_or(plugin_->port);
    if (named != plugin_->port) {
      lose(fmt::format("{}: TensorFlow listens at tfjob-port {} of the container, not at {} of the plugin",
                       path, named, plugin_->port));
    } else if (plugin_->port != kPortByDefault && !named_port(*main)) {
      kube::ensure_array(*main, {"ports"})
          .push_back(json::object{{"name", "tfjob-port"}, {"containerPort", plugin_->port}});
    }
  }

  // Those that defaulting wrote say nothing.
  void read_numbers(const json::object& task, const std::string& path, int replicas) {
    int64_t tries = kube::int_at(task, {"maxRetry"}).value_or(kTaskRetriesByDefault);
    if (tries != kTaskRetriesByDefault) lose(fmt::format("{}.maxRetry {}: no counterpart", path, tries));
    int64_t least = kube::int_at(task, {"minAvailable"}).value_or(replicas);
    if (least != replicas) {
      lose(fmt::format("{}.minAvailable {}: the gang counts the pods of all roles together", path, least));
    }
  }

  // What a policy means for one role; what it cannot mean is lost once.
  void apply(const Policy& policy, PortableRole& role, bool of_task) {
    bool understood = false;
    if (policy.delayed) {
      lose_once(policy, "no counterpart");
      return;
    }
    if (policy.restarts() && (policy.on("PodFailed") || policy.on("*"))) {
      if (role.restart != Restart::kAlways) role.restart = Restart::kOnFailure;
      understood = true;
      if (policy.has_more_than({"PodFailed", "PodEvicted"}))
        lose_once(policy, "carried over for failures and evictions alone");
    } else if (policy.restarts() &&
               (policy.on("PodEvicted") || is_retryable_everywhere(policy.exit_code.value_or(0)))) {
      if (policy.has_more_than({"PodEvicted"})) lose_once(policy, "carried over for PodEvicted alone");
      if (role.restart == Restart::kNever) {
        role.restart = Restart::kExitCode;
        lose_once(
            policy,
            "written as restartPolicy ExitCode, which restarts after exit codes 130, 137, 138 and 143 too");
      }
      understood = true;
    }
    if (understood) job_.scope = std::max(job_.scope, scope_of(policy.action));
    if (policy.on("TaskCompleted") && policy.action == "CompleteJob") {
      completes_.push_back({policy, of_task ? role.name : ""});
      understood = true;
      if (policy.has_more_than({"TaskCompleted"})) lose_once(policy, "carried over for TaskCompleted alone");
    }
    if (policy.on("PodFailed") && policy.action == "TerminateJob") {
      job_.any_failure_ends = job_.any_failure_ends || !of_task;
      role.failure_ends = true;
      understood = true;
      if (policy.has_more_than({"PodFailed"})) lose_once(policy, "carried over for PodFailed alone");
    }
    if (!understood) lose_once(policy, "no counterpart");
  }

  void lose_once(const Policy& policy, std::string_view why) {
    std::string text = fmt::format("{}: {}", policy.in_words(), why);
    if (std::find(job_.lost.begin(), job_.lost.end(), text) == job_.lost.end()) lose(std::move(text));
  }

  // A task whose completion completes the job; without one Volcano waits for all.
  void read_success() {
    std::string leader = job_.leader() != nullptr ? job_.leader()->name : "worker";
    bool by_leader = false;
    for (const Completes& each : completes_) {
      if (each.role == leader || each.role.empty()) {
        by_leader = true;
      } else {
        lose(each.policy.in_words() + fmt::format(": here the {} decides", leader));
      }
    }
    job_.all_workers = leader == "worker";
    if (!by_leader)
      lose(fmt::format("success when every task is done: here the job is done when the {} is", leader));
    if (kube::find(source_, {"spec", "minSuccess"}) != nullptr) lose("spec.minSuccess: no counterpart");
  }

  void read_gang() {
    PortableGang gang;
    int total = spec_.total_replicas();
    if (spec_.running_min != total) gang.min_available = spec_.running_min;
    gang.queue = kube::text_at(source_, {"spec", "queue"});
    gang.priority_class = kube::text_at(source_, {"spec", "priorityClassName"});
    gang.scheduler = kube::text_at(source_, {"spec", "schedulerName"});
    job_.gang = gang;
  }

  // Claims that exist become volumes of the templates.
  void mount_volumes(PortableRole& role) {
    const json::array* volumes = kube::array_at(source_, {"spec", "volumes"});
    for (size_t i = 0; volumes != nullptr && i < volumes->size(); ++i) {
      if (!(*volumes)[i].is_object()) continue;
      const json::object& volume = (*volumes)[i].get_object();
      std::string_view claim = kube::text_at(volume, {"volumeClaimName"});
      if (claim.empty()) continue;
      std::string name = fmt::format("job-volume-{}", i);
      kube::ensure_array(role.pod_template, {"spec", "volumes"})
          .push_back(
              json::object{{"name", kube::jview(name)},
                           {"persistentVolumeClaim", json::object{{"claimName", kube::jview(claim)}}}});
      for (json::value& container : kube::ensure_array(role.pod_template, {"spec", "containers"})) {
        if (!container.is_object()) continue;
        kube::ensure_array(container.get_object(), {"volumeMounts"})
            .push_back(json::object{{"name", kube::jview(name)},
                                    {"mountPath", kube::jview(kube::text_at(volume, {"mountPath"}))}});
      }
    }
  }

  void read_rest() {
    const json::array* volumes = kube::array_at(source_, {"spec", "volumes"});
    for (size_t i = 0; volumes != nullptr && i < volumes->size(); ++i) {
      bool named = (*volumes)[i].is_object() &&
                   !kube::text_at((*volumes)[i].get_object(), {"volumeClaimName"}).empty();
      if (!named)
        lose(fmt::format("spec.volumes[{}]: no counterpart; make the claim yourself and name it", i));
    }
    if (kube::find(source_, {"spec", "plugins", "svc"}) != nullptr) {
      lose("spec.plugins.svc: there are no files in /etc/volcano; TF_CONFIG names every replica instead");
    }
    if (kube::find(source_, {"spec", "plugins", "env"}) != nullptr) {
      lose("spec.plugins.env: VK_TASK_INDEX and VC_TASK_INDEX are not set; the index is in TF_CONFIG");
    }
    if (plugin_ && job_.runs("evaluator"))
      lose("evaluator: it is left out of the cluster in TF_CONFIG, in which Volcano's plugin lists it");
    if (kube::find(source_, {"spec", "plugins", "ssh"}) != nullptr) lose("spec.plugins.ssh: no counterpart");
    for (const std::string& task : in_place_) {
      lose(fmt::format("restarts in place of {}: {}", task,
                       job_.scope == model::Scope::kPod
                           ? "backoffLimit counts them, maxRetry did not"
                           : "a failure of it now restarts all that the annotation names"));
    }
    for (const char* key : {"networkTopology", "runningEstimate"}) {
      if (kube::find(source_, {"spec", key}) != nullptr) lose(fmt::format("spec.{}: no counterpart", key));
    }
  }

  struct Completes {
    Policy policy;
    std::string role;  // "" for a policy of the job
  };

  const model::JobSpec& spec_;
  const json::object& source_;
  const std::optional<TensorFlowPlugin> plugin_;
  Portable job_;
  std::vector<Completes> completes_;
  std::vector<std::string> in_place_;  // tasks whose containers the node restarts
};

}  // namespace

Portable from_volcano(const model::JobSpec& spec) { return Reading(spec).read(); }

}  // namespace trainyard::cli
