#include "cli/run_view.h"

#include <algorithm>

#include "cli/output_table.h"
#include "kube/access.h"
#include "kube/meta.h"
#include "kube/pod.h"

namespace trainyard::cli {
namespace {

constexpr std::string_view kReset = "\x1b[0m";
constexpr std::string_view kBackOff = "CrashLoopBackOff";

std::string_view color_of(std::string_view state) {
  if (state == "running") return "\x1b[32m";
  if (state == "succeeded") return "\x1b[36m";
  if (state.starts_with("failed")) return "\x1b[31m";
  return "\x1b[33m";
}

std::string painted(std::string_view text, std::string_view color, bool on) {
  return on ? fmt::format("{}{}{}", color, text, kReset) : std::string(text);
}

std::string shown_memory(int64_t bytes) {
  if (bytes >= int64_t{10} << 30) return fmt::format("{}Gi", bytes >> 30);
  return fmt::format("{}Mi", bytes >> 20);
}

// "exit code 3 (OOMKilled)".
std::string end_in_words(const kube::Termination& end) {
  if (end.reason.empty() || end.reason == "Error") return fmt::format("exit code {}", end.exit_code);
  return fmt::format("exit code {} ({})", end.exit_code, end.reason);
}

// How the last run ended and when the next begins: "CrashLoopBackOff: exit code 3, starts again after 10s".
// The kubelet's own message names the pod and its uid, and not what happened.
std::string back_off_in_words(const kube::ContainerStatus& container) {
  constexpr std::string_view kBefore = "back-off ";
  std::string text = container.reason;
  if (container.last_ended) text += ": " + end_in_words(*container.last_ended);
  if (!container.message.starts_with(kBefore)) return text;
  std::string_view span = std::string_view(container.message).substr(kBefore.size());
  return fmt::format("{}{} starts again after {}", text, container.last_ended ? "," : ":",
                     span.substr(0, span.find(' ')));
}

// What the containers of a pod that does not run yet wait for.
std::string waits_for(const kube::Pod& pod) {
  if (pod.node_name.empty()) {
    return pod.scheduled.message.empty() ? "waits for a node" : pod.scheduled.message;
  }
  for (const std::vector<kube::ContainerStatus>* list : {&pod.init_containers, &pod.containers}) {
    for (const kube::ContainerStatus& container : *list) {
      if (container.state != kube::ContainerStateKind::kWaiting || container.reason.empty()) continue;
      if (container.reason == "ContainerCreating" || container.reason == "PodInitializing") {
        if (!container.message.empty()) return container.message;
        continue;
      }
      if (container.reason == kBackOff) return back_off_in_words(container);
      return container.message.empty() ? container.reason
                                       : fmt::format("{}: {}", container.reason, container.message);
    }
  }
  return "";
}

const kube::ContainerStatus* main_of(const kube::Pod& pod, std::string_view main_container) {
  const kube::ContainerStatus* main = pod.container(main_container);
  return main == nullptr && !pod.containers.empty() ? &pod.containers.front() : main;
}

std::string failed_state(const kube::Pod& pod, std::string_view main_container) {
  const kube::ContainerStatus* main = main_of(pod, main_container);
  if (main == nullptr || !main->terminated) {
    return pod.reason.empty() ? "failed" : fmt::format("failed ({})", pod.reason);
  }
  const kube::Termination& end = *main->terminated;
  if (end.reason.empty() || end.reason == "Error") return fmt::format("failed {}", end.exit_code);
  return fmt::format("failed {} ({})", end.exit_code, end.reason);
}

// What the machine says of a command that could not be started; what a program says of itself is in its log.
std::string failure_in_words(const kube::Pod& pod, std::string_view main_container) {
  const kube::ContainerStatus* main = main_of(pod, main_container);
  bool could_not_start =
      main != nullptr && main->terminated &&
      (main->terminated->reason == "ContainerCannotRun" || main->terminated->reason == "StartError");
  return pod.message.empty() && could_not_start ? main->terminated->message : pod.message;
}

int restarts_of(const kube::Pod& pod) {
  int most = 0;
  for (const kube::ContainerStatus& container : pod.containers)
    most = std::max(most, container.restart_count);
  return most;
}

// A replica that ended grows no older.
void tell_span(ReplicaRow& row, const kube::Pod& pod, std::string_view main_container) {
  if (pod.started_at) row.since = pod.started_at;
  const kube::ContainerStatus* main = main_of(pod, main_container);
  if (main != nullptr && main->terminated) row.until = main->terminated->finished_at;
}

void describe_pod(ReplicaRow& row, const kube::Pod& pod, std::string_view main_container, Time now) {
  row.pod = pod.name;
  row.restarts += restarts_of(pod);
  row.since = pod.created_at;
  if (pod.is_deleting()) {
    row.state = "stopping";
    row.since = *pod.deleted_at - seconds(pod.deletion_grace);
    Duration left = *pod.deleted_at - now;
    if (left > seconds(0) && pod.phase == kube::PodPhase::kRunning)
      row.detail = "waiting for grace, " + format_duration(left) + " left";
    return;
  }
  switch (pod.phase) {
    case kube::PodPhase::kPending:
    case kube::PodPhase::kUnknown:
      row.state = pod.node_name.empty() ? "waiting" : "starting";
      row.detail = waits_for(pod);
      return;
    case kube::PodPhase::kRunning:
      row.state = "running";
      row.since = pod.started_at;
      row.detail = waits_for(pod);
      if (row.detail.starts_with(kBackOff)) row.state = "backing off";
      return;
    case kube::PodPhase::kSucceeded:
      row.state = "succeeded";
      return tell_span(row, pod, main_container);
    case kube::PodPhase::kFailed:
      row.state = failed_state(pod, main_container);
      row.detail = failure_in_words(pod, main_container);
      return tell_span(row, pod, main_container);
  }
}

// What is remembered of a replica that has no pod.
void describe_absent(ReplicaRow& row, const model::JobState& state, model::ReplicaId id, bool is_going) {
  const model::ReplicaRecord* record = state.find(id);
  if (record == nullptr || !record->outcome) {
    row.state = state.finished() || is_going ? "stopped" : "waiting";
    return;
  }
  row.state = *record->outcome == model::Outcome::kSucceeded ? "succeeded"
                                                             : fmt::format("failed {}", record->exit_code);
}

// The newest pod of each replica.
std::map<std::pair<std::string, int>, kube::Pod> newest_pods(const dialect::Dialect& dialect,
                                                             std::string_view job_uid,
                                                             const std::vector<const json::object*>& pods) {
  std::map<std::pair<std::string, int>, kube::Pod> newest;
  for (const json::object* object : pods) {
    if (kube::controller_uid_of(*object) != job_uid) continue;
    std::optional<dialect::PodIdentity> identity = dialect.identify(*object);
    if (!identity) continue;
    kube::Pod pod = kube::decode_pod(*object);
    auto [it, is_new] = newest.try_emplace({identity->role, identity->index}, pod);
    if (!is_new && it->second.created_at < pod.created_at) it->second = std::move(pod);
  }
  return newest;
}

std::string why_of(const model::JobState& state) {
  const model::Cause& cause = state.cause;
  if (cause.kind == model::CauseKind::kNone) return "";
  std::string who = cause.index >= 0 ? fmt::format("{}-{}", cause.role, cause.index) : "";
  switch (cause.kind) {
    case model::CauseKind::kNone:
      return "";
    case model::CauseKind::kReplicaFailed:
      return fmt::format("{} failed with exit code {}", who, cause.exit_code);
    case model::CauseKind::kReplicaPermanent:
      return fmt::format("{} failed with exit code {}, which is not retried", who, cause.exit_code);
    case model::CauseKind::kReplicaDisrupted:
      if (state.finished()) return fmt::format("{} was evicted or lost and must not start again", who);
      return fmt::format("{} was evicted or lost{}; it starts again", who,
                         cause.detail.empty() ? "" : fmt::format(" ({})", cause.detail));
    case model::CauseKind::kBudgetSpent:
      if (who.empty()) return "no restart is left";
      // Of a container that was started again in its pod, the code is not told.
      if (cause.exit_code == 0) return fmt::format("{} failed again and no restart is left", who);
      return fmt::format("{} failed with exit code {} and no restart is left", who, cause.exit_code);
    case model::CauseKind::kDeadline:
      return "it ran longer than it may";
    case model::CauseKind::kNothingLeft:
      return "every replica that could have succeeded has ended";
    case model::CauseKind::kRule:
      return cause.detail.empty() ? "a rule of the manifest says so"
                                  : fmt::format("a rule of the manifest says so: {}", cause.detail);
    case model::CauseKind::kCommand:
      return "somebody asked for it";
    case model::CauseKind::kInvalid:
      return cause.detail;
  }
  return "";
}

std::string_view word_of(const JobView& view) {
  if (view.result) {
    switch (*view.result) {
      case model::ResultKind::kSucceeded:
        return "succeeded";
      case model::ResultKind::kFailed:
        return "failed";
      case model::ResultKind::kTerminated:
        return "terminated";
    }
  }
  if (view.is_going) return "stopping";
  switch (view.phase) {
    case model::Phase::kNew:
    case model::Phase::kStarting:
      return "starting";
    case model::Phase::kQueued:
      return "queued";
    case model::Phase::kRunning:
      return "running";
    case model::Phase::kRestarting:
      return "restarting";
    case model::Phase::kPausing:
      return "pausing";
    case model::Phase::kPaused:
      return "paused";
    case model::Phase::kResuming:
      return "resuming";
    case model::Phase::kCompleting:
      return "completing";
    case model::Phase::kTerminating:
      return "terminating";
    case model::Phase::kFinished:
      return "finished";
  }
  return "";
}

// "2 restarts and 1 at no charge"; "" when there was none.
std::string restarts_text(const JobView& view) {
  auto counted = [](int count) { return fmt::format("{} restart{}", count, count == 1 ? "" : "s"); };
  if (view.disruptions == 0) return view.restarts == 0 ? "" : counted(view.restarts);
  if (view.restarts == 0) return counted(view.disruptions) + " at no charge";
  return fmt::format("{} and {} at no charge", counted(view.restarts), view.disruptions);
}

// " (OOMKilled)", " (ContainerCannotRun: exec: no such file)": what the machine says of the replica that
// failed the job; "" when it says nothing.
std::string reason_in_row(const JobView& view) {
  for (const ReplicaRow& row : view.replicas) {
    size_t at = row.name == view.failed_by && row.state.starts_with("failed") ? row.state.find(" (")
                                                                              : std::string::npos;
    if (at == std::string::npos) continue;
    std::string reason = row.state.substr(at);
    if (row.detail.empty() || !reason.ends_with(')')) return reason;
    reason.pop_back();
    return fmt::format("{}: {})", reason, on_one_line(row.detail));
  }
  return "";
}

std::string headline(const JobView& view, const Screen& screen, Time now) {
  std::string line =
      fmt::format("{}  {}", view.title, painted(word_of(view), color_of(word_of(view)), screen.color));
  if (view.started) line += "  " + format_duration(view.finished.value_or(now) - *view.started);
  if (std::string again = restarts_text(view); !again.empty()) line += "  " + again;
  if (view.progress)
    line += fmt::format("  step {}  {} {:.4g}", view.progress->step, on_one_line(view.progress->name),
                        view.progress->value);
  if (!view.why.empty()) line += "  " + on_one_line(view.why);
  return line;
}

// Cuts a line that holds no escape sequences.
std::string fitted(std::string line, int columns) {
  size_t cut = static_cast<size_t>(std::max(columns, 0));
  if (line.size() <= cut) return line;
  while (cut > 0 && (static_cast<unsigned char>(line[cut]) & 0xC0) == 0x80) --cut;  // not inside a character
  line.resize(cut);
  return line;
}

std::string row_line(const ReplicaRow& row, size_t name_width, const Screen& screen, Time now) {
  Time until = row.until.value_or(now);
  std::string age = row.since ? format_duration(std::max(until - *row.since, Duration{0})) : "";
  std::string cpu = row.cpu_millis ? fmt::format("{:.2f}", static_cast<double>(*row.cpu_millis) / 1000) : "";
  std::string memory = row.memory_bytes ? shown_memory(*row.memory_bytes) : "";
  std::string restarts = row.restarts > 0 ? fmt::format("{}x", row.restarts) : "";
  std::string line = fmt::format("  {:<{}}  {:<12} {:>4} {:>8} {:>6} {:>7}  {}", row.name, name_width,
                                 row.state, restarts, age, cpu, memory, on_one_line(row.detail));
  line = fitted(line, screen.columns - 1);
  while (line.ends_with(' ')) line.pop_back();
  size_t at = 4 + name_width;
  if (!screen.color || line.size() < at + row.state.size()) return line;
  return line.substr(0, at) + painted(line.substr(at, row.state.size()), color_of(row.state), true) +
         line.substr(at + row.state.size());
}

// "  and 3 running 1 waiting".
std::string counted(const std::map<std::string, int>& others, const Screen& screen) {
  std::string rest = "  and";
  for (const auto& [state, count] : others) rest += fmt::format(" {} {}", count, state);
  return fitted(rest, screen.columns - 1);
}

// One job in so many lines, two at least.
std::vector<std::string> job_block(const JobView& view, size_t lines_max, const Screen& screen, Time now) {
  std::vector<std::string> lines{headline(view, screen, now)};
  size_t width = 0;
  for (const ReplicaRow& row : view.replicas) width = std::max(width, row.name.size());
  const size_t room = lines_max - 1;
  if (view.replicas.size() <= room) {
    for (const ReplicaRow& row : view.replicas) lines.push_back(row_line(row, width, screen, now));
    return lines;
  }
  // What needs attention comes first: everything that neither runs nor has succeeded.
  std::vector<const ReplicaRow*> rows;
  for (const ReplicaRow& row : view.replicas) rows.push_back(&row);
  std::stable_partition(rows.begin(), rows.end(), [](const ReplicaRow* row) {
    return row->state != "running" && row->state != "succeeded";
  });
  std::map<std::string, int> others;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i + 1 < room) {
      lines.push_back(row_line(*rows[i], width, screen, now));
    } else {
      ++others[rows[i]->state];
    }
  }
  lines.push_back(counted(others, screen));
  return lines;
}

// More jobs than there is room for their replicas: those that have not ended come first.
std::vector<std::string> headlines(std::vector<const JobView*> views, size_t lines_max, const Screen& screen,
                                   Time now) {
  std::stable_partition(views.begin(), views.end(),
                        [](const JobView* view) { return view->phase != model::Phase::kFinished; });
  std::vector<std::string> lines;
  std::map<std::string, int> others;
  for (const JobView* view : views) {
    if (views.size() <= lines_max || lines.size() + 1 < lines_max) {
      lines.push_back(headline(*view, screen, now));
    } else {
      ++others[std::string(word_of(*view))];
    }
  }
  if (!others.empty()) lines.push_back(counted(others, screen));
  return lines;
}

}  // namespace

JobView view_of(const dialect::Dialect& dialect, const dialect::Settings& settings, const json::object& job,
                const std::vector<const json::object*>& pods, const std::map<std::string, PodUsage>& usage,
                Time now) {
  JobView view;
  view.title = fmt::format("{} {}", dialect.resource.kind, kube::name_of(job));
  dialect::LowerResult lowered = dialect.lower(job, settings);
  const auto* spec = std::get_if<model::JobSpec>(&lowered);
  if (spec == nullptr) {
    view.why = "the job is not valid";
    return view;
  }
  model::JobState state = dialect.recall(*spec, job);
  view.phase = state.phase;
  view.result = state.result;
  view.is_going = kube::is_deleting(job);
  if (state.result != model::ResultKind::kSucceeded) view.why = why_of(state);
  if (state.result && state.cause.index >= 0) {
    view.failed_by = fmt::format("{}-{}", state.cause.role, state.cause.index);
    view.exit_code = state.cause.exit_code;
  }
  view.restarts = state.restarts;
  view.disruptions = state.disruptions;
  view.started = state.started_at ? state.started_at : kube::creation_time_of(job);
  view.finished = state.finished_at;
  auto newest = newest_pods(dialect, kube::uid_of(job), pods);
  for (size_t r = 0; r < spec->roles.size(); ++r) {
    const model::Role& role = spec->roles[r];
    for (int i = 0; i < role.replicas; ++i) {
      ReplicaRow row;
      row.name = fmt::format("{}-{}", role.name, i);
      auto found = newest.find({role.name, i});
      if (found == newest.end()) {
        describe_absent(row, state, {static_cast<int>(r), i}, view.is_going);
      } else {
        describe_pod(row, found->second, dialect.main_container, now);
        if (auto used = usage.find(found->second.uid); used != usage.end() && row.state == "running") {
          row.cpu_millis = used->second.cpu_millis;
          row.memory_bytes = used->second.memory_bytes;
        }
      }
      view.replicas.push_back(std::move(row));
    }
  }
  return view;
}

std::vector<std::string> block_of(const std::vector<const JobView*>& views, const Screen& screen, Time now) {
  const size_t room = static_cast<size_t>(std::max(screen.rows / 2, 2));
  const size_t each = room / std::max<size_t>(views.size(), 1);
  if (each < 2) return headlines(views, room, screen, now);
  std::vector<std::string> lines;
  for (const JobView* view : views) {
    std::vector<std::string> block = job_block(*view, each, screen, now);
    lines.insert(lines.end(), block.begin(), block.end());
  }
  return lines;
}

std::vector<std::string> changes_between(const JobView& before, const JobView& after,
                                         std::string_view whose) {
  std::vector<std::string> lines;
  std::map<std::string, const ReplicaRow*> known;
  for (const ReplicaRow& row : before.replicas) known[row.name] = &row;
  for (const ReplicaRow& row : after.replicas) {
    auto found = known.find(row.name);
    bool same = found != known.end() && found->second->state == row.state && found->second->pod == row.pod &&
                found->second->restarts == row.restarts;
    // A grace that runs down is no news; a new reason to wait is.
    bool waits = row.state == "waiting" || row.state == "starting";
    if (same && (!waits || found->second->detail == row.detail)) continue;
    lines.push_back(row.detail.empty() ? fmt::format("{}{}: {}", whose, row.name, row.state)
                                       : fmt::format("{}{}: {}: {}", whose, row.name, row.state, row.detail));
  }
  if (word_of(before) != word_of(after) || before.title.empty()) {
    std::string line = fmt::format("{}: {}", after.title, word_of(after));
    if (!after.why.empty()) line += ": " + after.why;
    lines.push_back(std::move(line));
  }
  return lines;
}

void keep_ends(const JobView& before, JobView& after) {
  std::map<std::string_view, const ReplicaRow*> ended;
  for (const ReplicaRow& row : before.replicas) {
    if (row.state == "succeeded" || row.state.starts_with("failed")) ended[row.name] = &row;
  }
  for (ReplicaRow& row : after.replicas) {
    auto known = ended.find(row.name);
    if (known == ended.end()) continue;
    // "failed 137" of a pod that is gone says less than "failed 137 (OOMKilled)" did.
    if (row.state == "stopped" || known->second->state.starts_with(row.state + " ")) row = *known->second;
  }
}

std::string stopped_words(const JobView& view, bool killed, Time now) {
  std::string text = fmt::format("{} was {} by you", view.title, killed ? "killed" : "stopped");
  if (view.started) text += " after " + format_duration(now - *view.started);
  return text + ".";
}

std::string ending_of(const JobView& view) {
  std::string text = fmt::format("{} {}", view.title, word_of(view));
  if (view.started && view.finished) text += " after " + format_duration(*view.finished - *view.started);
  if (std::string again = restarts_text(view); !again.empty()) text += ", with " + again;
  if (!view.why.empty()) text += ": " + view.why + reason_in_row(view);
  return text + ".";
}

std::string log_prefix(std::string_view replica, size_t position, size_t width, bool color) {
  static constexpr std::string_view kColors[] = {"\x1b[36m", "\x1b[33m", "\x1b[32m",
                                                 "\x1b[35m", "\x1b[34m", "\x1b[31m"};
  std::string text = fmt::format("{:<{}} | ", replica, width);
  return painted(text, kColors[position % std::size(kColors)], color);
}

}  // namespace trainyard::cli
