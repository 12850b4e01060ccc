#include "volcano_replay.h"

#include <fmt/format.h>

#include <regex>

#include "base/check.h"
#include "dialect/volcano/volcano.h"
#include "kube/access.h"
#include "kube/meta.h"
#include "volcano_sight.h"
#include "world.h"

namespace trainyard::recorded {
namespace {

std::vector<json::object> documents_of(const Recording& recording) {
  const json::value& manifest = recording.body.at("manifest");
  if (manifest.is_object()) return {manifest.get_object()};
  std::vector<json::object> documents;
  for (const json::value& each : manifest.as_array()) documents.push_back(each.as_object());
  return documents;
}

bool is_job(const json::object& document) { return kube::text_at(document, {"kind"}) == "Job"; }

// Does what a step's `do` says.
class VolcanoHand {
 public:
  VolcanoHand(World& world, std::vector<json::object> documents, std::string job)
      : world_(world), documents_(std::move(documents)), job_(std::move(job)) {}

  void perform(std::string deed, const json::object& see) {
    deed_ = std::move(deed);
    world_.advance(seconds(1));
    bool known = people_did() || pods_left() || pods_moved() || time_passed() || was_elsewhere();
    if (!known) fmt::print("not understood: {}\n", deed_);
    CHECK(known);
    clear_ended_pods();
    let_the_scheduler(see);
    clear_ended_pods();
  }

 private:
  bool has(std::string_view words) const { return deed_.find(words) != std::string::npos; }
  bool matches(const char* pattern) { return std::regex_search(deed_, found_, std::regex(pattern)); }

  // ---- people ----

  bool people_did() {
    if (matches("^create (the Job|a second Job " + job_ + ")")) {
      create();
    } else if (matches("^a Command with action (\\w+) is created")) {
      command(found_[1]);
    } else if (matches("^(\\w+) replicas (\\d+), minAvailable (\\d+)")) {
      scale(found_[1], std::stoi(found_[2]), std::stoi(found_[3]));
    } else if (has("delete the Job")) {
      world_.delete_job(/*orphan=*/false);
    } else if (has("the claim is created and bound")) {
      add_claims(/*before_job=*/false);
      if (matches("(\\d+) more seconds")) world_.advance(seconds(std::stoi(found_[1])));
    } else {
      return false;
    }
    return true;
  }
  bool matches(const std::string& pattern) { return matches(pattern.c_str()); }

  void create() {
    add_claims(/*before_job=*/true);
    for (const json::object& document : documents_) {
      if (!is_job(document) || kube::name_of(document) != job_) continue;
      std::vector<dialect::Problem> problems = world_.create(document);
      if (!problems.empty()) fmt::print("{}\n", dialect::join(problems));
      CHECK(problems.empty());
    }
  }

  void add_claims(bool before_job) {
    bool after = false;
    for (const json::object& document : documents_) {
      after = after || is_job(document);
      if (kube::text_at(document, {"kind"}) != "PersistentVolumeClaim" || after == before_job) continue;
      world_.add_companion(model::CompanionKind::kPersistentVolumeClaim, document);
    }
  }

  void command(const std::string& action) {
    json::object command;
    command["metadata"] = {{"name", fmt::format("{}-{}", job_, ++commands_)}};
    command["action"] = action;
    command["target"] = {{"apiVersion", "batch.volcano.sh/v1alpha1"}, {"kind", "Job"}, {"name", job_}};
    world_.add_command(std::move(command));
  }

  void scale(const std::string& task, int replicas, int min_available) {
    json::array tasks = *kube::array_at(*world_.job(), {"spec", "tasks"});
    for (json::value& entry : tasks) {
      if (kube::text_at(entry.get_object(), {"name"}) == task) entry.get_object()["replicas"] = replicas;
    }
    json::object spec;
    spec["minAvailable"] = min_available;
    spec["tasks"] = std::move(tasks);
    std::vector<dialect::Problem> problems = world_.patch(json::object{{"spec", std::move(spec)}});
    CHECK(problems.empty());
  }

  // ---- kubelet ----

  bool pods_left() {
    if (matches("^somebody deletes (?:the failed pod )?(\\S+)")) {
      pod_ = found_[1];
      world_.delete_pod(pod_);
      if (has("and the kubelet finishes")) world_.remove_pod(pod_);
    } else if (matches("^(\\S+) is evicted through the eviction API")) {
      pod_ = found_[1];
      world_.delete_pod(pod_);
    } else if (matches("^the kubelet finishes with ([^:]+): it is removed")) {
      world_.remove_pod(found_[1]);
    } else if (has("terminating pods are removed")) {
      for (const std::string& name :
           pods_where([](const json::object& pod) { return kube::is_deleting(pod); })) {
        world_.remove_pod(name);
      }
    } else {
      return false;
    }
    return true;
  }

  bool pods_moved() {
    if (matches("marks it Failed with exit code (\\d+)")) {
      fate(pod_, {.phase = "Failed", .exit_code = std::stoi(found_[1])});
      return true;
    }
    PodFate next;
    if (matches("becomes? Running")) {
      next = {.phase = "Running"};
    } else if (matches("succeeds?( |$)")) {
      next = {.phase = "Succeeded", .exit_code = 0};
    } else if (matches("fails(?: with exit code (\\d+))?")) {
      next = {.phase = "Failed", .exit_code = found_[1].matched ? std::stoi(found_[1]) : 1};
    } else {
      return false;
    }
    for (const std::string& name : meant(next)) {
      pod_ = name;
      fate(name, next);
    }
    return true;
  }

  // The pods that the deed is about, and that can become that.
  std::vector<std::string> meant(const PodFate& next) {
    std::vector<std::string> named;
    std::regex name(job_ + "-[a-z]+-\\d+");
    for (std::sregex_iterator at(deed_.begin(), deed_.end(), name), end; at != end; ++at)
      named.push_back(at->str());
    if (!named.empty()) return named;
    bool of_first = !has("first Job") || job_ == "tj";
    return pods_where([&](const json::object& pod) {
      if (!of_first || kube::is_deleting(pod)) return false;
      if (has("workers") && kube::label_of(pod, "volcano.sh/task-spec") != "worker") return false;
      std::string_view phase = kube::text_at(pod, {"status", "phase"});
      if (next.phase == "Running")
        return phase == "Pending" && world_.is_bound(std::string(kube::name_of(pod)));
      return phase == "Running";
    });
  }

  void fate(const std::string& name, const PodFate& next) {
    world_.set_pod(name, next);
    world_.settle();
  }

  template <typename Which>
  std::vector<std::string> pods_where(Which which) const {
    std::vector<std::string> names;
    for (const auto& [name, pod] : world_.pods()) {
      if (which(pod)) names.push_back(name);
    }
    return names;
  }

  // An API server removes pods that have ended at once.
  void clear_ended_pods() {
    auto ended = [](const json::object& pod) {
      std::string_view phase = kube::text_at(pod, {"status", "phase"});
      return kube::is_deleting(pod) && (phase == "Succeeded" || phase == "Failed");
    };
    if (has("while it is terminating")) return;  // this one is held back by hand
    for (std::vector<std::string> names = pods_where(ended); !names.empty(); names = pods_where(ended)) {
      for (const std::string& name : names) world_.remove_pod(name);
    }
  }

  // ---- time and the scheduler ----

  bool time_passed() {
    if (!matches("^(\\d+) more seconds pass")) return false;
    world_.advance(seconds(std::stoi(found_[1])));
    return true;
  }

  // Queues and the other job of a recording with two.
  bool was_elsewhere() const { return has("queue"); }

  void let_the_scheduler(const json::object& see) {
    if (const json::array* passed = kube::array_at(see, {"podGroupPassed"})) {
      for (const json::value& entry : *passed) {
        std::string line(kube::view(entry.as_string()));
        size_t colon = line.find(": ");
        if (colon != std::string::npos && line.substr(0, colon) != job_ + "-<uid>") continue;
        if (colon != std::string::npos) line = line.substr(colon + 2);
        if (line.starts_with("(") || line == "gone") continue;
        group_phase_ = line.substr(0, line.find(' '));
        world_.set_gang_phase(group_phase_);
        world_.settle();
      }
    }
    if (!group_phase_.empty()) world_.set_gang_phase(group_phase_);
    world_.settle();
    if (const json::object* pods = kube::object_at(see, {"pods"})) their_pods_ = *pods;
    for (const std::string& name : pods_where([](const json::object&) { return true; })) {
      const json::value* theirs = their_pods_.if_contains(name);
      bool held =
          theirs != nullptr && kube::view(theirs->as_string()).find("unbound") != std::string_view::npos;
      if (!held) world_.bind_pod(name);
    }
    world_.settle();
  }

  // Fixed.
  World& world_;
  std::vector<json::object> documents_;
  std::string job_;
  // State.
  std::string deed_;
  std::smatch found_;
  std::string pod_;  // "it"
  int commands_ = 0;
  std::string group_phase_;
  json::object their_pods_;
};

std::vector<Difference> replay_job(const Recording& recording, const std::string& job) {
  World world(dialect::volcano(), {}, "recorded");
  VolcanoHand hand(world, documents_of(recording), job);
  VolcanoSight sight(recording.name, job, world);
  bool there = false;
  int step = 0;
  for (const json::value& each : recording.body.at("steps").as_array()) {
    ++step;
    std::string deed(kube::view(each.at("do").as_string()));
    there = there || deed.find(job == "tj" ? "create the Job" : "second Job " + job) != std::string::npos;
    if (!there) continue;
    const json::object& see = each.at("see").as_object();
    hand.perform(deed, see);
    sight.compare(step, see);
  }
  return sight.take();
}

}  // namespace

bool has_volcano_job(const Recording& recording) {
  std::vector<json::object> documents = documents_of(recording);
  return std::any_of(documents.begin(), documents.end(), is_job);
}

std::vector<Difference> replay_volcano(const Recording& recording) {
  std::vector<Difference> found;
  for (const json::object& document : documents_of(recording)) {
    if (!is_job(document)) continue;
    for (Difference& one : replay_job(recording, std::string(kube::name_of(document))))
      found.push_back(std::move(one));
  }
  return found;
}

}  // namespace trainyard::recorded
