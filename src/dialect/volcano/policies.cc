#include "dialect/volcano/policies.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "dialect/volcano/go_duration.h"

namespace trainyard::dialect::vc {
namespace {

using model::Action;
using model::ActionKind;
using model::Scope;
using model::Trigger;

struct NamedAction {
  std::string_view name;
  Action action;
};
constexpr NamedAction kActions[] = {
    {"AbortJob", {ActionKind::kAbort, Scope::kPod}},
    {"RestartJob", {ActionKind::kRestart, Scope::kJob}},
    {"RestartTask", {ActionKind::kRestart, Scope::kRole}},
    {"RestartPod", {ActionKind::kRestart, Scope::kPod}},
    {"RestartPartition", {ActionKind::kRestart, Scope::kPartition}},
    {"TerminateJob", {ActionKind::kTerminate, Scope::kPod}},
    {"CompleteJob", {ActionKind::kComplete, Scope::kPod}},
    {"ResumeJob", {ActionKind::kResume, Scope::kPod}},
};

constexpr std::string_view kEvents[] = {"*",       "PodFailed",     "PodEvicted", "PodPending",
                                        "Unknown", "TaskCompleted", "TaskFailed", "JobUpdated"};

template <typename Range, typename Name>
std::string listed(const Range& range, Name name) {
  std::string list;
  for (const auto& each : range) list += fmt::format("{}\"{}\"", list.empty() ? "" : ", ", name(each));
  return list;
}

std::string supported_events() {
  return "supported values: " + listed(kEvents, [](std::string_view event) { return event; });
}

std::string supported_actions() {
  return "supported values: " + listed(kActions, [](const NamedAction& each) { return each.name; });
}

// What the policies of one list have claimed so far.
struct Claimed {
  std::set<std::string> events;
  std::set<int> exit_codes;
};

void decode_events(const Reader& reader, Policy& policy) {
  if (std::optional<std::vector<std::string>> events = reader.texts("events")) policy.events = *events;
  if (std::optional<std::string> event = reader.text("event"); event && !event->empty()) {
    policy.events.push_back(*event);
  }
  std::vector<std::string> once;
  for (const std::string& event : policy.events) {
    if (std::find(once.begin(), once.end(), event) == once.end()) once.push_back(event);
  }
  policy.events = std::move(once);
}

void check_events(const Reader& reader, const Policy& policy, Claimed& claimed) {
  std::string_view key = reader.has("event") ? "event" : "events";
  for (const std::string& event : policy.events) {
    if (std::find(std::begin(kEvents), std::end(kEvents), event) == std::end(kEvents)) {
      reader.report(key, ProblemKind::kUnsupported, supported_events());
    } else if (!claimed.events.insert(event).second) {
      reader.report(key, ProblemKind::kDuplicate,
                    fmt::format("{} is answered by an earlier policy of this list already", event));
    }
  }
}

void check_exit_code(const Reader& reader, int exit_code, Claimed& claimed) {
  if (exit_code == 0) {
    reader.report("exitCode", ProblemKind::kInvalid, "0 is not a valid error code");
  } else if (!claimed.exit_codes.insert(exit_code).second) {
    reader.report("exitCode", ProblemKind::kDuplicate,
                  "this exit code is answered by an earlier policy of this list already");
  }
}

void check_action(const Reader& reader, Policy& policy, bool has_partitions) {
  std::optional<std::string> action = reader.text("action");
  if (!action || action->empty()) {
    if (action || !reader.has("action")) reader.report("action", ProblemKind::kRequired, supported_actions());
    return;
  }
  policy.action = *action;
  if (!action_named(*action)) {
    reader.report("action", ProblemKind::kUnsupported, supported_actions());
  } else if (*action == "RestartPartition" && !has_partitions) {
    reader.report("action", ProblemKind::kInvalid,
                  "there is nothing to restart: no task here has a partitionPolicy");
  }
}

void decode_timeout(const Reader& reader, Policy& policy) {
  std::optional<std::string> text = reader.text("timeout");
  if (!text) return;
  policy.timeout = parse_go_duration(*text);
  if (!policy.timeout || *policy.timeout < Duration{0}) {
    reader.report("timeout", ProblemKind::kInvalid, std::string(kDurationRule));
  }
}

// No event and no exit code, and not because one of them could not be read.
bool names_nothing(const Reader& reader) {
  const json::value* event = reader.raw("event");
  const json::value* events = reader.raw("events");
  bool no_event = event == nullptr || (event->is_string() && event->get_string().empty());
  bool no_events = events == nullptr || (events->is_array() && events->get_array().empty());
  return no_event && no_events && !reader.has("exitCode");
}

Policy decode_policy(const Reader& reader, bool has_partitions, Claimed& claimed) {
  Policy policy;
  decode_events(reader, policy);
  if (std::optional<int64_t> code = reader.whole("exitCode")) policy.exit_code = static_cast<int>(*code);
  check_action(reader, policy, has_partitions);
  decode_timeout(reader, policy);
  if (!policy.events.empty() && policy.exit_code) {
    reader.report(ProblemKind::kForbidden, "must not specify event and exitCode simultaneously");
  } else if (policy.exit_code) {
    check_exit_code(reader, *policy.exit_code, claimed);
  } else if (!policy.events.empty()) {
    check_events(reader, policy, claimed);
  } else if (names_nothing(reader)) {
    reader.report(ProblemKind::kRequired, "either event (or events) or exitCode must be specified");
  }
  return policy;
}

void add_triggers(const std::string& event, bool delayed, std::vector<Trigger>& on) {
  if (event == "PodFailed") on.push_back(Trigger::kFailed);
  if (event == "PodEvicted") on.insert(on.end(), {Trigger::kDisrupted, Trigger::kDeleted});
  if (event == "TaskCompleted") on.push_back(Trigger::kRoleCompleted);
  if (event == "TaskFailed") on.push_back(Trigger::kRoleFailed);
  if (event == "Unknown") on.push_back(Trigger::kGangLost);
  if (event == "*") on.push_back(Trigger::kAny);
  // A pod is always pending at first: without a delay the event would mean nothing.
  if (delayed && (event == "PodPending" || event == "*")) on.push_back(Trigger::kPending);
}

std::optional<model::Rule> rule_of(const Policy& policy, const Task& task, std::optional<Scope> least_scope) {
  model::Rule rule;
  for (const std::string& event : policy.events) add_triggers(event, policy.timeout.has_value(), rule.on);
  if (policy.exit_code) {
    rule.on.push_back(Trigger::kFailed);
    rule.exits.push_back({*policy.exit_code, *policy.exit_code});
  }
  if (rule.on.empty()) return std::nullopt;
  rule.action = action_named(policy.action).value_or(Action{});
  rule.delay = policy.timeout;
  if (rule.action.kind == ActionKind::kRestart) {
    // A task without partitions is one whole.
    if (rule.action.scope == Scope::kPartition && !task.partitions) rule.action.scope = Scope::kRole;
    if (least_scope) rule.action.scope = std::max(rule.action.scope, *least_scope);
  }
  return rule;
}

// What is done about an eviction that no policy answers. A pod that was merely deleted is
// made again anyway; it is a restart only where others must start anew with it.
model::Rule disruption_rule(std::optional<Scope> least_scope) {
  model::Rule rule;
  rule.on = {Trigger::kDisrupted};
  rule.action = {ActionKind::kRestart, least_scope.value_or(Scope::kPod)};
  if (rule.action.scope != Scope::kPod) rule.on.push_back(Trigger::kDeleted);
  return rule;
}

bool never_matches(const Policy& policy) {
  return !policy.exit_code &&
         std::all_of(policy.events.begin(), policy.events.end(), [&](const std::string& event) {
           return event == "JobUpdated" || (event == "PodPending" && !policy.timeout);
         });
}

}  // namespace

std::optional<Action> action_named(std::string_view word) {
  for (const NamedAction& each : kActions) {
    if (each.name == word) return each.action;
  }
  return std::nullopt;
}

std::string_view name_of(const Action& action) {
  for (const NamedAction& each : kActions) {
    bool scoped = action.kind == ActionKind::kRestart;
    if (each.action.kind == action.kind && (!scoped || each.action.scope == action.scope)) return each.name;
  }
  return action.kind == ActionKind::kFail ? "TerminateJob" : "SyncJob";
}

std::vector<Policy> decode_policies(const Reader& owner, bool has_partitions) {
  std::vector<Policy> all;
  Claimed claimed;
  for (const Reader& reader : owner.children("policies")) {
    if (reader.present()) all.push_back(decode_policy(reader, has_partitions, claimed));
  }
  if (claimed.events.contains("*") && claimed.events.size() > 1) {
    owner.report("policies", ProblemKind::kInvalid,
                 "a policy for any event (*) must be the only one for events");
  }
  return all;
}

std::vector<model::Rule> rules_of(const Spec& spec, const Task& task, std::optional<Scope> least_scope) {
  std::vector<model::Rule> rules;
  for (const std::vector<Policy>* list : {&task.policies, &spec.policies}) {
    for (const Policy& policy : *list) {
      if (std::optional<model::Rule> rule = rule_of(policy, task, least_scope))
        rules.push_back(std::move(*rule));
    }
  }
  rules.push_back(disruption_rule(least_scope));
  return rules;
}

std::vector<model::Advice> advice_on_policies(const Spec& spec) {
  std::vector<model::Advice> advice;
  auto look = [&](const std::vector<Policy>& policies, std::string_view owner) {
    for (const Policy& policy : policies) {
      if (!never_matches(policy)) continue;
      bool pending =
          std::find(policy.events.begin(), policy.events.end(), "PodPending") != policy.events.end();
      advice.push_back(
          {"IgnoredPolicy",
           fmt::format("The policy of {} with action {} never acts: {}", owner, policy.action,
                       pending ? "PodPending needs a timeout" : "nothing ever brings about JobUpdated")});
    }
  };
  look(spec.policies, "the job");
  for (const Task& task : spec.tasks) look(task.policies, fmt::format("task {}", task.name));
  return advice;
}

}  // namespace trainyard::dialect::vc
