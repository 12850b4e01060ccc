#include "sim/world.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "dialect/t9k/t9k.h"
#include "dialect/tfjob/tfjob.h"
#include "dialect/volcano/volcano.h"
#include "kube/access.h"

namespace trainyard::sim {

namespace {

constexpr Time kStart{1'800'000'000'000};
// Trouble ends; then back-off (two minutes), runs and restarts need their time.
constexpr Duration kRestWithin{1'200'000};
// Worlds take some hundred steps, those with rivals some thousand.
constexpr int64_t kStepsMax = 200'000;
constexpr Duration kSilence{3'600'000};
// An error made in peace is taken back after so long: who is to tell of it had the time for that.
constexpr Duration kInvalidFor{180'000};
// A lease is renewed every two seconds for as long as anybody lives: keep those short.
constexpr Duration kQuietRivals{Duration{210'000} + kWrongByRivals};  // longer than any deadline
constexpr Duration kSilenceRivals{30'000};
// In peace a crowded world stays crowded for so long; then there is room for all.
constexpr Duration kCrowdedFor{600'000};
constexpr Duration kLookEvery{20'000};
// Two schedulers renew a lease for ever, too: after so long in peace one of them is taken away.
constexpr Duration kTwoSchedulersFor{60'000};

std::vector<kube::Resource> around_for(const std::set<Kind>& kinds) {
  std::vector<kube::Resource> around;
  if (kinds.contains(Kind::kTfJob) || kinds.contains(Kind::kVolcano))
    around.push_back(kube::kVolcanoPodGroups);
  if (kinds.contains(Kind::kT9k)) around.insert(around.end(), {kube::kT9kPodGroups, kube::kTensorBoards});
  if (kinds.contains(Kind::kVolcano)) {
    around.insert(around.end(), {kube::kServices, kube::kConfigMaps, kube::kSecrets, kube::kNetworkPolicies,
                                 kube::kPersistentVolumeClaims, kube::kVolcanoCommands});
  }
  return around;
}

std::vector<dialect::Dialect> dialects_for(const std::set<Kind>& kinds) {
  std::vector<dialect::Dialect> dialects;
  if (kinds.contains(Kind::kTfJob)) dialects.push_back(dialect::tfjob());
  if (kinds.contains(Kind::kT9k)) dialects.push_back(dialect::t9k());
  if (kinds.contains(Kind::kVolcano)) dialects.push_back(dialect::volcano());
  return dialects;
}

}  // namespace

World::World(const WorldInput& input)
    : input_(input),
      agenda_(kStart),
      trace_(input.trace, kStart),
      cluster_(input.options.seed + 1, agenda_),
      checkers_(input_.options, cluster_),
      kubelet_(cluster_, input_.options, input.script != nullptr),
      users_(cluster_, trace_, input_.options),
      quota_(cluster_, trace_, input_.options) {
  wire();
}

World::Crowd::Crowd(World& world)
    : checks([&world](int invariant, std::string_view checker,
                      std::string text) { world.checkers_.found(invariant, checker, std::move(text)); },
             world.input_.options.reserves_room()),
      yard({world.cluster_, world.trace_,
            [&world](const std::string& node) { world.kubelet_.empty_node(node); }},
           world.input_.options,
           world.input_.script != nullptr ? world.input_.script->yard : std::vector<int>{}) {
  const Options& options = world.input_.options;
  const int count = options.faults.has(Fault::kRivalScheduler) ? 2 : 1;
  for (int id = 0; id < count; ++id) {
    SchedulerProcess::Ports ports{world.cluster_, checks, world.trace_,
                                  [&world](Time until) { world.run_until(until); }};
    schedulers.push_back(
        std::make_unique<SchedulerProcess>(id, std::move(ports), options, world.input_.perturbation));
  }
  world.kubelet_.tell_nodes({[this](const std::string& node) { yard.node_lost(node); },
                             [this](const std::string& node) { yard.node_back(node); }});
}

void World::wire() {
  if (input_.options.crowded) {
    crowd_ = std::make_unique<Crowd>(*this);
  } else {
    scheduler_.emplace(cluster_, input_.options, input_.script != nullptr);
  }
  cluster_.listen([this](const Change& change) { on_change(change); });
  std::set<Kind> kinds;
  if (input_.script != nullptr) {
    kinds.insert(input_.script->job.kind);
  } else {
    for (const Blueprint& job : users_.jobs()) kinds.insert(job.kind);
  }
  const int count = input_.options.faults.has(Fault::kRival) ? 2 : 1;
  for (int id = 0; id < count; ++id) {
    Process::Ports ports{cluster_, checkers_, trace_, [this](Time until) { run_until(until); }};
    processes_.push_back(std::make_unique<Process>(id, std::move(ports), input_.options, dialects_for(kinds),
                                                   around_for(kinds), input_.perturbation));
  }
}

void World::on_change(const Change& change) {
  checkers_.on_change(change);
  if (trace_.on()) tell_story(change);
  kubelet_.on_change(change);
  if (scheduler_) scheduler_->on_change(change);
  if (crowd_) {
    crowd_->checks.on_change(change);
    for (const auto& scheduler : crowd_->schedulers) scheduler->on_change(change);
  }
  for (const auto& process : processes_) process->on_change(change);
  plan_collection(change);
  if (change.resource == &kube::kLeases) return;
  last_change_ = change.at;
  if (silence_) {
    ++loud_writes_;
    const json::object& object = change.after ? *change.after : *change.before;
    last_loud_ = fmt::format("{} wrote {} {}", to_string(change.author.hand), change.resource->plural,
                             kube::name_of(object));
  }
}

// The collector works when an owner goes, and when something is made for, or given to, one that has gone.
void World::plan_collection(const Change& change) {
  const json::object& object = change.after ? *change.after : *change.before;
  const bool is_job = change.resource == &kube::kTfJobs || change.resource == &kube::kT9kJobs ||
                      change.resource == &kube::kVolcanoJobs;
  if (is_job) {
    std::string uid(kube::uid_of(object));
    if (change.after) {
      job_uids_.insert(std::move(uid));
    } else {
      job_uids_.erase(uid);
    }
  }
  const std::string_view owner = kube::controller_uid_of(object);
  const bool goes = !change.after || kube::is_deleting(object);
  const bool given = !change.before || kube::controller_uid_of(*change.before) != owner;
  const bool orphaned = given && !owner.empty() && !job_uids_.contains(owner);
  if (collection_planned_ || (!goes && !orphaned)) return;
  collection_planned_ = true;
  agenda_.in(Duration{200}, [this] {
    collection_planned_ = false;
    cluster_.collect_garbage();
  });
}

void World::tell_story(const Change& change) {
  if (change.author.hand == Hand::kOperator && change.resource != &kube::kLeases) {
    if (change.after && kind_of(*change.after)) {
      const json::object* status = kube::object_at(*change.after, {"status"});
      if (status != nullptr) trace_.say(change.at, "", "  status " + json::serialize(*status));
    }
    return;
  }
  if (change.author.hand == Hand::kOperator || change.author.hand == Hand::kUser) return;
  const json::object& object = change.after ? *change.after : *change.before;
  std::string what = fmt::format("{} {}", change.resource->plural, kube::name_of(object));
  if (change.resource == &kube::kPods && change.after) {
    const PodFacts facts = read_pod(object);
    what += fmt::format(" {}{}{}{}", to_string(facts.phase),
                        facts.ended() ? fmt::format(" exit {}", facts.exit_code) : "",
                        facts.deleting ? " terminating" : "", facts.disrupted ? " disrupted" : "");
    if (facts.restarts > 0) what += fmt::format(" restarts {}", facts.restarts);
  } else if (change.after) {
    what += " written";
  }
  if (!change.after) what += " is gone";
  trace_.say(change.at, to_string(change.author.hand), what);
}

void World::play(const ScriptLine& line) {
  trace_.say(agenda_.now(), "script", line.deed + " " + line.argument);
  const Blueprint& job = input_.script->job;
  if (line.deed == "exit") {
    const size_t space = line.argument.find(' ');
    CHECK(space != std::string::npos);
    kubelet_.end_pod(line.argument.substr(0, space), std::stoi(line.argument.substr(space + 1)));
  } else if (line.deed == "evict") {
    kubelet_.evict_pod(line.argument);
  } else if (line.deed == "hang") {
    kubelet_.hang_pod(line.argument);
  } else if (line.deed == "lose-node") {
    kubelet_.lose_node_of(line.argument);
  } else if (line.deed == "delete-pod") {
    users_.remove_pod(line.argument);
  } else if (line.deed == "delete-service") {
    users_.remove_service(line.argument);
  } else if (line.deed == "apply") {
    users_.apply(parse_blueprint(line.argument));
  } else if (line.deed == "delete") {
    users_.remove(job);
  } else if (line.deed == "orphan") {
    users_.remove(job, kube::Propagation::kOrphan);
  } else if (line.deed == "quota") {
    quota_.close(std::stoi(line.argument));
  } else if (line.deed == "no-quota") {
    quota_.open();
  } else if (line.deed == "create") {
    users_.create(job);
  } else if (line.deed == "also") {
    users_.create(parse_blueprint(line.argument));
  } else if (line.deed == "not") {
    users_.remove(parse_blueprint(line.argument));
  } else if (line.deed == "cordon") {
    CHECK(crowd_ != nullptr);
    crowd_->yard.cordon(line.argument, true);
  } else if (line.deed == "uncordon") {
    CHECK(crowd_ != nullptr);
    crowd_->yard.cordon(line.argument, false);
  } else if (line.deed == "freeze") {
    CHECK(crowd_ != nullptr);
    for (const auto& scheduler : crowd_->schedulers)
      scheduler->freeze_pods(seconds(std::stoi(line.argument)));
  } else {
    CHECK(line.deed == "command");
    users_.command(job, line.argument);
  }
}

void World::run_until(Time end) {
  while (!broken() && !agenda_.empty() && agenda_.next() <= end) {
    agenda_.step();
    if (++steps_ == kStepsMax) checkers_.not_converged("the work does not end");
  }
  if (!broken()) agenda_.pass_to(std::max(end, agenda_.now()));
}

void World::run() {
  Duration trouble = input_.options.trouble;
  for (const auto& process : processes_) process->boot();
  if (crowd_) {
    crowd_->yard.start();
    for (const auto& scheduler : crowd_->schedulers) scheduler->boot();
  }
  if (input_.script != nullptr) {
    users_.create(input_.script->job);
    for (const ScriptLine& line : input_.script->lines) {
      agenda_.at(kStart + line.at, [this, &line] { play(line); });
      trouble = std::max(trouble, line.at + seconds(1));
    }
  } else {
    users_.start();
    quota_.start();
  }
  run_until(kStart + trouble);
  if (broken()) return;
  settle();
  come_to_rest();
  if (broken()) return;
  checkers_.at_rest();
  if (broken()) return;
  watch_silence();
}

void World::settle() {
  trace_.say(agenda_.now(), "world", "---- the trouble is over ----");
  checkers_.settle(agenda_.now());
  for (const auto& process : processes_) process->settle();
  users_.settle();
  quota_.settle();
  kubelet_.settle();
  if (crowd_) settle_crowd();
  // (A job that is left alone keeps others waiting in a crowd; and who has met a clock that was ahead
  // may look again only when it has come true.)
  const FaultSet& faults = input_.options.faults;
  if (crowd_ || input_.script != nullptr || !faults.has(Fault::kInvalidEdit) || faults.has(Fault::kClockStep))
    return;
  users_.err_in_peace();
  agenda_.in(kInvalidFor, [this] {
    checkers_.invalid_at_rest();
    users_.take_back();
  });
}

void World::settle_crowd() {
  crowd_->checks.settle(agenda_.now());
  crowd_->yard.settle();
  for (const auto& scheduler : crowd_->schedulers) scheduler->settle();
  if (crowd_->schedulers.size() > 1) {
    agenda_.in(kTwoSchedulersFor, [this] {
      crowd_->checks.one_is_left();
      crowd_->schedulers.back()->retire();
      crowd_->schedulers.front()->stay_alone();
    });
  }
  watch_gangs(agenda_.now() + kCrowdedFor);
}

// While the world is crowded: after that there is room for all.
void World::watch_gangs(Time until) {
  crowd_->checks.look(agenda_.now());
  if (agenda_.now() >= until) {
    // Workers that want the same port of their nodes want as many nodes.
    const auto& jobs = users_.jobs();
    const bool ports =
        std::any_of(jobs.begin(), jobs.end(), [](const Blueprint& job) { return job.host_ports; });
    return crowd_->yard.grow(ports ? input_.options.replicas_max : 1);
  }
  agenda_.in(kLookEvery, [this, until] { watch_gangs(until); });
}

void World::come_to_rest() {
  const FaultSet& faults = input_.options.faults;
  // Times written by a clock that was ahead come true only later.
  const Time latest = agenda_.now() + kRestWithin + (faults.has(Fault::kClockStep) ? kWrongBy : Duration{0});
  if (!faults.has(Fault::kRival)) return run_until(latest);
  last_change_ = agenda_.now();
  while (!broken() && agenda_.now() < latest && agenda_.now() - last_change_ < kQuietRivals) {
    run_until(agenda_.now() + seconds(10));
  }
}

void World::watch_silence() {
  const bool rivals = input_.options.faults.has(Fault::kRival);
  silence_ = true;
  int64_t passes = 0;
  for (const auto& process : processes_) passes -= process->passes();
  run_until(agenda_.now() + (rivals ? kSilenceRivals : kSilence));
  for (const auto& process : processes_) passes += process->passes();
  if (loud_writes_ > 0) checkers_.not_silent(loud_writes_, last_loud_);
  if (passes > 0) checkers_.not_silent(passes, "a pass, though nothing was written");
}

int World::operator_writes() const {
  int writes = 0;
  for (const auto& process : processes_) writes += process->writes();
  return writes;
}

int World::scheduler_writes() const {
  int writes = 0;
  if (crowd_) {
    for (const auto& scheduler : crowd_->schedulers) writes += scheduler->writes();
  }
  return writes;
}

int64_t World::pods_evicted() const {
  int64_t evicted = 0;
  if (crowd_) {
    for (const auto& scheduler : crowd_->schedulers) evicted += scheduler->evicted();
  }
  return evicted;
}

int World::scheduler_deaths() const {
  int deaths = 0;
  if (crowd_) {
    for (const auto& scheduler : crowd_->schedulers) deaths += scheduler->deaths();
  }
  return deaths;
}

int64_t World::lease_transitions() const {
  const store::Object lease = cluster_.find(kube::kLeases, "trainyard-scheduler");
  return lease == nullptr ? 0 : kube::int_at(*lease, {"spec", "leaseTransitions"}).value_or(0);
}

namespace {

// Takes out what differs from run to run, and the order of keys.
void forget_what_differs(json::value& value) {
  static const std::set<std::string_view> kForgotten{
      "uid",           "resourceVersion", "creationTimestamp",  "deletionTimestamp",
      "startTime",     "completionTime",  "lastTransitionTime", "lastUpdateTime",
      "startedAt",     "finishedAt",      "lastReconcileTime",  "generation",
      "managedFields", "startTime",       "runningDuration",    "command",
      "count",         "id_rsa",          "id_rsa.pub",         "authorized_keys",
      "transitionID",  "nodeName"};
  if (value.is_array()) {
    for (json::value& one : value.get_array()) forget_what_differs(one);
    return;
  }
  if (!value.is_object()) return;
  json::object& object = value.get_object();
  std::vector<std::string> forgotten;
  for (auto& [key, member] : object) {
    const std::string_view name(key.data(), key.size());
    if (kForgotten.contains(name)) {
      forgotten.emplace_back(name);
    } else if (name == "trainyard.dev/state" && member.is_string()) {
      member = json::parse(member.get_string());
      forget_what_differs(member);
    } else {
      forget_what_differs(member);
    }
  }
  for (const std::string& key : forgotten) object.erase(key);
  std::map<std::string, json::value> sorted;
  for (auto& [key, member] : object) sorted.emplace(std::string(key.data(), key.size()), std::move(member));
  object.clear();
  for (auto& [key, member] : sorted) object.emplace(key, std::move(member));
}

}  // namespace

std::string World::final_state() const {
  std::string text;
  for (const auto& [resource, object] : cluster_.store().everything()) {
    if (resource.plural == kube::kEvents.plural || resource.plural == kube::kLeases.plural) continue;
    json::value plain = *object;
    forget_what_differs(plain);
    text += fmt::format("{}/{}: {}\n", resource.plural, kube::name_of(*object), json::serialize(plain));
  }
  return text;
}

}  // namespace trainyard::sim
