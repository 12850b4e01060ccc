#include "cli/rules_in_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/match.h"

namespace trainyard::cli {
namespace {

using model::Action;
using model::ActionKind;
using model::JobSpec;
using model::Role;
using model::Rule;
using model::Scope;
using model::Trigger;

// "a", "a or b", "a, b or c".
std::string any_of(const std::vector<std::string>& parts) {
  std::string text;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) text += i + 1 == parts.size() ? " or " : ", ";
    text += parts[i];
  }
  return text;
}

// What happens to the replica itself comes as a verb after "it".
std::string in_words(Trigger trigger) {
  switch (trigger) {
    case Trigger::kFailed:
      return "it fails";
    case Trigger::kDisrupted:
      return "it is evicted or lost";
    case Trigger::kDeleted:
      return "it is deleted by somebody";
    case Trigger::kPending:
      return "it is pending";
    case Trigger::kRoleCompleted:
      return "all of its role have succeeded";
    case Trigger::kRoleFailed:
      return "containers of its role were restarted too often";
    case Trigger::kGangLost:
      return "the gang is no longer whole";
    case Trigger::kAny:
      return "anything happens to it";
  }
  return "";
}

std::string triggers_in_words(const std::vector<Trigger>& triggers) {
  std::vector<std::string> parts;
  for (Trigger trigger : triggers) {
    std::string text = in_words(trigger);
    if (!parts.empty() && text.starts_with("it ")) text = text.substr(3);
    parts.push_back(std::move(text));
  }
  return any_of(parts);
}

std::string exits_in_words(const std::vector<model::ExitRange>& exits) {
  std::vector<std::string> codes;
  for (const model::ExitRange& range : exits) {
    bool few = range.last - range.first <= 1;
    for (int code = range.first; few && code <= range.last; ++code) codes.push_back(fmt::format("{}", code));
    if (!few) codes.push_back(fmt::format("{} to {}", range.first, range.last));
  }
  return "exit code " + any_of(codes);
}

std::string in_words(const Action& action) {
  switch (action.kind) {
    case ActionKind::kNone:
      return "the job goes on without it";
    case ActionKind::kRestart:
      break;
    case ActionKind::kFail:
      return "the job fails";
    case ActionKind::kAbort:
      return "the job stops and may be resumed";
    case ActionKind::kResume:
      return "the job is resumed";
    case ActionKind::kTerminate:
      return "the job stops for good";
    case ActionKind::kComplete:
      return "the job is complete";
  }
  switch (action.scope) {
    case Scope::kPod:
      return "the replica starts again";
    case Scope::kPartition:
      return "its partition starts again";
    case Scope::kRole:
      return "its whole role starts again";
    case Scope::kJob:
      return "the whole job starts again";
  }
  return "";
}

std::string condition_of(const Rule& rule) {
  std::string text = rule.exits.empty() ? triggers_in_words(rule.on) : exits_in_words(rule.exits);
  if (rule.delay) text += fmt::format(" and {} have passed", format_duration(*rule.delay));
  return text;
}

// What the rules so far answer whatever the exit code: the first rule that matches is taken.
class Answered {
 public:
  bool covers(const Rule& rule) const {
    return std::all_of(rule.on.begin(), rule.on.end(), [this](Trigger trigger) {
      return trigger != Trigger::kPending &&
             (triggers_.contains(trigger) || triggers_.contains(Trigger::kAny));
    });
  }
  void add(const Rule& rule) {
    if (rule.exits.empty()) triggers_.insert(rule.on.begin(), rule.on.end());
  }

 private:
  std::set<Trigger> triggers_;
};

// Whether the rules leave no failure unanswered as long as there are restarts left.
bool answer_every_failure(const Role& role) {
  for (const Rule& rule : role.rules) {
    for (Trigger trigger : rule.on) {
      bool failure = trigger == Trigger::kFailed || trigger == Trigger::kAny;
      if (failure && rule.exits.empty() && !rule.delay) return true;
    }
  }
  return false;
}

std::string success_of(const JobSpec& spec) {
  return std::visit(
      Match{[&](const model::MainReplica& main) {
              std::string text = fmt::format("when {} ends with exit code 0", replica_label(spec, main.id));
              bool several = spec.roles[static_cast<size_t>(main.id.role)].replicas > 1;
              if (main.or_all && several)
                text +=
                    fmt::format(", or all of {} have", spec.roles[static_cast<size_t>(main.id.role)].name);
              return text;
            },
            [&](const model::WholeRole& whole) {
              const Role& role = spec.roles[static_cast<size_t>(whole.role)];
              if (role.replicas == 1) {
                return fmt::format("when {}-0 ends with exit code 0", role.name);
              }
              return fmt::format("when every {} has ended with exit code 0", role.name);
            },
            [](const model::Tally& tally) {
              std::string text;
              if (tally.min_success) {
                text = fmt::format("as soon as {} replicas have succeeded; or ", *tally.min_success);
              }
              text += fmt::format("when all have ended and at least {} have succeeded", tally.min_available);
              if (tally.per_role) text += ", and of each role its own minimum";
              return text;
            },
            [](const model::NoSuccess&) { return std::string("only by a rule or by command"); }},
      spec.success);
}

bool ever_restarts(const JobSpec& spec) {
  return std::any_of(spec.roles.begin(), spec.roles.end(), [](const Role& role) {
    return role.restarts_in_place || role.runs_forever ||
           std::any_of(role.rules.begin(), role.rules.end(),
                       [](const Rule& rule) { return rule.action.kind == ActionKind::kRestart; });
  });
}

std::string budget_of(const JobSpec& spec) {
  if (!ever_restarts(spec)) return "none: no rule asks for one. A pod that somebody deletes is made again";
  constexpr std::string_view kUncounted = "Evictions and deletions are not counted";
  if (!spec.budget.restarts_max) return fmt::format("without limit. {}", kUncounted);
  std::string_view then =
      spec.budget.spent_fails_job
          ? "the next failure fails the job"
          : "after that the main replica's failure fails the job, and others stay as they are";
  if (*spec.budget.restarts_max == 0) return fmt::format("none: {}. {}", then, kUncounted);
  return fmt::format("{} at most, all replicas together; {}. {}", *spec.budget.restarts_max, then,
                     kUncounted);
}

std::string cleanup_of(const JobSpec& spec) {
  switch (spec.cleanup) {
    case model::Cleanup::kNone:
      return "nothing is deleted when the job is done";
    case model::Cleanup::kUnfinished:
      return "pods that still run are deleted when the job is done; ended ones stay for their logs";
    case model::Cleanup::kAll:
      return "all pods are deleted when the job is done";
  }
  return "";
}

std::string dependencies_of(const JobSpec& spec, const Role& role) {
  std::vector<std::string> names;
  for (int other : role.depends_on.roles) names.push_back(spec.roles[static_cast<size_t>(other)].name);
  std::string text = any_of(names);
  if (!role.depends_on.any) {
    for (size_t at = text.rfind(" or "); at != std::string::npos; at = std::string::npos)
      text.replace(at, 4, " and ");
  }
  return fmt::format("{} waits until {} {} ready", role.name, text,
                     names.size() > 1 && !role.depends_on.any ? "are" : "is");
}

// Of a role that is to run always: all but those whose success is the job's.
std::string who_starts_again(const JobSpec& spec, const Role& role) {
  auto is_role = [&](int index) { return &spec.roles.at(static_cast<size_t>(index)) == &role; };
  const auto* whole = std::get_if<model::WholeRole>(&spec.success);
  if (whole != nullptr && is_role(whole->role)) return "";
  const auto* main = std::get_if<model::MainReplica>(&spec.success);
  if (main == nullptr || !is_role(main->id.role)) return "it";
  return role.replicas == 1 ? "" : "another than " + replica_label(spec, main->id);
}

std::string_view scheduler_title(model::GangScheduler scheduler) {
  switch (scheduler) {
    case model::GangScheduler::kVolcano:
      return "Volcano";
    case model::GangScheduler::kKubeBatch:
      return "kube-batch";
    case model::GangScheduler::kCoscheduling:
      return "scheduler-plugins";
    case model::GangScheduler::kT9k:
      return "T9k";
  }
  return "";
}

}  // namespace

std::string_view kind_title(model::CompanionKind kind) {
  switch (kind) {
    case model::CompanionKind::kService:
      return "Service";
    case model::CompanionKind::kConfigMap:
      return "ConfigMap";
    case model::CompanionKind::kSecret:
      return "Secret";
    case model::CompanionKind::kNetworkPolicy:
      return "NetworkPolicy";
    case model::CompanionKind::kPersistentVolumeClaim:
      return "PersistentVolumeClaim";
  }
  return "";
}

std::string replica_label(const JobSpec& spec, model::ReplicaId id) {
  return fmt::format("{}-{}", spec.roles.at(static_cast<size_t>(id.role)).name, id.index);
}

std::vector<std::string> replica_rules(const JobSpec& spec, const Role& role) {
  std::vector<std::string> lines;
  if (role.restarts_in_place) lines.push_back("its container is restarted in place by the node, and counted");
  const auto* main = std::get_if<model::MainReplica>(&spec.success);
  if (role.runs_forever) {
    std::string who = who_starts_again(spec, role);
    if (!who.empty()) lines.push_back(who + " ends well: the replica starts again, for it is to run always");
  }
  Answered answered;
  for (const Rule& rule : role.rules) {
    const bool never = answered.covers(rule);
    answered.add(rule);
    // Of exit codes only people speak: they are told. What a task's rule answers is not asked of the job's.
    if (never && rule.exits.empty()) continue;
    lines.push_back(fmt::format("{}: {}{}", condition_of(rule), in_words(rule.action),
                                never ? " (never: a rule above answers it first)" : ""));
  }
  if (answer_every_failure(role)) return lines;
  bool first = role.rules.empty();
  if (role.otherwise_main && main != nullptr) {
    lines.push_back(fmt::format("{} of {}: {}", first ? "a failure" : "any other failure",
                                replica_label(spec, main->id), in_words(*role.otherwise_main)));
    if (role.replicas == 1) return lines;
    lines.push_back(fmt::format("{} of the others: {}", first ? "a failure" : "any other failure",
                                in_words(role.otherwise)));
    return lines;
  }
  lines.push_back(fmt::format("{}: {}", first ? "it fails" : "any other failure", in_words(role.otherwise)));
  return lines;
}

std::vector<JobRule> job_rules(const JobSpec& spec) {
  std::vector<JobRule> rules;
  rules.push_back({"Success", success_of(spec)});
  rules.push_back({"Running", spec.running_min >= spec.total_replicas()
                                  ? std::string("once every replica has started")
                                  : fmt::format("once {} of {} replicas have started", spec.running_min,
                                                spec.total_replicas())});
  rules.push_back({"Restarts", budget_of(spec)});
  rules.push_back({"Clean-up", cleanup_of(spec)});
  if (spec.active_deadline) {
    rules.push_back({"Deadline", fmt::format("fails when it is not done {} after its start",
                                             format_duration(*spec.active_deadline))});
  }
  if (spec.ttl_after_finished) {
    rules.push_back({"Lifetime", fmt::format("the job itself is deleted {} after its end",
                                             format_duration(*spec.ttl_after_finished))});
  }
  for (const Role& role : spec.roles) {
    if (!role.depends_on.roles.empty()) rules.push_back({"Order", dependencies_of(spec, role)});
  }
  if (spec.mode == model::RunMode::kPause)
    rules.push_back({"Paused", "no pods until the manifest says otherwise"});
  if (!spec.managed) rules.push_back({"Managed", "by another controller: nothing is done here"});
  if (spec.holds_deletion) rules.push_back({"Deletion", "the job goes only after its pods have gone"});
  return rules;
}

std::string gang_in_words(const JobSpec& spec) {
  if (!spec.gang) return "";
  const model::Gang& gang = *spec.gang;
  std::string text = fmt::format("PodGroup {} of {}: ", gang.name, scheduler_title(gang.scheduler));
  text += gang.owned ? fmt::format("{} pods start together or not at all", gang.min_member)
                     : std::string("made by you, and left alone");
  if (!gang.queue.empty()) text += fmt::format("; queue {}", gang.queue);
  if (!gang.priority_class.empty()) text += fmt::format("; priority class {}", gang.priority_class);
  if (gang.priority != 0) text += fmt::format("; priority {}", gang.priority);
  if (gang.gates_pods) text += "; pods are made once it is let in";
  return text;
}

}  // namespace trainyard::cli
