#include "cli/run_session.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

#include "cli/dialects.h"
#include "cli/job_admission.h"
#include "cli/last_words.h"
#include "kube/access.h"
#include "kube/meta.h"
#include "node/log_files.h"

namespace trainyard::cli {
namespace {

constexpr Duration kScreenLooksEvery{100};
// Event files and usage change slowly: they are looked at on every n-th look.
constexpr int64_t kSlowLooks = 10;
constexpr int kLooksAfterEnd = 10;
constexpr int kLooksAfterEndMax = 1'000;  // while there is more to show than one look takes
constexpr int kStopped = 130;

kube::Resource resource_of(const server::Registry& registry, const json::object& object, bool& known) {
  std::string_view api_version = kube::text_at(object, {"apiVersion"});
  size_t slash = api_version.find('/');
  std::string_view group = slash == std::string_view::npos ? "" : api_version.substr(0, slash);
  std::string_view version = slash == std::string_view::npos ? api_version : api_version.substr(slash + 1);
  const server::ApiResource* found = registry.find_kind(group, version, kube::text_at(object, {"kind"}));
  known = found != nullptr && found->backing == server::Backing::kStored;
  return known ? found->storage : kube::Resource{};
}

}  // namespace

RunSession::RunSession(Plane& plane, const RunJobs& command, const Console& console, Interrupts& interrupts,
                       std::filesystem::path logs)
    : plane_(plane),
      command_(command),
      console_(console),
      interrupts_(interrupts),
      logs_kept_(std::move(logs)),
      logs_(plane.pods(),
            [this](const std::string& replica, std::string_view text) {
              size_t position = positions_.try_emplace(replica, positions_.size()).first->second;
              name_width_ = std::max(name_width_, replica.size());
              scrolled_ += log_prefix(replica, position, name_width_, console_.bold);
              scrolled_ += text;
              scrolled_ += '\n';
            }),
      disk_(logs_kept_.parent_path()) {}

Result<Done> RunSession::ensure_namespace(const std::string& ns) {
  json::object body{{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", json::object{{"name", ns}}}};
  Result<client::Object> made = client::create(plane_.client(), kube::kNamespaces, "", std::move(body));
  if (!made.ok() && made.error().kind != ErrorKind::kAlreadyExists) return made.error();
  return Done{};
}

// A run without --data-dir begins with nothing: what is there already was given twice.
Error RunSession::refused(const Object& document, const Error& error) const {
  std::string_view why;
  if (error.kind == ErrorKind::kAlreadyExists) {
    why = command_.plane.data_dir.empty()
              ? "; it is in the input twice"
              : "; it is in the input twice, or an earlier run with this --data-dir "
                "left it: give another, or none";
  }
  return {error.kind,
          fmt::format("{}: {}: {}{}", document.place_of(""), document.title(), error.message, why)};
}

Result<Done> RunSession::create_other(const Object& document) {
  bool known = false;
  kube::Resource resource = resource_of(plane_.registry(), document.body, known);
  if (!known) {
    return Error{ErrorKind::kInvalid,
                 fmt::format("{}: no such kind here: {} {}", document.place_of("kind"),
                             kube::text_at(document.body, {"apiVersion"}), document.title())};
  }
  json::object body = document.body;
  std::string ns(kube::namespace_of(body));
  if (resource.namespaced && ns.empty()) {
    ns = "default";
    kube::ensure_object(body, {"metadata"})["namespace"] = "default";
  }
  if (resource.namespaced) {
    if (Result<Done> made = ensure_namespace(ns); !made.ok()) return made.error();
  }
  Result<client::Object> made =
      client::create(plane_.client(), resource, resource.namespaced ? ns : "", std::move(body));
  if (!made.ok()) return refused(document, made.error());
  return Done{};
}

Result<Done> RunSession::create(const std::vector<Object>& documents) {
  for (const Object& document : documents) {
    if (document.dialect != nullptr) continue;
    if (Result<Done> made = create_other(document); !made.ok()) return made.error();
  }
  for (const Object& document : documents) {
    if (document.dialect == nullptr) continue;
    const dialect::Dialect& dialect = *document.dialect;
    json::object body = as_stored(dialect, document.body);
    std::string ns(kube::namespace_of(body));
    if (Result<Done> made = ensure_namespace(ns); !made.ok()) return made.error();
    Result<client::Object> made = client::create(plane_.client(), dialect.resource, ns, std::move(body));
    if (!made.ok()) return refused(document, made.error());
    Job job;
    job.dialect = &dialect;
    job.ns = ns;
    job.name = std::string(kube::name_of(**made));
    job.object = *made;
    jobs_.push_back(std::move(job));
  }
  return Done{};
}

int RunSession::watch() {
  bool told_disk = false;
  while (true) {
    PodsByOwner pods = list_pods();
    for (Job& job : jobs_) look(job, pods);
    const bool is_behind = logs_.read();
    for (const std::string& line : news_) say(line);
    news_.clear();
    if (looks_ % kSlowLooks == 0) {
      if (std::optional<std::string> told = disk_.look()) tell_of_disk(*told);
    }
    show();
    ++looks_;
    // A replica that the job leaves running would be followed for ever.
    const int looks_max = is_behind ? kLooksAfterEndMax : kLooksAfterEnd;
    if (all_ended() && (logs_.idle() || ++looks_after_end_ > looks_max)) break;
    if (std::optional<std::string> why = plane_.failed(); why && !told_disk) {
      say("the plane cannot go on: " + *why);
      told_disk = true;
      stops_ = 2;
    }
    if (asked() > stops_) stop_jobs();
    // A full disk refuses a removal; it may have room again.
    if (stops_ == 1 && looks_ % kSlowLooks == 0) remove_jobs();
    if (stops_ >= 2) break;
    interrupts_.sleep(is_behind ? Duration{0} : kScreenLooksEvery);
  }
  show();
  live_.release();
  for (const Job& job : jobs_) {
    if (job.ended && job.view.result) {
      console_.out << ending_of(job.view) << "\n" << last_words_of(job);
    } else if (interrupts_.count() > 0) {
      console_.out << stopped_words(job.view, stops_ >= 2, wall_clock()) << "\n";
    }
  }
  console_.out.flush();
  return exit_status();
}

Plane::Leave RunSession::leave() const {
  return stops_ >= 2 ? Plane::Leave::kKilled : Plane::Leave::kStopped;
}

// Whoever has seen its lines alone has seen them last.
std::string RunSession::last_words_of(const Job& job) const {
  const bool seen_alone = !command_.quiet && jobs_.size() == 1 && job.view.replicas.size() == 1;
  if (job.view.result == model::ResultKind::kSucceeded || job.view.failed_by.empty() || seen_alone) return "";
  std::string words = last_words(node::LogFolder(logs_kept_), *job.dialect, *job.object, job.view.failed_by);
  if (words.empty()) return "";
  return fmt::format("{}{} printed last:\n{}", prefix_of(job), job.view.failed_by, words);
}

RunSession::PodsByOwner RunSession::list_pods() {
  PodsByOwner pods;
  Result<client::Reply> listed = client::list(plane_.client(), kube::kPods, "");
  // The hub is asked in this very process: what it does not answer it has not got.
  if (!listed.ok()) return pods;
  for (const client::Object& pod : listed->items) {
    pods[std::string(kube::controller_uid_of(*pod))].push_back(pod);
  }
  return pods;
}

bool RunSession::take_news(Job& job, PodsByOwner& pods) {
  Result<client::Object> object = client::get(plane_.client(), job.dialect->resource, job.ns, job.name);
  std::vector<client::Object> own = std::move(pods[std::string(kube::uid_of(*job.object))]);
  const bool is_same = object.ok() && *object == job.object && own == job.pods;
  job.pods = std::move(own);
  if (object.ok()) {
    job.object = *object;
  } else {
    // Deleted, by the user's Ctrl-C or a time to live: over once its pods are gone.
    job.ended = job.pods.empty();
  }
  job.is_there = object.ok();
  return !is_same;
}

void RunSession::look(Job& job, PodsByOwner& pods) {
  const bool ended_before = job.ended;
  const bool is_new = take_news(job, pods);
  std::vector<const json::object*> views;
  std::vector<std::string> uids;
  for (const client::Object& pod : job.pods) {
    if (!command_.quiet) logs_.follow(*pod, prefix_of(job) + replica_of(*job.dialect, *pod));
    views.push_back(pod.get());
    uids.emplace_back(kube::uid_of(*pod));
  }
  const bool is_slow_look = looks_ % kSlowLooks == 0;
  // Of what is as it was, only usage and a grace that runs down can be told anew.
  if (is_new || (console_.terminal && is_slow_look)) view_anew(job, views, uids);
  if (job.is_there) job.ended = job.view.phase == model::Phase::kFinished;
  if (job.ended && !ended_before && !command_.quiet) hear_unseen_pods(job);
  if (is_slow_look || job.ended) look_for_progress(job);
}

void RunSession::view_anew(Job& job, const std::vector<const json::object*>& views,
                           const std::vector<std::string>& uids) {
  std::optional<Progress> progress = job.view.progress;
  JobView view =
      view_of(*job.dialect, command_.plane.settings, *job.object, views,
              console_.terminal ? plane_.usage(uids) : std::map<std::string, PodUsage>{}, wall_clock());
  view.progress = progress;
  keep_ends(job.view, view);
  if (!console_.terminal) {
    for (std::string& line : changes_between(job.view, view, prefix_of(job)))
      news_.push_back(std::move(line));
  }
  job.view = std::move(view);
}

// A pod may come, end and go between two looks; its logs stay.
void RunSession::hear_unseen_pods(const Job& job) {
  node::LogFolder kept(logs_kept_);
  for (const json::object& pod : kept.remembered(job.ns)) {
    if (kube::controller_uid_of(pod) != kube::uid_of(*job.object)) continue;
    logs_.catch_up(pod, prefix_of(job) + replica_of(*job.dialect, pod), kept);
  }
}

void RunSession::look_for_progress(Job& job) {
  for (const client::Object& pod : job.pods) {
    for (const std::filesystem::path& folder : plane_.writable_folders(*pod)) {
      job.events.try_emplace(folder, folder);
    }
  }
  for (auto& [folder, events] : job.events) {
    std::optional<TrainingProgress> seen = events.poll();
    if (!seen || !seen->loss) continue;
    if (!job.view.progress || job.view.progress->step <= seen->step) {
      job.view.progress = Progress{seen->step, seen->tag, *seen->loss};
    }
  }
}

void RunSession::show() {
  if (!console_.terminal) {
    console_.out << scrolled_;
  } else {
    std::vector<const JobView*> views;
    for (const Job& job : jobs_) views.push_back(&job.view);
    console_.out << live_.update(scrolled_, block_of(views, screen(), wall_clock()));
  }
  scrolled_.clear();
  console_.out.flush();
  mend_output();
}

void RunSession::mend_output() {
  if (console_.out || reader_left_) return;
  if (interrupts_.reader_left()) {
    reader_left_ = true;
    console_.err << "nobody reads what is printed here any more\n" << std::flush;
  } else {
    console_.out.clear();  // a full disk may have room again
  }
}

// What is printed may be on that disk.
void RunSession::tell_of_disk(const std::string& news) {
  if (console_.terminal) return say(news);
  console_.err << news << "\n" << std::flush;
}

void RunSession::say(const std::string& line) { scrolled_ += line + "\n"; }

std::string RunSession::prefix_of(const Job& job) const { return jobs_.size() > 1 ? job.name + "/" : ""; }

void RunSession::stop_jobs() {
  stops_ = asked();
  if (stops_ >= 2) return;
  say("stopping; once more kills what still runs");
  remove_jobs();
}

void RunSession::remove_jobs() {
  for (Job& job : jobs_) {
    if (job.ended || job.removed) continue;
    Result<Done> removed = client::remove(plane_.client(), job.dialect->resource, job.ns, job.name,
                                          {.propagation = kube::Propagation::kForeground});
    job.removed = removed.ok() || removed.error().kind == ErrorKind::kNotFound;
    if (job.removed || job.refusal == removed.error().message) continue;
    job.refusal = removed.error().message;
    say(job.refusal);
  }
}

bool RunSession::all_ended() const {
  return std::all_of(jobs_.begin(), jobs_.end(), [](const Job& job) { return job.ended; });
}

int RunSession::exit_status() const {
  if (stops_ > 0) return kStopped;
  int status = kFine;
  for (const Job& job : jobs_) {
    if (job.view.result == model::ResultKind::kSucceeded) continue;
    int code = job.view.exit_code.value_or(0);
    if (status == kFine) status = code == 0 ? kInputAtFault : code;
  }
  return status;
}

Screen RunSession::screen() const {
  Screen screen{80, 24, console_.bold};
  winsize size = {};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    screen.columns = size.ws_col;
    if (size.ws_row > 0) screen.rows = size.ws_row;
  }
  return screen;
}

}  // namespace trainyard::cli
