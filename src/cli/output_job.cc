#include "cli/output_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "cli/rules_in_words.h"
#include "kube/access.h"
#include "kube/meta.h"
#include "kube/objects.h"
#include "kube/pod.h"

namespace trainyard::cli {
namespace {

std::optional<Time> time_at(const json::object& object, std::initializer_list<std::string_view> path) {
  return parse_rfc3339(kube::text_at(object, path));
}

Standing standing_of(std::string_view word) {
  if (word == "Succeeded" || word == "Completed") return Standing::kSucceeded;
  if (word == "Failed" || word == "Terminated") return Standing::kFailed;
  if (word == "Suspended" || word == "Paused" || word == "Aborted") return Standing::kPaused;
  if (word == "Running" || word == "Completing") return Standing::kRunning;
  return Standing::kPending;
}

// TFJob: of the conditions that hold, the one that says most.
JobStatus tfjob_status(const json::object& job) {
  std::vector<kube::Condition> conditions = kube::decode_conditions(job);
  JobStatus status{"Pending"};
  for (std::string_view type : {"Failed", "Succeeded", "Suspended", "Restarting", "Running", "Created"}) {
    const kube::Condition* condition = kube::find_condition(conditions, type);
    if (condition == nullptr || !condition->is_true()) continue;
    status.word = type;
    status.why = condition->message;
    break;
  }
  return status;
}

JobStatus t9k_status(const json::object& job) {
  std::string_view phase = kube::text_at(job, {"status", "phase"});
  JobStatus status{phase.empty() ? "Pending" : std::string(phase)};
  for (const kube::Condition& condition : kube::decode_conditions(job)) {
    if (condition.type == "ReplicaFailure" && condition.is_true()) status.why = condition.message;
    // The phase has no word for it (decision 25).
    bool again = condition.type == "Running" && condition.reason == "Restarting";
    if (again && status.word == "Running") status.word = "Restarting";
  }
  return status;
}

JobStatus volcano_status(const json::object& job) {
  std::string_view phase = kube::text_at(job, {"status", "state", "phase"});
  JobStatus status{phase.empty() ? "Pending" : std::string(phase)};
  std::string_view message = kube::text_at(job, {"status", "state", "message"});
  status.why = message.empty() ? kube::text_at(job, {"status", "state", "reason"}) : message;
  return status;
}

int count_states(const JobView& view, std::initializer_list<std::string_view> states) {
  int count = 0;
  for (const ReplicaRow& row : view.replicas) {
    count += std::find(states.begin(), states.end(), row.state) != states.end() ? 1 : 0;
  }
  return count;
}

std::string role_of(const ReplicaRow& row) { return row.name.substr(0, row.name.rfind('-')); }

// "chief 1/1, worker 2/4".
std::string roles_text(const JobView& view) {
  std::vector<std::string> order;
  std::map<std::string, std::pair<int, int>> counts;
  for (const ReplicaRow& row : view.replicas) {
    std::string role = role_of(row);
    if (!counts.contains(role)) order.push_back(role);
    ++counts[role].second;
    if (row.state == "running" || row.state == "succeeded") ++counts[role].first;
  }
  std::string text;
  for (const std::string& role : order) {
    text +=
        fmt::format("{}{} {}/{}", text.empty() ? "" : ", ", role, counts[role].first, counts[role].second);
  }
  return text;
}

std::string why_text(const JobSummary& summary) {
  return summary.view.why.empty() ? summary.status.why : summary.view.why;
}

std::string took_text(const JobStatus& status, Time now) {
  if (!status.started) return "";
  return format_duration(std::max(status.finished.value_or(now) - *status.started, Duration{0}));
}

void field(std::string& out, std::string_view name, std::string_view value) {
  if (!value.empty()) out += fmt::format("{:<12} {}\n", fmt::format("{}:", name), value);
}

std::string when_text(const std::optional<Time>& time, Time now) {
  if (!time) return "";
  return fmt::format("{} ({} ago)", format_rfc3339(*time), age_of(time, now));
}

std::string pairs_text(const json::object* pairs) {
  std::string text;
  if (pairs == nullptr) return text;
  for (const json::key_value_pair& pair : *pairs) {
    if (!pair.value().is_string()) continue;
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", kube::view(pair.key()),
                        kube::view(pair.value().get_string()));
  }
  return text;
}

std::string replicas_section(const JobSummary& summary, const std::vector<const json::object*>& pods,
                             Time now) {
  std::vector<Cells> rows{{"REPLICA", "POD", "STATE", "RESTARTS", "FOR", "NODE", "IP", "WHY"}};
  std::map<std::string_view, const json::object*> by_name;
  for (const json::object* object : pods) by_name[kube::name_of(*object)] = object;
  for (const ReplicaRow& row : summary.view.replicas) {
    auto found = by_name.find(row.pod);
    const kube::Pod pod = found == by_name.end() ? kube::Pod() : kube::decode_pod(*found->second);
    auto shown = [](const std::string& text) { return text.empty() ? std::string("-") : text; };
    rows.push_back({row.name, shown(row.pod), row.state, fmt::format("{}", row.restarts),
                    row.since ? age_of(row.since, now) : "-", shown(pod.node_name), shown(pod.pod_ip),
                    row.detail});
  }
  return "Replicas:\n" + indented(table_of(rows));
}

std::string conditions_section(const json::object& job, Time now) {
  std::vector<kube::Condition> conditions = kube::decode_conditions(job);
  if (conditions.empty()) return "";
  std::vector<Cells> rows{{"TYPE", "STATUS", "REASON", "SINCE", "MESSAGE"}};
  for (const kube::Condition& condition : conditions) {
    rows.push_back({condition.type, condition.status, condition.reason,
                    condition.changed_at ? age_of(condition.changed_at, now) : "-", condition.message});
  }
  return "Conditions:\n" + indented(table_of(rows));
}

std::string rules_section(const dialect::Dialect& dialect, const json::object& job) {
  dialect::LowerResult lowered = dialect.lower(job, {});
  const auto* spec = std::get_if<model::JobSpec>(&lowered);
  if (spec == nullptr) {
    std::string text = "Not valid:\n";
    for (const dialect::Problem& problem : std::get<std::vector<dialect::Problem>>(lowered)) {
      text += fmt::format("  {}\n", dialect::to_string(problem));
    }
    return text;
  }
  std::string text = "Rules:\n";
  for (const JobRule& rule : job_rules(*spec)) text += fmt::format("  {:<10}{}\n", rule.subject, rule.text);
  if (std::string gang = gang_in_words(*spec); !gang.empty())
    text += fmt::format("  {:<10}{}\n", "Gang", gang);
  return text;
}

std::optional<Time> last_seen(const json::object& event) {
  for (std::initializer_list<std::string_view> path :
       {std::initializer_list<std::string_view>{"series", "lastObservedTime"},
        {"lastTimestamp"},
        {"eventTime"},
        {"firstTimestamp"},
        {"metadata", "creationTimestamp"}}) {
    if (std::optional<Time> time = time_at(event, path)) return time;
  }
  return std::nullopt;
}

// Names that pods of the job have, or had when they are gone.
std::set<std::string, std::less<>> pod_names(const dialect::Dialect& dialect, const json::object& job,
                                             const std::vector<const json::object*>& pods) {
  std::set<std::string, std::less<>> names;
  for (const json::object* pod : pods) names.emplace(kube::name_of(*pod));
  dialect::LowerResult lowered = dialect.lower(job, {});
  if (const auto* spec = std::get_if<model::JobSpec>(&lowered)) {
    for (size_t role = 0; role < spec->roles.size(); ++role) {
      for (int i = 0; i < spec->roles[role].replicas; ++i) {
        names.insert(spec->pod_name({static_cast<int>(role), i}));
      }
    }
  }
  return names;
}

}  // namespace

JobStatus status_of(const dialect::Dialect& dialect, const json::object& job) {
  JobStatus status;
  if (dialect.name == "tfjob") {
    status = tfjob_status(job);
  } else {
    status = dialect.name == "t9k" ? t9k_status(job) : volcano_status(job);
  }
  status.standing = standing_of(status.word);
  status.started = time_at(job, {"status", "startTime"});
  status.finished = time_at(job, {"status", "completionTime"});
  if (!status.finished && status.finished_now()) {
    status.finished = time_at(job, {"status", "state", "lastTransitionTime"});
  }
  return status;
}

JobSummary summary_of(const dialect::Dialect& dialect, const json::object& job,
                      const std::vector<const json::object*>& pods, Time now) {
  JobSummary summary{&dialect, &job, status_of(dialect, job), view_of(dialect, {}, job, pods, {}, now)};
  if (!summary.status.started && summary.view.phase != model::Phase::kNew) {
    summary.status.started = summary.view.started;
  }
  if (!summary.status.finished) summary.status.finished = summary.view.finished;
  return summary;
}

Cells list_heading(const ListLook& look) {
  Cells cells{"NAME", "KIND", "STATE", "READY", "RESTARTS", "AGE"};
  if (look.namespaces) cells.insert(cells.begin(), "NAMESPACE");
  if (look.wide) cells.insert(cells.end(), {"RAN", "ROLES", "WHY"});
  return cells;
}

Cells list_row(const JobSummary& summary, const ListLook& look, Time now) {
  const json::object& job = *summary.job;
  int restarts = summary.view.restarts;
  if (restarts == 0) {
    for (const ReplicaRow& row : summary.view.replicas) restarts += row.restarts;
  }
  std::string word = kube::is_deleting(job) ? "Terminating" : summary.status.word;
  Cells cells{std::string(kube::name_of(job)),
              std::string(summary.dialect->resource.kind),
              word,
              fmt::format("{}/{}", count_states(summary.view, {"running", "succeeded"}),
                          summary.view.replicas.size()),
              fmt::format("{}", restarts),
              age_of(kube::creation_time_of(job), now)};
  if (look.namespaces) cells.insert(cells.begin(), std::string(kube::namespace_of(job)));
  if (look.wide) {
    std::string took = took_text(summary.status, now);
    cells.insert(cells.end(), {took.empty() ? "-" : took, roles_text(summary.view), why_text(summary)});
  }
  return cells;
}

std::string describe_text(const JobSummary& summary, const std::vector<const json::object*>& pods,
                          const std::vector<std::string>& waits, Time now) {
  const json::object& job = *summary.job;
  std::string out;
  field(out, "Name", kube::name_of(job));
  field(out, "Namespace", kube::namespace_of(job));
  field(out, "Kind",
        fmt::format("{} ({})", summary.dialect->resource.kind, kube::text_at(job, {"apiVersion"})));
  field(out, "State", summary.status.word);
  field(out, "Why", why_text(summary));
  if (kube::is_deleting(job)) field(out, "Deletion", "asked for; waits for its finalizers or its pods");
  field(out, "Created", when_text(kube::creation_time_of(job), now));
  field(out, "Started", when_text(summary.status.started, now));
  field(out, "Finished", when_text(summary.status.finished, now));
  if (summary.status.finished) field(out, "Took", took_text(summary.status, now));
  std::string free =
      summary.view.disruptions == 0 ? "" : fmt::format(", and {} at no charge", summary.view.disruptions);
  field(out, "Restarts", fmt::format("{}{}", summary.view.restarts, free));
  field(out, "Labels", pairs_text(kube::object_at(job, {"metadata", "labels"})));
  field(out, "Roles", roles_text(summary.view));
  for (const std::string& wait : waits) field(out, "Waits", wait);
  out += replicas_section(summary, pods, now);
  out += rules_section(*summary.dialect, job);
  out += conditions_section(job, now);
  return out;
}

json::object shown_object(const json::object& object) {
  json::object shown = object;
  if (json::value* metadata = shown.if_contains("metadata"); metadata != nullptr && metadata->is_object()) {
    metadata->get_object().erase("managedFields");
  }
  return shown;
}

std::vector<const json::object*> events_about(const std::vector<const json::object*>& events,
                                              const dialect::Dialect& dialect, const json::object& job,
                                              const std::vector<const json::object*>& pods) {
  std::set<std::string, std::less<>> names = pod_names(dialect, job, pods);
  std::vector<const json::object*> own;
  for (const json::object* event : events) {
    std::string_view kind = kube::text_at(*event, {"involvedObject", "kind"});
    std::string_view name = kube::text_at(*event, {"involvedObject", "name"});
    std::string_view uid = kube::text_at(*event, {"involvedObject", "uid"});
    bool of_job =
        uid.empty() ? kind == dialect.resource.kind && name == kube::name_of(job) : uid == kube::uid_of(job);
    bool of_pod = (kind == "Pod" || kind == "Service") && names.contains(name);
    if (of_job || of_pod) own.push_back(event);
  }
  return by_last_seen(std::move(own));
}

std::vector<const json::object*> by_last_seen(std::vector<const json::object*> events) {
  // order: last seen, then written
  std::stable_sort(events.begin(), events.end(), [](const json::object* a, const json::object* b) {
    return std::tuple(last_seen(*a), kube::version_of(*a)) < std::tuple(last_seen(*b), kube::version_of(*b));
  });
  return events;
}

std::string events_text(const std::vector<const json::object*>& events, Time now) {
  std::vector<Cells> rows{{"LAST SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"}};
  for (const json::object* event : events) {
    int64_t count =
        kube::int_at(*event, {"series", "count"}).value_or(kube::int_at(*event, {"count"}).value_or(1));
    std::string seen = age_of(last_seen(*event), now);
    if (count > 1) seen += fmt::format(" (x{})", count);
    std::string kind(kube::text_at(*event, {"involvedObject", "kind"}));
    std::transform(kind.begin(), kind.end(), kind.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    rows.push_back({seen, std::string(kube::text_at(*event, {"type"})),
                    std::string(kube::text_at(*event, {"reason"})),
                    fmt::format("{}/{}", kind, kube::text_at(*event, {"involvedObject", "name"})),
                    std::string(kube::text_at(*event, {"message"}))});
  }
  return table_of(rows);
}

}  // namespace trainyard::cli
