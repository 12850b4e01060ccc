#include "sim/users.h"

#include <fmt/format.h>

#include <algorithm>

#include "kube/access.h"
#include "sim/facts.h"

namespace trainyard::sim {

namespace {
constexpr Author kUserHand{Hand::kUser, -1};
constexpr Fault kUserFaults[] = {
    Fault::kScale,       Fault::kPolicyEdit, Fault::kInvalidEdit,   Fault::kSuspend,     Fault::kDeleteJob,
    Fault::kRecreateJob, Fault::kDeletePod,  Fault::kDeleteService, Fault::kStripLabels, Fault::kCommand,
    Fault::kOrphan,      Fault::kMove,       Fault::kOldManifest};
}  // namespace

Users::Users(Cluster& cluster, Trace& trace, const Options& options)
    : cluster_(cluster), trace_(trace), options_(options), rng_(stream(options.seed, Stream::kUsers)) {
  Rng rng = stream(options.seed, Stream::kJobs);
  const auto first = rng.below(3);
  for (int i = 0; i < options.jobs; ++i) {
    const auto kind = static_cast<Kind>((first + rng.below(2) * static_cast<uint64_t>(i)) % 3);
    Rng own = rng.fork();
    jobs_.push_back(random_blueprint(own, kind, fmt::format("job{}", i), options.replicas_max));
    if (options.crowded) crowd(own, jobs_.back());
    first_.emplace(jobs_.back().name, jobs_.back());
  }
}

void Users::say(std::string_view what) { trace_.say(cluster_.now(), "user", what); }

void Users::start() {
  for (const Blueprint& job : jobs_) {
    const Duration when{rng_.between(0, 3'000)};
    if (options_.faults.has(Fault::kForeignPod) && rng_.chance(60)) make_foreign_pod(job);
    cluster_.agenda().in(when, [this, name = job.name] {
      if (const Blueprint* now = job_named(name)) create(*now);
    });
  }
  for (int i = 0; i < options_.user_actions; ++i) {
    cluster_.agenda().in(Duration{rng_.between(100, options_.trouble.count())}, [this] { act(); });
  }
}

void Users::settle() {
  trouble_ = false;
  take_back();
  for (const std::string& name : foreign_pods_) {
    cluster_.remove(kUserHand, kube::kPods, name, {.grace_seconds = 0});
  }
  clear_orphans();
  // Those of a deletion that is still under way come a moment later.
  cluster_.agenda().in(seconds(10), [this] { clear_orphans(); });
  clear_given();
}

void Users::take_back() {
  for (Blueprint& job : jobs_) {
    if (!job.invalid) continue;
    job.invalid = false;
    apply(job);
  }
}

void Users::err_in_peace() {
  for (Blueprint& job : jobs_) {
    if (!rng_.chance(60)) continue;
    job.invalid = true;
    apply(job);
  }
}

// A job that has ended, or is stopped, keeps what it was given, and with it a name that another wants. Whose
// owner has left it behind meanwhile bears the labels of one job and the name of another's: nobody takes it
// in. A job may end, and so keep it, at any time: it is looked after again and again.
void Users::clear_given() {
  if (given_.empty()) return;
  cluster_.agenda().in(seconds(10), [this] { clear_given(); });
  for (const Given& given : given_) {
    const store::Object there = cluster_.find(*given.resource, given.name);
    if (there == nullptr || kube::uid_of(*there) != given.uid) continue;
    if (kube::controller_uid_of(*there).empty()) {
      cluster_.remove(kUserHand, *given.resource, given.name, {.grace_seconds = 0});
      continue;
    }
    const store::Object taker = cluster_.find(*given.taker_resource, given.taker);
    if (taker == nullptr || kube::controller_uid_of(*there) != kube::uid_of(*taker)) continue;
    const Kind kind = *kind_of(*taker);
    const StatusFacts status = read_status(kind, *taker);
    if (!status.terminal() && !status.stopped && !read_wish(kind, *taker).suspended) continue;
    cluster_.remove(kUserHand, *given.resource, given.name, {.grace_seconds = 0});
  }
}

// Orphans stand where pods should be; nobody else may remove them.
// A group that nobody owns is somebody's own, and used as it is: it may ask for more pods than a job makes
// that came after the one that left it.
void Users::clear_orphans() {
  for (const kube::Resource* resource : {&kube::kPods, &kube::kVolcanoPodGroups, &kube::kT9kPodGroups}) {
    for (const store::Object& left : named(*resource, "")) {
      if (!kube::controller_uid_of(*left).empty()) continue;
      cluster_.remove(kUserHand, *resource, kube::name_of(*left), {.grace_seconds = 0});
    }
  }
}

Blueprint* Users::job_named(const std::string& name) {
  auto found =
      std::find_if(jobs_.begin(), jobs_.end(), [&](const Blueprint& job) { return job.name == name; });
  return found == jobs_.end() ? nullptr : &*found;
}

void Users::act() {
  if (!trouble_) return;
  std::vector<Fault> can;
  for (Fault fault : kUserFaults) {
    if (options_.faults.has(fault)) can.push_back(fault);
  }
  if (can.empty()) return;
  act_on(jobs_[rng_.below(jobs_.size())], can[rng_.below(can.size())]);
}

void Users::act_on(Blueprint& job, Fault what) {
  // clang-format off
  if (what == Fault::kScale) return scale(job);
  if (what == Fault::kPolicyEdit) return edit_policy(job);
  if (what == Fault::kStripLabels) return strip(job);
  if (what == Fault::kMove) return move(job);
  if (what == Fault::kOldManifest) return apply(job = first_.at(job.name));
  if (what == Fault::kDeletePod) return remove_pod(fmt::format("-{}", rng_.below(3)));
  if (what == Fault::kDeleteService) return remove_service(fmt::format("-{}", rng_.below(3)));
  // clang-format on
  if (what == Fault::kInvalidEdit) {
    job.invalid = !job.invalid;
    return apply(job);
  }
  if (what == Fault::kSuspend) {
    if (job.kind == Kind::kVolcano) return;
    job.suspended = !job.suspended;
    return apply(job);
  }
  if (what == Fault::kCommand) {
    static constexpr std::string_view kActions[] = {"AbortJob",   "ResumeJob",    "ResumeJob",
                                                    "RestartJob", "TerminateJob", "CompleteJob"};
    if (job.kind == Kind::kVolcano) command(job, kActions[rng_.below(std::size(kActions))]);
    return;
  }
  remove(job, what == Fault::kOrphan ? kube::Propagation::kOrphan : kube::Propagation::kBackground);
  if (what == Fault::kRecreateJob || (what == Fault::kOrphan && rng_.chance(60))) {
    cluster_.agenda().in(Duration{rng_.between(0, 3'000)}, [this, name = job.name] { recreate(name); });
  }
}

void Users::recreate(const std::string& name) {
  const Blueprint* job = job_named(name);
  if (job == nullptr) return;
  if (cluster_.find(resource_of(job->kind), name) == nullptr) {
    // Pods that outlived the job of before have a past that is not this one's.
    clear_orphans();
    return create(*job);
  }
  if (trouble_) cluster_.agenda().in(seconds(2), [this, name] { recreate(name); });
}

void Users::create(const Blueprint& blueprint) {
  if (trace_.on()) say("creates " + to_string(blueprint));
  cluster_.create(kUserHand, resource_of(blueprint.kind), manifest_of(blueprint));
}

void Users::apply(const Blueprint& blueprint) {
  const store::Object there = cluster_.find(resource_of(blueprint.kind), blueprint.name);
  if (there == nullptr) return;
  if (trace_.on()) say("applies " + to_string(blueprint));
  json::object changed = *there;
  changed["spec"] = std::move(manifest_of(blueprint)["spec"]);
  cluster_.update(kUserHand, resource_of(blueprint.kind), std::move(changed));
}

void Users::remove(const Blueprint& blueprint, kube::Propagation how) {
  kube::DeleteOptions options;
  options.propagation = how;
  if (how == kube::Propagation::kBackground && rng_.chance(25)) {
    options.propagation = kube::Propagation::kForeground;
  }
  if (trace_.on()) say(fmt::format("deletes {} ({})", blueprint.name, kube::name_of(options.propagation)));
  cluster_.remove(kUserHand, resource_of(blueprint.kind), blueprint.name, options);
}

void Users::command(const Blueprint& blueprint, std::string_view action) {
  const store::Object there = cluster_.find(resource_of(blueprint.kind), blueprint.name);
  if (there == nullptr) return;
  if (trace_.on()) say(fmt::format("commands {} for {}", action, blueprint.name));
  const kube::Resource& resource = resource_of(blueprint.kind);
  json::object target =
      kube::owner_reference(resource.api_version(), resource.kind, blueprint.name, kube::uid_of(*there));
  json::object body{{"apiVersion", kube::kVolcanoCommands.api_version()},
                    {"kind", "Command"},
                    {"metadata", json::object{{"name", fmt::format("command-{}", ++commands_)},
                                              {"namespace", "default"},
                                              {"ownerReferences", json::array{target}}}},
                    {"action", kube::jview(action)},
                    {"target", std::move(target)}};
  cluster_.create(kUserHand, kube::kVolcanoCommands, std::move(body));
}

void Users::scale(Blueprint& job) {
  BlueprintRole& role = job.roles[rng_.below(job.roles.size())];
  if (role.name == "chief") return;
  const bool volcano_gang = job.kind == Kind::kVolcano && job.min_available;
  if (volcano_gang) return;
  role.replicas = static_cast<int>(rng_.between(1, options_.replicas_max));
  apply(job);
}

void Users::edit_policy(Blueprint& job) {
  if (job.kind == Kind::kVolcano) return;
  static constexpr std::string_view kPolicies[] = {"Never", "OnFailure", "ExitCode"};
  if (rng_.chance(50)) job.restart = kPolicies[rng_.below(std::size(kPolicies))];
  if (rng_.chance(50)) job.backoff = static_cast<int>(rng_.between(0, 5));
  if (rng_.chance(20)) job.deadline = static_cast<int>(rng_.between(10, 200));
  apply(job);
}

std::vector<store::Object> Users::named(const kube::Resource& resource, std::string_view prefix) const {
  std::vector<store::Object> found;
  auto all = cluster_.store().list(resource, "");
  if (!all.ok()) return found;
  for (const store::Object& object : all.value().items) {
    if (kube::name_of(*object).starts_with(prefix)) found.push_back(object);
  }
  return found;
}

store::Object Users::any_pod_of(const Blueprint& job) {
  const std::vector<store::Object> pods = named(kube::kPods, job.name + "-");
  return pods.empty() ? nullptr : pods[rng_.below(pods.size())];
}

void Users::strip(const Blueprint& job) {
  const store::Object pod = any_pod_of(job);
  if (pod == nullptr || kube::is_deleting(*pod)) return;
  // A pod without labels and without owner would be nobody's: it keeps one of the two.
  const bool whole =
      kube::object_at(*pod, {"metadata", "labels"}) != nullptr && !kube::controller_uid_of(*pod).empty();
  const bool foreign = std::count(foreign_pods_.begin(), foreign_pods_.end(), kube::name_of(*pod)) > 0;
  const bool given = std::any_of(given_.begin(), given_.end(),
                                 [&](const Given& other) { return other.uid == kube::uid_of(*pod); });
  if (!whole || foreign || given) return;
  json::object changed = *pod;
  json::object& metadata = changed["metadata"].as_object();
  const bool owner = rng_.chance(40);
  metadata.erase(owner ? "ownerReferences" : "labels");
  if (trace_.on()) say(fmt::format("takes the {} from {}", owner ? "owner" : "labels", kube::name_of(*pod)));
  cluster_.update(kUserHand, kube::kPods, std::move(changed));
}

void Users::move(const Blueprint& job) {
  std::vector<const Blueprint*> others;
  for (const Blueprint& other : jobs_) {
    if (other.name != job.name && other.kind == job.kind) others.push_back(&other);
  }
  const kube::Resource& resource = rng_.chance(60) ? kube::kPods : kube::kServices;
  std::vector<store::Object> all = named(resource, job.name + "-");
  const auto what = static_cast<Moved>(rng_.below(3));
  if (others.empty() || all.empty()) return;
  const Blueprint& to = *others[rng_.below(others.size())];
  give(resource, std::string(kube::name_of(*all[rng_.below(all.size())])), job, to, what);
}

void Users::give(const kube::Resource& resource, const std::string& name, const Blueprint& from,
                 const Blueprint& to, Moved what) {
  const store::Object there = cluster_.find(resource, name);
  const store::Object giver = cluster_.find(resource_of(from.kind), from.name);
  const store::Object taker = cluster_.find(resource_of(to.kind), to.name);
  if (there == nullptr || giver == nullptr || taker == nullptr || kube::is_deleting(*there)) return;
  if (kube::controller_uid_of(*there) != kube::uid_of(*giver)) return;
  json::object changed = *there;
  json::object& metadata = changed["metadata"].as_object();
  if (what != Moved::kLabels) {
    const kube::Resource& kind = resource_of(to.kind);
    metadata["ownerReferences"] =
        json::array{kube::owner_reference(kind.api_version(), kind.kind, to.name, kube::uid_of(*taker))};
  }
  if (!metadata.contains("labels")) return;  // it would be nobody's
  if (what != Moved::kOwner) {
    for (auto& [key, value] : metadata["labels"].as_object()) {
      if (value.is_string() && kube::view(value.get_string()) == from.name) value = to.name;
    }
  }
  static constexpr std::string_view kWhat[] = {"the owner", "the labels", "the owner and the labels"};
  if (trace_.on()) {
    say(fmt::format("gives {} {} of {}", name, kWhat[static_cast<size_t>(what)], to.name));
  }
  cluster_.update(kUserHand, resource, std::move(changed));
  given_.push_back({&resource, name, std::string(kube::uid_of(*there)), &resource_of(to.kind), to.name});
}

void Users::make_foreign_pod(const Blueprint& job) {
  const BlueprintRole& role = job.roles[rng_.below(job.roles.size())];
  const std::string name = fmt::format("{}-{}-0", job.name, role.name);
  json::object metadata{{"name", name}, {"namespace", "default"}};
  if (rng_.chance(50)) {
    // It even has the labels, but another controller looks after it.
    metadata["labels"] = json::object{{"training.kubeflow.org/job-name", job.name},
                                      {"training.kubeflow.org/operator-name", "tfjob-controller"},
                                      {"training.kubeflow.org/replica-type", role.name},
                                      {"training.kubeflow.org/replica-index", "0"}};
    const std::string owner = fmt::format("{}-owner", name);
    json::object owner_body{
        {"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", json::object{{"name", owner}}}};
    if (const store::Object made = cluster_.create(kUserHand, kube::kConfigMaps, std::move(owner_body))) {
      metadata["ownerReferences"] =
          json::array{kube::owner_reference("v1", "ConfigMap", owner, kube::uid_of(*made))};
    }
  }
  json::object body{{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", std::move(metadata)}};
  body["spec"] =
      json::object{{"restartPolicy", "Never"},
                   {"containers", json::array{json::object{{"name", "other"}, {"image", "other:1"}}}}};
  if (trace_.on()) say("makes a pod of their own, " + name);
  if (cluster_.create(kUserHand, kube::kPods, std::move(body))) foreign_pods_.push_back(name);
}

void Users::remove_pod(std::string_view name_end) {
  for (const store::Object& pod : named(kube::kPods, "")) {
    const std::string name(kube::name_of(*pod));
    if (!name.ends_with(name_end)) continue;
    if (trace_.on()) say("deletes the pod " + name);
    cluster_.remove(kUserHand, kube::kPods, name);
    return;
  }
}

void Users::remove_service(std::string_view name_end) {
  auto all = cluster_.store().list(kube::kServices, "");
  if (!all.ok()) return;
  for (const store::Object& service : all.value().items) {
    const std::string name(kube::name_of(*service));
    if (!name.ends_with(name_end)) continue;
    if (trace_.on()) say("deletes the service " + name);
    cluster_.remove(kUserHand, kube::kServices, name);
    return;
  }
}

}  // namespace trainyard::sim
