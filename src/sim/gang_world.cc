#include "sim/gang_world.h"

#include <fmt/format.h>

#include <algorithm>

#include "kube/access.h"
#include "kube/meta.h"

namespace trainyard::sim {
namespace {

constexpr Time kBeginning{1'700'000'000'000};
constexpr Duration kTroubleTime{900'000};
constexpr Duration kPeaceTime{3 * 3'600'000};
constexpr Duration kTick{5'000};
constexpr std::string_view kNs = "ns";

json::object parse(const std::string& text) { return json::parse(text).as_object(); }

class Yard {
 public:
  Yard(uint64_t seed, bool trace)
      : agenda_(kBeginning),
        trace_(trace, kBeginning),
        rng_(seed),
        store_(seed),
        checks_(store_),
        process_({store_, agenda_, [this](const std::string& evicted) { on_write(evicted); },
                  [this] { on_death(); }},
                 rng_.fork(), options()) {}

  GangReport run();

 private:
  struct Gang {
    GangFacts facts;
    bool gone = false;
    Duration runs{0};
  };

  control::SchedulerOptions options() {
    control::SchedulerOptions options;
    options.policy.reclaim = false;  // what it may take is not for these checks to say
    return options;
  }
  void on_write(const std::string& evicted);
  void on_death();
  void make_nodes();
  void make_node(int number);
  void make_queues();
  void make_gang();
  void make_pod(const Gang& gang, int index);
  void look_after(size_t gang);
  void run_pods();
  void end_pod(const std::string& uid, const std::string& name);
  void lose_node();
  void drain_node();
  void tick();
  void changed() { process_.on_change(); }
  bool everything_done();

  Agenda agenda_;
  Trace trace_;
  Rng rng_;
  store::Store store_;
  GangChecks checks_;
  GangProcess process_;
  std::vector<Gang> gangs_;
  std::vector<int64_t> node_cpus_;
  std::vector<int> queue_priorities_;
  std::map<std::string, bool> started_;  // by pod uid
  int64_t evicted_ = 0;
  bool trouble_ = true;
};

void Yard::on_write(const std::string& evicted) {
  checks_.look(agenda_.now(), evicted);
  if (!evicted.empty()) ++evicted_;
}

void Yard::on_death() {
  trace_.say(agenda_.now(), "scheduler", "dies");
  // Until it has begun anew, nobody mends anything.
  checks_.scheduler_was_away(agenda_.now() + Duration{15'000});
}

void Yard::make_node(int number) {
  json::object node = parse(fmt::format(R"({{"metadata": {{"name": "n{}"}}}})", number));
  if (!store_.create(kube::kNodes, "", node, agenda_.now()).ok()) return;
  node = **store_.get(kube::kNodes, "", fmt::format("n{}", number));
  node["status"] = parse(fmt::format(R"({{"allocatable": {{"cpu": "{}", "pods": "50"}}}})",
                                     node_cpus_[static_cast<size_t>(number)]));
  (void)store_.update_status(kube::kNodes, "", node, agenda_.now());
}

void Yard::make_nodes() {
  int count = static_cast<int>(rng_.between(2, 5));
  for (int i = 0; i < count; ++i) {
    node_cpus_.push_back(rng_.between(3, 8));
    make_node(i);
  }
}

void Yard::make_queues() {
  int count = static_cast<int>(rng_.between(1, 3));
  for (int i = 0; i < count; ++i) {
    queue_priorities_.push_back(static_cast<int>(rng_.below(3)));
    json::object queue = parse(fmt::format(
        R"({{"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {{"name": "q{}"}},
             "spec": {{"weight": {}, "priority": {}}}}})",
        i, rng_.between(1, 4), queue_priorities_.back()));
    (void)store_.create(kube::kVolcanoQueues, "", queue, agenda_.now());
  }
  for (int value : {0, 10}) {
    json::object level = parse(fmt::format(R"({{"metadata": {{"name": "p{0}"}}, "value": {0}}})", value));
    (void)store_.create({"scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses", false, false}, "",
                        level, agenda_.now());
  }
}

void Yard::make_gang() {
  Gang gang;
  size_t queue = rng_.below(queue_priorities_.size());
  gang.facts.name = fmt::format("g{}", gangs_.size());
  gang.facts.members = static_cast<int>(rng_.between(1, 6));
  gang.facts.cpu = rng_.between(1, 3);
  gang.facts.queue = fmt::format("q{}", queue);
  gang.facts.queue_priority = queue_priorities_[queue];
  gang.facts.class_priority = rng_.chance(20) ? 10 : 0;
  gang.runs = Duration{rng_.between(20'000, 300'000)};
  json::object group = parse(fmt::format(
      R"({{"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup", "metadata": {{"name": "{}"}},
           "spec": {{"minMember": {}, "queue": "{}", "priorityClassName": "p{}"}}}})",
      gang.facts.name, gang.facts.members, gang.facts.queue, gang.facts.class_priority));
  (void)store_.create(kube::kVolcanoPodGroups, kNs, group, agenda_.now());
  trace_.say(agenda_.now(), "user",
             fmt::format("{}: {} x {} cpu in {}", gang.facts.name, gang.facts.members, gang.facts.cpu,
                         gang.facts.queue));
  checks_.add_gang(gang.facts);
  gangs_.push_back(gang);
  size_t number = gangs_.size() - 1;
  agenda_.in(Duration{rng_.between(50, 3'000)}, [this, number] { look_after(number); });
}

void Yard::make_pod(const Gang& gang, int index) {
  json::object pod = parse(fmt::format(
      R"({{"metadata": {{"name": "{0}-{1}", "labels": {{"gang": "{0}"}},
           "annotations": {{"scheduling.k8s.io/group-name": "{0}"}}}},
           "spec": {{"terminationGracePeriodSeconds": 30,
                     "containers": [{{"name": "c", "resources": {{"requests": {{"cpu": "{2}"}}}}}}]}}}})",
      gang.facts.name, index, gang.facts.cpu));
  (void)store_.create(kube::kPods, kNs, pod, agenda_.now());
}

// The owner: pods that are not there are made, some at once, some later.
void Yard::look_after(size_t number) {
  const Gang& gang = gangs_[number];
  if (gang.gone) return;
  for (int i = 0; i < gang.facts.members; ++i) {
    if (store_.get(kube::kPods, kNs, fmt::format("{}-{}", gang.facts.name, i)).ok()) continue;
    if (trouble_ && rng_.chance(30)) continue;
    make_pod(gang, i);
  }
  changed();
  agenda_.in(Duration{trouble_ ? rng_.between(1'000, 4'000) : 10'000},
             [this, number] { look_after(number); });
}

// The kubelets: pods that have a node start and end once the whole gang has started, as
// training does; pods that are deleted go.
void Yard::run_pods() {
  store::Page pods = store_.list(kube::kPods, kNs).value();
  std::map<std::string, int> running;
  for (const store::Object& pod : pods.items) {
    bool on_node = !kube::text_at(*pod, {"spec", "nodeName"}).empty() && !kube::is_deleting(*pod);
    bool ended = kube::text_at(*pod, {"status", "phase"}) == "Succeeded";
    running[std::string(kube::label_of(*pod, "gang"))] += on_node || ended;
  }
  for (const store::Object& pod : pods.items) {
    std::string name(kube::name_of(*pod));
    std::string uid(kube::uid_of(*pod));
    if (kube::is_deleting(*pod)) {
      if (rng_.chance(60)) (void)store_.remove(kube::kPods, kNs, name, {.grace_seconds = 0}, agenda_.now());
      continue;
    }
    if (kube::text_at(*pod, {"spec", "nodeName"}).empty() || started_[uid]) continue;
    auto gang = std::find_if(gangs_.begin(), gangs_.end(),
                             [&](const Gang& one) { return one.facts.name == kube::label_of(*pod, "gang"); });
    if (gang == gangs_.end() || running[gang->facts.name] < gang->facts.members) continue;
    started_[uid] = true;
    agenda_.in(gang->runs, [this, uid, name] { end_pod(uid, name); });
  }
}

void Yard::end_pod(const std::string& uid, const std::string& name) {
  Result<store::Object> found = store_.get(kube::kPods, kNs, name);
  if (!found.ok() || kube::uid_of(**found) != uid || kube::is_deleting(**found)) return;
  json::object pod = **found;
  kube::ensure_object(pod, {"status"})["phase"] = "Succeeded";
  (void)store_.update_status(kube::kPods, kNs, pod, agenda_.now());
  changed();
}

void Yard::lose_node() {
  auto number = static_cast<int>(rng_.below(node_cpus_.size()));
  std::string name = fmt::format("n{}", number);
  if (!store_.get(kube::kNodes, "", name).ok()) return;
  trace_.say(agenda_.now(), "node", name + " is lost");
  (void)store_.remove(kube::kNodes, "", name, {}, agenda_.now());
  store::Page pods = store_.list(kube::kPods, kNs).value();
  for (const store::Object& pod : pods.items) {
    bool ended = kube::text_at(*pod, {"status", "phase"}) == "Succeeded";
    if (kube::text_at(*pod, {"spec", "nodeName"}) != name || ended) continue;
    (void)store_.remove(kube::kPods, kNs, kube::name_of(*pod), {.grace_seconds = 0}, agenda_.now());
  }
  agenda_.in(Duration{rng_.between(10'000, 90'000)}, [this, number] {
    make_node(number);
    changed();
  });
}

void Yard::drain_node() {
  std::string name = fmt::format("n{}", rng_.below(node_cpus_.size()));
  auto cordon = [this, name](bool on) {
    Result<store::Object> node = store_.get(kube::kNodes, "", name);
    if (!node.ok()) return;
    json::object after = **node;
    kube::ensure_object(after, {"spec"})["unschedulable"] = on;
    (void)store_.update(kube::kNodes, "", after, agenda_.now());
    changed();
  };
  trace_.say(agenda_.now(), "node", name + " is drained");
  cordon(true);
  store::Page pods = store_.list(kube::kPods, kNs).value();
  for (const store::Object& pod : pods.items) {
    if (kube::text_at(*pod, {"spec", "nodeName"}) != name) continue;
    if (kube::text_at(*pod, {"status", "phase"}) == "Succeeded") continue;
    (void)store_.remove(kube::kPods, kNs, kube::name_of(*pod), {}, agenda_.now());
  }
  agenda_.in(Duration{rng_.between(10'000, 60'000)}, [cordon] { cordon(false); });
}

void Yard::tick() {
  run_pods();
  checks_.look_at_lasting(agenda_.now());
  changed();
  if (trouble_) {
    if (gangs_.size() < 14 && rng_.chance(15)) make_gang();
    if (rng_.chance(2)) lose_node();
    if (rng_.chance(2)) drain_node();
  }
  agenda_.in(kTick, [this] { tick(); });
}

bool Yard::everything_done() {
  return std::all_of(gangs_.begin(), gangs_.end(), [this](const Gang& gang) {
    int64_t places = 0;
    for (int64_t cpus : node_cpus_) places += cpus / gang.facts.cpu;
    bool done = true;
    for (int i = 0; i < gang.facts.members; ++i) {
      Result<store::Object> pod = store_.get(kube::kPods, kNs, fmt::format("{}-{}", gang.facts.name, i));
      done = done && pod.ok() && kube::text_at(**pod, {"status", "phase"}) == "Succeeded";
    }
    return done || places < gang.facts.members;
  });
}

GangReport Yard::run() {
  make_nodes();
  make_queues();
  process_.boot();
  for (int i = 0; i < 3; ++i) make_gang();
  tick();
  auto run_until = [this](Time end, const std::function<bool()>& done) {
    while (agenda_.next() < end && checks_.violations().empty() && !done()) agenda_.step();
  };
  run_until(kBeginning + kTroubleTime, [] { return false; });
  trouble_ = false;
  process_.settle();
  changed();
  Time peace = agenda_.now();
  run_until(peace + kPeaceTime, [this] { return agenda_.now().ms % 60'000 < 20 && everything_done(); });
  // What is said in new words only after a while is said by then; and then nothing more may be written.
  run_until(agenda_.now() + Duration{900'000}, [] { return false; });
  if (checks_.violations().empty()) checks_.look_at_rest(agenda_.now());
  int64_t writes = process_.writes();
  run_until(agenda_.now() + Duration{300'000}, [] { return false; });
  GangReport report;
  report.violations = checks_.violations();
  if (report.ok() && everything_done() && process_.writes() != writes) {
    report.violations.push_back({15, "it goes on writing though nothing changes", agenda_.now()});
  }
  report.trace = trace_.take();
  report.gangs = static_cast<int>(gangs_.size());
  report.deaths = process_.deaths();
  report.evicted = evicted_;
  report.writes = process_.writes();
  return report;
}

}  // namespace

GangReport run_gangs(uint64_t seed, bool trace) { return Yard(seed, trace).run(); }

}  // namespace trainyard::sim
