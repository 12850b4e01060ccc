#include "cli/verbs_logs.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "cli/commands.h"
#include "cli/dialects.h"
#include "cli/output_job.h"
#include "cli/output_log.h"
#include "cli/run_view.h"
#include "cli/verbs_find.h"
#include "cli/verbs_follow.h"
#include "cli/verbs_replicas.h"
#include "kube/access.h"
#include "kube/meta.h"
#include "node/log_files.h"

namespace trainyard::cli {
namespace {

constexpr size_t kFollowedMax = 100;
constexpr Duration kStreamPatience{60'000};

size_t back_of(const ShowLogs& verb) {
  return verb.back > 0 ? static_cast<size_t>(verb.back) : verb.previous ? 1 : 0;
}

LogAsk ask_of(const ShowLogs& verb, const std::string& container) {
  return {verb.container.empty() ? container : verb.container,
          verb.follow,
          back_of(verb) == 1,
          verb.timestamps,
          verb.tail,
          verb.since,
          back_of(verb)};
}

// Why there is no log of a run before the last.
std::string no_such_run(size_t back) {
  return back == 1 ? "it has not run before" : "it has not run as often, or its log is no longer kept here";
}

// Where the lines of one replica go.
class Printer {
 public:
  Printer(const Console& console, std::string prefix)
      : console_(console), plain_(prefix.empty()), lines_(std::move(prefix)) {}
  void bytes(std::string_view text) {
    shown_ = shown_ || !text.empty();
    console_.out << (plain_ ? std::string(text) : lines_.feed(text)) << std::flush;
  }
  void end() { console_.out << lines_.finish() << std::flush; }
  bool shown() const { return shown_; }

 private:
  const Console& console_;
  bool plain_;
  bool shown_ = false;
  PrefixedLines lines_;
};

std::vector<Printer> printers_for(const std::vector<ReplicaPod>& replicas, const Console& console) {
  size_t width = 0;
  for (const ReplicaPod& replica : replicas) width = std::max(width, replica.label.size());
  std::vector<Printer> printers;
  for (size_t i = 0; i < replicas.size(); ++i) {
    printers.emplace_back(console, replicas.size() == 1
                                       ? std::string()
                                       : log_prefix(replicas[i].label, i, width, console.bold));
  }
  return printers;
}

// The stream to its end.
std::optional<Error> copy_stream(const Cluster& cluster, const std::string& path, Printer& printer) {
  Inbox inbox;
  bool closed = false;
  std::optional<Error> failed;
  std::unique_ptr<client::OpenWatch> stream = cluster.pods.open_stream(
      path, {[&](std::string_view bytes) {
               inbox.post([&printer, text = std::string(bytes)] { printer.bytes(text); });
             },
             [&](const std::optional<Error>& error) {
               inbox.post([&, error] {
                 failed = error;
                 closed = true;
               });
             }});
  while (!closed) inbox.run_one(kStreamPatience);
  printer.end();
  return failed;
}

// The logs of all runs of a replica's container that are on disk, oldest first; when some pods
// are given (by uid), of those alone.
std::vector<std::filesystem::path> kept_runs(const ReplicaPod& replica, const std::string& container,
                                             const std::string& ns, const Cluster& cluster,
                                             const std::set<std::string>& of_pods) {
  std::vector<std::filesystem::path> files;
  if (cluster.kept_logs.empty()) return files;
  node::LogFolder folder(cluster.kept_logs);
  for (const node::KeptLog& log : folder.kept(ns, replica.pod_name)) {
    if (!container.empty() && log.container != container) continue;
    if (!of_pods.empty() && !of_pods.contains(log.pod_uid)) continue;
    for (int attempt : log.attempts) {
      files.push_back(folder.file(ns, replica.pod_name, log.pod_uid, log.container, attempt));
    }
  }
  return files;
}

// From the disk; false when nothing is kept. `back` 1 is the run before the last.
bool print_kept(const ReplicaPod& replica, const LogAsk& ask, const std::string& ns, size_t back,
                const Cluster& cluster, Printer& printer, const std::set<std::string>& of_pods = {}) {
  std::vector<std::filesystem::path> runs = kept_runs(replica, ask.container, ns, cluster, of_pods);
  if (runs.size() <= back) return false;
  node::LogQuery query;
  query.timestamps = ask.timestamps;
  query.tail_lines = ask.tail;
  if (ask.since) query.since = cluster.clock() - *ask.since;
  node::LogReader reader(runs[runs.size() - 1 - back], query, [] { return false; });
  while (true) {
    std::string text;
    Result<bool> more = reader.read(text);
    printer.bytes(text);
    if (!more.ok() || !*more) break;
  }
  printer.end();
  return true;
}

// Whether there was a log to show, even an empty one.
bool print_one(const ReplicaPod& replica, const LogAsk& ask, const std::string& ns, const Cluster& cluster,
               const Console& console, Printer& printer) {
  int64_t starts = replica.pod == nullptr ? -1 : starts_of(*replica.pod, ask.container);
  bool at_api = replica.pod != nullptr && ask.back < 2 && starts >= static_cast<int64_t>(ask.back);
  if (at_api) {
    std::optional<Error> failed = copy_stream(cluster, log_path(ns, replica.pod_name, ask), printer);
    if (!failed) return true;
    if (failed->kind != ErrorKind::kNotFound && failed->kind != ErrorKind::kInvalid) {
      console.err << fmt::format("{}: {}\n", replica.label, failed->message);
      return false;
    }
  }
  // A run that has not begun is not yet on disk: the last one there is the one before it.
  const bool is_on_disk = starts >= 0 || replica.pod == nullptr;
  size_t back = is_on_disk || ask.back == 0 ? ask.back : ask.back - 1;
  if (print_kept(replica, ask, ns, back, cluster, printer)) return true;
  std::string why = "its pod is gone, and its log with it";
  if (replica.pod != nullptr) why = starts < 0 ? "it has not started yet" : "the server has no log of it";
  if (ask.back > 0) why = no_such_run(ask.back);
  if (replica.pod != nullptr) why = no_such_container(*replica.pod, ask.container).value_or(why);
  console.err << fmt::format("{} ({}): {}\n", replica.label, replica.pod_name, why);
  return false;
}

// Follows the runs of the chosen replicas, one after the other, until the job is done.
class FollowLogs {
 public:
  FollowLogs(const ShowLogs& verb, const FoundJob& job, const Cluster& cluster, const Console& console)
      : verb_(verb),
        job_(job),
        cluster_(cluster),
        console_(console),
        follow_(cluster, {stream_of_jobs(*job.dialect, job.ns()), stream_of_pods(*job.dialect, job.ns())}) {}

  int run() {
    while (true) {
      Result<bool> changed = follow_.next(std::nullopt);
      if (!changed.ok()) return fail(changed.error());
      client::Object now = follow_.cache(0).find(job_.ns(), job_.name());
      bool gone = now == nullptr || kube::uid_of(*now) != kube::uid_of(*job_.object);
      if (!gone) {
        if (Result<Done> opened = open_new({job_.dialect, now}); !opened.ok()) return fail(opened.error());
      }
      bool over = gone || status_of(*job_.dialect, *now).finished_now();
      if (over && open_.empty()) break;
    }
    return kFine;
  }

 private:
  using Run = std::pair<std::string, int64_t>;  // pod uid, starts

  int fail(const Error& error) const {
    console_.err << error.message << "\n";
    return kInputAtFault;
  }

  Result<Done> open_new(const FoundJob& job) {
    std::vector<client::Object> pods = follow_.cache(1).owned_by(kube::uid_of(*job.object));
    Result<std::vector<ReplicaPod>> replicas = choose_replicas(job, pods, verb_.replicas, !verb_.all);
    if (!replicas.ok()) return replicas.error();
    if (replicas->size() > kFollowedMax) {
      return Error{
          ErrorKind::kInvalid,
          fmt::format("{} replicas are too many to follow at once (at most {}): choose with --role and "
                      "--index",
                      replicas->size(), kFollowedMax)};
    }
    if (printers_.empty()) printers_ = printers_for(*replicas, console_);
    for (size_t i = 0; i < replicas->size() && i < printers_.size(); ++i) {
      if (Result<Done> opened = open_one((*replicas)[i], i); !opened.ok()) return opened;
    }
    return Done{};
  }

  // kInvalid when the container will never be there.
  Result<Done> open_one(const ReplicaPod& replica, size_t position) {
    if (replica.pod == nullptr) return Done{};
    LogAsk ask = ask_of(verb_, replica.container);
    if (auto why = no_such_container(*replica.pod, ask.container)) {
      return Error{ErrorKind::kInvalid, fmt::format("{} ({}): {}", replica.label, replica.pod_name, *why)};
    }
    Run run{std::string(kube::uid_of(*replica.pod)), starts_of(*replica.pod, ask.container)};
    if (run.second < 0 || !begun_.insert({position, run}).second) return Done{};
    // Tail and since are about what was there when we came.
    bool first = positions_.insert(position).second;
    if (!first) {
      ask.tail.reset();
      ask.since.reset();
    }
    auto key = std::pair(position, run);
    Inbox& inbox = follow_.inbox();
    open_[key] = cluster_.pods.open_stream(
        log_path(job_.ns(), replica.pod_name, ask),
        {[this, &inbox, position](std::string_view bytes) {
           inbox.post([this, position, text = std::string(bytes)] { printers_[position].bytes(text); });
         },
         [this, &inbox, key, label = replica.label](const std::optional<Error>& error) {
           inbox.post([this, key, label, error] {
             printers_[key.first].end();
             if (error) console_.err << fmt::format("{}: {}\n", label, error->message);
             open_.erase(key);
             follow_.wake();
           });
         }});
    return Done{};
  }

  // Fixed.
  const ShowLogs& verb_;
  const FoundJob& job_;
  const Cluster& cluster_;
  const Console& console_;
  // State.
  Follow follow_;
  std::vector<Printer> printers_;  // by position among the chosen
  std::set<size_t> positions_;
  std::set<std::pair<size_t, Run>> begun_;
  std::map<std::pair<size_t, Run>, std::unique_ptr<client::OpenWatch>> open_;  // last: they post to the inbox
};

int logs_of_pod(const ShowLogs& verb, const std::string& name, const Cluster& cluster,
                const Console& console) {
  ReplicaPod replica{name, name, nullptr, ""};
  Result<client::Object> pod = client::get(cluster.client, kube::kPods, cluster.ns, name);
  if (pod.ok()) {
    replica.pod = *pod;
    replica.container = main_container_of(nullptr, **pod);
  } else if (pod.error().kind != ErrorKind::kNotFound) {
    console.err << pod.error().message << "\n";
    return kInputAtFault;
  }
  Printer printer(console, "");
  LogAsk ask = ask_of(verb, replica.container);
  return print_one(replica, ask, cluster.ns, cluster, console, printer) ? kFine : kInputAtFault;
}

// A replica of a job that is gone: its pods, by uid, as far as their logs are kept.
struct GoneReplica {
  std::string role;
  int index = 0;
  ReplicaPod last;
  std::set<std::string> pods;
};

// The job of that name that ended last, with replicas by role and index; empty when nothing is kept.
std::vector<GoneReplica> gone_replicas(const JobName& wanted, const Cluster& cluster) {
  if (cluster.kept_logs.empty()) return {};
  std::vector<json::object> pods = node::LogFolder(cluster.kept_logs).remembered(cluster.ns);
  std::string newest;  // uid of the job
  std::map<std::pair<std::string, int>, GoneReplica> replicas;
  for (const json::object& pod : pods) {
    const json::array* owners = kube::array_at(pod, {"metadata", "ownerReferences"});
    const json::object* owner = owners != nullptr && !owners->empty() ? (*owners)[0].if_object() : nullptr;
    if (owner == nullptr || kube::text_at(*owner, {"name"}) != wanted.name) continue;
    for (const dialect::Dialect& dialect : all_dialects()) {
      bool same = dialect.resource.kind == kube::text_at(*owner, {"kind"}) &&
                  (wanted.dialect == nullptr || wanted.dialect == &dialect);
      std::optional<dialect::PodIdentity> id = same ? dialect.identify(pod) : std::nullopt;
      if (!id) continue;
      // Oldest first: one of another job begins anew.
      if (newest != kube::text_at(*owner, {"uid"})) replicas.clear();
      newest = kube::text_at(*owner, {"uid"});
      GoneReplica& replica = replicas[{id->role, id->index}];
      replica.role = id->role;
      replica.index = id->index;
      replica.last = {fmt::format("{}-{}", id->role, id->index), std::string(kube::name_of(pod)), nullptr,
                      main_container_of(&dialect, pod)};
      replica.pods.insert(std::string(kube::uid_of(pod)));
    }
  }
  std::vector<GoneReplica> out;
  for (auto& [id, replica] : replicas) out.push_back(std::move(replica));
  return out;
}

// Those that are chosen; without a choice the one that decides such jobs as a rule.
std::vector<GoneReplica> chosen_gone(std::vector<GoneReplica> replicas, const ShowLogs& verb) {
  if (verb.all) {
    std::erase_if(replicas, [&](const GoneReplica& one) {
      bool role = verb.replicas.role.empty() || verb.replicas.role == one.role;
      return !role || (verb.replicas.index && *verb.replicas.index != one.index);
    });
    return replicas;
  }
  for (std::string_view role : {"chief", "master", "worker"}) {
    for (const GoneReplica& one : replicas) {
      if (one.role == role && one.index == 0) return {one};
    }
  }
  replicas.resize(std::min<size_t>(replicas.size(), 1));
  return replicas;
}

// What is no job's name may be a pod's, as with kubectl.
bool is_pod(const std::string& name, const Cluster& cluster) {
  return name.find('/') == std::string::npos &&
         client::get(cluster.client, kube::kPods, cluster.ns, name).ok();
}

// A job that was deleted, from the logs on disk; `none` says that there is no such job.
int logs_of_gone(const ShowLogs& verb, const Error& none, const Cluster& cluster, const Console& console) {
  Result<JobName> wanted = read_job_name(verb.job);
  std::vector<GoneReplica> all = wanted.ok() ? gone_replicas(*wanted, cluster) : std::vector<GoneReplica>();
  std::vector<GoneReplica> chosen = chosen_gone(all, verb);
  if (chosen.empty()) {
    std::string there;
    for (const GoneReplica& one : all) there += (there.empty() ? "" : ", ") + one.last.label;
    console.err << (all.empty() ? none.message
                                : fmt::format("'{}' is gone; of it are kept: {}", verb.job, there))
                << "\n";
    return kInputAtFault;
  }
  std::vector<ReplicaPod> replicas;
  for (const GoneReplica& one : chosen) replicas.push_back(one.last);
  std::vector<Printer> printers = printers_for(replicas, console);
  bool any = false;
  for (size_t i = 0; i < chosen.size(); ++i) {
    LogAsk ask = ask_of(verb, replicas[i].container);
    bool shown = print_kept(replicas[i], ask, cluster.ns, ask.back, cluster, printers[i], chosen[i].pods);
    if (!shown) {
      console.err << fmt::format("{} ({}): {}\n", replicas[i].label, replicas[i].pod_name,
                                 ask.back > 0 ? no_such_run(ask.back) : "its log is no longer kept");
    }
    any = any || shown;
  }
  return any ? kFine : kInputAtFault;
}

}  // namespace

int show_logs(const ShowLogs& verb, const Cluster& cluster, const Console& console) {
  for (std::string_view prefix : {"pod/", "pods/"}) {
    if (verb.job.starts_with(prefix))
      return logs_of_pod(verb, verb.job.substr(prefix.size()), cluster, console);
  }
  Result<FoundJob> job = find_job(cluster, verb.job);
  const bool is_no_job = !job.ok() && job.error().kind == ErrorKind::kNotFound;
  if (is_no_job && is_pod(verb.job, cluster)) return logs_of_pod(verb, verb.job, cluster, console);
  if (is_no_job) return logs_of_gone(verb, job.error(), cluster, console);
  if (!job.ok()) {
    console.err << job.error().message << "\n";
    return kInputAtFault;
  }
  if (verb.follow && back_of(verb) == 0 && !status_of(*job->dialect, *job->object).finished_now()) {
    return FollowLogs(verb, *job, cluster, console).run();
  }
  Result<std::vector<client::Object>> pods = pods_of(cluster, *job);
  if (!pods.ok()) {
    console.err << pods.error().message << "\n";
    return kInputAtFault;
  }
  Result<std::vector<ReplicaPod>> replicas = choose_replicas(*job, *pods, verb.replicas, !verb.all);
  if (!replicas.ok()) {
    console.err << replicas.error().message << "\n";
    return kInputAtFault;
  }
  std::vector<Printer> printers = printers_for(*replicas, console);
  bool any = false;
  for (size_t i = 0; i < replicas->size(); ++i) {
    LogAsk ask = ask_of(verb, (*replicas)[i].container);
    ask.follow = false;
    any = print_one((*replicas)[i], ask, job->ns(), cluster, console, printers[i]) || any;
  }
  return any ? kFine : kInputAtFault;
}

}  // namespace trainyard::cli
