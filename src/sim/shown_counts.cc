#include "sim/shown_counts.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/ascii.h"
#include "kube/access.h"

namespace trainyard::sim {

namespace {

constexpr std::string_view kPodWords[] = {"pending", "running", "succeeded", "failed", "unknown"};

std::string key_of(std::string_view role, std::string_view word) {
  std::string key;
  key.reserve(role.size() + word.size() + 1);
  return key.append(role).append("/").append(word);
}

// Adds the whole numbers of an object, by their names.
void add_numbers(Counts& counts, std::string_view role, const json::object* from) {
  if (from == nullptr) return;
  for (const auto& [word, number] : *from) {
    if (!number.is_int64() || number.get_int64() == 0) continue;
    counts[key_of(lower_case(role), lower_case(kube::view(word)))] += static_cast<int>(number.get_int64());
  }
}

void read_t9k_tasks(Counts& counts, const json::object& status) {
  const json::array* tasks = kube::array_at(status, {"tasks"});
  if (tasks == nullptr) return;
  for (const json::value& task : *tasks) {
    const json::array* replicas = kube::array_at(task.as_object(), {"replicas"});
    if (replicas == nullptr) continue;
    const std::string role = lower_case(kube::text_at(task.as_object(), {"type"}));
    for (const json::value& replica : *replicas) {
      ++counts[key_of(role, lower_case(kube::text_at(replica.as_object(), {"phase"})))];
    }
  }
}

class Teller {
 public:
  explicit Teller(const CountsInput& input)
      : input_(input), phase_(kube::text_at(input.status.memory, {"phase"})) {}

  CountRanges tell() {
    switch (input_.kind) {
      case Kind::kTfJob:
        each_replica([this](const std::string& role, int index) { tell_tf_replica(role, index); });
        return std::move(allowed_);
      case Kind::kT9k:
        each_replica([this](const std::string& role, int index) { tell_t9k_replica(role, index); });
        return std::move(allowed_);
      case Kind::kVolcano:
        tell_volcano();
        return std::move(allowed_);
    }
    return {};
  }

 private:
  template <typename Visit>
  void each_replica(Visit visit) {
    for (const auto& [role, replicas] : input_.wish.replicas) {
      for (int index = 0; index < replicas; ++index) visit(role, index);
    }
  }
  void add(std::string_view role, std::string_view word, int least = 1, int most = 1) {
    CountRange& range = allowed_[key_of(role, word)];
    range.least += least;
    range.most += most;
  }
  void add_with_sum(std::string_view role, std::string_view word, int least = 1, int most = 1) {
    add(role, word, least, most);
    add("", word, least, most);
  }
  bool pauses() const { return phase_ == "Pausing" || phase_ == "Paused"; }
  bool stops() const {
    return pauses() || phase_ == "Completing" || phase_ == "Terminating" || phase_ == "Finished";
  }
  const PodFacts* pod_of(std::string_view role, int index, int64_t attempt_min) const {
    for (const PodFacts* pod : input_.pods) {
      if (pod->role == role && pod->index == index && pod->attempt >= attempt_min) return pod;
    }
    return nullptr;
  }
  int64_t attempt_of(std::string_view role, int index) const {
    return recorded_attempt(input_.status.memory, role, index);
  }
  std::optional<bool> success_of(std::string_view role, int index) const {
    return recorded_success(input_.status.memory, role, index);
  }

  void tell_tf_replica(const std::string& role, int index) {
    std::optional<bool> success = success_of(role, index);
    const PodFacts* pod = success ? nullptr : pod_of(role, index, attempt_of(role, index));
    if (pod != nullptr && pod->ended()) success = pod->phase == PodPhase::kSucceeded;
    if (success) return add(role, *success ? "succeeded" : "failed");
    if (pod == nullptr || pod->phase != PodPhase::kRunning || pod->deleting || pauses()) return;
    // Whoever still runs when the job has succeeded has done what it was there for.
    add(role, input_.status.succeeded ? "succeeded" : "active");
  }

  void tell_t9k_replica(const std::string& role, int index) {
    if (const PodFacts* pod = pod_of(role, index, 0)) {
      const bool waits = pod->phase == PodPhase::kPending && !pod->bound;
      return add_with_sum(role, waits ? "creating" : kPodWords[static_cast<size_t>(pod->phase)]);
    }
    const bool ended = success_of(role, index).has_value();
    if (!ended && !input_.status.terminal() && !pauses()) return add_with_sum(role, "creating");
    // Whether one that did not end ever had a pod is not for the store to say.
    add_with_sum(role, "deleted", ended ? 1 : 0, 1);
  }

  // Deleted, or of no use: what ended before everything stopped is kept.
  bool leaves(const PodFacts& pod) const {
    if (pod.deleting) return true;
    if (stops()) return !pod.ended();
    auto wanted = input_.wish.replicas.find(pod.role);
    return wanted == input_.wish.replicas.end() || pod.index >= wanted->second ||
           pod.attempt < attempt_of(pod.role, pod.index);
  }

  void tell_volcano() {
    for (const PodFacts* pod : input_.pods) {
      if (leaves(*pod)) {
        add("", "terminating");
      } else {
        add_with_sum(pod->role, kPodWords[static_cast<size_t>(pod->phase)]);
      }
    }
    each_replica([this](const std::string& role, int index) {
      const std::optional<bool> success = success_of(role, index);
      if (!success || pod_of(role, index, 0) != nullptr) return;
      add_with_sum(role, *success ? "succeeded" : "failed");
    });
  }

  const CountsInput& input_;
  const std::string_view phase_;
  CountRanges allowed_;
};

// A TFJob that has ended: what was shown then, but that who runs no more is not active.
CountRanges counts_after_the_end(const CountsInput& input) {
  CountRanges allowed;
  for (const auto& [key, number] : *input.at_the_end) {
    const bool active = key.ends_with("/active");
    allowed[key] = {active ? 0 : number, number};
  }
  for (auto& [key, range] : allowed) {
    if (!key.ends_with("/active")) continue;
    const auto running = std::count_if(input.pods.begin(), input.pods.end(), [&](const PodFacts* pod) {
      return key == key_of(pod->role, "active") && pod->phase == PodPhase::kRunning && !pod->deleting;
    });
    range.most = std::min(range.most, static_cast<int>(running));
  }
  return allowed;
}

}  // namespace

Counts read_counts(Kind kind, const json::object& job) {
  Counts counts;
  const json::object* status = kube::object_at(job, {"status"});
  if (status == nullptr) return counts;
  switch (kind) {
    case Kind::kTfJob:
      if (const json::object* roles = kube::object_at(*status, {"replicaStatuses"})) {
        for (const auto& [role, of_role] : *roles) add_numbers(counts, kube::view(role), of_role.if_object());
      }
      return counts;
    case Kind::kT9k:
      read_t9k_tasks(counts, *status);
      add_numbers(counts, "", kube::object_at(*status, {"aggregate"}));
      return counts;
    case Kind::kVolcano:
      for (std::string_view word : {"pending", "running", "succeeded", "failed", "unknown", "terminating"}) {
        const auto number = kube::int_at(*status, {word}).value_or(0);
        if (number != 0) counts[key_of("", word)] = static_cast<int>(number);
      }
      if (const json::object* tasks = kube::object_at(*status, {"taskStatusCount"})) {
        for (const auto& [task, of_task] : *tasks) {
          add_numbers(counts, kube::view(task), kube::object_at(of_task.as_object(), {"phase"}));
        }
      }
      return counts;
  }
  return counts;
}

CountRanges true_counts(const CountsInput& input) {
  if (input.kind == Kind::kTfJob && input.at_the_end != nullptr) return counts_after_the_end(input);
  return Teller(input).tell();
}

std::optional<std::string> wrong_count(const Counts& shown, const CountRanges& allowed) {
  const auto told = [](std::string_view key, int number, CountRange range) {
    return fmt::format("{} {}, where there are {}", number, key,
                       range.least == range.most ? fmt::format("{}", range.most)
                                                 : fmt::format("{} to {}", range.least, range.most));
  };
  for (const auto& [key, number] : shown) {
    auto range = allowed.find(key);
    if (range == allowed.end()) return told(key, number, {});
    if (number < range->second.least || number > range->second.most) return told(key, number, range->second);
  }
  for (const auto& [key, range] : allowed) {
    if (range.least > 0 && !shown.contains(key)) return told(key, 0, range);
  }
  return std::nullopt;
}

}  // namespace trainyard::sim
